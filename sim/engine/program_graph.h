// ProgramGraph: a program's order as a graph: who may start when an activity finishes.
//
// An activity waits for the one before it on its stream and for those it names; streams need no other
// bookkeeping. All ranks of a class share one graph.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/program.h"

namespace foretrain::sim::engine {

struct ProgramGraph {
  std::vector<std::uint32_t> first_dependent;  // by activity, and one more: range in dependents
  std::vector<ActivityIndex> dependents;
  std::vector<std::uint32_t> waits;        // by activity: for how many finishes it waits
  std::vector<ActivityIndex> collectives;  // in program order
  std::vector<std::uint32_t> call;         // by activity: which call on its communicator a collective is
};

[[nodiscard]] ProgramGraph program_graph(const Program& program);

}  // namespace foretrain::sim::engine
