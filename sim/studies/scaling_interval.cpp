#include "sim/studies/scaling_interval.h"

#include <algorithm>
#include <cmath>

#include "sim/studies/shares.h"

namespace foretrain::sim::studies {

ScalingLoss scaling_loss(const Run& run, const calibrate::Catalogue& catalogue) {
  const Cluster& cluster = run.cluster();
  if (cluster.gpus == 1) return {};
  const auto value = [&](const char* key) { return run.stack().at(key).value; };
  ScalingLoss loss{value("scaling_loss_floor"), value("scaling_loss_slope"), value("scaling_loss_below"),
                   value("scaling_loss_above"), value("scaling_loss_factor")};
  if (cluster.nodes > 1) loss.factor = std::max(loss.factor, cluster.network->scaling_loss_factor);
  if (cluster.machine.intra_node == calibrate::IntraNode::pcie) {
    loss.factor = std::max(loss.factor, catalogue.collective_constants().pcie_scaling_loss_factor);
  }
  return loss;
}

LogInterval scaling_interval(const ScalingLoss& loss, double log_spread, double efficiency) {
  const double unexplained = loss.factor * (loss.floor + loss.slope * std::clamp(1 - efficiency, 0.0, 1.0));
  const double parameters = half_width_90() * log_spread;
  return {std::hypot(parameters, loss.below * unexplained), std::hypot(parameters, loss.above * unexplained)};
}

}  // namespace foretrain::sim::studies
