// GroupNetwork: the links and flows of a job's groups, ready to send.
//
// Only links that flows cross are built. Where all flows take a link with multiples of some weight (in a
// folded job, an uplink that 256 equal flows cross), the link is divided by it instead: SimGrid walks a
// route once per unit of weight.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parameter.h"
#include "sim/engine/session.h"
#include "sim/job.h"

namespace foretrain::sim::engine {

class GroupNetwork {
 public:
  GroupNetwork(const Job& job, const Draw* draw, Session& session);

  // Starts a flow of a group with its share of the bytes; the route is not empty.
  void start(std::uint32_t group, std::uint32_t flow, Bytes bytes, Token token);

  // Of the links that a flow crosses, the one that its group, sending all flows of that kind of operation, fills most.
  [[nodiscard]] ParameterId bottleneck(std::uint32_t group, std::uint32_t flow) const;

 private:
  [[nodiscard]] double capacity(const LinkUse& use) const;

  const Job& job_;
  const Draw* draw_;
  Session& session_;
  std::vector<std::uint32_t> common_weight_;  // by job link; 0 = not crossed
  std::vector<LinkHandle> handle_;            // by job link
  std::vector<LinkShare> route_;              // of the flow being started
};

}  // namespace foretrain::sim::engine
