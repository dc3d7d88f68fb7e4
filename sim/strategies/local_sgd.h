// LocalSgdReducer: every rank trains by itself, and parameters are averaged once per round (Stich 2018,
// arXiv:1805.09767; after its warm-up also the post-local SGD of Lin et al. 2018, arXiv:1808.07217).
//
// One step of the program is one round: each micro-batch is followed by its rank's own update, so that accumulation
// means local steps per round, gradients are not added up, and the global batch is the samples of a round. After the
// last update parameters are copied into one fp32 buffer, averaged, divided and copied back (PyTorch,
// torch/distributed/algorithms/model_averaging/utils.py; unverified). Optimizer state stays each rank's own.
#pragma once

#include <vector>

#include "sim/strategies/exchange.h"
#include "sim/strategies/reducer.h"

namespace foretrain::sim::strategies {

class LocalSgdReducer final : public Reducer {
 public:
  explicit LocalSgdReducer(StepWriter& writer);
  [[nodiscard]] std::vector<Communicator> communicators() const override { return exchange_.communicators(); }
  void after_backward(std::size_t /*index*/, ActivityIndex /*gradients_done*/) override {}
  [[nodiscard]] std::vector<ActivityIndex> finish() override { return {}; }
  void after_last_update(ActivityIndex updated) override;

 private:
  ActivityIndex pass(const char* name, ActivityIndex after);

  StepWriter& writer_;
  Exchange exchange_;
  double bytes_ = 0;
};

}  // namespace foretrain::sim::strategies
