#include "scenarios/field_rows.h"

#include <nlohmann/json.hpp>

namespace foretrain::scenarios {

using sim::Scenario;
using namespace rows;

using Kind = models::ModelSource::Kind;

void add_model_fields(Fields& fields) {
  const auto named = [](FieldInfo info, Kind kind) {
    info.type = FieldType::text;
    return Field<Scenario>{std::move(info),
                           [kind](const JsonView& view, Scenario& s) {
                             s.model.kind = kind;
                             s.model.name = checked_text(view);
                           },
                           [kind](const Scenario& s, Json& out) {
                             if (s.model.kind == kind) out = s.model.name;
                           },
                           {}};
  };
  const auto total = [](FieldInfo info, auto member) {
    info.variant = "parameters";
    auto field = number<Scenario>(
        std::move(info), [member](auto& s) -> auto& { return s.model.totals.*member; });
    field.write = [write = field.write](const Scenario& s, Json& out) {
      if (s.model.kind == Kind::totals) write(s, out);
    };
    return field;
  };
  fields.push_back(named({.path = "model.zoo",
                          .label = "model {}",
                          .doc = "A model that foretrain knows, by name (`foretrain list models`). Further keys of "
                                 "`model` then override its sizes.",
                          .example = R"("crnn-handwriting")",
                          .aliases = {"name", "model", "architecture"},
                          .variant = "zoo",
                          .shown = true},
                         Kind::zoo));
  fields.push_back(named({.path = "model.huggingface",
                          .label = "model {}",
                          .doc = "A Hugging Face config.json, relative to the scenario's own directory. Further keys of "
                                 "`model` override its sizes, by the keys of zoo entries (`layers`, `hidden`, …); the "
                                 "answer says how many parameters follow.",
                          .example = R"("config.json")",
                          .aliases = {"config", "hf", "model_name_or_path"},
                          .variant = "huggingface"},
                         Kind::huggingface));
  fields.push_back(numbers(
      {.path = "model.*",
       .range = {0, 1e9},
       .doc = "A size of the zoo entry (or configuration), by the entry's own key, in place of its default.",
       .example = "24",
       .variant = "zoo"},
      [](Scenario & s) -> auto& { return s.model.overrides; }));
  fields.push_back(named({.path = "model.operators",
                          .label = "model {}",
                          .doc = "A file that lists a model's operators, relative to the scenario's own directory.",
                          .example = R"("my-operators.json")",
                          .variant = "operators"},
                         Kind::operators));
  fields.push_back(total({.path = "model.parameters",
                          .label = "{} parameters",
                          .unit = "parameters",
                          .range = {1, 1e15},
                          .doc = "Trained parameters of a model known only by its totals.",
                          .example = "9e6",
                          .aliases = {"params", "num_parameters"}},
                         &models::Totals::parameters));
  fields.back().read = [read = fields.back().read](const JsonView& view, Scenario& s) {
    s.model.kind = Kind::totals;
    read(view, s);
  };
  fields.push_back(
      total({.path = "model.flops_per_sample",
             .label = "{} FLOP per sample",
             .unit = "FLOP",
             .range = {0, 1e18, true},
             .doc = "Forward plus backward, a multiply-add counted as two. May be left out when a step was "
                    "measured.",
             .example = "6.4e10",
             .aliases = {"flops"}},
            &models::Totals::flops_per_sample));
  fields.push_back(
      total({.path = "model.activation_bytes_per_sample",
             .label = "{} activation bytes per sample",
             .unit = "bytes",
             .range = {0, 1e15},
             .doc = "Kept from forward to backward for one sample; 0 or absent: unknown, and then not part "
                    "of the memory answer.",
             .example = "9e7"},
            &models::Totals::activation_bytes_per_sample));
  fields.push_back(integer<Scenario>(
      {.path = "model.layers",
       .label = "{} layers",
       .unit = "layers",
       .range = {1, 1e4},
       .doc = "The totals are spread evenly over so many layers.",
       .example = "20",
       .variant = "parameters"},
      [](auto& s) -> auto& { return s.model.totals.layers; }));
  fields.back().write = [](const Scenario& s, Json& out) {
    if (s.model.kind == Kind::totals) out = s.model.totals.layers;
  };
}

}  // namespace foretrain::scenarios
