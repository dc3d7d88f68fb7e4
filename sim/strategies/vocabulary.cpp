#include "sim/strategies/vocabulary.h"

#include <variant>
#include <vector>

#include "sim/strategies/pass_scaling.h"

namespace foretrain::sim::strategies {
namespace {

std::int64_t padded(std::int64_t words, std::int64_t multiple) { return (words + multiple - 1) / multiple * multiple; }

double ratio(std::int64_t now, std::int64_t before) { return static_cast<double>(now) / static_cast<double>(before); }

// Words are rows of a table and entries of a bias.
void pad(std::vector<models::ParameterTensor>& tensors, std::int64_t multiple) {
  for (models::ParameterTensor& tensor : tensors) {
    if (!tensor.shape.empty()) tensor.shape.front() = padded(tensor.shape.front(), multiple);
  }
}

double table_elements(const models::Operator& op) {
  return static_cast<double>(models::parameter_count(op) + models::frozen_parameter_count(op));
}

void pad_table(models::Operator& op, std::int64_t multiple) {
  const double before = table_elements(op);
  pad(op.parameters, multiple);
  pad(op.frozen_parameters, multiple);
  pad(op.tied_parameters, multiple);
  if (op.kind == models::OperatorKind::embedding && before > 0) scale_lookup(op, table_elements(op) / before, 1);
}

}  // namespace

models::Model with_padded_vocabulary(models::Model model, std::int64_t multiple) {
  if (multiple == 1) return model;
  double logits_ratio = 1;
  for (models::Layer& layer : model.layers) {
    for (models::Operator& op : layer.operators) {
      if (op.tensor_split != models::TensorSplit::vocabulary) continue;
      pad_table(op, multiple);
      if (auto* product = std::get_if<models::GemmShape>(&op.shape)) {
        logits_ratio = ratio(padded(product->n, multiple), product->n);
        product->n = padded(product->n, multiple);
        op.output_elements *= logits_ratio;
      } else if (op.kind != models::OperatorKind::embedding) {
        scale_pass(op, logits_ratio);
      }
    }
  }
  return model;
}

}  // namespace foretrain::sim::strategies
