// V-ZB of Qi et al. 2024 (arXiv:2405.15362): chunk 0 of the stages goes down the pipeline, chunk 1 up again, so that
// the first stage also has the last layers, and every stage holds as much as the first one of 1f1b.
#include <algorithm>
#include <utility>

#include "sim/strategies/schedule_orders.h"

namespace foretrain::sim::strategies {
namespace {

// Numbers the micro-batches of each kind of turn in order.
class Writer {
 public:
  explicit Writer(std::int64_t micro_batches) : micro_batches_(micro_batches) {}

  void forward(int chunk) { write(Pass::forward, chunk, forwards_[chunk]++); }
  void input_gradient(int chunk) { write(Pass::input_gradient, chunk, inputs_[chunk]++); }
  void weight_gradient(int chunk) { write(Pass::weight_gradient, chunk, weights_[chunk]++); }
  void both_gradients(int chunk) {
    input_gradient(chunk);
    weight_gradient(chunk);
  }
  [[nodiscard]] std::int64_t forwards(int chunk) const { return forwards_[chunk]; }
  [[nodiscard]] bool owes_weight_gradient(int chunk) const { return weights_[chunk] < inputs_[chunk]; }
  [[nodiscard]] Turns take() { return std::move(turns_); }

 private:
  void write(Pass pass, int chunk, std::int64_t micro_batch) {
    if (micro_batch < micro_batches_) turns_.push_back({pass, chunk, micro_batch});
  }

  std::int64_t micro_batches_;
  std::int64_t forwards_[2] = {0, 0}, inputs_[2] = {0, 0}, weights_[2] = {0, 0};
  Turns turns_;
};

}  // namespace

Turns zero_bubble_v(const PipelineShape& shape, int stage) {
  // The pattern needs 2p−1 micro-batches; of fewer, the turns of those that are not there drop out.
  const std::int64_t count = std::max<std::int64_t>(shape.micro_batches, 2 * shape.stages - 1);
  const int below = shape.stages - stage;  // stages from this one on
  Writer turns(shape.micro_batches);
  // Down until the first micro-batch comes up again, then down and up in turns until its gradient comes.
  for (int i = 0; i < 2 * below - 1; ++i) turns.forward(0);
  for (int i = 0; i < stage; ++i) {
    turns.forward(1);
    turns.forward(0);
  }
  for (int i = 0; i < below; ++i) {
    turns.forward(1);
    turns.both_gradients(1);
  }
  while (turns.forwards(1) < turns.forwards(0) || turns.forwards(0) < count) {
    if (turns.forwards(0) < count) turns.forward(0);
    turns.both_gradients(0);
    turns.forward(1);
    turns.both_gradients(1);
  }
  // Gradients go on first where other stages wait for them; the weights' fill the rest.
  for (int i = 0; i < stage; ++i) {
    turns.input_gradient(0);
    turns.input_gradient(1);
  }
  for (int i = 0; i < below; ++i) turns.both_gradients(0);
  while (turns.owes_weight_gradient(1)) turns.weight_gradient(1);
  while (turns.owes_weight_gradient(0)) turns.weight_gradient(0);
  return turns.take();
}

}  // namespace foretrain::sim::strategies
