// The whole table of published curves: all of it maps, to things that exist, and from nothing but what may be known.
#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "models/model.h"
#include "models/precision.h"
#include "models/zoo.h"
#include "scenarios/corpus/csv_table.h"
#include "scenarios/corpus/families.h"
#include "sim/cluster.h"
#include "sim/strategies/batches.h"
#include "tests/catch.h"
#include "tests/scenarios/corpus_rows.h"

using namespace foretrain;
using namespace foretrain::scenarios;
using sim::Family;
using sim::FamilyPoint;

namespace {

// The table with every measured value but the anchors' replaced, and all columns that follow from them.
std::string with_other_measurements(const std::string& text) {
  const CsvTable table(text, "truth");
  const std::set<std::string> derived = {"speedup",    "efficiency", "step_ms", "added_ms_vs_base",
                                         "replicates", "row_ids",    "flags"};
  std::string altered;
  const auto add_row = [&](const std::vector<std::string>& fields) {
    std::string line;
    for (const std::string& field : fields) line += (line.empty() ? "" : ",") + in_quotes(field);
    altered += line + "\n";
  };
  add_row(table.columns());
  for (const CsvTable::Row& row : table.rows()) {
    std::vector<std::string> fields = row.fields;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (derived.count(table.columns()[i]) > 0) fields[i] = "altered";
    }
    std::string& values = fields[table.column("values")];
    const std::size_t gpus = static_cast<std::size_t>(
        std::count(fields[table.column("gpus")].begin(), fields[table.column("gpus")].end(), ' '));
    values = values.substr(0, values.find(' '));
    for (std::size_t i = 0; i < gpus; ++i) values += " " + std::to_string(3 + 7 * i);
    add_row(fields);
  }
  return altered;
}

std::string dump(const FamilyPoint& point) {
  const sim::Scenario& s = point.scenario;
  std::string text = s.name + " " + s.model.name + " " + s.stack.name + " " + s.cluster.machine + " " +
                     std::to_string(point.samples) + " " + std::to_string(point.gpus);
  for (const auto& [key, value] : s.model.overrides) text += " " + key + "=" + std::to_string(value);
  for (const auto& [key, value] : s.stack.options) text += " " + key + "=" + std::to_string(value);
  for (const std::int64_t count : {s.training.micro_batch, s.training.global_batch, s.training.sequence, s.cluster.gpus,
                                   s.cluster.gpus_per_node.value_or(0), s.cluster.nics_per_node.value_or(0),
                                   s.measured.at(0).gpus, s.measured.at(0).micro_batch}) {
    text += " " + std::to_string(count);
  }
  for (const double number : {s.cluster.inter_node_gbits_per_s.value_or(0), s.input.samples_per_s_per_node.value_or(0),
                              s.input.samples_per_s_per_vcpu.value_or(0), s.measured.at(0).step_seconds}) {
    text += " " + std::to_string(number);
  }
  return text + " " + s.cluster.network.value_or("") + " " + s.cluster.gpu.value_or("") + " " + s.plan.tables + " " +
         s.training.optimizer + " " + models::to_string(s.training.precision) +
         (s.training.scaling == sim::Scaling::strong ? " strong" : " weak");
}

std::vector<const FamilyPoint*> points_of(const Family& family) {
  std::vector<const FamilyPoint*> points = {&family.anchor};
  for (const FamilyPoint& point : family.points) points.push_back(&point);
  return points;
}

}  // namespace

TEST_CASE("every published curve maps to a family of scenarios") {
  CHECK(truth().families.size() == 324);
  for (const auto& declined : truth().declined) FAIL_CHECK(declined.id << ": " << declined.reason);
  std::map<std::string, int> kinds;
  for (const Family& family : truth().families) ++kinds[family.kind];
  // 154 + 1 + 127 + 28 + 7 + 7 by the published study, which takes a rack of GB200 for four-GPU nodes, ten A30 for two
  // nodes, and the words of three rows without a rate for no network.
  CHECK(kinds == std::map<std::string, int>{{"single node", 156},
                                            {"InfiniBand or RoCE", 133},
                                            {"Ethernet", 8},
                                            {"network not stated", 20},
                                            {"parameter server", 7}});
}

