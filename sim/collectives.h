// Collectives: what an operation on a group costs, as a latency and bytes per link.
//
// CollectiveCosts decides algorithm, latency α and bytes as NCCL would choose: inside a node from a measured
// table where there is one, else and across nodes by α–β. With the group's flows (sim/group_flows.h) a
// collective is {α timer, then all flows at once}; alone on its links it takes exactly
// CollectivePlan::alone. Closed forms: ring all-reduce of S bytes over n ranks on links of B bytes/s
// 2(n-1)(α_step + S/(n·B)); double binary tree over N nodes of L ranks, latency
// 2((L-1)·α_inside + ⌈log2 N⌉·α_hop), 2·S bytes per node (NCCL, src/graph/tuning.cc). An exchange with parameter
// servers is a request and its answer, then the bytes of all clients at once.
#pragma once

#include <vector>

#include "base/parameter.h"
#include "base/units.h"
#include "calibrate/catalogue.h"
#include "sim/collective_planner.h"
#include "sim/group_flows.h"
#include "sim/measured_collectives.h"
#include "sim/topology.h"

namespace foretrain::sim {

class CollectiveCosts : public CollectivePlanner {
 public:
  // Cluster, topology and tables must outlive it; latency parameters are added to `parameters`.
  CollectiveCosts(const Cluster& cluster, const Topology& topology, const calibrate::Catalogue& catalogue,
                  ParameterTable& parameters);
  CollectiveCosts(const Cluster& cluster, const Topology& topology, const calibrate::CollectiveConstants& constants,
                  const std::vector<calibrate::CollectiveTable>& tables, ParameterTable& parameters);

  // `bytes` as Activity::bytes counts them. A group of one rank costs nothing.
  [[nodiscard]] CollectivePlan plan(calibrate::CollectiveKind kind, Bytes bytes,
                                    const GroupShape& shape) const override;

 private:
  [[nodiscard]] GroupShape completed(const GroupShape& shape) const;
  [[nodiscard]] CollectivePlan inside_node(calibrate::CollectiveKind kind, Bytes bytes, const GroupShape& shape) const;
  [[nodiscard]] CollectivePlan ring_across_nodes(calibrate::CollectiveKind kind, Bytes bytes,
                                                 const GroupShape& shape) const;
  [[nodiscard]] CollectivePlan tree_across_nodes(Bytes bytes, const GroupShape& shape) const;
  [[nodiscard]] CollectivePlan with_servers(calibrate::CollectiveKind kind, Bytes bytes, const GroupShape& shape) const;
  [[nodiscard]] Seconds inside_step(bool over_pcie) const;
  [[nodiscard]] double message_stretch(Bytes bytes, const GroupShape& shape) const;
  [[nodiscard]] double inside_share(const GroupShape& shape) const;

  const Cluster& cluster_;
  const Topology& topology_;
  calibrate::CollectiveConstants constants_;
  MeasuredCollectives measured_;
  ParameterId inside_latency_;
  ParameterId hop_latency_;
};

}  // namespace foretrain::sim
