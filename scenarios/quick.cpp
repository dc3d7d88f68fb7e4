#include <charconv>
#include <cstdint>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "models/model.h"
#include "scenarios/changes.h"
#include "scenarios/deepspeed.h"
#include "scenarios/fields.h"
#include "scenarios/megatron.h"
#include "scenarios/model_reader.h"
#include "scenarios/reader.h"

namespace foretrain::scenarios {
namespace {

constexpr std::size_t most_counts = 10000;
constexpr std::size_t longest_configuration = std::size_t{4} << 20;

// What was written after a flag, as a row of the field table takes it.
template <class Owner>
Json checked_value(const std::string& flag, const std::string& text, const Field<Owner>& field) {
  const bool is_text = field.type == FieldType::text || field.type == FieldType::choice;
  const std::string where = flag + " " + text;
  Json value = !is_text && Json::accept(text) ? parse_json(text, where) : Json(typed_text(text));
  Owner ignored;
  field.read(JsonView(value, where), ignored);
  return value;
}

Json flag_value(const std::string& flag, const std::string& text, const std::string& path) {
  return checked_value(flag, text, *find_field(path));
}

Json step_seconds(const std::string& text) {
  Json value;
  for (const auto& field : measured_fields()) {
    if (key_of(field.path) == "step_seconds") value = checked_value("--step", text, field);
  }
  return value;
}

void require(const std::string& flag, const std::string& text, const std::string& hint) {
  if (text.empty()) throw Error(flag + " is missing", flag, hint);
}

bool ends_with(std::string_view text, std::string_view ending) {
  return text.size() >= ending.size() && text.substr(text.size() - ending.size()) == ending;
}

Json model_of(const std::string& name, const DataStore& data) {
  const std::string where = "--model " + name;
  if (!ends_with(name, ".json")) {
    const Json value = typed_text(name);
    static_cast<void>(zoo_facts(JsonView(value, where), data));  // throws for an unknown name
    return {{"zoo", value}};
  }
  // Which of the two formats it is; their readers say what is wrong with it.
  const Json file = Json::parse(read_file(name, longest_configuration), nullptr, false, true);
  const bool is_huggingface = file.is_object() && !file.contains("foretrain_operators");
  return {{is_huggingface ? "huggingface" : "operators", typed_text(name)}};
}

// "4" or "1-4"; nothing when the text is neither.
struct Range {
  std::int64_t first = 0, last = 0;
};
std::optional<Range> range_of(std::string_view text) {
  const auto number = [](std::string_view digits) -> std::optional<std::int64_t> {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() || value < 0) return std::nullopt;
    return value;
  };
  const std::size_t dash = text.find('-', 1);
  const auto first = number(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : number(text.substr(dash + 1));
  if (!first || !last) return std::nullopt;
  return Range{*first, *last};
}

std::vector<std::string> items_of(std::string_view list) {
  std::vector<std::string> items;
  for (bool more = true; more;) {
    const std::size_t comma = list.find(',');
    std::string_view item = list.substr(0, comma);
    while (!item.empty() && item.front() == ' ') item.remove_prefix(1);
    while (!item.empty() && item.back() == ' ') item.remove_suffix(1);
    items.emplace_back(item);
    more = comma != std::string_view::npos;
    if (more) list.remove_prefix(comma + 1);
  }
  return items;
}

// The machines of one --try, counted: "A:1-4,B", and "A:1,2,4" for several counts of one.
class TryList {
 public:
  TryList(std::string text, const calibrate::Catalogue& catalogue) : where_("--try " + text), catalogue_(catalogue) {
    for (const std::string& item : items_of(text)) add(item);
  }

  [[nodiscard]] Json options() const {
    Json options = Json::array();
    for (const auto& [machine, gpus] : machines_) {
      options.push_back({{"cluster.machine", machine}, {"cluster.gpus", gpus.size() == 1 ? gpus.front() : gpus}});
    }
    return options;
  }

 private:
  void add(const std::string& item) {
    if (item.empty()) fail("a machine is missing between two commas");
    const auto further = range_of(item);
    if (further && !machines_.empty()) return add_counts(*further, item);
    const std::size_t colon = item.rfind(':');
    const auto counts = colon == std::string::npos ? Range{1, 1} : range_of(std::string_view(item).substr(colon + 1));
    if (!counts) fail("expected a count or a range after ':' in " + quoted(item));
    const calibrate::Machine& machine = catalogue_.machine(item.substr(0, colon), printable(where_));
    machines_.push_back({machine.name, Json::array()});
    gpus_ = machine.gpus;
    add_counts(*counts, item);
  }

  void add_counts(Range counts, const std::string& item) {
    const auto most_gpus = static_cast<std::int64_t>(find_field("cluster.gpus")->range.high);
    if (counts.first < 1 || counts.last < counts.first) fail("expected counts from 1 on, growing, in " + quoted(item));
    if (counts.last > most_gpus / gpus_) fail(fmt::format("more than {} GPUs in {}", most_gpus, quoted(item)));
    if (counts.last - counts.first >= static_cast<std::int64_t>(most_counts)) {
      fail(fmt::format("more than {} counts in {}", most_counts, quoted(item)));
    }
    for (std::int64_t count = counts.first; count <= counts.last; ++count)
      machines_.back().second.push_back(count * gpus_);
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(what, printable(where_),
                "machines counted, for instance --try \"Standard_ND96amsr_A100_v4:1-4,DGX H100:1\"");
  }

