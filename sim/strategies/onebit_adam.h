// 1-bit Adam: after its warm-up each rank sends only the signs of its momentum and one scale (Tang et al. 2021,
// arXiv:2102.02888, section 4: the compressed all-reduce of gather, average and scatter with error feedback on both
// sides).
//
// All momentum is one buffer, exchanged after backward: an all-to-all hands every rank its part of everyone's signs,
// it averages and compresses them again, an all-gather hands the result out; two small all-gathers carry the scales.
// The warm-up, which is plain Adam, is not part of the step described here; neither is that it freezes the variance,
// which changes no bytes that the update passes over.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/strategies/compression.h"

namespace foretrain::sim::strategies {

class OnebitAdam final : public Compressor {
 public:
  // Throws Error when the optimizer has no momentum of Adam's.
  explicit OnebitAdam(const CompressionPlace& place);
  void send(const Bucket& bucket, const std::string& what, ActivityIndex ready) override;
  [[nodiscard]] std::vector<ActivityIndex> receive() override { return std::exchange(done_, {}); }
  [[nodiscard]] bool wants_everything_at_once() const override { return true; }

 private:
  CompressionPlace place_;
  std::vector<ActivityIndex> done_;
};

}  // namespace foretrain::sim::strategies
