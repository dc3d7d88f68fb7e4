#include "sim/strategies/recompute.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace foretrain::sim::strategies {
namespace {

void mark_cores(LocalModel& model) {
  for (LocalLayer& layer : model.layers) {
    for (LocalOperator& local : layer.operators) {
      if (local.op.kind != models::OperatorKind::attention || local.op.forward_only) continue;
      local.segment = model.segments.size();
      model.segments.push_back({local.op.saved_elements});
    }
  }
  if (!model.segments.empty()) return;
  throw Error(fmt::format("{} has no attention that selective recompute could leave out", printable(model.name)),
              "/plan/recompute", "use full or none");
}

bool is_trained(const LocalLayer& layer) {
  return std::any_of(layer.operators.begin(), layer.operators.end(),
                     [](const LocalOperator& local) { return !local.op.forward_only; });
}

void mark_layers(LocalModel& model, double input_elements) {
  const bool has_blocks =
      std::any_of(model.layers.begin(), model.layers.end(), [](const LocalLayer& layer) { return layer.is_block; });
  for (LocalLayer& layer : model.layers) {
    if (layer.is_block == has_blocks && is_trained(layer)) {
      for (LocalOperator& local : layer.operators) local.segment = model.segments.size();
      model.segments.push_back({input_elements});
    }
    input_elements = layer.output_elements;
  }
}

}  // namespace

void mark_recompute(LocalModel& model, const Plan& plan, double input_elements) {
  if (plan.recompute_every > 1 && plan.recompute != "full") {
    throw Error(
        fmt::format("recompute_every {} is of full recompute, not of {}", plan.recompute_every, quoted(plan.recompute)),
        "/plan/recompute_every", "set plan.recompute to full, or leave it out");
  }
  if (plan.recompute == "selective") return mark_cores(model);
  if (plan.recompute == "full") return mark_layers(model, input_elements);
  if (plan.recompute == "none") return;
  throw Error("unknown kind of recompute " + quoted(plan.recompute), "/plan/recompute",
              name_hint(plan.recompute, {"none", "selective", "full"}));
}

void join_segments(LocalModel& chunk, const std::vector<RecomputeSegment>& whole, std::int64_t every) {
  chunk.segments.clear();
  std::size_t before = not_recomputed;  // the operator's before, as `whole` numbers them
  std::int64_t joined = 0;
  for (LocalLayer& layer : chunk.layers) {
    for (LocalOperator& local : layer.operators) {
      const std::size_t segment = local.segment;
      if (segment != not_recomputed) {
        const bool follows = before != not_recomputed;
        if (!follows || (segment != before && joined == every)) {
          chunk.segments.push_back(whole[segment]);
          joined = 1;
        } else if (segment != before) {
          ++joined;
        }
        local.segment = chunk.segments.size() - 1;
      }
      before = segment;
    }
  }
}

}  // namespace foretrain::sim::strategies