TEST_CASE("every point resolves: its model is built, its cluster is known, its batches divide") {
  std::size_t points = 0;
  for (const Family& family : truth().families) {
    INFO(family.id);
    REQUIRE_FALSE(family.points.empty());
    for (const FamilyPoint* point : points_of(family)) {
      const sim::Scenario& scenario = point->scenario;
      CHECK_NOTHROW(sim::resolve_cluster(scenario.cluster, shared_catalogue()));
      CHECK_NOTHROW(shared_catalogue().stack(scenario.stack.name));
      CHECK_NOTHROW(sim::strategies::resolve_batches(scenario.training, scenario.plan, scenario.cluster.gpus));
      CHECK(scenario.measured.size() == 1);
      ++points;
    }
    CHECK_NOTHROW(models::build_model(family.anchor.scenario.model, {1, family.anchor.scenario.training.sequence},
                                      shared_catalogue().data()));
    CHECK(family.anchor.measured_speedup == 1);
    CHECK(family.anchor.scenario.measured.at(0).gpus == family.anchor.scenario.cluster.gpus);
  }
  CHECK(points == 324 + 911);  // anchors and predicted points
}

TEST_CASE("speedups are those of the published columns") {
  const CsvTable table(truth_text(), "truth");
  const std::size_t column = table.column("speedup");
  for (std::size_t i = 0; i < table.rows().size(); ++i) {
    const Family& family = truth().families.at(i);
    const std::string& published = table.rows()[i].fields[column];
    INFO(family.id << ": " << published);
    const double last = std::stod(published.substr(published.rfind(' ') + 1));
    CHECK(family.points.back().measured_speedup == Approx(last).epsilon(0.01));
  }
}

TEST_CASE("nothing measured beside the anchor reaches a scenario") {
  const auto altered = read_families(with_other_measurements(truth_text()), "altered.csv", shared_catalogue());
  REQUIRE(altered.families.size() == truth().families.size());
  for (std::size_t i = 0; i < altered.families.size(); ++i) {
    const auto before = points_of(truth().families[i]), after = points_of(altered.families[i]);
    REQUIRE(before.size() == after.size());
    for (std::size_t p = 0; p < before.size(); ++p) CHECK(dump(*before[p]) == dump(*after[p]));
    CHECK(altered.families[i].points.front().measured_speedup != truth().families[i].points.front().measured_speedup);
  }
}

TEST_CASE("tables name nothing that is not there") {
  const auto& catalogue = shared_catalogue();
  const auto stacks = catalogue.stack_names();
  const auto each = [&](const char* file, const char* list, const char* key, auto&& check) {
    std::size_t checked = 0;
    for (const DataFile& data : catalogue.data().files("corpus")) {
      if (data.name != file) continue;
      const Json json = parse_json(data.text, data.source);
      for (const auto& rule : json.at(list)) {
        if (!rule.at("is").contains(key)) continue;
        check(rule.at("is").at(key).get<std::string>());
        ++checked;
      }
    }
    CHECK(checked > 0);
  };
  each("models", "models", "zoo",
       [&](const std::string& name) { CHECK_NOTHROW(models::zoo_sizes(name, catalogue.data())); });
  each("gpus", "gpus", "device", [&](const std::string& name) { CHECK_NOTHROW(catalogue.device(name)); });
  each("machines", "machines", "machine", [&](const std::string& name) { CHECK_NOTHROW(catalogue.machine(name)); });
  each("machines", "defaults", "machine", [&](const std::string& name) { CHECK_NOTHROW(catalogue.machine(name)); });
  for (const char* key : {"stack", "across_nodes"}) {
    each("stacks", "stacks", key, [&](const std::string& name) { CHECK_NOTHROW(catalogue.stack(name)); });
  }
  each("networks", "clause_kinds", "kind", [&](const std::string& name) {
    if (name != "ethernet") CHECK_NOTHROW(catalogue.network(name));
  });
}
