#include "sim/studies/shares.h"

#include <cmath>

#include "base/statistics.h"

namespace foretrain::sim::studies {

Effects effects_of(const std::vector<CriticalShare>& critical, double step_seconds, const ParameterTable& parameters) {
  Effects effects;
  for (const CriticalShare& part : critical) {
    const Parameter& parameter = parameters.at(part.parameter);
    ParameterEffect& effect = effects[parameter.name];
    effect.share += part.seconds / step_seconds;
    effect.relative_spread = parameter.relative_spread;
  }
  return effects;
}

Effects effects_of(const Prediction& prediction) {
  Effects effects;
  for (const ParameterShare& part : prediction.parameters) {
    effects[part.parameter.name] = {part.critical_seconds / prediction.step_time.value, part.parameter.relative_spread};
  }
  return effects;
}

double log_spread(const Effects& effects) { return log_spread_of_ratio(effects, {}); }

double log_spread_of_ratio(const Effects& a, const Effects& b) {
  std::map<std::string, double> differences;
  for (const auto& [name, effect] : a) differences[name] += effect.share * effect.relative_spread;
  for (const auto& [name, effect] : b) differences[name] -= effect.share * effect.relative_spread;
  double variance = 0;
  for (const auto& [name, difference] : differences) variance += difference * difference;
  return std::sqrt(variance);
}

double half_width_90() {
  static const double width = normal_quantile(0.95);
  return width;
}

Quantity log_normal_quantity(double value, double log_spread, const std::string& unit, const std::string& provenance) {
  const double factor = std::exp(half_width_90() * log_spread);
  return {value, value / factor, value * factor, unit, provenance, true};
}

Quantity unknown_quantity(const std::string& unit, const std::string& reason) { return {0, 0, 0, unit, reason, false}; }

}  // namespace foretrain::sim::studies
