#include "sim/engine/replay.h"

#include "sim/engine/calls.h"
#include "sim/engine/executor.h"
#include "sim/engine/program_graph.h"

namespace foretrain::sim::engine {

Timeline replay(const Job& job, const CollectivePlanner& planner, const ReplayOptions& options) {
  std::vector<ProgramGraph> graphs;
  graphs.reserve(job.programs.size());
  for (const Program& program : job.programs) graphs.push_back(program_graph(program));
  const Calls calls = collect_calls(job, graphs, planner);
  Executor executor(job, graphs, calls, options);
  return executor.run();
}

}  // namespace foretrain::sim::engine
