#include "models/ctc_loss.h"

namespace foretrain::models {
namespace {

double real(std::int64_t count) { return static_cast<double>(count); }

}  // namespace

// Forward and backward variables over the 2·length + 1 states of symbols and blanks, one step after the
// other (Graves et al. 2006): each step reads the states before it and the probabilities of its symbols
// and writes its own; backward does the same from the end, reads the kept forward variables and writes
// the gradient by every class.
void write_ctc_loss(ModelWriter& writer, const Activation& logits, std::int64_t steps, std::int64_t target_length) {
  const Activation probabilities = writer.log_softmax("log_softmax", logits);
  const double states = real(writer.micro_batch()) * real(steps) * real(2 * target_length + 1);
  const double backward = 4 * states + 2 * probabilities.elements;
  Operator& loss = writer.pass("ctc_loss", OperatorKind::loss, 2 * states, states, backward, 1);
  loss.saved_elements = states;
  loss.sequential_steps = real(steps);
  loss.kernels_forward = 2;
  loss.kernels_backward = 3;
}

}  // namespace foretrain::models
