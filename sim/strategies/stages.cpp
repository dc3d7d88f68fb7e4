#include "sim/strategies/stages.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "sim/strategies/recompute.h"
#include "sim/strategies/schedule.h"
#include "sim/strategies/stage_cuts.h"

namespace foretrain::sim::strategies {
namespace {

using Counts = std::vector<std::size_t>;

// Where each layer that is dealt out begins, with the layers that go with it, and the end of the last one.
std::vector<std::size_t> unit_bounds(const LocalModel& model) {
  std::vector<std::size_t> bounds = {0};
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    if (model.layers[i].is_block) bounds.push_back(i + 1);
  }
  if (bounds.size() == 1) {  // no blocks
    bounds.resize(model.layers.size() + 1);
    std::iota(bounds.begin(), bounds.end(), std::size_t{0});
  }
  bounds.back() = model.layers.size();
  return bounds;
}

std::vector<double> unit_seconds(const std::vector<double>& layer_seconds, const std::vector<std::size_t>& bounds) {
  assert(layer_seconds.size() == bounds.back());
  std::vector<double> seconds;
  for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
    const auto begin = layer_seconds.begin();
    seconds.push_back(std::accumulate(begin + static_cast<std::ptrdiff_t>(bounds[i]),
                                      begin + static_cast<std::ptrdiff_t>(bounds[i + 1]), 0.0));
  }
  return seconds;
}

// The stages that have the chunks, in forward order.
std::vector<std::size_t> stages_in_order(const Plan& plan) {
  PipelineShape shape;
  shape.stages = static_cast<int>(plan.pipeline);
  shape.chunks = static_cast<int>(plan.interleave);
  std::vector<std::size_t> stages;
  for (Neighbour at{0, 0}; at.stage >= 0; at = chunk_after(plan.schedule, shape, at.stage, at.chunk)) {
    stages.push_back(static_cast<std::size_t>(at.stage));
  }
  assert(stages.size() == static_cast<std::size_t>(plan.pipeline * plan.interleave));
  return stages;
}

double slowest_stage(const std::vector<double>& seconds, const Counts& counts, const Plan& plan) {
  std::vector<double> stages(static_cast<std::size_t>(plan.pipeline), 0.0);
  std::size_t unit = 0, chunk = 0;
  for (const std::size_t stage : stages_in_order(plan)) {
    for (std::size_t i = 0; i < counts[chunk]; ++i) stages[stage] += seconds[unit++];
    ++chunk;
  }
  return *std::max_element(stages.begin(), stages.end());
}

// With several chunks per stage, the fastest chunks need not make the fastest stages.
Counts best_by_time(const std::vector<double>& seconds, std::size_t chunks, const Plan& plan) {
  Counts even = even_counts(seconds.size(), chunks), timed = timed_counts(seconds, chunks);
  return slowest_stage(seconds, timed, plan) <= slowest_stage(seconds, even, plan) ? timed : even;
}

// Layers that are dealt out, and what stands before and behind them: an embedding and a head may be a chunk alone.
struct Surroundings {
  std::size_t first_block = 0, after_last_block = 0;  // indices of layers
  bool has_before = false, has_behind = false;
};

Surroundings surroundings_of(const LocalModel& model) {
  Surroundings found{0, model.layers.size(), false, false};
  const auto is_block = [](const LocalLayer& layer) { return layer.is_block; };
  const auto first = std::find_if(model.layers.begin(), model.layers.end(), is_block);
  if (first == model.layers.end()) return found;
  const auto last = std::find_if(model.layers.rbegin(), model.layers.rend(), is_block);
  found.first_block = static_cast<std::size_t>(first - model.layers.begin());
  found.after_last_block = static_cast<std::size_t>(model.layers.rend() - last);
  found.has_before = found.first_block > 0;
  found.has_behind = found.after_last_block < model.layers.size();
  return found;
}

Counts given_counts(const Plan& plan, std::size_t units, std::size_t chunks, const Surroundings& around) {
  const std::vector<std::int64_t>& given = plan.stage_layers;
  const auto fail = [&](const std::string& what) {
    throw Error(what, "/plan/stage_layers",
                fmt::format("{} numbers, one for each chunk, that add up to {} layers", chunks, units));
  };
  if (given.size() != chunks) {
    fail(fmt::format("{} numbers of layers for {} chunks (pipeline {} × interleave {})", given.size(), chunks,
                     plan.pipeline, plan.interleave));
  }
  std::size_t sum = 0;
  Counts counts;
  for (const std::int64_t count : given) {
    const bool holds_an_end = (counts.empty() && around.has_before) || (counts.size() + 1 == chunks && around.has_behind);
    if (count < (holds_an_end ? 0 : 1)) fail(fmt::format("a chunk of {} layers", count));
    if (static_cast<std::uint64_t>(count) > units - sum) fail("more layers than the model has");
    counts.push_back(static_cast<std::size_t>(count));
    sum += counts.back();
  }
  if (sum < units) fail(fmt::format("the numbers add up to {} layers, the model has {}", sum, units));
  return counts;
}

