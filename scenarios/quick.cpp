#include <charconv>
#include <cstdint>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "scenarios/changes.h"
#include "scenarios/fields.h"
#include "scenarios/model_reader.h"
#include "scenarios/reader.h"

namespace foretrain::scenarios {
namespace {

constexpr std::size_t most_counts = 10000;

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
  const Json file = parse_json(read_file(name), name);
  const bool is_huggingface = file.is_object() && (file.contains("model_type") || file.contains("architectures"));
  if (is_huggingface) return {{"huggingface", flag_value("--model", name, "model.huggingface")}};  // throws
  return {{"operators", typed_text(name)}};
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

}  // namespace

Json quick_scenario(const QuickScenario& quick, const calibrate::Catalogue& catalogue) {
  require("--model", quick.model, "a name of `foretrain list models`, or a file of operators");
  require("--machine", quick.machine, "a name of `foretrain list machines`");
  require("--batch", quick.batch, "samples per GPU in one forward pass, for instance --batch 64");

  const auto give = [](Json& section, const char* key, const char* flag, const std::string& text, const char* path) {
    if (!text.empty()) section[key] = flag_value(flag, text, path);
  };
  Json training = {{"micro_batch", flag_value("--batch", quick.batch, "training.micro_batch")}};
  give(training, "sequence", "--sequence", quick.sequence, "training.sequence");
  give(training, "precision", "--precision", quick.precision, "training.precision");
  give(training, "optimizer", "--optimizer", quick.optimizer, "training.optimizer");
  Json cluster = {{"machine", catalogue.machine(quick.machine, printable("--machine " + quick.machine)).name},
                  {"gpus", 1}};
  give(cluster, "gpus", "--gpus", quick.gpus, "cluster.gpus");

  Json scenario = {{"foretrain", 1}, {"model", model_of(quick.model, catalogue.data())}, {"training", training}};
  if (!quick.stack.empty()) {
    static_cast<void>(catalogue.stack(quick.stack, printable("--stack " + quick.stack)));
    scenario["stack"]["name"] = typed_text(quick.stack);
  }
  scenario["cluster"] = cluster;
  if (!quick.step.empty()) {
    scenario["measured"].push_back(Json({{"gpus", cluster["gpus"]}, {"micro_batch", training["micro_batch"]}}));
    scenario["measured"][0]["step_seconds"] = step_seconds(quick.step);
  }
  for (const std::string& text : quick.try_machines) {
    for (Json& option : TryList(text, catalogue).options()) scenario["options"].push_back(std::move(option));
  }
  return scenario;
}

}  // namespace foretrain::scenarios
