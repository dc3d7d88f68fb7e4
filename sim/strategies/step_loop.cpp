#include "sim/strategies/step_loop.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "sim/strategies/optimizer.h"

namespace foretrain::sim::strategies {
namespace {

// Writing out what cannot be aggregated has its limits: a program of this many activities takes about a gigabyte and
// seconds to replay.
constexpr std::int64_t most_activities = 4'000'000;

void require_writable(std::int64_t accumulation, std::int64_t activities_per_micro_batch) {
  const std::int64_t most = std::max<std::int64_t>(1, most_activities / activities_per_micro_batch);
  if (accumulation <= most) return;
  throw Error(fmt::format("{} micro-batches per GPU and step, each with a reduction, update or exchange of its own, are too many "
                          "to be simulated",
                          accumulation),
              "/training/global_batch", fmt::format("at most {} of this model are possible", most));
}

}  // namespace

void StepLoop::write(std::int64_t accumulation) {
  const bool all =
      pace_.written_out() || accumulation <= std::max<std::int64_t>(writer_.input().explicit_micro_batches, 3);
  const std::int64_t leading = all ? accumulation - 1 : 2;
  for (std::int64_t i = 0; i < leading; ++i) {
    write_micro_batch(i == 0, false);
    if (i == 0 && pace_.written_out()) {
      require_writable(accumulation, static_cast<std::int64_t>(writer_.program().activities.size()));
    }
  }
  if (!all) layers_.write_repeated(accumulation - leading - 1);
  write_micro_batch(accumulation == 1, true);
}

void StepLoop::write_micro_batch(bool first, bool last) {
  const bool reduces = last || pace_.reduces_every;
  const Chunk::MicroBatch which{first, reduces, !first && !pace_.updates_every};
  if (reducer_ != nullptr) reducer_->begin_micro_batch(first, reduces);
  layers_.write_forward(which, reducer_, std::exchange(after_, {}));
  if (reduces && reducer_ != nullptr) reducer_->before_backward();
  layers_.write_backward(which, reducer_, {});
  if (reduces && reducer_ != nullptr) after_ = reducer_->finish();
  if (!last && !pace_.updates_every) return;
  const double share = reducer_ == nullptr ? 1.0 : reducer_->updated_share();
  if (reducer_ == nullptr || reducer_->updates_parameters()) after_ = {write_optimizer(writer_, after_, share)};
  if (last && reducer_ != nullptr && !after_.empty()) reducer_->after_last_update(after_.back());
}

}  // namespace foretrain::sim::strategies
