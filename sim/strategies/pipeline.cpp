#include "sim/strategies/pipeline.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "sim/layout.h"
#include "sim/strategies/optimizer.h"
#include "sim/strategies/transfers.h"

namespace foretrain::sim::strategies {
namespace {

bool makes_weight_gradients(Pass pass) { return pass == Pass::backward || pass == Pass::weight_gradient; }

// One stage's step while it is written.
class StageStep {
 public:
  StageStep(StepWriter& writer, std::vector<Chunk>& chunks, const PipelineWork& work)
      : writer_(writer),
        chunks_(chunks),
        work_(work),
        shape_{writer.layout().stages(), static_cast<int>(chunks.size()), work.micro_batches},
        transfers_(writer, shape_, work.stages),
        waits_for_sends_(writer.stack("pipeline_overlap") == 0),
        in_detail_(work.micro_batches <= writer.input().explicit_micro_batches) {}

  void write() {
    const std::vector<Turn> turns = schedule_of(writer_.input().scenario.plan.schedule, shape_, writer_.stage());
    constexpr std::size_t activities_per_turn = 3;  // what arrives, the pass, what is sent on
    Program& program = writer_.program();
    program.activities.reserve(program.activities.size() + activities_per_turn * turns.size());
    program.dependencies.reserve(program.dependencies.size() + activities_per_turn * turns.size());
    std::map<int, std::size_t> last;  // turn of each chunk that completes its weight gradients
    for (std::size_t t = 0; t < turns.size(); ++t) {
      if (makes_weight_gradients(turns[t].pass)) last[turns[t].chunk] = t;
    }
    if (!writer_.program().activities.empty()) waits_ = {writer_.last_host_work()};
    for (std::size_t t = 0; t < turns.size(); ++t) {
      const Turn& turn = turns[t];
      const bool first = begun_.insert({turn.pass, turn.chunk}).second;
      const bool completes = makes_weight_gradients(turn.pass) && t == last.at(turn.chunk);
      write_turn(turn, {first && turn.pass == Pass::forward, completes, !first && makes_weight_gradients(turn.pass)});
    }
    finish();
  }

 private:
  void write_turn(const Turn& turn, const Chunk::MicroBatch& which) {
    std::vector<ActivityIndex> waits = std::exchange(waits_, {});
    const std::vector<ActivityIndex> arriving = transfers_.receive(turn);
    waits.insert(waits.end(), arriving.begin(), arriving.end());
    Chunk& chunk = chunks_[static_cast<std::size_t>(turn.chunk)];
    const std::optional<LayerCollective> gathering = transfers_.gathering(turn);
    std::vector<ActivityIndex> done;
    if (is_in_detail(turn, which)) {
      if (gathering) waits = {writer_.layer_collective(*gathering, waits)};
      begin_on_host(waits);
      done = {write_detail(chunk, turn, which, std::move(waits))};
      const std::vector<ActivityIndex> unfinished = chunk.take_unfinished();
      done.insert(done.end(), unfinished.begin(), unfinished.end());
    } else {
      done = {chunk.write_block(turn.pass, which, waits, gathering)};
    }
    const std::vector<ActivityIndex> sent = transfers_.send(turn, std::move(done));
    if (waits_for_sends_) waits_ = sent;
  }

  [[nodiscard]] bool is_in_detail(const Turn& turn, const Chunk::MicroBatch& which) const {
    if (turn.pass != Pass::forward && turn.pass != Pass::backward) return false;
    if (in_detail_) return true;
    return work_.reducer != nullptr && (which.first || which.reduces);
  }

  ActivityIndex write_detail(Chunk& chunk, const Turn& turn, const Chunk::MicroBatch& which,
                             std::vector<ActivityIndex> waits) {
    Reducer* reducer = work_.reducer;
    if (turn.pass == Pass::forward) {
      if (reducer != nullptr && which.first) reducer->begin_micro_batch(true, work_.micro_batches == 1);
      return chunk.write_forward(which, reducer, std::move(waits));
    }
    if (which.reduces) begin_reduction();
    return chunk.write_backward(which, reducer, std::move(waits));
  }

  // Host and device begin a pass together, as they do in a block.
  void begin_on_host(std::vector<ActivityIndex> waits) {
    if (const auto last = writer_.last_device_work()) waits.push_back(*last);
    const Duration none{Seconds(0), writer_.host_time("host_seconds_per_launch_forward", 0).parameter};
    writer_.host_work("begin a pass", none, waits);
  }

  void begin_reduction() {
    if (work_.reducer == nullptr || std::exchange(reduces_, true)) return;
    work_.reducer->begin_micro_batch(work_.micro_batches == 1, true);
    work_.reducer->before_backward();
  }

  void finish() {
    std::vector<ActivityIndex> after;
    if (work_.reducer != nullptr) {
      if (!reduces_) reduce_blocks();
      after = work_.reducer->finish();
    }
    add_up_shared_tables(after);
    const double share = work_.reducer == nullptr ? 1.0 : work_.reducer->updated_share();
    const ActivityIndex updated = write_optimizer(writer_, after, share);
    if (work_.reducer != nullptr) work_.reducer->after_last_update(updated);
  }

  // Weight gradients of blocks: all are there when the last one is done.
  void reduce_blocks() {
    begin_reduction();
    const ActivityIndex done = *writer_.last_device_work();
    for (std::size_t i = writer_.local_operators().size(); i-- > 0;) {
      work_.reducer->after_backward(i, done);
      work_.reducer->after_any_backward(i, done);
    }
  }

  void add_up_shared_tables(std::vector<ActivityIndex>& after) {
    const bool has_one = writer_.stage() == 0 || writer_.stage() == shape_.stages - 1;
    const double elements = shared_parameters(work_.stages);
    if (!has_one || elements <= 0) return;
    if (after.empty()) after = {*writer_.last_device_work()};
    const std::string name = "gradients of shared tables";
    after.push_back(writer_.host_work("launch " + name, writer_.host_time("collective_launch_seconds", 1)));
    Program& program = writer_.program();
    after.push_back(program.add_collective(
        writer_.stream("embedding communication", StreamKind::communication),
        program.add_communicator(embedding_communicator), calibrate::CollectiveKind::all_reduce,
        Bytes(elements * writer_.stack("gradient_bytes_per_parameter")), program.add_label(name), after));
  }

  StepWriter& writer_;
  std::vector<Chunk>& chunks_;
  const PipelineWork& work_;
  PipelineShape shape_;
  Transfers transfers_;
  bool waits_for_sends_;
  bool in_detail_;
  bool reduces_ = false;               // the reducer has begun
  std::vector<ActivityIndex> waits_;   // of the next turn, besides what arrives for it
  std::set<std::pair<Pass, int>> begun_;  // passes of chunks
};

}  // namespace

void write_pipeline(StepWriter& writer, std::vector<Chunk>& chunks, const PipelineWork& work) {
  require_schedule(writer.input().scenario.plan, work.micro_batches);
  StageStep(writer, chunks, work).write();
}

}  // namespace foretrain::sim::strategies
