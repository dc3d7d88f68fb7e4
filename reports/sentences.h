// Sentences: what several forms say in the same words.
#pragma once

#include <string>
#include <vector>

#include "reports/result.h"

namespace foretrain::reports {

// "A step takes 312 ms [280–350]: 3284 samples/s, speedup 13.1× [12–14] over one GPU, efficiency 82 % [75–88]."
[[nodiscard]] std::string headline(const sim::Scenario& scenario, const sim::Prediction& prediction);
// "Bound by gradient all-reduce. Fits: 11.2 of 16.0 GiB per GPU." or what to change so that it fits.
[[nodiscard]] std::string bound_and_fit(const sim::Prediction& prediction);
// "2 × DGX A100 (16 GPUs)".
[[nodiscard]] std::string cluster_words(const sim::Scenario& scenario, const sim::Prediction& prediction);
// What is split and how, and what is computed again; empty for whole copies of the model.
[[nodiscard]] std::string plan_words(const sim::Scenario& scenario, const sim::Prediction& prediction);
// "pytorch-ddp, fp16, adam; 64 per GPU, 1024 per step, weak scaling".
[[nodiscard]] std::string training_words(const sim::Scenario& scenario, const sim::Prediction& prediction);
// "25.6 M parameters, 24.5 GFLOP per image; reaches 41.2 TFLOP/s per GPU, 13 % of its peak"; empty when
// nothing is known.
[[nodiscard]] std::string workload_words(const Workload& workload, const sim::Scenario& scenario,
                                         const sim::Prediction& prediction);
// "On 156 published speedup curves of single nodes, speedups were off by 3.5 % (median; mean 7.3 %), and 90 % intervals
// held 90 %."; empty for one GPU.
[[nodiscard]] std::string track_record_words(const sim::Prediction& prediction);
// What cost and energy are for: "per epoch", or "per million samples" without a dataset size.
[[nodiscard]] std::string cost_basis(const sim::Scenario& scenario);
// A breakdown key as words: "exposed_all_reduce" -> "exposed all reduce".
[[nodiscard]] std::string key_words(const std::string& key);

}  // namespace foretrain::reports
