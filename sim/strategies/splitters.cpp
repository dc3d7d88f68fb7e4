#include "sim/strategies/splitters.h"

#include <cstdint>

#include <fmt/format.h>

#include "base/error.h"
#include "models/fuse.h"
#include "sim/layout.h"
#include "sim/strategies/recompute.h"
#include "sim/strategies/tensor_split.h"
#include "sim/strategies/vocabulary.h"
#include "sim/tables.h"

namespace foretrain::sim::strategies {
namespace {

void require_supported(const char* name, std::int64_t degree) {
  if (degree == 1) return;
  throw Error(fmt::format("{} parallelism is not supported yet by this version", name), fmt::format("/plan/{}", name),
              "leave it out, or set it to 1");
}

void add_table_exchanges(LocalModel& model, models::Precision precision) {
  for (LocalLayer& layer : model.layers) {
    for (LocalOperator& local : layer.operators) {
      const auto exchange = table_exchange(local.op, precision);
      if (!exchange) continue;
      const LayerCollective forward{data_communicator, exchange->forward, exchange->bytes};
      const LayerCollective backward{data_communicator, exchange->backward, exchange->bytes};
      (exchange->inputs ? local.before_forward : local.after_forward).push_back(forward);
      (exchange->inputs ? local.after_backward : local.before_backward).push_back(backward);
    }
  }
}

}  // namespace

LocalModel split(const models::Model& model, const Scenario& scenario, const calibrate::Stack& stack) {
  const Plan& plan = scenario.plan;
  require_supported("context", plan.context);
  require_supported("expert", plan.expert);
  const auto multiple = static_cast<std::int64_t>(stack.at("vocabulary_multiple").value) * plan.tensor;
  const bool fuses = stack.at("fused_elementwise").value != 0;
  const models::Model whole = with_padded_vocabulary(fuses ? models::with_fused_kernels(model) : model, multiple);
  const models::Precision precision = scenario.training.precision;
  LocalModel local = tensor_split(whole, plan, precision);
  if (spreads_tables(plan) && scenario.cluster.gpus > 1) add_table_exchanges(local, precision);
  mark_recompute(local, plan, static_cast<double>(model.micro_batch) * model.sample_elements);
  return local;
}

}  // namespace foretrain::sim::strategies
