#include "sim/studies/run.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "models/precision.h"
#include "sim/engine/replay.h"
#include "sim/fold.h"
#include "sim/server_links.h"
#include "sim/stack_choice.h"
#include "sim/workload.h"

namespace foretrain::sim::studies {
namespace {

strategies::Composed composed_for(const Scenario& scenario, const Cluster& cluster, const models::Model& model,
                                  const calibrate::Stack& stack, const Anchor& anchor, bool want_terms,
                                  const Topology& topology, const CollectivePlanner& planner,
                                  ParameterTable& parameters) {
  strategies::ComposeInput input{scenario,         cluster,   model, stack, anchor.compute_scale,
                                 anchor.parameter, want_terms};
  input.planner = &planner;
  input.topology = &topology;
  return strategies::compose(input, parameters);
}

// The network as this software uses it; what a user says it achieves is taken as it is.
Cluster cluster_for(const Scenario& scenario, const calibrate::Catalogue& catalogue) {
  const calibrate::Stack stack = chosen_stack(scenario.stack, catalogue);
  const bool servers_apart = has_parameter_servers(chosen_reducer(scenario.stack, stack)) &&
                             stack.at("servers_apart").value != 0;
  Cluster cluster = resolve_cluster(scenario.cluster, catalogue, servers_apart);
  if (cluster.network != nullptr && !cluster.achieved_fraction_given) {
    cluster.network_achieved_fraction *= stack.at("network_share").value;
  }
  return cluster;
}

// Attention is fused where the stack does it and the device has such kernels for the precision; memory, launches and
// times all go by the same answer.
calibrate::Stack stack_on(const Cluster& cluster, const Scenario& scenario, const calibrate::Catalogue& catalogue) {
  calibrate::Stack stack = chosen_stack(scenario.stack, catalogue);
  if (cluster.device->attention.empty() || !models::is_mixed(scenario.training.precision)) {
    stack.values.at("fused_attention").value = 0;
  }
  return stack;
}

}  // namespace

Run::Run(const Scenario& scenario, const calibrate::Catalogue& catalogue, const Anchor& anchor,
         const RunOptions& options, ParameterTable& parameters)
    : scenario_(scenario),
      cluster_(cluster_for(scenario, catalogue)),
      stack_(stack_on(cluster_, scenario, catalogue)),
      model_(build_workload(scenario, scenario.training.micro_batch, catalogue.data())),
      batches_(strategies::resolve_batches(scenario.training, scenario.plan, cluster_.gpus)),
      parameters_(parameters),
      topology_(cluster_, parameters,
                server_links(cluster_, chosen_reducer(scenario_.stack, stack_), stack_,
                             catalogue.collective_constants(), parameters)),
      costs_(cluster_, topology_, catalogue, parameters),
      composed_(composed_for(scenario_, cluster_, model_, stack_, anchor, options.want_terms, topology_, costs_,
                             parameters)),
      job_(options.fold ? fold(std::move(composed_.programs), composed_.placement, topology_)
                        : expand(std::move(composed_.programs), composed_.placement, topology_)) {
  job_.steps_overlap = composed_.steps_overlap;
}

double Run::samples_per_second(const Timeline& timeline) const {
  if (composed_.waits_for_all_ranks) return static_cast<double>(batches_.global) / timeline.step_seconds;
  const double samples_of_rank = static_cast<double>(batches_.micro * batches_.accumulation);
  double rate = 0;
  for (std::size_t i = 0; i < job_.instances.size(); ++i) {
    double finish = 0;
    const std::size_t activities = job_.programs[job_.instances[i].program].activities.size();
    for (std::size_t a = 0; a < activities; ++a) {
      finish = std::max(finish, timeline.spans[timeline.first_of[i] + a].finish);
    }
    rate += job_.instances[i].represents * samples_of_rank / finish;
  }
  return rate;
}

Timeline Run::replay(const Draw* draw) const { return engine::replay(job_, costs_, {engine::Fidelity::fluid, draw}); }

std::vector<Traffic> Run::traffic(const Timeline& timeline) const {
  std::vector<Traffic> traffic(timeline.collectives.size());
  using Call = std::tuple<std::uint32_t, calibrate::CollectiveKind, double>;  // group, kind, bytes
  std::map<Call, Traffic> known;
  for (std::size_t i = 0; i < job_.instances.size(); ++i) {
    const RankInstance& instance = job_.instances[i];
    const Program& program = job_.programs[instance.program];
    for (std::size_t a = 0; a < program.activities.size(); ++a) {
      const std::uint32_t collective = timeline.collective_of[timeline.first_of[i] + a];
      if (collective == no_span) continue;
      const Activity& activity = program.activities[a];
      const std::uint32_t group = instance.group_of_communicator[activity.communicator];
      const auto [found, added] = known.try_emplace({group, activity.collective, activity.bytes.value});
      if (added) {
        const CollectivePlan plan = costs_.plan(activity.collective, activity.bytes, job_.groups[group].shape);
        found->second = {plan.rank_bytes.value, plan.node_bytes.value};
      }
      traffic[collective] = found->second;
    }
  }
  return traffic;
}

std::vector<Term> Run::terms(std::uint32_t which) const {
  const RankInstance& instance = job_.instances[which];
  const Program& program = job_.programs[instance.program];
  std::vector<Term> terms = composed_.terms[instance.program];
  std::map<std::string, std::size_t> known;  // of collectives alike
  for (const Activity& activity : program.activities) {
    // Those of layers are among the layers' terms.
    if (!activity.is_collective || program.labels[activity.label].find(" of layers (") != std::string::npos) continue;
    const Group& group = job_.groups[instance.group_of_communicator[activity.communicator]];
    const CollectivePlan plan = costs_.plan(activity.collective, activity.bytes, group.shape);
    const std::string formula = format_bytes(activity.bytes) + ": " + plan.how;
    const std::string& name = program.labels[activity.label];
    const auto [found, added] = known.try_emplace(name + '\n' + formula, terms.size());
    if (!added) {
      terms[found->second].seconds += plan.alone.time.value;
      continue;
    }
    const Parameter& parameter = parameters_.at(plan.alone.parameter);
    terms.push_back({name, calibrate::to_string(activity.collective), plan.alone.time.value, formula,
                     to_string(parameter.provenance), parameter.source});
  }
  return terms;
}

}  // namespace foretrain::sim::studies
