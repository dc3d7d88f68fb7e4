#include "sim/engine/program_graph.h"

#include <cassert>

namespace foretrain::sim::engine {
namespace {

constexpr ActivityIndex none = 0xffffffffu;

// Calls visit(earlier, later) for every pair in which `later` waits for `earlier`.
template <class Visit>
void for_each_wait(const Program& program, Visit visit) {
  std::vector<ActivityIndex> last_on_stream(program.streams.size(), none);
  for (ActivityIndex later = 0; later < program.activities.size(); ++later) {
    const Activity& activity = program.activities[later];
    ActivityIndex& previous = last_on_stream[activity.stream];
    if (previous != none) visit(previous, later);
    previous = later;
    for (std::uint32_t d = 0; d < activity.dependency_count; ++d) {
      const ActivityIndex earlier = program.dependencies[activity.first_dependency + d];
      assert(earlier < later);
      visit(earlier, later);
    }
  }
}

void number_calls(const Program& program, ProgramGraph& graph) {
  std::vector<std::uint32_t> calls(program.communicators.size(), 0);
  graph.call.assign(program.activities.size(), 0);
  for (ActivityIndex a = 0; a < program.activities.size(); ++a) {
    const Activity& activity = program.activities[a];
    if (!activity.is_collective) continue;
    graph.collectives.push_back(a);
    graph.call[a] = calls[activity.communicator]++;
  }
}

}  // namespace

ProgramGraph program_graph(const Program& program) {
  ProgramGraph graph;
  const std::size_t count = program.activities.size();
  graph.waits.assign(count, 0);
  graph.first_dependent.assign(count + 1, 0);
  for_each_wait(program, [&](ActivityIndex earlier, ActivityIndex later) {
    ++graph.waits[later];
    ++graph.first_dependent[earlier + 1];
  });
  for (std::size_t a = 0; a < count; ++a) graph.first_dependent[a + 1] += graph.first_dependent[a];
  graph.dependents.resize(graph.first_dependent[count]);
  std::vector<std::uint32_t> next = graph.first_dependent;
  for_each_wait(program,
                [&](ActivityIndex earlier, ActivityIndex later) { graph.dependents[next[earlier]++] = later; });
  number_calls(program, graph);
  return graph;
}

}  // namespace foretrain::sim::engine
