#include "calibrate/interval_factors.h"

#include <nlohmann/json.hpp>

#include "base/json.h"

namespace foretrain::calibrate {
namespace {

constexpr std::int64_t most = std::int64_t{1} << 40;
constexpr std::int64_t few_nodes = 4;  // the classes of the data files are cut here

IntervalFactors parse_class(const JsonView& value) {
  value.allow_only({"family", "stack", "chip", "scale", "runs", "below", "above"});
  IntervalFactors factors;
  factors.family = value.at("family").string();
  factors.stack = value.at("stack").string();
  factors.chip = value.at("chip").string();
  factors.scale = value.at("scale").string();
  factors.runs = value.at("runs").integer(0, most);
  factors.below = value.at("below").number({0, 1e6});
  factors.above = value.at("above").number({0, 1e6});
  return factors;
}

int detail(const IntervalFactors& factors) {
  return !factors.stack.empty() + !factors.chip.empty() + !factors.scale.empty();
}

}  // namespace

std::string scale_of(const RunTraits& traits) { return traits.nodes <= few_nodes ? "few nodes" : "many nodes"; }

bool IntervalFactors::holds(const RunTraits& traits) const {
  return family == traits.family && (stack.empty() || stack == traits.stack) && (chip.empty() || chip == traits.chip) &&
         (scale.empty() || scale == scale_of(traits));
}

std::vector<IntervalFactors> read_interval_factors(const DataStore& data) {
  std::vector<IntervalFactors> all;
  for (const DataFile& file : data.files("interval_factors")) {
    const Json json = parse_json(file.text, file.source);
    const JsonView view(json, file.source);
    static_cast<void>(view.at("foretrain_interval_factors").integer(1, 1));
    for (const JsonView& one : view.at("classes").items()) all.push_back(parse_class(one));
  }
  return all;
}

std::optional<IntervalFactors> factors_for(const std::vector<IntervalFactors>& all, const RunTraits& traits) {
  std::optional<IntervalFactors> best;
  for (const IntervalFactors& factors : all) {
    if (factors.holds(traits) && (!best || detail(factors) > detail(*best))) best = factors;
  }
  return best;
}

}  // namespace foretrain::calibrate
