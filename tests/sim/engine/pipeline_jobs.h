// Steps of pipelines by hand: one forward, one backward first (1F1B), activations and gradients from stage to stage.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "sim/layout.h"
#include "sim/placement.h"
#include "sim/program.h"
#include "tests/sim/engine/test_jobs.h"

namespace foretrain::sim::engine {

struct PipelineStep {
  int micro_batches = 1;
  double forward_seconds = 1e-3;
  double backward_seconds = 2e-3;
  double activation_bytes = 10e6;      // of one micro-batch, each way; 0 = nothing is sent
  double tensor_bytes = 0;             // all-reduced after each pass in tensor groups, if any
  double gradient_bytes = 0;           // all-reduced in data groups at the end, if any
  double rate_while_communicating = 1;  // of kernels
};

inline Layout layout_of(int tensor, int data, int stages) {
  Plan plan;
  plan.tensor = tensor;
  plan.pipeline = stages;
  return Layout(plan, tensor * data * stages);
}

// Sends and receives each have a stream of their own, so that none keeps another waiting.
class StageWriter {
 public:
  StageWriter(const Layout& layout, const PipelineStep& step, int stage) : layout_(layout), step_(step), stage_(stage) {
    rank_.program.compute_rate_while_communicating = step.rate_while_communicating;
    for (const char* name : {"activations in", "activations out", "gradients in", "gradients out"}) {
      streams_.push_back(rank_.program.add_stream(name, StreamKind::communication));
    }
  }

  Program written() {
    const int ahead = std::min(step_.micro_batches, layout_.stages() - 1 - stage_);
    for (int i = 0; i < ahead; ++i) forward();
    for (int i = ahead; i < step_.micro_batches; ++i) {
      forward();
      backward();
    }
    for (int i = 0; i < ahead; ++i) backward();
    if (step_.gradient_bytes > 0) rank_.all_reduce(data_communicator, step_.gradient_bytes, {last_});
    return rank_.program;
  }

 private:
  void forward() {
    std::vector<ActivityIndex> waits;
    if (sends() && stage_ > 0) waits = {send(0, Layout::activations_name(stage_ - 1), {})};
    pass(step_.forward_seconds, waits, Category::forward);
    if (sends() && stage_ + 1 < layout_.stages()) send(1, Layout::activations_name(stage_), {last_});
  }
  void backward() {
    std::vector<ActivityIndex> waits;
    if (sends() && stage_ + 1 < layout_.stages()) waits = {send(2, Layout::gradients_name(stage_ + 1), {})};
    pass(step_.backward_seconds, waits, Category::backward);
    if (sends() && stage_ > 0) send(3, Layout::gradients_name(stage_), {last_});
  }
  void pass(double seconds, const std::vector<ActivityIndex>& waits, Category category) {
    last_ = rank_.kernel(seconds, waits, category);
    if (step_.tensor_bytes > 0) last_ = rank_.all_reduce(tensor_communicator, step_.tensor_bytes, {last_});
  }
  ActivityIndex send(std::size_t stream, const std::string& communicator, const std::vector<ActivityIndex>& waits) {
    return rank_.program.add_collective(streams_[stream], rank_.program.add_communicator(communicator),
                                        calibrate::CollectiveKind::send_receive, Bytes(step_.activation_bytes), label_,
                                        waits);
  }
  [[nodiscard]] bool sends() const { return step_.activation_bytes > 0 && layout_.stages() > 1; }

  const Layout& layout_;
  const PipelineStep& step_;
  int stage_;
  TestProgram rank_{"stage"};
  std::uint32_t label_ = rank_.program.add_label("transfer");
  std::vector<std::uint16_t> streams_;
  ActivityIndex last_ = 0;
};

inline std::vector<Program> pipeline_programs(const Layout& layout, const PipelineStep& step) {
  std::vector<Program> programs;
  for (int stage = 0; stage < layout.stages(); ++stage) programs.push_back(StageWriter(layout, step, stage).written());
  return programs;
}

inline Placement pipeline_placement(const Layout& layout) {
  Placement placement;
  for (int rank = 0; rank < layout.ranks(); ++rank) placement.class_of_rank.push_back(layout.stage_of(rank));
  placement.communicators = {layout.tensor_groups(), layout.data_groups()};
  for (int stage = 0; stage + 1 < layout.stages(); ++stage) {
    placement.communicators.push_back(layout.activations_from(stage));
    placement.communicators.push_back(layout.gradients_from(stage + 1));
  }
  return placement;
}

}  // namespace foretrain::sim::engine
