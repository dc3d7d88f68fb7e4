// GroupNetwork: the links and flows of a job's groups, ready to send.
//
// Only links that flows cross are built. Where all flows take a link with multiples of some weight (in a
// folded job, an uplink that 256 equal flows cross), the link is divided by it instead: SimGrid walks a
// route once per unit of weight.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parameter.h"
#include "sim/engine/simulation.h"
#include "sim/job.h"

namespace foretrain::sim::engine {

class GroupNetwork {
 public:
  GroupNetwork(const Job& job, const Draw* draw, Simulation& simulation);

  // Starts a flow of a group with its share of the bytes at that time; the route is not empty.
  void start(double at, std::uint32_t group, std::uint32_t flow, Bytes bytes, Token token);

  // Of the links that a flow crosses, the one that its group, sending all flows of that kind of operation, fills most.
  [[nodiscard]] ParameterId bottleneck(std::uint32_t group, std::uint32_t flow);

 private:
  struct Flow {
    RouteHandle route;
    bool is_bottleneck_known = false;
    ParameterId bottleneck;
  };
  [[nodiscard]] std::vector<std::uint32_t> common_weights() const;
  [[nodiscard]] ParameterId find_bottleneck(std::uint32_t group, std::uint32_t flow) const;
  [[nodiscard]] double capacity(const LinkUse& use) const;

  const Job& job_;
  const Draw* draw_;
  Simulation& simulation_;
  std::vector<std::uint32_t> first_flow_;  // by group: range in flows_
  std::vector<Flow> flows_;
};

}  // namespace foretrain::sim::engine
