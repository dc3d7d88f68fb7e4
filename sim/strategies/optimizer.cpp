#include "sim/strategies/optimizer.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "models/precision.h"
#include "sim/strategies/local_model.h"
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

struct ParameterCount {
  double tensors = 0, elements = 0;
};

ParameterCount parameters_of(const models::Model& model, const Plan& plan) {
  ParameterCount count;
  for (const models::Operator* op : flat_operators(model)) {
    count.tensors += static_cast<double>(op->parameters.size());
    count.elements += updated_elements(*op, plan);
  }
  return count;
}

// A foreach operation over all tensors that moves `words` fp32 words per parameter by `kernels` kernels.
Work foreach_work(StepWriter& writer, const std::string& name, const ParameterCount& count, OptimizerPasses passes) {
  const double bytes = count.elements * passes.words * models::activation_bytes(models::Precision::fp32);
  const double launches = passes.kernels * foreach_launches(count.tensors, count.elements);
  const calibrate::OperatorTime time = writer.clock().memory_pass(Bytes(bytes));
  const Duration host = writer.anchored(writer.host_time("host_seconds_per_launch_forward", launches));
  writer.explain(name, "optimizer", time, 1);
  writer.explain(name, "launch", host, significant(launches) + " launches", 1);
  return {name, writer.anchored(time), host};
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

ActivityIndex write_optimizer(StepWriter& writer, const std::vector<ActivityIndex>& gradients) {
  const Training& training = writer.input().scenario.training;
  const ParameterCount count = parameters_of(writer.rank_model(), writer.input().scenario.plan);
  std::vector<ActivityIndex> waits = gradients;
  if (training.precision == models::Precision::fp16) {
    const Work unscale = foreach_work(writer, "unscale gradients", count, {2, 1});
    const ActivityIndex unscaled = writer.work(unscale, Category::optimizer, waits);
    waits = {writer.host_work("read overflow flag", {Seconds(0), unscale.host.parameter}, {unscaled})};
  }
  const bool fused = writer.input().stack.at("fused_optimizer").value != 0;
  const Work update =
      foreach_work(writer, training.optimizer + " update", count, optimizer_passes(training.optimizer, fused));
  return writer.work(update, Category::optimizer, waits);
}

}  // namespace foretrain::sim::strategies