  std::string where_;
  const calibrate::Catalogue& catalogue_;
  std::vector<std::pair<std::string, Json>> machines_;  // name, GPU counts
  std::int64_t gpus_ = 1;                               // of the last machine
};

// Puts what was written after a flag at `path`.
void give(Json& scenario, const char* flag, const std::string& text, const char* path) {
  if (!text.empty()) scenario[section_of(path)][key_of(path)] = flag_value(flag, text, path);
}

void give_training(const QuickScenario& quick, Json& scenario) {
  give(scenario, "--batch", quick.batch, "training.micro_batch");
  give(scenario, "--sequence", quick.sequence, "training.sequence");
  give(scenario, "--precision", quick.precision, "training.precision");
  give(scenario, "--optimizer", quick.optimizer, "training.optimizer");
}

// A measured step is of the run as its log has it.
void drop_measured_of_another(const QuickScenario& quick, Json& scenario, std::vector<std::string>& notes) {
  const bool other = !quick.sequence.empty() || !quick.precision.empty() || !quick.optimizer.empty() ||
                     !quick.stack.empty() || !quick.step.empty() || !quick.deepspeed.empty();
  if (!other || scenario.erase("measured") == 0) return;
  notes.emplace_back("the log's measured step is not used: flags make this another run");
}

Json megatron_draft(const QuickScenario& quick, std::vector<std::string>& notes) {
  if (!quick.model.empty()) {
    throw Error("--model and --megatron both say what is trained", "--megatron " + printable(quick.megatron),
                "leave out --model; sizes change by --set model.layers=…");
  }
  std::optional<std::int64_t> gpus;
  if (!quick.gpus.empty()) gpus = flag_value("--gpus", quick.gpus, "cluster.gpus").get<std::int64_t>();
  const std::string name = quick.megatron == "-" ? "standard input" : quick.megatron;
  const std::string text = read_file(quick.megatron);
  if (text.find('\0') != std::string::npos) {
    throw Error("is not text: it has a zero byte", printable(name), "a launch script or a log of Megatron is expected");
  }
  Json scenario = megatron_scenario(text, name, gpus, notes);
  if (!scenario["cluster"].contains("gpus")) {
    throw Error("the script does not say on how many GPUs it runs", printable(name), "give --gpus");
  }
  give_training(quick, scenario);
  drop_measured_of_another(quick, scenario, notes);
  return scenario;
}

Json flags_draft(const QuickScenario& quick, const calibrate::Catalogue& catalogue) {
  require("--model", quick.model, "a name of `foretrain list models`, a Hugging Face config.json, or a file of operators");
  Json scenario = {{"foretrain", 1}, {"model", model_of(quick.model, catalogue.data())}};
  scenario["training"] = Json::object();
  scenario["cluster"] = {{"gpus", 1}};
  give(scenario, "--gpus", quick.gpus, "cluster.gpus");
  give_training(quick, scenario);
  return scenario;
}

// Parameters of one of the model's equal layers; 0 for a model without such.
double unit_parameters(const Json& scenario, const calibrate::Catalogue& catalogue) {
  const sim::Scenario base = read_question(scenario.dump(), "command line", {}, "", catalogue).base;
  const models::Model model =
      models::build_model(base.model, {base.training.micro_batch, base.training.sequence}, catalogue.data());
  for (const models::Layer& layer : model.layers) {
    if (!layer.is_block) continue;
    models::Model one;
    one.layers = {layer};
    return models::parameter_count(one);
  }
  return 0;
}

void put_deepspeed(const QuickScenario& quick, const calibrate::Catalogue& catalogue, Json& scenario,
                   std::vector<std::string>& notes) {
  const std::string name = quick.deepspeed == "-" ? "standard input" : quick.deepspeed;
  const Json file = parse_json(read_file(quick.deepspeed, longest_configuration), name);
  const JsonView config(file, name);
  apply_deepspeed(config, scenario, notes);
  give_training(quick, scenario);
  if (scenario["plan"]["sharding"] != "zero3" && scenario["plan"]["sharding"] != "hsdp") return;
  const double unit = unit_parameters(scenario, catalogue);
  if (unit > 0) apply_gather_limits(config, unit, scenario);
}

}  // namespace

Json quick_scenario(const QuickScenario& quick, const calibrate::Catalogue& catalogue,
                    std::vector<std::string>& notes) {
  const bool has_own_batch = !quick.megatron.empty() || !quick.deepspeed.empty();
  Json draft = quick.megatron.empty() ? flags_draft(quick, catalogue) : megatron_draft(quick, notes);
  require("--machine", quick.machine, "a name of `foretrain list machines`");
  if (!has_own_batch) require("--batch", quick.batch, "samples per GPU in one forward pass, for instance --batch 64");
  draft["cluster"] = {{"machine", catalogue.machine(quick.machine, printable("--machine " + quick.machine)).name},
                      {"gpus", draft["cluster"]["gpus"]}};
  if (!quick.deepspeed.empty()) put_deepspeed(quick, catalogue, draft, notes);
  if (!quick.stack.empty()) {
    static_cast<void>(catalogue.stack(quick.stack, printable("--stack " + quick.stack)));
    draft["stack"] = {{"name", typed_text(quick.stack)}};
  }
  if (!quick.step.empty()) {
    draft["measured"] = Json::array();
    draft["measured"].push_back({{"gpus", draft["cluster"]["gpus"]},
                                 {"micro_batch", draft["training"]["micro_batch"]},
                                 {"step_seconds", step_seconds(quick.step)}});
  }
  for (const std::string& text : quick.try_machines) {
    for (Json& option : TryList(text, catalogue).options()) draft["options"].push_back(std::move(option));
  }
  Json scenario;  // in the order of a file
  for (const char* section : {"foretrain", "model", "training", "stack", "cluster", "plan", "measured", "options"}) {
    if (draft.contains(section)) scenario[section] = std::move(draft[section]);
  }
  return scenario;
}

}  // namespace foretrain::scenarios
