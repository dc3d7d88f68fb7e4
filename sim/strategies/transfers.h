// Transfers: what a pipeline stage sends to its neighbours and receives from them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "sim/strategies/schedule.h"
#include "sim/strategies/stages.h"
#include "sim/strategies/step_writer.h"

namespace foretrain::sim::strategies {

class Transfers {
 public:
  // Of the writer's stage; everything that is passed must outlive it.
  Transfers(StepWriter& writer, const PipelineShape& shape, const std::vector<Stage>& stages);

  // What the pass of a turn waits for from elsewhere: the activations or gradients that arrive for it.
  [[nodiscard]] std::vector<ActivityIndex> receive(const Turn& turn);
  // Sends on what a turn has made when all of `done` is done; the transfer, or nothing where nobody else needs it.
  std::vector<ActivityIndex> send(const Turn& turn, std::vector<ActivityIndex> done);

 private:
  using Key = std::tuple<bool, int, std::int64_t>;  // forward or not, the receiver's chunk, micro-batch
  // What comes over one communicator, in the order in which it is sent, and how much of it has been written.
  struct Inbox {
    std::vector<Key> expected;
    std::size_t written = 0;
  };
  struct Result {
    Neighbour to;
    Bytes bytes;  // as every tensor-parallel rank has it
  };
  struct Source {
    int stage = -1;
    Pass pass = Pass::forward;
    Bytes bytes;
  };

  // What a turn of a stage makes for the next chunk.
  [[nodiscard]] Result result_of(int stage, const Turn& turn) const;
  [[nodiscard]] Source source_of(const Key& key) const;
  void expect_from(int stage);
  void write_next(const std::string& communicator);
  [[nodiscard]] Bytes part(Bytes bytes) const { return bytes * (1.0 / senders_); }

  StepWriter& writer_;
  const std::string& schedule_;
  PipelineShape shape_;
  const std::vector<Stage>& stages_;
  int senders_ = 1;  // tensor-parallel ranks that each send a part
  std::map<std::string, Inbox> inboxes_;      // by communicator
  std::map<Key, std::string> communicators_;  // by what is expected
  std::map<Key, ActivityIndex> arrived_;
  std::map<Key, std::vector<ActivityIndex>> handed_over_;  // from one chunk of the stage to another
};

}  // namespace foretrain::sim::strategies
