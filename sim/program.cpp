#include "sim/program.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace foretrain::sim {
namespace {

template <class Index, class Item>
Index append(std::vector<Item>& items, Item item) {
  items.push_back(std::move(item));
  return static_cast<Index>(items.size() - 1);
}

}  // namespace

const char* to_string(Category category) {
  switch (category) {
    case Category::forward: return "forward";
    case Category::backward: return "backward";
    case Category::recompute: return "recompute";
    case Category::optimizer: return "optimizer";
    case Category::compression: return "compression";
    case Category::communication: return "communication";
    case Category::launch: return "launch";
    case Category::input: return "input";
    case Category::other: return "other";
  }
  assert(false);
  return "";
}

std::uint16_t Program::add_stream(std::string name, StreamKind kind) {
  return append<std::uint16_t>(streams, Stream{std::move(name), kind});
}

std::uint16_t Program::add_communicator(std::string name) {
  const auto known = std::find(communicators.begin(), communicators.end(), name);
  if (known != communicators.end()) return static_cast<std::uint16_t>(known - communicators.begin());
  return append<std::uint16_t>(communicators, std::move(name));
}

// Passes of a schedule repeat a handful of labels thousands of times: those written last are looked through.
std::uint32_t Program::add_label(std::string label) {
  constexpr std::size_t looked_through = 16;
  for (std::size_t back = 1; back <= std::min(looked_through, labels.size()); ++back) {
    if (labels[labels.size() - back] == label) return static_cast<std::uint32_t>(labels.size() - back);
  }
  return append<std::uint32_t>(labels, std::move(label));
}

ActivityIndex Program::add_timed(std::uint16_t stream, Category category, std::uint32_t label, Duration duration,
                                 const std::vector<ActivityIndex>& waits_for) {
  assert(stream < streams.size() && label < labels.size());
  Activity activity;
  activity.label = label;
  activity.stream = stream;
  activity.category = category;
  activity.duration = duration;
  activity.first_dependency = static_cast<std::uint32_t>(dependencies.size());
  activity.dependency_count = static_cast<std::uint32_t>(waits_for.size());
  for (const ActivityIndex earlier : waits_for) {
    assert(earlier < activities.size());
    dependencies.push_back(earlier);
  }
  return append<ActivityIndex>(activities, activity);
}

std::uint32_t Program::add_mixture(Mixture mixture) {
  assert(!mixture.empty());
  return append<std::uint32_t>(mixtures, std::move(mixture));
}

ActivityIndex Program::add_mixed(std::uint16_t stream, Category category, std::uint32_t label, std::uint32_t mixture,
                                 const std::vector<ActivityIndex>& waits_for) {
  const Mixture& parts = mixtures[mixture];
  const auto largest =
      std::max_element(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.seconds < b.seconds; });
  double seconds = 0;
  for (const Part& part : parts) seconds += part.seconds;
  const ActivityIndex index = add_timed(stream, category, label, {Seconds(seconds), largest->parameter}, waits_for);
  activities[index].mixture = mixture;
  return index;
}

ActivityIndex Program::add_collective(std::uint16_t stream, std::uint16_t communicator, calibrate::CollectiveKind kind,
                                      Bytes bytes, std::uint32_t label, const std::vector<ActivityIndex>& waits_for) {
  assert(communicator < communicators.size());
  const ActivityIndex index = add_timed(stream, Category::communication, label, Duration{}, waits_for);
  Activity& activity = activities[index];
  activity.is_collective = true;
  activity.communicator = communicator;
  activity.collective = kind;
  activity.bytes = bytes;
  return index;
}

}  // namespace foretrain::sim
