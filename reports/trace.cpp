#include "reports/trace.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "sim/mixture.h"

namespace foretrain::reports {
namespace {

using sim::Activity;
using sim::Category;
using sim::Program;
using sim::RankInstance;
using sim::Span;
using sim::SpanIndex;
using sim::StreamKind;

std::string quoted_json(const std::string& text) {
  return Json(text).dump(-1, ' ', true, Json::error_handler_t::replace);
}

// As NCCL names its kernels; Kineto's readers look for the prefix.
const char* kernel_name(calibrate::CollectiveKind kind) {
  switch (kind) {
    case calibrate::CollectiveKind::all_reduce: return "ncclDevKernel_AllReduce";
    case calibrate::CollectiveKind::reduce_scatter: return "ncclDevKernel_ReduceScatter";
    case calibrate::CollectiveKind::all_gather: return "ncclDevKernel_AllGather";
    case calibrate::CollectiveKind::all_to_all: return "ncclDevKernel_AllToAll";
    case calibrate::CollectiveKind::broadcast: return "ncclDevKernel_Broadcast";
    case calibrate::CollectiveKind::send_receive: return "ncclDevKernel_SendRecv";
    case calibrate::CollectiveKind::push: return "push to parameter servers";
    case calibrate::CollectiveKind::pull: return "pull from parameter servers";
    case calibrate::CollectiveKind::update: return "update on parameter servers";
  }
  return "";
}

std::string part_name(const sim::Part& part) {
  if (part.category == Category::communication) return kernel_name(part.collective);
  return sim::to_string(part.category);
}

// A value that changes at certain times; changes at one time add up.
class Counter {
 public:
  void add(double at, double change) { changes_[at] += change; }
  // The value from each of those times on.
  [[nodiscard]] std::vector<std::pair<double, double>> values(double from) const {
    std::vector<std::pair<double, double>> values;
    double value = from;
    for (const auto& [at, change] : changes_) values.emplace_back(at, value += change);
    return values;
  }

 private:
  std::map<double, double> changes_;
};

class TraceWriter {
 public:
  TraceWriter(const sim::Job& job, const sim::Timeline& timeline, const std::vector<sim::Traffic>& traffic)
      : job_(job), timeline_(timeline), traffic_(traffic) {}

  std::string text() {
    head();
    for (std::uint32_t i = 0; i < job_.instances.size(); ++i) instance(i);
    for (const auto& [collective, ends] : transfers_) arrow(collective, ends);
    text_ += "\n]}\n";
    return std::move(text_);
  }

 private:
  // Where a transfer leaves and arrives.
  struct Place {
    int process = -1, thread = 0;
  };
  struct Ends {
    Place sender, receiver;
  };

  template <class... Arguments>
  void write(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    text_ += first_ ? "\n" : ",\n";
    first_ = false;
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
  }

