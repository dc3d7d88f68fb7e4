#include "sim/studies/scaling_interval.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

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

LogMargins unexplained_margins(const ScalingLoss& loss, double efficiency) {
  const double unexplained = loss.factor * (loss.floor + loss.slope * std::clamp(1 - efficiency, 0.0, 1.0));
  return {loss.below * unexplained, loss.above * unexplained};
}

StepMargins step_margins(double log_spread, const std::optional<calibrate::IntervalFactors>& factors,
                         double repeat_spread) {
  const double normal = half_width_90(), least = normal * repeat_spread;
  return {std::max(least, (factors ? factors->below : normal) * log_spread),
          std::max(least, (factors ? factors->above : normal) * log_spread)};
}

StepMargins shortest_margins(std::vector<double> deviations) {
  constexpr double held = 0.9;
  std::sort(deviations.begin(), deviations.end());
  const std::size_t n = deviations.size();
  const std::size_t count = std::min(n, static_cast<std::size_t>(std::ceil(held * static_cast<double>(n + 1))));
  StepMargins best{std::numeric_limits<double>::infinity(), 0};
  for (std::size_t first = 0; first + count <= n; ++first) {
    const StepMargins margins{std::max(0.0, -deviations[first]), std::max(0.0, deviations[first + count - 1])};
    if (margins.below + margins.above < best.below + best.above) best = margins;
  }
  return best;
}

LogMargins together(const LogMargins& a, const LogMargins& b) {
  return {std::hypot(a.below, b.below), std::hypot(a.above, b.above)};
}

LogMargins symmetric_margins(double log_spread) {
  return {half_width_90() * log_spread, half_width_90() * log_spread};
}

Quantity rate_quantity(double value, const LogMargins& margins, const std::string& unit,
                       const std::string& provenance) {
  return {value, value * std::exp(-margins.below), value * std::exp(margins.above), unit, provenance, true};
}

Quantity time_quantity(double value, const LogMargins& margins, const std::string& provenance) {
  return {value, value * std::exp(-margins.above), value * std::exp(margins.below), "s", provenance, true};
}

double odds_above_one(double ratio, const LogMargins& margins) {
  const double distance = std::log(ratio);
  const double margin = distance > 0 ? margins.below : margins.above;
  if (margin <= 0) return distance > 0 ? 1.0 : distance < 0 ? 0.0 : 0.5;
  return 0.5 * std::erfc(-distance * half_width_90() / margin / std::sqrt(2.0));
}

}  // namespace foretrain::sim::studies
