// HorovodReducer: gradients fused cycle by cycle by a background thread (Sergeev and Del Balso 2018, arXiv:1802.05799).
//
// Which tensors are fused (sim/strategies/fusion.h) is decided from the times at which this rank alone would launch and
// finish their kernels by the catalogue, whatever was measured or drawn. Every cycle with work costs the thread its
// wait for the next waking (of `cycle_seconds`), `negotiation_seconds`, and per fused group a collective call after the
// data has arrived. Copies into and out of the fusion buffer (`bucket_bytes`; a lone tensor needs none) and compression
// run on Horovod's own stream beside backward. The framework goes on once all averages are there. `overlap` of the
// gradients is handed over while backward runs, the others at its end; `hierarchical` and
// `synchronize_every_micro_batch` as for buckets. Averages over one node by shared memory, MPI operations on host
// memory and autotuning of threshold and cycle are not modelled.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "sim/strategies/compression.h"
#include "sim/strategies/earliest.h"
#include "sim/strategies/exchange.h"
#include "sim/strategies/fusion.h"
#include "sim/strategies/reducer.h"

namespace foretrain::sim::strategies {

class HorovodReducer final : public Reducer {
 public:
  explicit HorovodReducer(StepWriter& writer);
  [[nodiscard]] std::vector<Communicator> communicators() const override { return exchange_.communicators(); }
  void after_backward(std::size_t index, ActivityIndex gradients_done) override;
  [[nodiscard]] std::vector<ActivityIndex> finish() override;
  [[nodiscard]] bool reduces_every_micro_batch() const override;

 private:
  struct Made {
    ActivityIndex launched = 0, done = 0;
  };
  // In the order in which the thread hears of them; `made` of each.
  [[nodiscard]] std::vector<HandedOver> handed_over(std::vector<Made>& made);
  void write_cycle(const FusedCycle& cycle, const std::vector<Made>& made);
  ActivityIndex write_group(const Bucket& group, ActivityIndex negotiated, ActivityIndex data);
  ActivityIndex copy(const Bucket& group, const std::string& name, ActivityIndex after);

  StepWriter& writer_;
  std::uint16_t thread_;
  Exchange exchange_;
  FusionRules rules_;
  std::unique_ptr<Compressor> compressor_;
  std::vector<ReadyGradient> gradients_;
  std::vector<bool> put_off_;
  Earliest earliest_;
  // Of the backward pass that goes on:
  std::vector<Made> made_by_;  // by operator
  Made last_;
  std::vector<ActivityIndex> averages_;
};

}  // namespace foretrain::sim::strategies
