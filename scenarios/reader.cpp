#include "scenarios/reader.h"

#include <algorithm>
#include <list>
#include <utility>

#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "scenarios/batches.h"
#include "scenarios/changes.h"
#include "scenarios/fields.h"
#include "scenarios/model_reader.h"
#include "scenarios/option_names.h"
#include "scenarios/scenario_reader.h"

namespace foretrain::scenarios {
namespace {

using Changes = std::vector<Change>;

constexpr std::size_t most_operator_bytes = std::size_t{256} << 20;  // over all alternatives

bool changes_key(const Changes& changes, std::string_view path) {
  return std::any_of(changes.begin(), changes.end(), [path](const Change& change) { return change.path == path; });
}

void check_version(const JsonView& top) {
  if (!top.is_object()) top.fail("a scenario is an object: { \"foretrain\": 1, … }");
  const auto version = top.find("foretrain");
  if (!version) {
    top.fail("the key \"foretrain\" is missing", "a scenario begins with \"foretrain\": 1, the version of its format");
  }
  if (!version->is_number()) static_cast<void>(version->integer(1, 1));
  if (version->number() != 1)
    version->fail("this foretrain reads version 1 of the format, not " + version->json().dump());
}

// A measured step speaks of the run it was taken from. (The machine and the batch a step says itself.)
bool is_same_run(const sim::Scenario& file, const sim::Scenario& changed) {
  return file.training.precision == changed.training.precision && file.training.sequence == changed.training.sequence &&
         file.training.optimizer == changed.training.optimizer && file.stack.name == changed.stack.name;
}

bool is_same_model(const Document& file, const Document& changed) {
  const auto before = file.find("model"), after = changed.find("model");
  return before && after && before->json() == after->json();
}

// Reads the file's scenario under changes; keeps what all of them share.
class Reading {
 public:
  Reading(const Document& file, const std::string& directory, const calibrate::Catalogue& catalogue)
      : file_(file),
        own_(read_values(file, false)),
        batches_(own_batches(own_)),
        models_(directory, catalogue),
        catalogue_(catalogue) {
    own_.measured = read_measured(file, own_);
  }

  // `document` is the file with changes applied; `pinned` is what they say about batches.
  [[nodiscard]] sim::Scenario scenario(const Document& document, Pinned pinned, bool may_round) {
    sim::Scenario scenario = read_values(document, true);
    models_.read(document, scenario);
    if (is_same_run(own_, scenario) && is_same_model(file_, document)) scenario.measured = own_.measured;
    rescale_batches(document, scenario, batches_, pinned, may_round);
    check_scenario(document, scenario, catalogue_);
    check_batches(document, scenario, batches_, pinned);
    return scenario;
  }

 private:
  const Document& file_;
  sim::Scenario own_;
  OwnBatches batches_;
  ModelReader models_;
  const calibrate::Catalogue& catalogue_;
};

Pinned pinned_by(const Changes& set, const Changes& option) {
  const auto pinned = [&](std::string_view key) { return changes_key(set, key) || changes_key(option, key); };
  return {pinned("training.global_batch"), pinned("training.micro_batch")};
}

// "24,24" as the list that it means.
std::string listed(const std::string& text) {
  const bool is_list = !text.empty() && text.find_first_not_of("0123456789, -") == std::string::npos;
  return is_list ? "[" + text + "]" : text;
}

// The value of one --set: text where text is wanted, JSON else. Kept alive by `values`.
Change change_of(const Assignment& assignment, std::list<Json>& values) {
  const auto* field = find_field(assignment.key);
  const bool wants_text = field != nullptr && (field->type == FieldType::text || field->type == FieldType::choice);
  const bool wants_list = field != nullptr && field->type == FieldType::integers;
  const std::string text = wants_list ? listed(assignment.value) : assignment.value;
  const bool quoted_text = !text.empty() && text.front() == '"';
  const bool is_json = Json::accept(text) && (!wants_text || quoted_text);
  values.push_back(is_json ? parse_json(text, assignment.where) : Json(typed_text(text)));
  Change change{assignment.key, JsonView(values.back(), assignment.where)};
  check_settable(change.path, change.value);
  if (change.value.is_array() && !wants_list) {
    change.value.fail("a list where one value is expected", "lists belong into `options`");
  }
  return change;
}

}  // namespace

Assignment parse_assignment(std::string_view text, const std::string& option) {
  const std::string where = option + " " + std::string(text);
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    throw Error("expected key=value, found " + quoted(text), printable(where),
                "for instance " + option + " cluster.gpus=8");
  }
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)), where};
}

sim::Question read_question(std::string_view text, const std::string& source, const std::vector<Assignment>& set,
                            const std::string& directory, const calibrate::Catalogue& catalogue, bool with_options) {
  const Json json = parse_json(text, source);
  check_version(JsonView(json, source));
  const Document file(json, source);
  check_keys(file);
  Reading reading(file, directory, catalogue);

  std::list<Json> values;
  Changes set_changes;
  for (const Assignment& assignment : set) set_changes.push_back(change_of(assignment, values));
  Document base = file;
  apply(base, set_changes, catalogue);
  sim::Question question;
  question.base = reading.scenario(base, pinned_by(set_changes, {}), false);
  if (!question.base.measured.empty()) question.as_written = reading.scenario(file, {}, false);

  const auto options = file.find("options");
  if (!options) return question;
  const std::vector<Changes> alternatives = expand_options(*options);
  if (!with_options) {
    question.options.assign(alternatives.size(), {"", question.base});
    return question;
  }
  if (alternatives.size() * question.base.model.operators_text.size() > most_operator_bytes) {
    options->fail("too many alternatives for so long a list of operators", "shorten the lists");
  }
  for (std::size_t i = 0; i < alternatives.size(); ++i) {
    try {
      Document document = base;
      apply(document, alternatives[i], catalogue);
      sim::Scenario scenario = reading.scenario(document, pinned_by(set_changes, alternatives[i]), true);
      std::string name = option_name(question.base, scenario, alternatives[i], catalogue);
      question.options.push_back({std::move(name), std::move(scenario)});
    } catch (const Error& error) {
      if (error.where().find("/options") != std::string::npos) throw;
      // What is wrong stands elsewhere (in a --set), but only with this option.
      throw Error(fmt::format("{} (in alternative {} of the options)", error.what(), i + 1), error.where(), error.hint(),
                  error.code());
    }
  }
  return question;
}

}  // namespace foretrain::scenarios
