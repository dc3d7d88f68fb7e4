#include "base/parameter.h"

#include <cmath>
#include <utility>

#include "base/statistics.h"

namespace foretrain {

namespace {

// SplitMix64 (Steele, Lea, Flood 2014): one step of the generator, good enough to decorrelate neighbouring seeds.
std::uint64_t mixed(std::uint64_t state) {
  state += 0x9E3779B97F4A7C15U;
  state = (state ^ (state >> 30U)) * 0xBF58476D1CE4E5B9U;
  state = (state ^ (state >> 27U)) * 0x94D049BB133111EBU;
  return state ^ (state >> 31U);
}

// A standard normal number that depends on nothing but (seed, replay, name), on every machine alike
// (std::normal_distribution differs between standard libraries).
double standard_normal(std::uint64_t seed, std::uint64_t replay, const std::string& name) {
  std::uint64_t state = mixed(mixed(seed) ^ replay);
  for (const char c : name) state = mixed(state ^ static_cast<unsigned char>(c));
  const double uniform = (static_cast<double>(mixed(state) >> 11U) + 0.5) * 0x1.0p-53;  // 53 bits, never 0 or 1
  return normal_quantile(uniform);
}

}  // namespace

const char* to_string(Provenance provenance) {
  switch (provenance) {
    case Provenance::measured: return "measured";
    case Provenance::interpolated: return "interpolated";
    case Provenance::fitted: return "fitted";
    case Provenance::datasheet: return "datasheet";
    case Provenance::assumed: return "assumed";
    case Provenance::given: return "given";
  }
  return "unknown";
}

ParameterId ParameterTable::add(Parameter parameter) {
  const auto [entry, is_new] = index_.try_emplace(parameter.name, static_cast<std::uint32_t>(rows_.size()));
  if (is_new) rows_.push_back(std::move(parameter));
  return ParameterId{entry->second};
}

Draw neutral_draw(const ParameterTable& table) { return Draw(table.size(), 1.0); }

Draw random_draw(const ParameterTable& table, std::uint64_t seed, std::uint64_t replay) {
  Draw draw;
  draw.reserve(table.size());
  for (const Parameter& parameter : table.rows()) {
    draw.push_back(std::exp(parameter.relative_spread * standard_normal(seed, replay, parameter.name)));
  }
  return draw;
}

}  // namespace foretrain
