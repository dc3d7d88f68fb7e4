#include "tests/reports/example_results.h"

namespace foretrain::reports::test {

namespace {

constexpr double gib = 1024.0 * 1024.0 * 1024.0;

Quantity exact(double value, const std::string& unit, const std::string& provenance) {
  return {value, value, value, unit, provenance, true};
}

Quantity about(double value, double spread, const std::string& unit, const std::string& provenance) {
  return {value, value * (1 - spread), value * (1 + spread), unit, provenance, true};
}

Quantity unknown(const std::string& unit, const std::string& why) { return {0, 0, 0, unit, why, false}; }

Head head(const std::string& command) { return {command, "0.1.0", "0123456789abcdef", {}, true, 0, 1}; }

Workload resnet() { return {"resnet50", "convnet", "image", "He et al. 2015, arXiv 1512.03385", 25557032, 24.5e9, 22e6, 125e12}; }

sim::Scenario scenario(const std::string& machine, std::int64_t gpus) {
  sim::Scenario result;
  result.name = "images";
  result.model.name = "resnet50";
  result.training.micro_batch = 64;
  result.training.precision = models::Precision::fp16;
  result.training.optimizer = "sgd";
  result.training.dataset_samples = 1'281'167;
  result.training.epochs = 90;
  result.cluster.machine = machine;
  result.cluster.gpus = gpus;
  return result;
}

// 100 ms of kernels and 20 ms around them; the parts sum to 0.160 s.
sim::Prediction prediction_of_two_nodes() {
  sim::Prediction p;
  p.step_time = about(0.160, 0.10, "s", "replay");
  p.throughput = about(6400, 0.10, "samples/s", "global batch / step time");
  p.speedup = about(12.0, 0.05, "1", "throughput / throughput of one GPU");
  p.efficiency = about(0.75, 0.05, "1", "speedup / GPUs");
  p.breakdown = {{"forward", about(0.035, 0.1, "s", "interpolated")},
                 {"backward", about(0.070, 0.1, "s", "interpolated")},
                 {"optimizer", about(0.005, 0.1, "s", "fitted")},
                 {"exposed_all_reduce", about(0.045, 0.3, "s", "fitted")},
                 {"launch", about(0.005, 0.2, "s", "measured")}};
  p.memory.parts = {{"parameters", exact(0.15 * gib, "bytes", "counted")},
                    {"gradients", exact(0.10 * gib, "bytes", "counted")},
                    {"optimizer", exact(0.10 * gib, "bytes", "counted")},
                    {"activations", about(5.00 * gib, 0.1, "bytes", "counted")},
                    {"buckets", exact(0.10 * gib, "bytes", "pytorch-ddp")},
                    {"workspace", about(0.55 * gib, 0.5, "bytes", "assumed")},
                    {"framework", about(1.00 * gib, 0.2, "bytes", "measured")}};
  p.memory.total = about(7.00 * gib, 0.1, "bytes", "sum");
  p.memory.capacity = exact(16.0 * gib, "bytes", "datasheet");
  p.cost_per_hour = exact(48.96, "usd/h", "list price");
  p.cost = about(2.72, 0.1, "usd", "price · epoch time");
  p.energy = about(1.1, 0.2, "kWh", "board power · epoch time");
  p.epoch_time = about(200.2, 0.1, "s", "samples / throughput");
  p.run_time = about(18018, 0.1, "s", "epochs · epoch time");
  p.data_parallel = 16;
  p.global_batch = 1024;
  p.nodes = 2;
  p.binding = "gradient all-reduce";
  p.parameters = {{{"tcp achieved fraction", 0.20, Provenance::fitted, "nccl-tests logs over 25 Gb/s", 0.6, "1"}, 0.045},
                  {{"convolution fp16 of V100", 0.06, Provenance::interpolated, "DeepBench", 0.45, "1"}, 0.105}};
  p.events = 321;
  return p;
}

}  // namespace

PredictResult predict_example() {
  return {head("predict"), scenario("p3.16xlarge", 16), resnet(), prediction_of_two_nodes()};
}

PredictResult explain_example() {
  PredictResult result = predict_example();
  result.head.command = "explain";
  result.prediction.terms = {
      {"conv1 forward", "forward", 0.010, "GEMM 2·m·n·k / (125 TFLOP/s · 0.45)", "interpolated", "DeepBench"},
      {"conv1 backward", "backward", 0.020, "2 × forward", "interpolated", "DeepBench"},
      {"all-reduce bucket 1", "all_reduce", 0.030, "ring, 25 MiB over 25 Gb/s", "fitted", "nccl-tests logs"}};
  return result;
}

PredictResult awkward_example() {
  PredictResult result = predict_example();
  result.head.profiles = {{"machines", "mine", "fedcba9876543210"}};
  result.workload.model = "</script>\x1b[31m|*model*";
  result.workload.training_flops_per_sample = 0;
  result.scenario.cluster.machine.clear();
  result.scenario.cluster.gpu = "V100-SXM2-16GB";
  result.scenario.training.dataset_samples = 0;
  result.scenario.training.epochs = 0;
  sim::Prediction& p = result.prediction;
  p.memory.parts[3].second = about(20.0 * gib, 0.1, "bytes", "counted");
  p.memory.total = about(22.0 * gib, 0.1, "bytes", "sum");
  p.memory.fits = false;
  p.memory.advice = "Activations take 20 GiB: with micro_batch 32 it fits.";
  p.cost_per_hour = unknown("usd/h", "no price is published for this machine");
  p.cost = unknown("usd", "no price is published for this machine");
  p.epoch_time = unknown("s", "training.dataset_samples is not stated");
  p.run_time = unknown("s", "training.dataset_samples is not stated");
  p.extrapolating = true;
  p.track_record = calibrate::TrackRecord{"InfiniBand or RoCE", 129, 392, 4096, 0.0368, 0.0664, 0.95};
  p.run_record = calibrate::RunRecord{{"whole copies", "V100", "pytorch-ddp"}, 12, 3, 11, 8, 64, 1.1e8, 1.5e9, 0.04, 0.061,
                                      0.7, {"2 × their most GPUs"}};
  p.warnings = {"extrapolating: 16 GPUs are more than the 8 of any measured table",
                "the machine is retired (2025-09-30); its successor is \x1b[1mND96"};
  return result;
}

DecideResult decide_example() {
  sim::Decision d;
  d.answer = "Yes";
  d.verdict = "Yes: 4 GPUs in one node train 3.5 times as fast; 16 GPUs over the network are no faster per dollar.";
  d.recommended = 0;
  d.reasons = {"16 GPUs gain 12× but cost 3.4 times as much per hour and wait 45 ms of each step for gradients."};
  d.change_first = {"Decode images on more than 6 workers: the input pipeline is next."};

  d.base.name = "1 × p3.2xlarge (1 GPU)";
  d.base.scenario = scenario("p3.2xlarge", 1);
  d.base.prediction = prediction_of_two_nodes();
  d.base.prediction.step_time = about(0.120, 0.05, "s", "replay");
  d.base.prediction.throughput = about(533, 0.05, "samples/s", "global batch / step time");
  d.base.prediction.speedup = exact(1, "1", "one GPU");
  d.base.prediction.efficiency = exact(1, "1", "one GPU");
  // Without the all-reduce: 35 + 70 + 5 + 10 = 120 ms.
  d.base.prediction.breakdown.erase(d.base.prediction.breakdown.begin() + 3);
  d.base.prediction.breakdown.back().second = about(0.010, 0.2, "s", "measured");
  d.base.prediction.nodes = 1;
  d.base.prediction.data_parallel = 1;
  d.base.prediction.global_batch = 64;
  d.base.prediction.binding = "convolutions";

  sim::AlternativeAnswer four;
  four.name = "1 × p3.8xlarge (4 GPUs)";
  four.scenario = scenario("p3.8xlarge", 4);
  four.prediction = prediction_of_two_nodes();
  four.prediction.step_time = about(0.137, 0.05, "s", "replay");
  four.prediction.nodes = 1;
  four.gain = 3.5;
  four.gain_interval = about(3.5, 0.03, "1", "shared draws");
  four.odds_faster_than_base = 0.999;
  four.independent_runs = about(2132, 0.05, "samples/s", "4 × one GPU");

  sim::AlternativeAnswer sixteen;
  sixteen.name = "2 × a-machine-with-a-name-that-is-far-too-long-for-any-column (16 GPUs)";
  sixteen.scenario = scenario("p3.16xlarge", 16);
  sixteen.prediction = prediction_of_two_nodes();
  sixteen.prediction.warnings = {"extrapolating: 2 nodes"};
  sixteen.gain = 12;
  sixteen.gain_interval = about(12, 0.1, "1", "shared draws");
  sixteen.odds_faster_than_base = 1;
  sixteen.independent_runs = unknown("samples/s", "not asked for");

  four.prediction.track_record = calibrate::TrackRecord{"single node", 156, 396, 16, 0.035, 0.073, 0.9};
  d.alternatives = {four, sixteen};
  return {head("decide"), resnet(), d};
}

}  // namespace foretrain::reports::test
