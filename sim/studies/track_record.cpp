#include "sim/studies/track_record.h"

#include <string>

#include "sim/server_links.h"
#include "sim/stack_choice.h"

namespace foretrain::sim::studies {
namespace {

// As scenarios/corpus sorts curves: networks that move data past the kernel, and those that do not.
std::string kind_of(const Run& run) {
  if (has_parameter_servers(chosen_reducer(run.scenario().stack, run.stack()))) return "parameter server";
  const Cluster& cluster = run.cluster();
  if (cluster.nodes == 1) return "single node";
  const std::string& network = cluster.network->name;
  const bool past_the_kernel = network == "infiniband" || network == "roce" || network == "efa";
  return past_the_kernel ? "InfiniBand or RoCE" : "Ethernet";
}

}  // namespace

std::optional<calibrate::TrackRecord> track_record_of(const Run& run, const calibrate::Catalogue& catalogue) {
  // The record is of data parallelism with whole copies of the model.
  const Plan& plan = run.scenario().plan;
  const bool whole_copies =
      plan.tensor == 1 && plan.pipeline == 1 && chosen_sharding(plan, run.stack()) == "none";
  if (run.cluster().gpus == 1 || !whole_copies) return std::nullopt;
  const std::string kind = kind_of(run);
  for (const calibrate::TrackRecord& record : catalogue.track_records()) {
    if (record.kind == kind && record.points > 0) return record;
  }
  return std::nullopt;
}

}  // namespace foretrain::sim::studies
