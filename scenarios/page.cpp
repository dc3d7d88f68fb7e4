#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/table.h"
#include "base/text.h"
#include "scenarios/describe.h"
#include "scenarios/fields.h"

namespace foretrain::scenarios {
namespace {

const char* const introduction = R"(# The scenario file

A scenario is the question: what is trained, how, on what, with which software. It is JSON with `//` and `/* */`
comments. `foretrain init` writes one to start from, `foretrain schema` its JSON Schema for editors; both and this page
are generated from the one table that also reads and checks the file (`scenarios/fields.cpp`).

An unknown key, a key that occurs twice, `null`, a number too large or too small for a double, and a value outside its
range are errors with the file, the JSON pointer, what is allowed and the nearest name; nothing is ignored or replaced.
Units are part of the keys: `_seconds`, `_bytes`, `_gbytes_per_s` (10⁹ bytes per second), and `_gbits_per_s` where
people write network rates in bits.

`predict` answers `cluster` and `plan`; `decide` compares that with every entry of `options`.

## Keys
)";

const char* const rules = R"(## Changing values: `--set` and `options`

`--set` and the entries of `options` take the same dotted keys: `cluster.gpus`, `training.micro_batch`, `model.zoo`,
`stack.options.bucket_bytes`, and the sizes of a zoo entry (`model.KEY`). A `--set` changes the scenario before
anything else and so holds for every option too. In `options` a list stands for one option each, several lists in one
entry for every combination (10,000 alternatives in all at most):

```
"options": [{"cluster.machine": "Standard_NC96ads_A100_v4", "cluster.gpus": [4, 8, 16]}]
```

`plan.stage_layers` is a list itself: `--set plan.stage_layers=24,24`, and in an option `[24, 24]` is one value and
`[[24, 24], [28, 20]]` two options.

Messages about such a value name the `--set` or the option, for instance `scenario.json: /options/0/cluster.gpus/2`.

### What goes with a name

- **Another machine** starts from its catalogue entry. The keys marked "machine" in the table of `cluster` describe the
  machine they were written for, so a `--set` or an option that names another `cluster.machine` leaves them behind: the
  old machine's price or network rate never leaks into the new one. Give them again beside the new name where they are
  needed. `nodes_per_leaf`, `oversubscription` and `straggler_slowdown` stay.
- **Another model** starts without the old one's sizes, **another stack** without the old one's `options`.
- **An input rate** per node replaces the file's rate per vCPU, and the other way round.
- **A measured step** speaks of the run it was taken from: the file's model, precision, sequence, optimizer and stack, and
  (unless it says otherwise) the file's own machine and micro-batch. It is not used where a `--set` or an option changes
  one of the first five; the option's name then says "without the measured step".

### What happens to the batch

The data-parallel degree is gpus / (tensor · pipeline · context); it is not written. A step of `global_batch` samples
takes global_batch / (micro_batch · data-parallel degree) micro-batches on each rank: gradient accumulation.
Without `global_batch` (or with 0) it is micro_batch · data-parallel degree, one micro-batch each.

When a `--set` or an option changes `cluster.gpus`, the degrees of `plan` stay and the data-parallel degree follows:

- under **weak** scaling the file's `global_batch` is multiplied by the ratio of the GPUs;
- under **strong** scaling the file's global batch (written, or as it follows from the file) stays. Where that is less than
  one `micro_batch` per rank, the micro-batch becomes the rank's share. In an option, a share that is no whole number is
  rounded down and the global batch with it (64 samples over 12 GPUs: 5 each, 60 in all), and the option's name says so;
  with `--set` it is an error.
- a changed `plan` on the same GPUs changes the data-parallel degree too: a global batch that follows from it follows it
  under weak scaling, and stays under strong; one that the file states stays under both.
- `training.global_batch` and `training.micro_batch` given by `--set` or in the option itself win: they are used as written.

A global batch that does not divide into whole micro-batches is an error.
)";

std::string range_text(const FieldInfo& field) {
  if (!field.choices.empty()) {
    std::vector<std::string> values;
    for (const std::string& choice : field.choices) values.push_back("`" + choice + "`");
    return joined(values);
  }
  if (field.type == FieldType::text) return "";
  if (field.type == FieldType::flag) return "`false`, `true`";
  if (field.range.low == field.range.high) return number_json(field.range.low).dump();
  return fmt::format("{}{}{} … {}", field.type == FieldType::integers ? "each " : "", field.range.above ? "above " : "", number_json(field.range.low).dump(),
                     number_json(field.range.high).dump());
}

template <class Owner>
std::string default_text(const Field<Owner>& field) {
  if (field.required) return "required";
  const Json usual = default_of(field);
  return usual.is_null() ? "" : "`" + usual.dump() + "`";
}

template <class Owner>
std::string section_table(const std::vector<Field<Owner>>& fields, const Section& section) {
  Table table{{"key", "type", "unit", "allowed", "default", "meaning", "example"}, {}, {}};
  for (const auto& field : fields) {
    if (section_of(field.path) != section.path) continue;
    const std::string key = key_of(field.path) == "*" ? "any other key" : "`" + key_of(field.path) + "`";
    table.rows.push_back({key, to_string(field.type), field.unit, range_text(field), default_text(field),
                          (field.of_machine ? "(machine) " : "") + field.doc, "`" + field.example + "`"});
  }
  return table.markdown(Table::Cells::markdown);
}

}  // namespace

std::string scenario_page() {
  std::string page = introduction;
  for (const Section& section : sections()) {
    const std::string title = section.path.empty() ? "Top level" : "`" + section.path + "`";
    const bool measured = section.path == "measured[]";
    page +=
        fmt::format("\n### {}\n\n{}\n\n{}", title, section.doc,
                    measured ? section_table(measured_fields(), section) : section_table(scenario_fields(), section));
  }
  page += "\n### `options[]`\n\nWhat `decide` compares the scenario with; see below.\n\n";
  return page + rules;
}

}  // namespace foretrain::scenarios
