// Track record: how far predictions of published speedup curves were off, by kind of cluster.
//
// `foretrain validate --save-track-record` writes the file (calibrate/track_record/*.json), and answers quote it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/data.h"

namespace foretrain::calibrate {

struct TrackRecord {
  std::string kind;  // "single node", "InfiniBand or RoCE", "Ethernet", "parameter server", "network not stated"
  std::int64_t families = 0, points = 0;
  // Of the speedup over the smallest count of a curve, over points, as fractions.
  double median_ape = 0, mape = 0, coverage90 = 0;
};

// Those of all files. Throws Error for a file that is none.
[[nodiscard]] std::vector<TrackRecord> track_records(const DataStore& data);

}  // namespace foretrain::calibrate