  // Whole nanoseconds, so that what ends when another begins does so when start and duration are added up again.
  static std::int64_t nanoseconds(double seconds) { return std::llround(seconds * 1e9); }
  static std::string micro(std::int64_t nanoseconds) {
    return fmt::format("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000);
  }
  static std::string micro(double seconds) { return micro(nanoseconds(seconds)); }
  static std::string duration(double start, double seconds) {
    return micro(nanoseconds(start + seconds) - nanoseconds(start));
  }

  void head() {
    text_ += fmt::format(
        R"({{"schemaVersion":1,"displayTimeUnit":"ms","distributedInfo":{{"backend":"nccl","rank":0,"world_size":{}}},)"
        R"("traceEvents":[)",
        job_.ranks);
  }

  void slice(const Place& place, const std::string& category, const std::string& name, double start, double seconds,
             const std::string& arguments) {
    write(R"({{"ph":"X","cat":"{}","name":{},"pid":{},"tid":{},"ts":{},"dur":{},"args":{{"device":{},"stream":{}{}}}}})",
          category, quoted_json(name), place.process, place.thread, micro(start), duration(start, seconds),
          place.process, place.thread, arguments);
  }

  void names(const RankInstance& rank, const Program& program) {
    const std::string name = rank.represents == 1
                                 ? fmt::format("rank {} ({})", rank.rank, program.rank_class)
                                 : fmt::format("{} (rank {}, one of {} alike)", program.rank_class, rank.rank,
                                               rank.represents);
    write(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":{}}}}})", rank.rank, quoted_json(name));
    write(R"({{"ph":"M","name":"process_sort_index","pid":{},"args":{{"sort_index":{}}}}})", rank.rank, rank.rank);
    for (std::size_t s = 0; s < program.streams.size(); ++s) {
      write(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})", rank.rank, s,
            quoted_json(program.streams[s].name));
      write(R"({{"ph":"M","name":"thread_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}}}})", rank.rank, s, s);
    }
  }

  void instance(std::uint32_t which) {
    const RankInstance& rank = job_.instances[which];
    const Program& program = job_.programs[rank.program];
    names(rank, program);
    Counter memory, inside, between;
    for (std::size_t a = 0; a < program.activities.size(); ++a) {
      const Activity& activity = program.activities[a];
      const SpanIndex s = timeline_.first_of[which] + static_cast<SpanIndex>(a);
      const Span& span = timeline_.spans[s];
      const Place place{rank.rank, activity.stream};
      if (activity.allocates_bytes != 0) memory.add(span.start, activity.allocates_bytes);
      if (activity.frees_bytes != 0) memory.add(span.finish, -activity.frees_bytes);
      if (!activity.is_collective) {
        timed(rank, program, activity, span, place);
        launch_arrows(which, program, activity, span, place);
      } else if (timeline_.collective_of[s] != sim::no_span) {
        const std::uint32_t run = timeline_.collective_of[s];
        collective(rank, program, activity, span, run, place);
        rate(run, traffic_[run].rank_bytes, inside);
        rate(run, traffic_[run].node_bytes, between);
      }
    }
    counter(rank.rank, "memory", "allocated_bytes", memory.values(program.resident_bytes));
    counter(rank.rank, "link use inside the node", "gbytes_per_s", inside.values(0));
    counter(rank.rank, "link use between nodes", "gbytes_per_s", between.values(0));
  }

  void timed(const RankInstance& rank, const Program& program, const Activity& activity, const Span& span,
             const Place& place) {
    if (span.finish <= span.start) return;
    const StreamKind kind = program.streams[activity.stream].kind;
    const bool on_device = kind == StreamKind::compute || kind == StreamKind::communication;
    const double seconds = span.finish - span.start;
    const std::string& name = program.labels[activity.label];
    if (activity.mixture == sim::no_mixture) {
      slice(place, on_device ? "kernel" : "cpu_op", name, span.start, seconds, "");
      return;
    }
    slice(place, "gpu_user_annotation", name, span.start, seconds, "");
    double at = span.start;
    for (const sim::Part& part : sim::parts_of(program, activity, rank.stretch, seconds)) {
      // Not beyond the annotation, whatever rounding does.
      const double own = std::min(part.seconds, span.finish - at);
      if (own > 0) slice(place, "kernel", part_name(part), at, own, "");
      at += own;
    }
  }

  // From the host's launch to the kernel that waited for it.
  void launch_arrows(std::uint32_t which, const Program& program, const Activity& activity, const Span& span,
                     const Place& place) {
    if (program.streams[activity.stream].kind != StreamKind::compute) return;
    for (std::uint32_t d = 0; d < activity.dependency_count; ++d) {
      const sim::ActivityIndex earlier = program.dependencies[activity.first_dependency + d];
      const Activity& launch = program.activities[earlier];
      if (program.streams[launch.stream].kind != StreamKind::host) continue;
      const double at = timeline_.spans[timeline_.first_of[which] + earlier].start;
      arrow("ac2g", {place.process, launch.stream}, at, place, span.start);
    }
  }

  void collective(const RankInstance& rank, const Program& program, const Activity& activity, const Span& span,
                  std::uint32_t run, const Place& place) {
    const sim::CollectiveSpan& collective = timeline_.collectives[run];
    const std::string& name = program.labels[activity.label];
    const double waiting = collective.all_arrived - span.start;
    if (waiting > 0) slice(place, "gpu_user_annotation", "wait: " + name, span.start, waiting, "");
    const sim::Group& group = job_.groups[collective.group];
    const std::string arguments = fmt::format(
        R"(,"Collective name":{},"bytes":{:.0f},"Process Group Name":{},"Group size":{},"for":{})",
        quoted_json(calibrate::to_string(activity.collective)), activity.bytes.value, quoted_json(group.communicator),
        group.shape.ranks, quoted_json(name));
    slice(place, "kernel", kernel_name(activity.collective), collective.all_arrived,
          collective.finish - collective.all_arrived, arguments);
    if (activity.collective != calibrate::CollectiveKind::send_receive) return;
    Ends& ends = transfers_[run];
    const bool sends = !group.members.empty() && group.shape.ranks == 2 && is_sender(program, activity);
    (sends ? ends.sender : ends.receiver) = {rank.rank, place.thread};
  }

  static bool is_sender(const Program& program, const Activity& activity) {
    return program.labels[activity.label].rfind("send", 0) == 0;
  }

  void rate(std::uint32_t run, double bytes, Counter& counter) const {
    const sim::CollectiveSpan& collective = timeline_.collectives[run];
    const double seconds = collective.finish - collective.alpha_end;
    if (bytes <= 0 || seconds <= 0) return;
    const double gbytes_per_s = bytes / seconds / 1e9;
    counter.add(collective.alpha_end, gbytes_per_s);
    counter.add(collective.finish, -gbytes_per_s);
  }

  void counter(int process, const char* name, const char* unit, const std::vector<std::pair<double, double>>& values) {
    for (const auto& [at, value] : values) {
      write(R"({{"ph":"C","name":"{}","pid":{},"ts":{},"args":{{"{}":{:.3f}}}}})", name, process, micro(at), unit,
            std::max(0.0, value));
    }
  }

  void arrow(const char* category, const Place& from, double start, const Place& to, double finish) {
    const std::uint64_t id = arrows_++;
    write(R"({{"ph":"s","cat":"{}","name":"{}","id":{},"pid":{},"tid":{},"ts":{}}})", category, category, id,
          from.process, from.thread, micro(start));
    write(R"({{"ph":"f","bp":"e","cat":"{}","name":"{}","id":{},"pid":{},"tid":{},"ts":{}}})", category, category, id,
          to.process, to.thread, micro(finish));
  }

  void arrow(std::uint32_t run, const Ends& ends) {
    if (ends.sender.process < 0 || ends.receiver.process < 0) return;
    const sim::CollectiveSpan& collective = timeline_.collectives[run];
    arrow("send_receive", ends.sender, collective.all_arrived, ends.receiver, collective.finish);
  }

  const sim::Job& job_;
  const sim::Timeline& timeline_;
  const std::vector<sim::Traffic>& traffic_;
  std::string text_;
  bool first_ = true;
  std::uint64_t arrows_ = 0;
  std::map<std::uint32_t, Ends> transfers_;  // by collective
};

}  // namespace

std::string trace_json(const sim::Job& job, const sim::Timeline& timeline, const std::vector<sim::Traffic>& traffic) {
  return TraceWriter(job, timeline, traffic).text();
}

}  // namespace foretrain::reports
