#include "sim/strategies/chunk_memory.h"

#include <algorithm>
#include <utility>

#include "sim/memory.h"

namespace foretrain::sim::strategies {
namespace {

bool is_of_the_loss(const models::Operator& op) {
  return op.kind == models::OperatorKind::loss || op.kind == models::OperatorKind::softmax;
}

double weight_gradient_bytes(const models::Operator& op, models::Precision precision, const calibrate::Stack& stack) {
  const double element = models::activation_bytes(precision);
  if (stack.at("half_precision_weights").value == 0 || !models::is_mixed(precision)) return 0;
  if (stack.at("gradient_storage_bytes").value <= element) return 0;  // the first one stays where it came out
  return static_cast<double>(models::parameter_count(op)) * element * allocator_factor(stack);
}

// Of what the operators of a segment save, forward keeps the first part, from the first operator on.
void keep_first(std::vector<OperatorBytes>& operators, std::size_t first, std::size_t last, double kept) {
  for (std::size_t i = first; i <= last; ++i) {
    const double here = std::min(kept, operators[i].saved);
    operators[i].recomputed = operators[i].saved - here;
    operators[i].saved = here;
    kept -= here;
  }
  operators[first].saved += kept;
  operators[last].ends_segment = true;
}

enum class Frees { as_it_goes, nothing };

double peak_of_backward(const std::vector<OperatorBytes>& operators, Frees frees) {
  double held = 0, peak = 0, output_gradient = 0, waiting = 0;
  for (std::size_t i = operators.size(); i-- > 0;) {
    if (operators[i].ends_segment) {
      // Back to the segment's first operator: the one after the end of another segment, or after one without.
      for (std::size_t j = i + 1; j-- > 0 && (j == i || !operators[j].ends_segment);) held += operators[j].recomputed;
      peak = std::max(peak, held + output_gradient);
    }
    waiting += operators[i].saved + operators[i].recomputed;
    if (!operators[i].has_backward) continue;
    const double weights = frees == Frees::as_it_goes ? operators[i].weight_gradient : 0;
    peak = std::max(peak, held + operators[i].input_gradient + weights + output_gradient);
    if (frees == Frees::as_it_goes) held -= std::exchange(waiting, 0.0);
    output_gradient = operators[i].input_gradient;
  }
  return peak;
}

}  // namespace

std::vector<OperatorBytes> operator_bytes(const LocalModel& chunk, models::Precision precision,
                                          const calibrate::Stack& stack) {
  const std::vector<const LocalOperator*> locals = flat_operators(chunk);
  std::vector<OperatorBytes> operators;
  operators.reserve(locals.size());
  const models::Operator* before = nullptr;
  for (const LocalOperator* local : locals) {
    const DynamicBytes dynamic = dynamic_bytes(local->op, before, precision, stack);
    OperatorBytes bytes;
    bytes.saved = dynamic.saved;
    bytes.input_gradient = dynamic.input_gradient;
    bytes.has_backward = dynamic.has_backward;
    if (dynamic.has_backward) bytes.weight_gradient = weight_gradient_bytes(local->op, precision, stack);
    operators.push_back(bytes);
    before = &local->op;
  }
  const double element = models::activation_bytes(precision) * allocator_factor(stack);
  for (std::size_t first = 0; first < locals.size();) {
    std::size_t last = first;
    const std::size_t segment = locals[first]->segment;
    if (segment != not_recomputed) {
      while (last + 1 < locals.size() && locals[last + 1]->segment == segment) ++last;
      keep_first(operators, first, last, chunk.segments[segment].kept_elements * element);
    }
    first = last + 1;
  }
  for (std::size_t i = 0; i < locals.size(); ++i) {
    if (is_of_the_loss(locals[i]->op)) operators[i].logits = operators[i].saved;
  }
  return operators;
}

double kept_bytes(const std::vector<OperatorBytes>& operators) {
  double bytes = 0;
  for (const OperatorBytes& op : operators) bytes += op.saved;
  return bytes;
}

double kept_logits(const std::vector<OperatorBytes>& operators) {
  double bytes = 0;
  for (const OperatorBytes& op : operators) bytes += op.logits;
  return bytes;
}

double backward_peak_bytes(const std::vector<OperatorBytes>& operators) {
  return peak_of_backward(operators, Frees::as_it_goes);
}

double input_gradient_peak_bytes(const std::vector<OperatorBytes>& operators) {
  return peak_of_backward(operators, Frees::nothing);
}

}  // namespace foretrain::sim::strategies
