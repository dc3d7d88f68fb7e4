#include "sim/studies/nearest_runs.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/statistics.h"
#include "base/text.h"

namespace foretrain::sim::studies {
namespace {

using calibrate::PredictedRun;
using calibrate::RunRecord;
using calibrate::RunTraits;

constexpr std::size_t fewest_runs = 5;
constexpr double near_factor = 4, far_factor = 32;
constexpr double worth_saying = 1.5;  // times beyond the largest run

bool is_within(double a, double b, double factor) {
  return a <= 0 || b <= 0 || std::abs(std::log(a / b)) <= std::log(factor) * (1 + 1e-9);
}

bool is_sized_like(const RunTraits& a, const RunTraits& b, double factor) {
  return is_within(static_cast<double>(a.gpus), static_cast<double>(b.gpus), factor) &&
         is_within(a.parameters, b.parameters, factor) && is_within(a.tokens_per_pass, b.tokens_per_pass, factor);
}

// Sixteen-bit formats take as long as one another.
bool is_as_wide(const RunTraits& a, const RunTraits& b) {
  const auto width = [](const std::string& precision) { return precision == "bf16" ? "fp16" : precision; };
  return width(a.precision) == width(b.precision);
}

struct Ring {
  std::vector<std::string> alike;
  std::function<bool(const RunTraits&)> holds;
};

std::vector<Ring> rings_around(const RunTraits& traits) {
  const auto same_stack = [&traits](const RunTraits& other) { return other.stack == traits.stack; };
  const auto same_chip = [&traits, same_stack](const RunTraits& other) {
    return same_stack(other) && other.chip == traits.chip;
  };
  const auto sized = [&traits, same_chip](double factor) {
    return [&traits, same_chip, factor](const RunTraits& other) {
      return same_chip(other) && is_as_wide(other, traits) && is_sized_like(other, traits, factor);
    };
  };
  const std::vector<std::string> all = {traits.chip, traits.stack};
  return {{all, sized(near_factor)},
          {all, sized(far_factor)},
          {all, same_chip},
          {{traits.stack}, same_stack},
          {{}, [](const RunTraits&) { return true; }}};
}

// Of runs as they are asked for: the largest, and how far an answer lies beyond.
void add_beyond(RunRecord& record, const char* of_what, double asked, double largest) {
  if (largest <= 0 || asked < worth_saying * largest) return;
  record.beyond.push_back(fmt::format("{} × their most {}", significant(asked / largest, 2), of_what));
}

void add_strangers(RunRecord& record, const std::vector<const PredictedRun*>& runs, const RunTraits& traits) {
  const auto none = [&](auto same) {
    return std::none_of(runs.begin(), runs.end(), [&](const PredictedRun* run) { return same(run->traits); });
  };
  if (none([&](const RunTraits& t) { return t.chip == traits.chip; })) record.beyond.push_back("none on " + traits.chip);
  if (none([&](const RunTraits& t) { return t.stack == traits.stack; })) {
    record.beyond.push_back("none with " + traits.stack);
  }
  if (none([&](const RunTraits& t) { return is_as_wide(t, traits); })) {
    record.beyond.push_back("none in " + traits.precision);
  }
}

RunRecord record_of(const std::vector<const PredictedRun*>& runs) {
  RunRecord record;
  std::set<std::string> sources;
  std::vector<double> sizes;
  double errors = 0, own = 0, of_baseline = 0;
  record.least_gpus = std::numeric_limits<std::int64_t>::max();
  record.least_parameters = std::numeric_limits<double>::infinity();
  for (const PredictedRun* run : runs) {
    sources.insert(run->source);
    sizes.push_back(std::abs(run->error));
    errors += sizes.back();
    record.held += run->held ? 1 : 0;
    record.least_gpus = std::min(record.least_gpus, run->traits.gpus);
    record.most_gpus = std::max(record.most_gpus, run->traits.gpus);
    record.least_parameters = std::min(record.least_parameters, run->traits.parameters);
    record.most_parameters = std::max(record.most_parameters, run->traits.parameters);
    if (std::isnan(run->baseline_error)) continue;
    own += sizes.back();
    of_baseline += std::abs(run->baseline_error);
  }
  record.runs = static_cast<std::int64_t>(runs.size());
  record.sources = static_cast<std::int64_t>(sources.size());
  record.median_ape = quantile(sizes, 0.5);
  record.mape = errors / static_cast<double>(runs.size());
  record.skill = of_baseline > 0 ? 1 - own / of_baseline : std::nan("");
  return record;
}

// How far `asked` lies beyond `most`, in units of the range from `least` to it (of a doubling at least), in logarithms.
double distance_beyond(double asked, double least, double most) {
  if (asked <= most || least <= 0) return 0;
  return std::log(asked / most) / std::max(std::log(2.0), std::log(most / least));
}

struct Neighbours {
  std::vector<std::string> alike;
  std::vector<const PredictedRun*> runs;
};

// Those of the narrowest ring that holds enough.
Neighbours neighbours(const std::vector<PredictedRun>& all, const RunTraits& traits) {
  const std::string kind = kind_of_plan(traits);
  std::vector<const PredictedRun*> alike;
  for (const PredictedRun& run : all) {
    if (run.traits.family == traits.family && kind_of_plan(run.traits) == kind) alike.push_back(&run);
  }
  for (const Ring& ring : rings_around(traits)) {
    Neighbours near;
    std::copy_if(alike.begin(), alike.end(), std::back_inserter(near.runs),
                 [&](const PredictedRun* run) { return ring.holds(run->traits); });
    if (near.runs.size() < std::min(fewest_runs, alike.size())) continue;
    near.alike = {kind};
    near.alike.insert(near.alike.end(), ring.alike.begin(), ring.alike.end());
    return near;
  }
  return {};
}

}  // namespace

std::string kind_of_plan(const RunTraits& traits) {
  if (traits.tensor > 1 && traits.pipeline > 1) return "tensor and pipeline parallel";
  if (traits.tensor > 1) return "tensor parallel";
  if (traits.pipeline > 1) return "pipeline parallel";
  // State of the optimizer in parts leaves a step as it is; parameters in parts are gathered on the way.
  return traits.sharding == "zero3" || traits.sharding == "hsdp" ? "sharded parameters" : "whole copies";
}

std::optional<RunRecord> nearest_runs(const std::vector<PredictedRun>& all, const RunTraits& traits) {
  const Neighbours near = neighbours(all, traits);
  if (near.runs.empty()) return std::nullopt;
  RunRecord record = record_of(near.runs);
  record.alike = near.alike;
  add_strangers(record, near.runs, traits);
  add_beyond(record, "GPUs", static_cast<double>(traits.gpus), static_cast<double>(record.most_gpus));
  add_beyond(record, "parameters", traits.parameters, record.most_parameters);
  return record;
}

std::optional<StepMargins> margins_beyond(const std::vector<PredictedRun>& all, const RunTraits& traits) {
  const auto record = nearest_runs(all, traits);
  if (!record || record->beyond.empty()) return std::nullopt;
  std::vector<double> deviations;
  for (const PredictedRun* run : neighbours(all, traits).runs) deviations.push_back(-std::log1p(run->error));
  const StepMargins held = shortest_margins(std::move(deviations));
  const double gpus = distance_beyond(static_cast<double>(traits.gpus), static_cast<double>(record->least_gpus),
                                      static_cast<double>(record->most_gpus));
  const double parameters = distance_beyond(traits.parameters, record->least_parameters, record->most_parameters);
  const double growth = std::sqrt(1 + std::max(gpus, parameters));
  return StepMargins{held.below * growth, held.above * growth};
}

}  // namespace foretrain::sim::studies
