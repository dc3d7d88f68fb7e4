// Fields: the one table of everything a scenario may say.
//
// Each row has a key with its type, unit, range and meaning, and how it gets into and out of the plain
// structs of sim/scenario.h. Reading, checking, --set, `options`, writing, `schema`, `init` and
// docs/scenario.md all follow from it; a new key is a new row. Defaults are those of the structs.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "sim/scenario.h"

namespace foretrain::scenarios {

enum class FieldType { integer, number, text, choice, flag, integers };
[[nodiscard]] const char* to_string(FieldType type);

struct FieldInfo {
  std::string path;        // dotted; a last part "*" stands for any key ("stack.options.*")
  std::string label = {};  // in the names of options, {} for the value: "micro-batch {}"; empty: never there
  FieldType type = FieldType::number;
  std::string unit = {};   // empty = none
  NumberRange range = {};  // of numbers, integers and each of a list of them
  std::vector<std::string> choices = {};
  std::string doc = {};
  std::string example = {};               // JSON text; always given
  std::vector<std::string> aliases = {};  // what other tools call it, for hints
  std::string variant = {};               // model keys: the key that says how the model is given, which it goes with
  bool required = false;
  bool of_machine = false;  // describes the machine, so it goes when another machine is named
  bool shown = false;       // stands in the scenario that `init` writes; the others are there as comments
  bool settable = true;     // by --set, --over and options
};

template <class Owner>
struct Field : FieldInfo {
  std::function<void(const JsonView&, Owner&)> read;  // checks type and range
  std::function<void(const Owner&, Json&)> write;     // leaves the value null when there is nothing to say
  // For a "*" row: where the numbers go, by key; read and write are empty then.
  std::function<std::map<std::string, double>&(Owner&)> numbers;
};

[[nodiscard]] const std::vector<Field<sim::Scenario>>& scenario_fields();
// The keys of one entry of `measured`.
[[nodiscard]] const std::vector<Field<sim::Measured>>& measured_fields();

// The row a dotted key belongs to, "*" rows included; null when there is none.
[[nodiscard]] const Field<sim::Scenario>* find_field(std::string_view path);
// The sections of a scenario in order, with their one-line documentation: "" (top level), "model", "training", …
struct Section {
  std::string path, doc;
};
[[nodiscard]] const std::vector<Section>& sections();
// "training" of "training.micro_batch"; "stack.options" of "stack.options.*"; "" of "name".
[[nodiscard]] std::string section_of(std::string_view path);
// "micro_batch" of "training.micro_batch".
[[nodiscard]] std::string key_of(std::string_view path);

// What holds when the key is absent, as the file would say it; null when that is "not stated".
[[nodiscard]] Json default_of(const Field<sim::Scenario>& field);
[[nodiscard]] Json default_of(const Field<sim::Measured>& field);

// A whole number without a decimal point: 5000000, not 5000000.0.
[[nodiscard]] Json number_json(double value);

// The greatest global batch, also after rescaling to more GPUs.
inline constexpr double largest_global_batch = 1e12;

}  // namespace foretrain::scenarios
