#include "sim/strategies/input_load.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace foretrain::sim::strategies {
namespace {

std::optional<double> node_samples_per_second(const Scenario& scenario, const Cluster& cluster) {
  const InputPipeline& input = scenario.input;
  if (input.samples_per_s_per_node) return input.samples_per_s_per_node;
  if (!input.samples_per_s_per_vcpu) return std::nullopt;
  if (cluster.machine.vcpus <= 0) {
    throw Error("input.samples_per_s_per_vcpu needs the number of vCPUs, which is not known for " +
                    quoted(cluster.machine.name),
                "/cluster/vcpus", "state cluster.vcpus, or input.samples_per_s_per_node instead");
  }
  return *input.samples_per_s_per_vcpu * cluster.machine.vcpus;
}

std::optional<double> storage_samples_per_second(const Scenario& scenario) {
  if (!scenario.input.storage_gbytes_per_s) return std::nullopt;
  if (scenario.input.dataset_bytes <= 0 || scenario.training.dataset_samples <= 0) {
    throw Error("input.storage_gbytes_per_s needs the size of a sample", "/input/storage_gbytes_per_s",
                "state input.dataset_bytes and training.dataset_samples");
  }
  const double bytes_per_sample = scenario.input.dataset_bytes / scenario.training.dataset_samples;
  return gbytes_per_s(*scenario.input.storage_gbytes_per_s).value / bytes_per_sample;
}

ParameterId given(ParameterTable& parameters, const std::string& name, double value) {
  return parameters.add({name, 0.0, Provenance::given, "the scenario", value, "samples/s"});
}

}  // namespace

std::optional<InputLoad> input_load(const Scenario& scenario, const Cluster& cluster, const Batches& batches,
                                    ParameterTable& parameters) {
  std::optional<InputLoad> slowest;
  const auto consider = [&](double samples, double rate, const char* what) {
    const Seconds time(samples / rate);
    if (slowest && slowest->duration.time >= time) return;
    slowest = InputLoad{{time, given(parameters, what, rate)},
                        fmt::format("{} samples / {} samples/s ({})", significant(samples), significant(rate), what)};
  };
  if (const auto rate = node_samples_per_second(scenario, cluster)) {
    const int gpus_of_node = std::min(cluster.gpus, cluster.machine.gpus);
    consider(static_cast<double>(batches.accumulation * batches.micro * gpus_of_node), *rate,
             "input pipeline of a node");
  }
  if (const auto rate = storage_samples_per_second(scenario)) {
    consider(static_cast<double>(batches.global), *rate, "storage shared by all nodes");
  }
  return slowest;
}

std::optional<double> input_samples_per_second(const Scenario& scenario, const Cluster& cluster, int nodes) {
  std::optional<double> rate = node_samples_per_second(scenario, cluster);
  if (rate) *rate *= nodes;
  if (const auto storage = storage_samples_per_second(scenario)) rate = std::min(rate.value_or(*storage), *storage);
  return rate;
}

}  // namespace foretrain::sim::strategies