Counts counts_of(const Plan& plan, const std::vector<std::size_t>& bounds, const std::vector<double>& layer_seconds,
                 const Surroundings& around) {
  const std::size_t units = bounds.size() - 1;
  const auto chunks = static_cast<std::size_t>(plan.pipeline * plan.interleave);
  if (!plan.stage_layers.empty()) return given_counts(plan, units, chunks, around);
  if (units < chunks) {
    throw Error(fmt::format("{} layers cannot be dealt out to {} chunks (pipeline {} × interleave {})", units, chunks,
                            plan.pipeline, plan.interleave),
                "/plan/pipeline", fmt::format("at most {} chunks", units));
  }
  if (plan.stage_split == "even") return even_counts(units, chunks);
  if (plan.stage_split == "time") return best_by_time(unit_seconds(layer_seconds, bounds), chunks, plan);
  throw Error("unknown way to split stages " + quoted(plan.stage_split), "/plan/stage_split",
              name_hint(plan.stage_split, {"even", "time"}));
}

std::set<std::string> tensor_names(const Stage& stage) {
  std::set<std::string> names;
  for (const LocalModel& chunk : stage) {
    for (const LocalOperator* local : flat_operators(chunk)) {
      for (const models::ParameterTensor& tensor : local->op.parameters) names.insert(tensor.name);
    }
  }
  return names;
}

// Tensors that stand on another stage become the first user's here.
void own_tied_tensors(Stage& stage) {
  std::set<std::string> owned = tensor_names(stage);
  const auto own = [&owned](models::Operator& op) {
    const auto stays = [&](const models::ParameterTensor& tensor) {
      if (!owned.insert(tensor.name).second) return true;
      op.parameters.push_back(tensor);
      return false;
    };
    auto& tied = op.tied_parameters;
    tied.erase(std::stable_partition(tied.begin(), tied.end(), stays), tied.end());
  };
  for (LocalModel& chunk : stage) {
    for (LocalLayer& layer : chunk.layers) {
      for (LocalOperator& local : layer.operators) own(local.op);
    }
  }
}

}  // namespace

std::vector<Stage> stages_of(const LocalModel& model, const Plan& plan, const std::vector<double>& layer_seconds) {
  assert(plan.pipeline >= 1 && plan.interleave >= 1);
  const std::vector<std::size_t> bounds = unit_bounds(model);
  const Surroundings around = surroundings_of(model);
  const Counts counts = counts_of(plan, bounds, layer_seconds, around);
  const std::size_t units = bounds.size() - 1;
  // Where a chunk ends, with so many units dealt out.
  const auto end_of = [&](std::size_t position, std::size_t dealt) {
    if (position + 1 == counts.size()) return model.layers.size();
    if (dealt == 0) return around.first_block;
    return dealt == units ? around.after_last_block : bounds[dealt];
  };
  std::vector<Stage> stages(static_cast<std::size_t>(plan.pipeline));
  std::size_t dealt = 0, position = 0;
  auto end = model.layers.begin();
  for (const std::size_t stage : stages_in_order(plan)) {
    const auto begin = end;
    dealt += counts[position];
    end = model.layers.begin() + static_cast<std::ptrdiff_t>(end_of(position++, dealt));
    LocalModel chunk{model.name, {begin, end}, {}};
    join_segments(chunk, model.segments, plan.recompute_every);
    stages[stage].push_back(std::move(chunk));
  }
  for (Stage& stage : stages) own_tied_tensors(stage);
  return stages;
}

double shared_parameters(const std::vector<Stage>& stages) {
  if (stages.size() < 2) return 0;
  const std::set<std::string> of_first = tensor_names(stages.front());
  double elements = 0;
  for (const LocalModel& chunk : stages.back()) {
    for (const LocalOperator* local : flat_operators(chunk)) {
      for (const models::ParameterTensor& tensor : local->op.parameters) {
        if (of_first.count(tensor.name) > 0) elements += static_cast<double>(tensor.elements());
      }
    }
  }
  return elements;
}

}  // namespace foretrain::sim::strategies
