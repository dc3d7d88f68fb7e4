#include "calibrate/track_record.h"

#include <nlohmann/json.hpp>

#include "base/json.h"

namespace foretrain::calibrate {
namespace {

constexpr std::int64_t most = std::int64_t{1} << 40;

TrackRecord parse_record(const JsonView& kind) {
  kind.allow_only({"name", "families", "points", "median_ape", "mape", "coverage90"});
  TrackRecord record;
  record.kind = kind.at("name").string();
  record.families = kind.at("families").integer(0, most);
  record.points = kind.at("points").integer(0, most);
  record.median_ape = kind.at("median_ape").number({0, 1e9});
  record.mape = kind.at("mape").number({0, 1e9});
  record.coverage90 = kind.at("coverage90").number({0, 1});
  return record;
}

}  // namespace

std::vector<TrackRecord> track_records(const DataStore& data) {
  std::vector<TrackRecord> records;
  for (const DataFile& file : data.files("track_record")) {
    const Json json = parse_json(file.text, file.source);
    const JsonView view(json, file.source);
    static_cast<void>(view.at("foretrain_track_record").integer(1, 1));
    for (const JsonView& kind : view.at("kinds").items()) records.push_back(parse_record(kind));
  }
  return records;
}

}  // namespace foretrain::calibrate
