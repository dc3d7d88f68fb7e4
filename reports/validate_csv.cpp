#include <cmath>

#include <fmt/format.h>

#include "base/table.h"
#include "reports/csv.h"

namespace foretrain::reports {

namespace {

std::string number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

}  // namespace

std::string csv(const ValidateResult& result) {
  const std::vector<std::string> baselines = {"linear", "constant_efficiency"};
  Table table;
  table.header = {"id", "group", "kind", "anchor_gpus", "gpus", "measured", "predicted", "low", "high"};
  table.header.insert(table.header.end(), baselines.begin(), baselines.end());
  table.header.insert(table.header.end(), {"largest_loss", "largest_loss_share", "reason"});
  for (const sim::ValidatedPoint& point : result.validation.points) {
    std::vector<std::string> row = {point.id,
                                    point.group,
                                    point.kind,
                                    fmt::format("{}", point.anchor_gpus),
                                    fmt::format("{}", point.gpus),
                                    number(point.measured),
                                    number(point.predicted),
                                    number(point.low),
                                    number(point.high)};
    for (const std::string& name : baselines) {
      const auto found = point.baselines.find(name);
      row.push_back(found == point.baselines.end() ? "" : number(found->second));
    }
    row.insert(row.end(), {point.largest_loss, number(point.largest_loss_share), ""});
    table.rows.push_back(row);
  }
  for (const auto& family : result.validation.declined) {
    std::vector<std::string> row = {family.id, family.group, family.kind};
    row.resize(table.header.size());
    row.back() = family.reason;
    table.rows.push_back(row);
  }
  return table.csv();
}

}  // namespace foretrain::reports
