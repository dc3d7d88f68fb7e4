#include "sim/strategies/transfers.h"

#include <cassert>
#include <utility>

#include "models/precision.h"
#include "sim/layout.h"

namespace foretrain::sim::strategies {
namespace {

using calibrate::CollectiveKind;

// Whether something goes the way of activations in a plain pipeline, to the stage after. Between two stages, which are
// both before and after one another, activations and gradients have a way each.
bool goes_onward(Pass pass, int from, int to, int stages) {
  if (stages == 2) return pass == Pass::forward;
  return to == (from + 1) % stages;
}

std::string communicator_of(Pass pass, int from, int to, int stages) {
  return goes_onward(pass, from, to, stages) ? Layout::activations_name(from) : Layout::gradients_name(from);
}

std::string stream_name(const char* role, bool onward) {
  return std::string("pipeline ") + role + (onward ? " onward" : " back");
}

const char* what(Pass pass) { return pass == Pass::forward ? "activations" : "gradients"; }

}  // namespace

Transfers::Transfers(StepWriter& writer, const PipelineShape& shape, const std::vector<Stage>& stages)
    : writer_(writer),
      schedule_(writer.input().scenario.plan.schedule),
      shape_(shape),
      stages_(stages),
      arrivals_(static_cast<std::size_t>(2 * shape.chunks * shape.micro_batches)) {
  const bool in_parts = writer.input().scenario.plan.sequence_parallel;  // by themselves
  if (writer.stack("scatter_gather_transfers") != 0 && !in_parts) senders_ = writer.layout().tensor();
  const int before = (writer.stage() + shape.stages - 1) % shape.stages, after = (writer.stage() + 1) % shape.stages;
  expect_from(before);
  if (after != before) expect_from(after);
}

// A gradient is that of what had been received.
Transfers::Result Transfers::result_of(int stage, const Turn& turn) const {
  const bool forward = turn.pass == Pass::forward;
  const Neighbour to = forward ? chunk_after(schedule_, shape_, stage, turn.chunk)
                               : chunk_before(schedule_, shape_, stage, turn.chunk);
  if (turn.pass == Pass::weight_gradient || to.stage < 0) return {};
  const Neighbour made = forward ? Neighbour{stage, turn.chunk} : to;
  const LocalModel& model = stages_[static_cast<std::size_t>(made.stage)][static_cast<std::size_t>(made.chunk)];
  return {to, Bytes(model.layers.back().output_elements *
                    models::activation_bytes(writer_.input().scenario.training.precision))};
}

Transfers::Slot Transfers::slot_of(bool forward, int chunk, std::int64_t micro_batch) const {
  return static_cast<Slot>(((forward ? 0 : shape_.chunks) + chunk) * shape_.micro_batches + micro_batch);
}

Transfers::Source Transfers::source_of(Slot slot) const {
  const auto passes = static_cast<std::int64_t>(slot) / shape_.micro_batches;
  const bool forward = passes < shape_.chunks;
  const auto chunk = static_cast<int>(passes % shape_.chunks);
  const Neighbour from = forward ? chunk_before(schedule_, shape_, writer_.stage(), chunk)
                                 : chunk_after(schedule_, shape_, writer_.stage(), chunk);
  const Pass pass = forward ? Pass::forward : Pass::backward;
  return {from.stage, pass, result_of(from.stage, {pass, from.chunk, 0}).bytes};
}

std::size_t Transfers::inbox_named(const std::string& communicator) {
  for (std::size_t i = 0; i < inboxes_.size(); ++i) {
    if (inboxes_[i].communicator == communicator) return i;
  }
  inboxes_.emplace_back();
  inboxes_.back().communicator = communicator;
  return inboxes_.size() - 1;
}

void Transfers::expect_from(int stage) {
  if (stage == writer_.stage()) return;
  for (const Turn& turn : schedule_of(schedule_, shape_, stage)) {
    const Neighbour to = result_of(stage, turn).to;
    if (to.stage != writer_.stage()) continue;
    const Slot slot = slot_of(turn.pass == Pass::forward, to.chunk, turn.micro_batch);
    const std::size_t inbox = inbox_named(communicator_of(turn.pass, stage, to.stage, shape_.stages));
    inboxes_[inbox].expected.push_back(slot);
    arrivals_[slot].inbox = inbox;
  }
}

const Transfers::Way& Transfers::way(Pass pass, int from, int to) {
  const auto [known, is_new] = ways_.try_emplace({pass, from, to});
  if (!is_new) return known->second;
  const char* role = from == writer_.stage() ? "send" : "receive";
  Program& program = writer_.program();
  const bool onward = goes_onward(pass, from, to, shape_.stages);
  known->second = {writer_.stream(stream_name(role, onward), StreamKind::communication),
                   program.add_communicator(communicator_of(pass, from, to, shape_.stages)),
                   program.add_label(std::string(role) + ' ' + what(pass))};
  return known->second;
}

void Transfers::write_next(Inbox& inbox) {
  assert(inbox.written < inbox.expected.size());
  const Slot slot = inbox.expected[inbox.written++];
  const Source source = source_of(slot);
  const Way& by = way(source.pass, source.stage, writer_.stage());
  arrivals_[slot].received = writer_.program().add_collective(by.stream, by.communicator, CollectiveKind::send_receive,
                                                              part(source.bytes), by.label);
}

std::vector<ActivityIndex> Transfers::receive(const Turn& turn) {
  if (turn.pass == Pass::weight_gradient) return {};
  const Slot slot = slot_of(turn.pass == Pass::forward, turn.chunk, turn.micro_batch);
  const Arrival& arrival = arrivals_[slot];
  if (!arrival.inbox) return arrival.handed_over;
  while (!arrival.received) write_next(inboxes_[*arrival.inbox]);
  return {*arrival.received};
}

// Every rank has its part; the next layer needs all of it.
std::optional<LayerCollective> Transfers::gathering(const Turn& turn) const {
  if (senders_ == 1 || turn.pass == Pass::weight_gradient) return std::nullopt;
  const Slot slot = slot_of(turn.pass == Pass::forward, turn.chunk, turn.micro_batch);
  if (!arrivals_[slot].inbox) return std::nullopt;
  return LayerCollective{tensor_communicator, CollectiveKind::all_gather, source_of(slot).bytes};
}

std::vector<ActivityIndex> Transfers::send(const Turn& turn, std::vector<ActivityIndex> done) {
  const auto& [to, bytes] = result_of(writer_.stage(), turn);
  if (to.stage < 0) return {};
  if (to.stage == writer_.stage()) {
    arrivals_[slot_of(turn.pass == Pass::forward, to.chunk, turn.micro_batch)].handed_over = std::move(done);
    return {};
  }
  const Way& by = way(turn.pass, writer_.stage(), to.stage);
  return {writer_.program().add_collective(by.stream, by.communicator, CollectiveKind::send_receive, part(bytes),
                                           by.label, done)};
}

}  // namespace foretrain::sim::strategies
