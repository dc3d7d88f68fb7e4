#include "sim/strategies/optimizer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "models/precision.h"
#include "sim/strategies/sharded.h"
#include "sim/strategies/sharded_calls.h"
#include "sim/tables.h"

namespace foretrain::sim::strategies {
namespace {

struct Forms {
  OptimizerPasses foreach_form, fused;
};

// Words per parameter (g gradient, p parameter, m and v moments, t a temporary; `a+b=c` reads a, b and writes c):
//   sgd    g+p=g (3) · m=m (2) · m+g=m (3) · p+m=p (3);               fused g,p,m → p,m (5)
//   adam   m+g=m (3) · v=v (2) · v+g=v (3) · v=t (2) · t=t twice (4) · p+m+t=p (4);   fused g,p,m,v → p,m,v (7)
//   adamw  adam and p=p (2);                                          fused as adam
//   lamb   adam's moments (8) and quotient (8) · t+p=t (3) · norms of p and t (2) · p+t=p (3);
//          fused: g,p,m,v → m,v,t (7) · norms (2) · p,t → p (3)
const std::map<std::string, Forms>& forms() {
  static const std::map<std::string, Forms> table = {{"sgd", {{11, 4}, {5, 1}}},
                                                     {"adam", {{18, 7}, {7, 1}}},
                                                     {"adamw", {{20, 8}, {7, 1}}},
                                                     {"lamb", {{24, 11}, {12, 4}}}};
  return table;
}

const double full = models::activation_bytes(models::Precision::fp32);
constexpr const char* optimizer_launch = "host_seconds_per_optimizer_launch";

struct ParameterCount {
  double tensors = 0, elements = 0;
};

// Of the share of its parameters that the writer's rank updates. A part of every tensor: one launch fewer or more does
// not depend on how the framework cuts them.
ParameterCount updated_parameters(const StepWriter& writer, double share) {
  ParameterCount count;
  for (const LocalOperator* local : writer.local_operators()) {
    count.tensors += static_cast<double>(local->op.parameters.size());
    count.elements += updated_elements(local->op, writer.input().scenario.plan) * share;
  }
  return count;
}

// The passes of one update, each after the one before.
class Update {
 public:
  Update(StepWriter& writer, ParameterCount count, std::vector<ActivityIndex> gradients)
      : writer_(writer), count_(count), waits_(std::move(gradients)) {}

  // A foreach operation over all tensors that moves `bytes` per parameter by `kernels` kernels.
  void pass(const std::string& name, double bytes, double kernels) {
    const double launches = kernels * foreach_launches(count_.tensors, count_.elements);
    const calibrate::OperatorTime time = writer_.clock().memory_pass(Bytes(count_.elements * bytes));
    const Duration host = writer_.anchored(writer_.host_time(optimizer_launch, launches));
    writer_.explain(name, "optimizer", time, 1);
    writer_.explain(name, "launch", host, significant(launches) + " launches", 1);
    waits_ = {writer_.work({name, writer_.anchored(time), host}, Category::optimizer, waits_)};
  }

  void wait_on_host(const std::string& name) {
    const Duration none = {Seconds(0), writer_.host_time(optimizer_launch, 0).parameter};
    waits_ = {writer_.host_work(name, none, waits_)};
  }

  // A sum of one number over all ranks of a communicator.
  void sum(const std::string& name, const char* communicator, std::uint16_t stream) {
    waits_ = {Channel(writer_, communicator, stream).call(calibrate::CollectiveKind::all_reduce, name, Bytes(full),
                                                          waits_)};
  }

  [[nodiscard]] ActivityIndex last() const { return waits_.back(); }

 private:
  StepWriter& writer_;
  ParameterCount count_;
  std::vector<ActivityIndex> waits_;
};

void write_norm(Update& update, StepWriter& writer, bool in_parts) {
  const std::string name = "of the gradients' norm";
  update.pass("gradient norm", full, 1);
  if (in_parts) update.sum(name, data_communicator, writer.communication());
  if (writer.layout().tensor() > 1) {
    update.sum(name, tensor_communicator,
               writer.stream(std::string(tensor_communicator) + "-parallel communication", StreamKind::communication));
  }
  update.pass("scale gradients by their norm", 2 * full, 1);
}

}  // namespace

OptimizerPasses optimizer_passes(const std::string& optimizer, bool fused) {
  const auto found = forms().find(optimizer);
  if (found == forms().end()) {
    std::vector<std::string> names;
    for (const auto& [name, form] : forms()) names.push_back(name);
    throw Error("unknown optimizer " + quoted(optimizer), "/training/optimizer", name_hint(optimizer, names));
  }
  return fused ? found->second.fused : found->second.foreach_form;
}

double foreach_launches(double tensors, double elements) {
  constexpr double tensors_per_launch = 36;  // depth_to_max_tensors of operations over four lists
  constexpr double chunks_per_launch = 320;  // depth_to_max_blocks
  constexpr double elements_per_chunk = 65536;
  const double chunks = std::max(tensors, elements / elements_per_chunk);
  return std::ceil(std::max(tensors / tensors_per_launch, chunks / chunks_per_launch));
}

ActivityIndex write_optimizer(StepWriter& writer, const std::vector<ActivityIndex>& gradients, double updated_share) {
  const Training& training = writer.input().scenario.training;
  const bool mixed = models::is_mixed(training.precision);
  const bool half_weights = mixed && writer.stack("half_precision_weights") != 0;
  const double stored = stored_gradient_bytes(writer);
  Update update(writer, updated_parameters(writer, updated_share), gradients);
  if (half_weights && stored < full) update.pass("copy gradients to the main ones", stored + full, 1);
  if (training.precision == models::Precision::fp16) {
    update.pass("unscale gradients", 2 * full, 1);
    update.wait_on_host("read overflow flag");
  }
  if (writer.stack("gradient_norm") != 0) write_norm(update, writer, updated_share < 1);
  const OptimizerPasses passes = optimizer_passes(training.optimizer, writer.stack("fused_optimizer") != 0);
  update.pass(training.optimizer + " update", passes.words * full, passes.kernels);
  const bool casts_later =
      updated_share < 1 && casts_parts_for_gathers(writer.input().scenario.plan, writer.input().stack);
  if (half_weights && !casts_later) {
    update.pass("copy main parameters to the weights", full + models::activation_bytes(training.precision), 1);
  }
  return update.last();
}

}  // namespace foretrain::sim::strategies
