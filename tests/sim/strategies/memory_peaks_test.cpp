// Published figures of what GPUs hold (tests/truth/memory_peaks.csv), each within its own bar of the closed form.
//
// Sources count tensors: neither the context of the framework nor what the allocator loses is in them.
#include <map>
#include <string>
#include <vector>

#include "base/files.h"
#include "scenarios/corpus/csv_table.h"
#include "sim/stack_choice.h"
#include "sim/strategies/plan_memory.h"
#include "sim/workload.h"
#include "tests/catch.h"
#include "tests/sim/studies/scenarios.h"

namespace foretrain::sim::strategies {
namespace {

using Row = std::map<std::string, std::string>;

std::vector<Row> published() {
  const std::string path = FORETRAIN_SOURCE_DIR "/tests/truth/memory_peaks.csv";
  const scenarios::CsvTable table(read_file(path), path);
  std::vector<Row> rows;
  for (const scenarios::CsvTable::Row& line : table.rows()) {
    Row row;
    for (std::size_t i = 0; i < table.columns().size(); ++i) row[table.columns()[i]] = line.fields[i];
    rows.push_back(std::move(row));
  }
  return rows;
}

std::int64_t number(const Row& row, const char* column) { return std::stoll(row.at(column)); }

std::vector<std::int64_t> numbers(const std::string& text) {
  std::vector<std::int64_t> values;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t length = 0;
    values.push_back(std::stoll(text.substr(at), &length));
    at += length + 1;
  }
  return values;
}

Scenario scenario_of(const Row& row) {
  const std::int64_t ranks = number(row, "tensor") * number(row, "pipeline") * number(row, "data");
  Scenario scenario = studies::scenario("gpt2", "Standard_ND96amsr_A100_v4", ranks, number(row, "micro_batch"),
                                        models::precision_from(row.at("precision")));
  const bool llama = row.at("architecture") == "llama";
  std::map<std::string, double>& sizes = scenario.model.overrides;
  for (const char* column :
       {"layers", "hidden", "heads", "key_value_heads", "feed_forward", "sequence", "vocabulary"}) {
    sizes[column] = static_cast<double>(number(row, column));
  }
  sizes["positions"] = sizes["sequence"];
  for (const char* of_gpt : {"dropout", "biases", "query_key_value_biases", "learned_positions", "tied_embeddings"}) {
    sizes[of_gpt] = !llama;
  }
  for (const char* of_llama : {"gated_feed_forward", "rms_norm", "rotary_positions"}) sizes[of_llama] = llama;
  scenario.training.global_batch = number(row, "micro_batch") * number(row, "micro_batches") * number(row, "data");
  scenario.training.optimizer = "adam";
  scenario.stack.name = row.at("stack");
  if (const std::string& option = row.at("options"); !option.empty()) {
    const std::size_t equals = option.find('=');
    scenario.stack.options[option.substr(0, equals)] = std::stod(option.substr(equals + 1));
  }
  Plan& plan = scenario.plan;
  plan.tensor = number(row, "tensor");
  plan.pipeline = number(row, "pipeline");
  plan.interleave = number(row, "interleave");
  plan.schedule = row.at("schedule");
  plan.sharding = row.at("sharding");
  plan.sequence_parallel = row.at("sequence_parallel") == "1";
  plan.recompute = row.at("recompute");
  plan.stage_layers = numbers(row.at("stage_layers"));
  return scenario;
}

PlanMemory tensors_of(const Scenario& scenario) {
  calibrate::Stack stack = chosen_stack(scenario.stack, studies::catalogue());
  stack.values.at("fragmentation_fraction").value = 0;
  stack.values.at("framework_memory_bytes").value = 0;
  const models::Model model =
      build_workload(scenario, scenario.training.micro_batch, studies::catalogue().data());
  return plan_memory(model, scenario, stack, resolve_cluster(scenario.cluster, studies::catalogue()));
}

double counted(const Row& row, const Scenario& scenario) {
  const PlanMemory memory = tensors_of(scenario);
  const MemoryParts& parts = row.at("stage") == "fullest" ? memory.of_fullest()
                                                          : memory.stages[std::stoul(row.at("stage"))];
  const std::string& what = row.at("counts");
  if (what == "state") return (parts.parameters + parts.gradients + parts.optimizer).value;
  if (what == "tensors") return parts.total().value;
  if (what == "activations") return parts.activations.value;
  REQUIRE(what == "activation share");
  Scenario tensor_parallel = scenario;
  tensor_parallel.plan.sequence_parallel = false;
  tensor_parallel.plan.recompute = "none";
  return parts.activations.value / tensors_of(tensor_parallel).stages[std::stoul(row.at("stage"))].activations.value;
}

double in_bytes(const Row& row) {
  static const std::map<std::string, double> units = {{"GiB", 1024.0 * 1024.0 * 1024.0}, {"GB", 1e9}, {"%", 0.01}};
  return std::stod(row.at("value")) * units.at(row.at("unit"));
}

TEST_CASE("published memory") {
  for (const Row& row : published()) {
    const double computed = counted(row, scenario_of(row)), expected = in_bytes(row);
    INFO(row.at("id") << ": computed over published " << computed / expected);
    CHECK(computed == Approx(expected).epsilon(std::stod(row.at("within"))));
  }
}

}  // namespace
}  // namespace foretrain::sim::strategies
