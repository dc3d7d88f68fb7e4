#include "sim/tables.h"

#include <algorithm>
#include <variant>

namespace foretrain::sim {
namespace {

using calibrate::CollectiveKind;
using models::OperatorKind;

std::int64_t part_of(std::int64_t whole, std::int64_t ranks) { return (whole + ranks - 1) / ranks; }

// A table is cut along its longest side: identities, or the rows of an embedding.
void cut(models::ParameterTensor& tensor, std::int64_t ranks) {
  const auto longest = std::max_element(tensor.shape.begin(), tensor.shape.end());
  if (longest != tensor.shape.end()) *longest = part_of(*longest, ranks);
}

void spread(models::Operator& op, std::int64_t ranks) {
  const auto all = static_cast<double>(ranks);
  if (auto* pass = std::get_if<models::MemoryShape>(&op.shape); pass != nullptr && op.parameters.empty()) {
    pass->elements_read /= all;  // a pass over the table itself, not over what is looked up in it
    pass->elements_written /= all;
    if (pass->backward_elements) *pass->backward_elements /= all;
    op.saved_elements /= all;
    op.output_elements /= all;
  }
  for (models::ParameterTensor& tensor : op.parameters) cut(tensor, ranks);
  auto* product = std::get_if<models::GemmShape>(&op.shape);
  if (product == nullptr) return;
  product->m *= ranks;
  product->n = part_of(product->n, ranks);
  op.saved_elements *= all;  // its inputs, of all ranks
}

}  // namespace

bool spreads_tables(const Plan& plan) { return plan.tables == "sharded"; }

models::Model with_spread_tables(models::Model model, std::int64_t ranks) {
  for (models::Layer& layer : model.layers) {
    for (models::Operator& op : layer.operators) {
      if (op.often_sharded && ranks > 1) spread(op, ranks);
    }
  }
  return model;
}

std::optional<TableExchange> table_exchange(const models::Operator& op, models::Precision precision) {
  if (!op.often_sharded || op.parameters.empty()) return std::nullopt;
  const double element = models::activation_bytes(precision);
  if (const auto* product = std::get_if<models::GemmShape>(&op.shape)) {
    const double gathered = static_cast<double>(product->batch * product->m * product->k) * element;
    return TableExchange{CollectiveKind::all_gather, CollectiveKind::reduce_scatter, Bytes(gathered), true};
  }
  return TableExchange{CollectiveKind::all_to_all, CollectiveKind::all_to_all, Bytes(op.output_elements * element)};
}

double updated_elements(const models::Operator& op, const Plan& plan) {
  const auto all = static_cast<double>(models::parameter_count(op));
  const bool looked_up = op.often_sharded && op.kind == OperatorKind::embedding && spreads_tables(plan);
  return looked_up ? std::min(all, op.output_elements) : all;
}

}  // namespace foretrain::sim
