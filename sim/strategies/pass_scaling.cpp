#include "sim/strategies/pass_scaling.h"

#include <algorithm>
#include <variant>

namespace foretrain::sim::strategies {

void scale_pass(models::Operator& op, double factor) {
  auto& pass = std::get<models::MemoryShape>(op.shape);
  pass.elements_read *= factor;
  pass.elements_written *= factor;
  if (pass.backward_elements) *pass.backward_elements *= factor;
  op.saved_elements *= factor;
  if (op.kind != models::OperatorKind::loss) op.output_elements *= factor;
}

void scale_lookup(models::Operator& op, double table, double tokens) {
  auto& pass = std::get<models::MemoryShape>(op.shape);
  // On the way back every looked-up element is read twice and written once; the rest goes over the table's gradient.
  const double backward = models::backward_elements(op);
  const double of_tokens = std::min(backward, 3 * op.output_elements);
  pass.backward_elements = tokens * of_tokens + table * (backward - of_tokens);
  pass.elements_read *= tokens;
  pass.elements_written *= tokens;
  op.saved_elements *= tokens;
  op.output_elements *= tokens;
}

}  // namespace foretrain::sim::strategies
