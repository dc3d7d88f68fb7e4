// Interval factors: how far measured steps lay from predicted ones, in units of the spread that was predicted.
//
// A spread put together from parameters says how sure each of them is, not how often the model as a whole was right.
// So published runs were predicted, their deviations ln(measured / predicted) divided by the predicted spread, and for
// every class of runs the shortest interval around the prediction taken that held 90 % of them (split conformal
// prediction with its finite-sample rank: of n runs, ⌈0.9 (n + 1)⌉). `foretrain validate --save-interval-factors` writes
// the file (calibrate/interval_factors/*.json).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/data.h"
#include "calibrate/run_traits.h"

namespace foretrain::calibrate {

// "few nodes" or "many nodes": on large clusters jobs share the network, and the slowest of many nodes decides.
[[nodiscard]] std::string scale_of(const RunTraits& traits);

struct IntervalFactors {
  std::string family;              // of the models: "transformer"
  std::string stack, chip, scale;  // what runs of the class have in common besides; empty = any
  std::int64_t runs = 0;
  // Of the step: it is measured between value · exp(−below · spread) and value · exp(above · spread).
  double below = 0, above = 0;

  [[nodiscard]] bool holds(const RunTraits& traits) const;
};

// Those of all files. Throws Error for a file that is none.
[[nodiscard]] std::vector<IntervalFactors> read_interval_factors(const DataStore& data);

// The narrowest class that holds the run; nothing where no runs of its stack were measured.
[[nodiscard]] std::optional<IntervalFactors> factors_for(const std::vector<IntervalFactors>& all,
                                                         const RunTraits& traits);

}  // namespace foretrain::calibrate
