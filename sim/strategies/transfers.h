// Transfers: what a pipeline stage sends to its neighbours and receives from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
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
  // With parts sent by every tensor-parallel rank: their gathering on arrival.
  [[nodiscard]] std::optional<LayerCollective> gathering(const Turn& turn) const;
  // Sends on what a turn has made when all of `done` is done; the transfer, or nothing where nobody else needs it.
  std::vector<ActivityIndex> send(const Turn& turn, std::vector<ActivityIndex> done);

 private:
  // One kind of pass, the receiver's chunk and micro-batch, numbered through.
  using Slot = std::size_t;
  // What comes over one communicator, in the order in which it is sent, and how much of it has been written.
  struct Inbox {
    std::string communicator;
    std::vector<Slot> expected;
    std::size_t written = 0;
  };
  struct Arrival {
    std::optional<std::size_t> inbox;  // where it comes from another stage
    std::optional<ActivityIndex> received;
    std::vector<ActivityIndex> handed_over;  // where it comes from another chunk of the stage
  };
  struct Result {
    Neighbour to;
    Bytes bytes;  // as every tensor-parallel rank has it
  };
  // Where transfers to or from another stage are written.
  struct Way {
    std::uint16_t stream = 0, communicator = 0;
    std::uint32_t label = 0;
  };
  struct Source {
    int stage = -1;
    Pass pass = Pass::forward;
    Bytes bytes;
  };

  // What a turn of a stage makes for the next chunk.
  [[nodiscard]] Result result_of(int stage, const Turn& turn) const;
  [[nodiscard]] Source source_of(Slot slot) const;
  [[nodiscard]] Slot slot_of(bool forward, int chunk, std::int64_t micro_batch) const;
  [[nodiscard]] std::size_t inbox_named(const std::string& communicator);
  void expect_from(int stage);
  void write_next(Inbox& inbox);
  // Of what `pass` makes on stage `from` for stage `to`; one of them is the writer's. Looked up once.
  const Way& way(Pass pass, int from, int to);
  [[nodiscard]] Bytes part(Bytes bytes) const { return bytes * (1.0 / senders_); }

  StepWriter& writer_;
  const std::string& schedule_;
  PipelineShape shape_;
  const std::vector<Stage>& stages_;
  int senders_ = 1;  // tensor-parallel ranks that each send a part
  std::map<std::tuple<Pass, int, int>, Way> ways_;
  std::vector<Inbox> inboxes_;
  std::vector<Arrival> arrivals_;  // by slot
};

}  // namespace foretrain::sim::strategies
