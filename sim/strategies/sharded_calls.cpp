#include "sim/strategies/sharded_calls.h"

#include <utility>

#include <fmt/format.h>

#include "models/precision.h"

namespace foretrain::sim::strategies {
namespace {

const double full = models::activation_bytes(models::Precision::fp32);

bool has_half_weights(const StepWriter& writer) {
  return models::is_mixed(writer.input().scenario.training.precision) && writer.stack("half_precision_weights") != 0;
}

}  // namespace

Channel::Channel(StepWriter& writer, std::string communicator, std::uint16_t stream)
    : writer_(writer), communicator_(std::move(communicator)), stream_(stream) {}

ActivityIndex Channel::call(calibrate::CollectiveKind kind, const std::string& what, Bytes bytes,
                            const std::vector<ActivityIndex>& waits) {
  const std::string name = fmt::format("{} {}", calibrate::to_string(kind), what);
  const Duration launch_time = writer_.host_time("collective_launch_seconds", 1);
  writer_.explain("collective calls", "launch", launch_time, "one per collective", 1);
  std::vector<ActivityIndex> all = waits;
  all.push_back(writer_.host_work("launch " + name, launch_time));
  Program& program = writer_.program();
  return program.add_collective(stream_, program.add_communicator(communicator_), kind, bytes, program.add_label(name),
                                all);
}

double bytes_sent(const StepWriter& writer, const std::string& key) {
  const calibrate::StackValue& value = writer.input().stack.at(key);
  const bool mixed = models::is_mixed(writer.input().scenario.training.precision);
  return mixed || value.provenance == Provenance::given ? value.value : full;
}

double made_gradient_bytes(const StepWriter& writer) {
  return has_half_weights(writer) ? models::activation_bytes(writer.input().scenario.training.precision) : full;
}

double stored_gradient_bytes(const StepWriter& writer) {
  return has_half_weights(writer) ? writer.stack("gradient_storage_bytes") : full;
}

ActivityIndex gradient_pass(StepWriter& writer, const std::string& name, Bytes bytes,
                            const std::vector<ActivityIndex>& waits) {
  const calibrate::OperatorTime time = writer.clock().memory_pass(bytes);
  writer.explain(name, "reduce_scatter", time.duration, time.formula, 1);
  return writer.work({name, time.duration, {}}, Category::backward, waits);
}

}  // namespace foretrain::sim::strategies
