#include "sim/engine/group_network.h"

#include <cassert>
#include <numeric>

#include "sim/mixture.h"

namespace foretrain::sim::engine {

GroupNetwork::GroupNetwork(const Job& job, const Draw* draw, Simulation& simulation)
    : job_(job), draw_(draw), simulation_(simulation) {
  const std::vector<std::uint32_t> common_weight = common_weights();
  std::vector<LinkHandle> handle(job.links.size());
  for (std::uint32_t link = 0; link < job.links.size(); ++link) {
    if (common_weight[link] == 0) continue;
    handle[link] = simulation.add_link(BytesPerSecond(capacity({link, common_weight[link]})));
  }
  std::vector<LinkShare> route;
  for (const Group& group : job.groups) {
    first_flow_.push_back(static_cast<std::uint32_t>(flows_.size()));
    for (const FlowTemplate& flow : group.flows) {
      route.clear();
      for (const LinkUse& use : flow.route) {
        route.push_back({handle[use.link], use.weight / common_weight[use.link]});
      }
      flows_.emplace_back();
      if (!route.empty()) flows_.back().route = simulation.add_route(route);
    }
  }
}

// By job link: what divides the weights of all flows on it; 0 = no flow crosses it.
std::vector<std::uint32_t> GroupNetwork::common_weights() const {
  std::vector<std::uint32_t> weights(job_.links.size(), 0);
  for (const Group& group : job_.groups) {
    for (const FlowTemplate& flow : group.flows) {
      for (const LinkUse& use : flow.route) {
        assert(use.weight > 0);
        weights[use.link] = std::gcd(weights[use.link], use.weight);
      }
    }
  }
  return weights;
}

void GroupNetwork::start(double at, std::uint32_t group, std::uint32_t flow, Bytes bytes, Token token) {
  simulation_.start_flow(at, bytes, flows_[first_flow_[group] + flow].route, token);
}

ParameterId GroupNetwork::bottleneck(std::uint32_t group, std::uint32_t flow) {
  Flow& which = flows_[first_flow_[group] + flow];
  if (!which.is_bottleneck_known) {
    which.bottleneck = find_bottleneck(group, flow);
    which.is_bottleneck_known = true;
  }
  return which.bottleneck;
}

ParameterId GroupNetwork::find_bottleneck(std::uint32_t group, std::uint32_t flow) const {
  const std::vector<FlowTemplate>& flows = job_.groups[group].flows;
  const Route& route = flows[flow].route;
  std::vector<double> load(route.size(), 0.0);
  for (const FlowTemplate& other : flows) {
    if (other.only_for != flows[flow].only_for) continue;
    for (const LinkUse& use : other.route) {
      for (std::size_t i = 0; i < route.size(); ++i) {
        if (route[i].link == use.link) load[i] += other.share * use.weight;
      }
    }
  }
  std::size_t fullest = 0;
  const auto seconds = [&](std::size_t i) { return load[i] / capacity({route[i].link, 1}); };
  for (std::size_t i = 1; i < route.size(); ++i) {
    if (seconds(i) > seconds(fullest)) fullest = i;
  }
  return job_.links[route[fullest].link].parameter;
}

// What is left of a link per unit of weight.
double GroupNetwork::capacity(const LinkUse& use) const {
  const Link& link = job_.links[use.link];
  return link.capacity.value / time_multiplier(draw_, link.parameter) / use.weight;
}

}  // namespace foretrain::sim::engine
