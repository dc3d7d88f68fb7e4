#include "sim/engine/group_network.h"

#include <cassert>
#include <numeric>

#include "sim/mixture.h"

namespace foretrain::sim::engine {

GroupNetwork::GroupNetwork(const Job& job, const Draw* draw, Session& session)
    : job_(job), draw_(draw), session_(session), common_weight_(job.links.size(), 0), handle_(job.links.size()) {
  for (const Group& group : job.groups) {
    for (const FlowTemplate& flow : group.flows) {
      for (const LinkUse& use : flow.route) {
        assert(use.weight > 0);
        common_weight_[use.link] = std::gcd(common_weight_[use.link], use.weight);
      }
    }
  }
  for (std::uint32_t link = 0; link < job.links.size(); ++link) {
    if (common_weight_[link] > 0) {
      handle_[link] = session.add_link(BytesPerSecond(capacity({link, common_weight_[link]})));
    }
  }
}

void GroupNetwork::start(std::uint32_t group, std::uint32_t flow, Bytes bytes, Token token) {
  route_.clear();
  for (const LinkUse& use : job_.groups[group].flows[flow].route) {
    route_.push_back({handle_[use.link], use.weight / common_weight_[use.link]});
  }
  session_.start_flow(bytes, route_, token);
}

ParameterId GroupNetwork::bottleneck(std::uint32_t group, std::uint32_t flow) const {
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
