#include "calibrate/track_record.h"

#include <cstddef>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"

namespace foretrain::calibrate {
namespace {

constexpr std::int64_t most = std::int64_t{1} << 40;

TrackRecord parse_record(const JsonView& kind) {
  kind.allow_only({"name", "families", "points", "most_gpus", "median_ape", "mape", "coverage90"});
  TrackRecord record;
  record.kind = kind.at("name").string();
  record.families = kind.at("families").integer(0, most);
  record.points = kind.at("points").integer(0, most);
  record.most_gpus = kind.at("most_gpus").integer(0, most);
  record.median_ape = kind.at("median_ape").number({0, 1e9});
  record.mape = kind.at("mape").number({0, 1e9});
  record.coverage90 = kind.at("coverage90").number({0, 1});
  return record;
}

// One run is one line of numbers and words, in this order.
const std::vector<std::string>& run_columns() {
  static const std::vector<std::string> columns = {
      "id",       "source",    "error", "baseline_error", "held",   "family",   "stack",      "chip",            "precision",
      "network",  "sharding",  "schedule", "recompute",   "gpus",   "nodes",    "tensor",     "pipeline",        "parameters",
      "tokens_per_pass", "flops_per_kernel"};
  return columns;
}

PredictedRun parse_run(const JsonView& line) {
  const std::vector<JsonView> cells = line.items();
  if (cells.size() != run_columns().size()) {
    line.fail("not a run", fmt::format("{} values, as \"columns\" names them", run_columns().size()));
  }
  std::size_t next = 0;
  const auto text = [&] { return cells[next++].string(); };
  const auto count = [&] { return cells[next++].integer(1, most); };
  const auto amount = [&] { return cells[next++].number({0, 1e30}); };
  PredictedRun run;
  run.id = text(), run.source = text();
  run.error = cells[next++].number({-1, 1e9});
  const JsonView& baseline = cells[next++];
  run.baseline_error = baseline.is_string() ? std::numeric_limits<double>::quiet_NaN() : baseline.number({-1, 1e9});
  run.held = cells[next++].boolean();
  RunTraits& traits = run.traits;
  traits.family = text(), traits.stack = text(), traits.chip = text(), traits.precision = text();
  traits.network = text(), traits.sharding = text(), traits.schedule = text(), traits.recompute = text();
  traits.gpus = count(), traits.nodes = count(), traits.tensor = count(), traits.pipeline = count();
  traits.parameters = amount(), traits.tokens_per_pass = amount(), traits.flops_per_kernel = amount();
  return run;
}

template <class Take>
void for_every_file(const DataStore& data, Take take) {
  for (const DataFile& file : data.files("track_record")) {
    const Json json = parse_json(file.text, file.source);
    const JsonView view(json, file.source);
    static_cast<void>(view.at("foretrain_track_record").integer(1, 1));
    take(view);
  }
}

}  // namespace

std::vector<TrackRecord> read_track_records(const DataStore& data) {
  std::vector<TrackRecord> records;
  for_every_file(data, [&](const JsonView& view) {
    for (const JsonView& kind : view.at("kinds").items()) records.push_back(parse_record(kind));
  });
  return records;
}

std::vector<PredictedRun> read_predicted_runs(const DataStore& data) {
  std::vector<PredictedRun> runs;
  for_every_file(data, [&](const JsonView& view) {
    const auto list = view.find("runs");
    if (!list) return;
    std::vector<std::string> columns;
    for (const JsonView& column : list->at("columns").items()) columns.push_back(column.string());
    if (columns != run_columns()) list->at("columns").fail("other columns", joined(run_columns()));
    for (const JsonView& run : list->at("lines").items()) runs.push_back(parse_run(run));
  });
  return runs;
}

}  // namespace foretrain::calibrate
