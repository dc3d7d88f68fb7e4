// Track record: how predictions of published measurements went, which answers quote.
//
// Of speedup curves by kind of cluster, and of training runs one by one: an answer looks for the runs most like its own
// (sim/studies/nearest_runs.h). `foretrain validate --save-track-record` writes the files
// (calibrate/track_record/*.json).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/data.h"
#include "calibrate/run_traits.h"

namespace foretrain::calibrate {

struct TrackRecord {
  std::string kind;  // "single node", "InfiniBand or RoCE", "Ethernet", "parameter server", "network not stated"
  std::int64_t families = 0, points = 0;
  std::int64_t most_gpus = 0;  // of any point
  // Of the speedup over the smallest count of a curve, over points, as fractions.
  double median_ape = 0, mape = 0, coverage90 = 0;
};

// A published run whose step was predicted.
struct PredictedRun {
  std::string id, source;
  RunTraits traits;
  double error = 0;           // predicted / measured − 1
  double baseline_error = 0;  // that of one utilisation fitted to the other sources; NaN = it has none
  bool held = false;          // a 90 % interval that had not seen its source held the measured step
};

// Those of all files. Throw Error for a file that is none.
[[nodiscard]] std::vector<TrackRecord> read_track_records(const DataStore& data);
[[nodiscard]] std::vector<PredictedRun> read_predicted_runs(const DataStore& data);

// How the runs most like an answer were predicted.
struct RunRecord {
  std::vector<std::string> alike;  // what they and the answer have in common: "tensor parallel", "A100", "megatron"
  std::int64_t runs = 0, sources = 0, held = 0;
  std::int64_t least_gpus = 0, most_gpus = 0;
  double least_parameters = 0, most_parameters = 0;
  double median_ape = 0, mape = 0;
  double skill = 0;                 // 1 − mean error / that of the baseline, over runs that have one; NaN without
  std::vector<std::string> beyond;  // how the answer goes beyond them: "4 × their most GPUs", "no run on L40S"
};

}  // namespace foretrain::calibrate
