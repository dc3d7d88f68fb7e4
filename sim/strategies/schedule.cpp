#include "sim/strategies/schedule.h"

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "sim/plan_names.h"
#include "sim/strategies/schedule_orders.h"

namespace foretrain::sim::strategies {
namespace {

// Before which stage and chunk one stands, `step` = ±1 along the pipeline.
Neighbour neighbour(const std::string& schedule, const PipelineShape& shape, int stage, int chunk, int step) {
  if (schedule == "zb-v") {
    const bool down = chunk % 2 == 0;
    const int next = down ? stage + step : stage - step;
    if (next >= 0 && next < shape.stages) return {next, chunk};
    return chunk + step >= 0 && chunk + step < shape.chunks ? Neighbour{stage, chunk + step} : Neighbour{};
  }
  const int place = chunk * shape.stages + stage + step;
  if (place < 0 || place >= shape.stages * shape.chunks) return {};
  return {place % shape.stages, place / shape.stages};
}

void require_chunks(const Plan& plan, bool fits, const std::string& hint) {
  if (fits) return;
  throw Error(fmt::format("schedule {} with {} chunk{} of layers per stage", quoted(plan.schedule), plan.interleave,
                          plan.interleave == 1 ? "" : "s"),
              "/plan/interleave", hint);
}

}  // namespace

void require_schedule(const Plan& plan, std::int64_t micro_batches) {
  const std::vector<std::string>& names = schedule_names();
  if (std::find(names.begin(), names.end(), plan.schedule) == names.end()) {
    throw Error("there is no schedule " + quoted(plan.schedule), "/plan/schedule", "one of " + joined(names));
  }
  const std::int64_t chunks = plan.interleave;
  if (plan.schedule == "zb-v") return require_chunks(plan, chunks == 2, "zb-v has two: set plan.interleave to 2");
  if (plan.schedule == "interleaved") {
    require_chunks(plan, chunks >= 2, "set plan.interleave to 2 or more, or plan.schedule to \"1f1b\"");
  } else if (plan.schedule != "1f1b") {
    require_chunks(plan, chunks == 1, "set plan.interleave to 1, or plan.schedule to \"interleaved\"");
  }
  if (chunks > 1 && micro_batches % plan.pipeline != 0) {
    throw Error(fmt::format("{} micro-batches on {} interleaved stages, which take {} at a time", micro_batches,
                            plan.pipeline, plan.pipeline),
                "/plan/interleave", "change plan.interleave to 1, or training.global_batch so that it divides");
  }
}

bool is_zero_bubble(const Plan& plan) { return plan.pipeline > 1 && plan.schedule.rfind('z', 0) == 0; }

std::vector<Turn> schedule_of(const std::string& name, const PipelineShape& shape, int stage) {
  assert(stage >= 0 && stage < shape.stages);
  if (name == "none") return one_at_a_time(shape);
  if (name == "gpipe") return gpipe(shape);
  if (name == "zero-bubble" || name == "zb-h1") return zero_bubble_h1(shape, stage);
  if (name == "zb-h2") return zero_bubble_h2(shape, stage);
  if (name == "zb-v") return zero_bubble_v(shape, stage);
  assert(name == "1f1b" || name == "interleaved");
  return shape.chunks > 1 ? interleaved(shape, stage) : one_forward_one_backward(shape, stage);
}

Neighbour chunk_before(const std::string& schedule, const PipelineShape& shape, int stage, int chunk) {
  return neighbour(schedule, shape, stage, chunk, -1);
}

Neighbour chunk_after(const std::string& schedule, const PipelineShape& shape, int stage, int chunk) {
  return neighbour(schedule, shape, stage, chunk, 1);
}

}  // namespace foretrain::sim::strategies
