#include "scenarios/fields.h"

#include <cmath>
#include <cstdint>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "scenarios/field_rows.h"

namespace foretrain::scenarios {
namespace {

using sim::Scenario;
using namespace rows;

void add_top_fields(Fields& fields) {
  fields.push_back({{.path = "$schema",
                     .type = FieldType::text,
                     .doc = "Address of the JSON Schema, for editors; foretrain ignores it.",
                     .example = R"("scenario.schema.json")",
                     .settable = false},
                    [](const JsonView& view, Scenario&) { static_cast<void>(checked_text(view)); },
                    [](const Scenario&, Json&) {},
                    {}});
  fields.push_back({{.path = "foretrain",
                     .type = FieldType::integer,
                     .range = {1, 1},
                     .doc = "Version of this format.",
                     .example = "1",
                     .required = true,
                     .shown = true,
                     .settable = false},
                    [](const JsonView& view, Scenario&) { static_cast<void>(view.integer(1, 1)); },
                    [](const Scenario&, Json& out) { out = 1; },
                    {}});
  fields.push_back(text<Scenario>(
      {.path = "name",
       .label = "name {}",
       .doc = "What the answer calls this scenario.",
       .example = R"("my training run")",
       .aliases = {"title"},
       .shown = true},
      [](auto& s) -> auto& { return s.name; }));
}

void add_stack_fields(Fields& fields) {
  fields.push_back(text<Scenario>(
      {.path = "stack.name",
       .label = "{}",
       .doc = "The training framework (`foretrain list stacks`).",
       .example = R"("pytorch-ddp")",
       .aliases = {"framework"},
       .shown = true},
      [](auto& s) -> auto& { return s.stack.name; }));
  fields.push_back(choice<Scenario>(
      {.path = "stack.reducer",
       .label = "gradients by {}",
       .choices = {"ddp", "horovod", "mirrored", "multi_worker_mirrored", "parameter_server", "kvstore", "local_sgd"},
       .doc = "How gradients are shared; absent: the stack's own way. With local_sgd every accumulated micro-batch is an "
              "optimizer step of its own and parameters are averaged once per global batch.",
       .example = R"("horovod")",
       .aliases = {"strategy", "distribution_strategy", "kvstore"},
       .shown = true},
      [](auto& s) -> auto& { return s.stack.reducer; }));
  fields.push_back(choice<Scenario>(
      {.path = "stack.compression",
       .label = "{} compression",
       .choices = {"none", "fp16", "bf16", "powersgd", "top_k", "onebit_adam"},
       .doc = "What is done to gradients before they are sent; it costs time of its own and may lose.",
       .example = R"("powersgd")",
       .aliases = {"gradient_compression", "comm_hook"},
       .shown = true},
      [](auto& s) -> auto& { return s.stack.compression; }));
  fields.push_back(numbers(
      {.path = "stack.options.*",
       .range = {0, 1e15},
       .doc = "A value of the stack in place of its own, by the stack's key, for instance `bucket_bytes`.",
       .example = "52428800"},
      [](Scenario & s) -> auto& { return s.stack.options; }));
}

void add_input_fields(Fields& fields) {
  fields.push_back(number<Scenario>(
      {.path = "input.samples_per_s_per_node",
       .label = "input {} samples/s per node",
       .unit = "samples/s",
       .range = {1e-3, 1e12},
       .doc = "What one machine's processors decode and augment; absent: input never waits.",
       .example = "3000",
       .aliases = {"samples_per_second"}},
      [](auto& s) -> auto& { return s.input.samples_per_s_per_node; }));
  fields.push_back(number<Scenario>(
      {.path = "input.samples_per_s_per_vcpu",
       .label = "input {} samples/s per vCPU",
       .unit = "samples/s",
       .range = {1e-3, 1e9},
       .doc = "The same by virtual CPU, so that it scales with the machine; one of the two only.",
       .example = "125",
       .shown = true},
      [](auto& s) -> auto& { return s.input.samples_per_s_per_vcpu; }));
  fields.push_back(number<Scenario>(
      {.path = "input.storage_gbytes_per_s",
       .label = "storage {} GB/s",
       .unit = "GB/s",
       .range = {1e-3, 1e6},
       .doc = "What the storage that all machines share delivers, 10⁹ bytes per second; needs "
              "`dataset_bytes` and `training.dataset_samples`.",
       .example = "1.0"},
      [](auto& s) -> auto& { return s.input.storage_gbytes_per_s; }));
  fields.push_back(number<Scenario>(
      {.path = "input.dataset_bytes",
       .label = "{} dataset bytes",
       .unit = "bytes",
       .range = {0, 1e18},
       .doc = "Size of the stored dataset; 0 or absent: not stated.",
       .example = "4e11"},
      [](auto& s) -> auto& { return s.input.dataset_bytes; }));
}

Fields make_scenario_fields() {
  Fields fields;
  add_top_fields(fields);
  add_model_fields(fields);
  add_training_fields(fields);
  add_stack_fields(fields);
  add_cluster_fields(fields);
  add_plan_fields(fields);
  add_input_fields(fields);
  return fields;
}

std::vector<Field<sim::Measured>> make_measured_fields() {
  using sim::Measured;
  return {
      text<Measured>(
          {.path = "measured[].machine",
           .doc = "On which machine; absent: the file's own `cluster.machine`.",
           .example = R"("Standard_NC24ads_A100_v4")"},
          [](auto& m) -> auto& { return m.machine; }),
      integer<Measured>(
          {.path = "measured[].gpus",
           .unit = "GPUs",
           .range = {1, 1048576},
           .doc = "On how many GPUs.",
           .example = "1",
           .required = true},
          [](auto& m) -> auto& { return m.gpus; }),
      integer<Measured>(
          {.path = "measured[].micro_batch",
           .unit = "samples",
           .range = {1, 1e6},
           .doc = "With which micro-batch; absent: the file's own `training.micro_batch`.",
           .example = "64"},
          [](auto& m) -> auto& { return m.micro_batch; }),
      number<Measured>(
          {.path = "measured[].step_seconds",
           .unit = "s",
           .range = {1e-6, 1e7},
           .doc = "Seconds from one optimizer step to the next, without start-up.",
           .example = "0.31",
           .aliases = {"step", "step_time", "time"},
           .required = true},
          [](auto& m) -> auto& { return m.step_seconds; }),
  };
}

template <class Owner>
Json default_value(const Field<Owner>& field) {
  Json usual;
  if (field.write && !field.required) field.write(Owner{}, usual);
  const bool not_sayable = usual == "" || (usual.is_number() && usual.template get<double>() < field.range.low);
  return not_sayable ? Json() : usual;
}

}  // namespace

Json default_of(const Field<sim::Scenario>& field) { return default_value(field); }
Json default_of(const Field<sim::Measured>& field) { return default_value(field); }

void rows::put(std::int64_t value, Json& out) { out = value; }
void rows::put(double value, Json& out) { out = number_json(value); }
void rows::put(const std::string& value, Json& out) {
  if (!value.empty()) out = value;
}
void rows::put(bool value, Json& out) { out = value; }
void rows::put(const std::vector<std::int64_t>& value, Json& out) {
  if (!value.empty()) out = value;
}

std::vector<std::int64_t> rows::checked_integers(const JsonView& view, NumberRange range) {
  constexpr std::size_t most = 100000;
  const std::vector<JsonView> items = view.items();
  if (items.empty()) view.fail("is an empty list");
  if (items.size() > most) view.fail(fmt::format("is a list of more than {} numbers", most));
  std::vector<std::int64_t> values;
  for (const JsonView& item : items) {
    values.push_back(item.integer(static_cast<std::int64_t>(range.low), static_cast<std::int64_t>(range.high)));
  }
  return values;
}

std::string checked_text(const JsonView& view) {
  constexpr std::size_t longest = 1000;
  std::string text = view.string();
  if (text.empty()) view.fail("is empty");
  if (text.size() > longest) view.fail("is longer than 1000 bytes");
  return text;
}

Json number_json(double value) {
  constexpr double largest_plain = 1e15;  // beyond it an exponent reads better
  if (std::trunc(value) == value && std::abs(value) < largest_plain) return static_cast<std::int64_t>(value);
  return value;
}

const char* to_string(FieldType type) {
  switch (type) {
    case FieldType::integer: return "integer";
    case FieldType::number: return "number";
    case FieldType::text: return "text";
    case FieldType::choice: return "choice";
    case FieldType::flag: return "true/false";
    case FieldType::integers: return "integers";
  }
  return "";
}

const std::vector<Field<sim::Scenario>>& scenario_fields() {
  static const std::vector<Field<sim::Scenario>> fields = make_scenario_fields();
  return fields;
}

const std::vector<Field<sim::Measured>>& measured_fields() {
  static const std::vector<Field<sim::Measured>> fields = make_measured_fields();
  return fields;
}

const Field<sim::Scenario>* find_field(std::string_view path) {
  const Field<sim::Scenario>* any_key = nullptr;
  for (const auto& field : scenario_fields()) {
    if (field.path == path) return &field;
    if (field.numbers && section_of(field.path) == section_of(path)) any_key = &field;
  }
  return path.empty() || path.back() == '.' ? nullptr : any_key;
}

const std::vector<Section>& sections() {
  static const std::vector<Section> all = {
      {"", "The top of the file."},
      {"model", "What is trained: exactly one of `zoo`, `huggingface`, `operators` and `parameters`."},
      {"training", "How it is trained."},
      {"stack", "The software around the mathematics."},
      {"stack.options", "Values of the stack that this run changes."},
      {"cluster", "Machines, and what is different about them."},
      {"plan",
       "How ranks share the work. The data-parallel degree follows: gpus / (tensor · pipeline · context). Ranks lie as "
       "Megatron-LM numbers them: those of one tensor-parallel group are neighbours, then come data-parallel ones, "
       "stages of a pipeline are farthest apart. Context and expert parallelism are read, and refused: this version does "
       "not simulate them."},
      {"input", "What feeds the GPUs. Nothing stated: input never holds a step."},
      {"measured[]", "Steps that somebody measured: a rank's own work is anchored to them."},
  };
  return all;
}

std::string section_of(std::string_view path) {
  const auto dot = path.rfind('.');
  return dot == std::string_view::npos ? std::string() : std::string(path.substr(0, dot));
}

std::string key_of(std::string_view path) {
  const auto dot = path.rfind('.');
  return std::string(dot == std::string_view::npos ? path : path.substr(dot + 1));
}

}  // namespace foretrain::scenarios
