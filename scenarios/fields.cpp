#include "scenarios/fields.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include <nlohmann/json.hpp>

#include "calibrate/machine.h"
#include "models/precision.h"

namespace foretrain::scenarios {
namespace {

template <class T>
struct is_optional : std::false_type {};
template <class T>
struct is_optional<std::optional<T>> : std::true_type {};

template <class T>
void put(const T& value, Json& out) {
  if constexpr (is_optional<T>::value) {
    if (value) put(*value, out);
  } else if constexpr (std::is_same_v<T, double>) {
    out = number_json(value);
  } else {
    out = value;
  }
}

// `access` gives the member of an owner, const or not.
template <class Owner, class Access>
Field<Owner> integer(FieldInfo info, Access access) {
  info.type = FieldType::integer;
  const auto low = static_cast<std::int64_t>(info.range.low), high = static_cast<std::int64_t>(info.range.high);
  return {std::move(info),
          [access, low, high](const JsonView& view, Owner& owner) { access(owner) = view.integer(low, high); },
          [access](const Owner& owner, Json& out) { put(access(owner), out); },
          {}};
}

template <class Owner, class Access>
Field<Owner> number(FieldInfo info, Access access) {
  info.type = FieldType::number;
  const NumberRange range = info.range;
  return {std::move(info),
          [access, range](const JsonView& view, Owner& owner) { access(owner) = view.number(range); },
          [access](const Owner& owner, Json& out) { put(access(owner), out); },
          {}};
}

std::string checked_text(const JsonView& view) {
  constexpr std::size_t longest = 1000;
  std::string text = view.string();
  if (text.empty()) view.fail("is empty");
  if (text.size() > longest) view.fail("is longer than 1000 bytes");
  return text;
}

template <class Owner, class Access>
Field<Owner> text(FieldInfo info, Access access) {
  info.type = FieldType::text;
  return {std::move(info),
          [access](const JsonView& view, Owner& owner) { access(owner) = checked_text(view); },
          [access](const Owner& owner, Json& out) {
            put(access(owner), out);
            if (out.is_string() && out.template get_ref<const std::string&>().empty()) out = nullptr;
          },
          {}};
}

template <class Owner, class Access>
Field<Owner> choice(FieldInfo info, Access access) {
  info.type = FieldType::choice;
  const std::vector<std::string> choices = info.choices;
  return {std::move(info),
          [access, choices](const JsonView& view, Owner& owner) { access(owner) = view.one_of(choices); },
          [access](const Owner& owner, Json& out) { put(access(owner), out); },
          {}};
}

template <class Access>
Field<sim::Scenario> numbers(FieldInfo info, Access access) {
  info.type = FieldType::number;
  return {std::move(info), {}, {}, [access](sim::Scenario& s) -> std::map<std::string, double>& { return access(s); }};
}

using Fields = std::vector<Field<sim::Scenario>>;
using sim::Scenario;

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
  fields.push_back(text<Scenario>({.path = "name",
                                   .label = "name {}",
                                   .doc = "What the answer calls this scenario.",
                                   .example = R"("my training run")",
                                   .aliases = {"title"},
                                   .shown = true},
                                  [](auto& s) -> auto& { return s.name; }));
}

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
    auto field = number<Scenario>(std::move(info), [member](auto& s) -> auto& { return s.model.totals.*member; });
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
  fields.push_back(numbers({.path = "model.*",
                            .range = {0, 1e9},
                            .doc = "A size of the zoo entry, by the entry's own key, in place of its default.",
                            .example = "24",
                            .variant = "zoo"},
                           [](Scenario& s) -> auto& { return s.model.overrides; }));
  fields.push_back({{.path = "model.huggingface",
                     .label = "model {}",
                     .type = FieldType::text,
                     .doc = "A Hugging Face config.json. This version knows the key but does not read such files yet: "
                            "name the zoo entry instead and override its sizes.",
                     .example = R"("config.json")",
                     .variant = "huggingface"},
                    [](const JsonView& view, Scenario&) {
                      view.fail("Hugging Face configurations cannot be read yet",
                                "name the nearest entry of `foretrain list models` as model.zoo and override its sizes, "
                                "or list the operators in a file and name it as model.operators");
                    },
                    [](const Scenario&, Json&) {},
                    {}});
  fields.push_back(named({.path = "model.operators",
                          .label = "model {}",
                          .doc = "A file that lists a model's operators, relative to the scenario's own directory.",
                          .example = R"("my-operators.json")",
                          .variant = "operators"},
                         Kind::operators));
  fields.push_back(total({.path = "model.parameters",
                          .label = "{} parameters",
                          .unit = "parameters",
                          .range = {0, 1e15, true},
                          .doc = "Trained parameters of a model known only by its totals.",
                          .example = "9e6",
                          .aliases = {"params", "num_parameters"}},
                         &models::Totals::parameters));
  fields.back().read = [read = fields.back().read](const JsonView& view, Scenario& s) {
    s.model.kind = Kind::totals;
    read(view, s);
  };
  fields.push_back(total({.path = "model.flops_per_sample",
                          .label = "{} FLOP per sample",
                          .unit = "FLOP",
                          .range = {0, 1e24, true},
                          .doc = "Forward plus backward, a multiply-add counted as two. May be left out when a step was "
                                 "measured.",
                          .example = "6.4e10",
                          .aliases = {"flops"}},
                         &models::Totals::flops_per_sample));
  fields.push_back(total({.path = "model.activation_bytes_per_sample",
                          .label = "{} activation bytes per sample",
                          .unit = "bytes",
                          .range = {0, 1e15},
                          .doc = "Kept from forward to backward for one sample; 0 or absent: unknown, and then not part "
                                 "of the memory answer.",
                          .example = "9e7"},
                         &models::Totals::activation_bytes_per_sample));
  fields.push_back(integer<Scenario>({.path = "model.layers",
                                      .label = "{} layers",
                                      .unit = "layers",
                                      .range = {1, 1e5},
                                      .doc = "The totals are spread evenly over so many layers.",
                                      .example = "20",
                                      .variant = "parameters"},
                                     [](auto& s) -> auto& { return s.model.totals.layers; }));
  fields.back().write = [](const Scenario& s, Json& out) {
    if (s.model.kind == Kind::totals) out = s.model.totals.layers;
  };
}

void add_training_fields(Fields& fields) {
  fields.push_back(integer<Scenario>({.path = "training.micro_batch",
                                      .label = "micro-batch {}",
                                      .unit = "samples",
                                      .range = {1, 1e6},
                                      .doc = "Samples per GPU in one forward pass.",
                                      .example = "64",
                                      .aliases = {"batch", "batch_size", "per_device_train_batch_size", "mbs",
                                                  "train_micro_batch_size_per_gpu", "local_batch"},
                                      .required = true,
                                      .shown = true},
                                     [](auto& s) -> auto& { return s.training.micro_batch; }));
  fields.push_back(integer<Scenario>(
      {.path = "training.global_batch",
       .label = "global batch {}",
       .unit = "samples",
       .range = {0, largest_global_batch},
       .doc = "Samples per optimizer step over all GPUs; 0 or absent: micro_batch times the data-parallel degree, which "
              "is gpus / (tensor · pipeline · context). What goes beyond that is gradient accumulation.",
       .example = "64",
       .aliases = {"train_batch_size", "gbs", "total_batch_size", "gradient_accumulation_steps", "accumulation"}},
      [](auto& s) -> auto& { return s.training.global_batch; }));
  fields.push_back(integer<Scenario>({.path = "training.sequence",
                                      .label = "sequence {}",
                                      .unit = "tokens",
                                      .range = {0, 1e7},
                                      .doc = "Length of a sample, for models that have one; 0 or absent: the model's own.",
                                      .example = "1024",
                                      .aliases = {"sequence_length", "seq_len", "seq_length", "block_size", "context_length"}},
                                     [](auto& s) -> auto& { return s.training.sequence; }));
  fields.push_back({{.path = "training.precision",
                     .label = "{}",
                     .type = FieldType::choice,
                     .choices = models::precision_names(),
                     .doc = "fp16, bf16 and fp8 are mixed precision as frameworks do it (fp32 master weights); tf32 is fp32 "
                            "with TF32 products.",
                     .example = R"("fp16")",
                     .aliases = {"dtype", "mixed_precision", "amp"},
                     .shown = true},
                    [](const JsonView& view, Scenario& s) {
                      s.training.precision = models::precision_from(view.one_of(models::precision_names()));
                    },
                    [](const Scenario& s, Json& out) { out = models::to_string(s.training.precision); },
                    {}});
  fields.push_back(choice<Scenario>({.path = "training.optimizer",
                                     .label = "{}",
                                     .choices = {"sgd", "adam", "adamw", "lamb"},
                                     .doc = "Decides the optimizer's time and memory.",
                                     .example = R"("adam")",
                                     .aliases = {"optim"},
                                     .shown = true},
                                    [](auto& s) -> auto& { return s.training.optimizer; }));
  const std::vector<std::string> scalings = {"weak", "strong"};
  fields.push_back({{.path = "training.scaling",
                     .label = "{} scaling",
                     .type = FieldType::choice,
                     .choices = scalings,
                     .doc = "With more GPUs the global batch grows (weak) or stays (strong).",
                     .example = R"("weak")",
                     .shown = true},
                    [scalings](const JsonView& view, Scenario& s) {
                      s.training.scaling = view.one_of(scalings) == "weak" ? sim::Scaling::weak : sim::Scaling::strong;
                    },
                    [](const Scenario& s, Json& out) {
                      out = s.training.scaling == sim::Scaling::weak ? "weak" : "strong";
                    },
                    {}});
  fields.push_back(number<Scenario>({.path = "training.dataset_samples",
                                     .label = "{} dataset samples",
                                     .unit = "samples",
                                     .range = {0, 1e15},
                                     .doc = "Samples of one epoch; with it times and costs are given per epoch. 0 or absent: "
                                            "not stated.",
                                     .example = "5000000",
                                     .aliases = {"dataset_size", "samples"},
                                     .shown = true},
                                    [](auto& s) -> auto& { return s.training.dataset_samples; }));
  fields.push_back(number<Scenario>({.path = "training.epochs",
                                     .label = "{} epochs",
                                     .unit = "epochs",
                                     .range = {0, 1e9},
                                     .doc = "How often the dataset is gone through; with it the whole run's time and cost are "
                                            "given. 0 or absent: not stated.",
                                     .example = "20",
                                     .aliases = {"num_train_epochs", "num_epochs"},
                                     .shown = true},
                                    [](auto& s) -> auto& { return s.training.epochs; }));
}

void add_stack_fields(Fields& fields) {
  fields.push_back(text<Scenario>({.path = "stack.name",
                                   .label = "{}",
                                   .doc = "The training framework (`foretrain list stacks`).",
                                   .example = R"("pytorch-ddp")",
                                   .aliases = {"framework"},
                                   .shown = true},
                                  [](auto& s) -> auto& { return s.stack.name; }));
  fields.push_back(numbers({.path = "stack.options.*",
                            .range = {0, 1e15},
                            .doc = "A value of the stack in place of its own, by the stack's key, for instance `bucket_bytes`.",
                            .example = "52428800"},
                           [](Scenario& s) -> auto& { return s.stack.options; }));
}

void add_cluster_fields(Fields& fields) {
  fields.push_back(text<Scenario>({.path = "cluster.machine",
                                   .label = "{}",
                                   .doc = "A machine of the catalogue (`foretrain list machines`). Without one, `gpu` and "
                                          "`gpus_per_node` are required and the other keys describe the machine.",
                                   .example = R"("Standard_NC24ads_A100_v4")",
                                   .aliases = {"instance", "instance_type", "sku", "node"},
                                   .shown = true},
                                  [](auto& s) -> auto& { return s.cluster.machine; }));
  fields.push_back(integer<Scenario>({.path = "cluster.gpus",
                                      .label = "{} GPUs",
                                      .unit = "GPUs",
                                      .range = {1, 1048576},
                                      .doc = "GPUs in all, over all machines; the last machine may be partly used.",
                                      .example = "1",
                                      .aliases = {"num_gpus", "world_size", "nodes", "machines", "num_nodes"},
                                      .shown = true},
                                     [](auto& s) -> auto& { return s.cluster.gpus; }));
  fields.push_back(text<Scenario>({.path = "cluster.gpu",
                                   .label = "{}",
                                   .doc = "A device of the catalogue (`foretrain list devices`) in place of the machine's own.",
                                   .example = R"("A100-SXM4-80GB")",
                                   .aliases = {"device", "gpu_type"},
                                   .of_machine = true},
                                  [](auto& s) -> auto& { return s.cluster.gpu; }));
  fields.push_back(integer<Scenario>({.path = "cluster.gpus_per_node",
                                      .label = "{} GPUs per node",
                                      .unit = "GPUs",
                                      .range = {1, 1024},
                                      .doc = "GPUs of one machine.",
                                      .example = "8",
                                      .of_machine = true},
                                     [](auto& s) -> auto& { return s.cluster.gpus_per_node; }));
  fields.push_back(choice<Scenario>({.path = "cluster.intra_node",
                                     .label = "{} inside a node",
                                     .choices = calibrate::intra_node_names(),
                                     .doc = "What joins the GPUs of one machine.",
                                     .example = R"("nvswitch")",
                                     .of_machine = true},
                                    [](auto& s) -> auto& { return s.cluster.intra_node; }));
  fields.push_back(number<Scenario>({.path = "cluster.intra_node_gbytes_per_s",
                                     .label = "{} GB/s inside a node",
                                     .unit = "GB/s",
                                     .range = {0, 1e5, true},
                                     .doc = "Per GPU and direction inside a machine, 10⁹ bytes per second.",
                                     .example = "300",
                                     .aliases = {"nvlink_bandwidth"},
                                     .of_machine = true},
                                    [](auto& s) -> auto& { return s.cluster.intra_node_gbytes_per_s; }));
  fields.push_back(integer<Scenario>({.path = "cluster.nics_per_node",
                                      .label = "{} NICs per node",
                                      .unit = "NICs",
                                      .range = {1, 256},
                                      .doc = "Network cards of one machine that collectives use.",
                                      .example = "8",
                                      .aliases = {"nics"},
                                      .of_machine = true},
                                     [](auto& s) -> auto& { return s.cluster.nics_per_node; }));
  fields.push_back(number<Scenario>(
      {.path = "cluster.inter_node_gbits_per_s",
       .label = "{} Gbit/s between nodes",
       .unit = "Gbit/s",
       .range = {0, 1e6, true},
       .doc = "Line rate between machines, the sum over a machine's network cards, per direction: 10⁹ bits per second.",
       .example = "200",
       .aliases = {"bandwidth", "network_bandwidth", "inter_node_bandwidth"},
       .of_machine = true},
      [](auto& s) -> auto& { return s.cluster.inter_node_gbits_per_s; }));
  fields.push_back(text<Scenario>({.path = "cluster.network",
                                   .label = "{}",
                                   .doc = "The kind of network between machines (`foretrain list networks`).",
                                   .example = R"("infiniband")",
                                   .aliases = {"interconnect", "fabric", "inter_node"},
                                   .of_machine = true},
                                  [](auto& s) -> auto& { return s.cluster.network; }));
  fields.push_back(number<Scenario>({.path = "cluster.network_achieved_fraction",
                                     .label = "network reaches {} of its line rate",
                                     .unit = "of the line rate",
                                     .range = {0, 1, true},
                                     .doc = "Share of the line rate that large collectives reach, in place of the network "
                                            "kind's own.",
                                     .example = "0.8",
                                     .aliases = {"efficiency", "network_efficiency"},
                                     .of_machine = true},
                                    [](auto& s) -> auto& { return s.cluster.network_achieved_fraction; }));
  fields.push_back(integer<Scenario>({.path = "cluster.vcpus",
                                      .label = "{} vCPUs",
                                      .unit = "vCPUs",
                                      .range = {1, 1e5},
                                      .doc = "Virtual CPUs of one machine, for `input.samples_per_s_per_vcpu`.",
                                      .example = "96",
                                      .aliases = {"cpus", "cores"},
                                      .of_machine = true},
                                     [](auto& s) -> auto& { return s.cluster.vcpus; }));
  fields.push_back(number<Scenario>({.path = "cluster.price_usd_per_hour",
                                     .label = "{} USD/h",
                                     .unit = "USD/h",
                                     .range = {0, 1e7},
                                     .doc = "Price of one machine. Without it and without one in the catalogue, costs are "
                                            "unknown, not zero.",
                                     .example = "3.673",
                                     .aliases = {"price", "cost_per_hour", "hourly_price"},
                                     .of_machine = true},
                                    [](auto& s) -> auto& { return s.cluster.price_usd_per_hour; }));
  fields.push_back(integer<Scenario>({.path = "cluster.nodes_per_leaf",
                                      .label = "{} nodes per leaf switch",
                                      .unit = "machines",
                                      .range = {1, 1e6},
                                      .doc = "Machines under one leaf switch; absent: the network does not block.",
                                      .example = "16"},
                                     [](auto& s) -> auto& { return s.cluster.nodes_per_leaf; }));
  fields.push_back(number<Scenario>({.path = "cluster.oversubscription",
                                     .label = "oversubscription {}",
                                     .unit = "",
                                     .range = {1, 1000},
                                     .doc = "A leaf switch's downlinks over its uplinks: 1 is non-blocking; needs "
                                            "`nodes_per_leaf`.",
                                     .example = "2"},
                                    [](auto& s) -> auto& { return s.cluster.oversubscription; }));
  fields.push_back(number<Scenario>({.path = "cluster.straggler_slowdown",
                                     .label = "straggler {} times slower",
                                     .unit = "times slower",
                                     .range = {1, 1000},
                                     .doc = "One GPU computes so many times slower than the others; 1: none does.",
                                     .example = "1.2"},
                                    [](auto& s) -> auto& { return s.cluster.straggler_slowdown; }));
}

void add_plan_fields(Fields& fields) {
  const auto degree = [](std::string path, std::string label, std::string doc, std::vector<std::string> aliases,
                         auto member) {
    return integer<Scenario>({.path = std::move(path),
                              .label = std::move(label),
                              .unit = "ranks",
                              .range = {1, 65536},
                              .doc = std::move(doc),
                              .example = "2",
                              .aliases = std::move(aliases)},
                             [member](auto& s) -> auto& { return s.plan.*member; });
  };
  fields.push_back(degree("plan.tensor", "tensor {}", "Tensor-parallel degree.", {"tp", "tensor_parallel"}, &sim::Plan::tensor));
  fields.push_back(degree("plan.pipeline", "pipeline {}", "Pipeline stages.", {"pp", "pipeline_parallel", "stages"},
                          &sim::Plan::pipeline));
  fields.push_back(degree("plan.context", "context {}", "Context-parallel degree.", {"cp", "context_parallel"},
                          &sim::Plan::context));
  fields.push_back(degree("plan.expert", "expert {}", "Expert-parallel degree, inside the data-parallel ranks.",
                          {"ep", "expert_parallel"}, &sim::Plan::expert));
  fields.push_back(choice<Scenario>({.path = "plan.sharding",
                                     .label = "sharding {}",
                                     .choices = {"none", "zero1", "zero2", "zero3", "hsdp"},
                                     .doc = "What is sharded over the data-parallel ranks: the optimizer (zero1), gradients "
                                            "too (zero2), parameters too (zero3, FSDP), or all of it inside a node (hsdp).",
                                     .example = R"("none")",
                                     .aliases = {"zero", "zero_stage", "fsdp"},
                                     .shown = true},
                                    [](auto& s) -> auto& { return s.plan.sharding; }));
  fields.push_back(choice<Scenario>({.path = "plan.recompute",
                                     .label = "recompute {}",
                                     .choices = {"none", "selective", "full"},
                                     .doc = "Which activations are computed again in the backward pass.",
                                     .example = R"("full")",
                                     .aliases = {"gradient_checkpointing", "checkpointing"}},
                                    [](auto& s) -> auto& { return s.plan.recompute; }));
  fields.push_back(choice<Scenario>({.path = "plan.schedule",
                                     .label = "schedule {}",
                                     .choices = {"gpipe", "1f1b", "interleaved", "zero-bubble"},
                                     .doc = "Order of micro-batches over pipeline stages.",
                                     .example = R"("1f1b")"},
                                    [](auto& s) -> auto& { return s.plan.schedule; }));
  fields.push_back(degree("plan.interleave", "interleave {}", "Model chunks per pipeline stage (virtual stages).", {"vpp"},
                          &sim::Plan::interleave));
}

void add_input_fields(Fields& fields) {
  fields.push_back(number<Scenario>({.path = "input.samples_per_s_per_node",
                                     .label = "input {} samples/s per node",
                                     .unit = "samples/s",
                                     .range = {0, 1e12, true},
                                     .doc = "What one machine's processors decode and augment; absent: input never waits.",
                                     .example = "3000",
                                     .aliases = {"samples_per_second"}},
                                    [](auto& s) -> auto& { return s.input.samples_per_s_per_node; }));
  fields.push_back(number<Scenario>({.path = "input.samples_per_s_per_vcpu",
                                     .label = "input {} samples/s per vCPU",
                                     .unit = "samples/s",
                                     .range = {0, 1e9, true},
                                     .doc = "The same by virtual CPU, so that it scales with the machine; one of the two only.",
                                     .example = "125",
                                     .shown = true},
                                    [](auto& s) -> auto& { return s.input.samples_per_s_per_vcpu; }));
  fields.push_back(number<Scenario>({.path = "input.storage_gbytes_per_s",
                                     .label = "storage {} GB/s",
                                     .unit = "GB/s",
                                     .range = {0, 1e6, true},
                                     .doc = "What the storage that all machines share delivers, 10⁹ bytes per second; needs "
                                            "`dataset_bytes` and `training.dataset_samples`.",
                                     .example = "1.0"},
                                    [](auto& s) -> auto& { return s.input.storage_gbytes_per_s; }));
  fields.push_back(number<Scenario>({.path = "input.dataset_bytes",
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
      text<Measured>({.path = "measured[].machine",
                      .doc = "On which machine; absent: the file's own `cluster.machine`.",
                      .example = R"("Standard_NC24ads_A100_v4")"},
                     [](auto& m) -> auto& { return m.machine; }),
      integer<Measured>({.path = "measured[].gpus",
                         .unit = "GPUs",
                         .range = {1, 1048576},
                         .doc = "On how many GPUs.",
                         .example = "1",
                         .required = true},
                        [](auto& m) -> auto& { return m.gpus; }),
      integer<Measured>({.path = "measured[].micro_batch",
                         .unit = "samples",
                         .range = {1, 1e6},
                         .doc = "With which micro-batch; absent: the file's own `training.micro_batch`.",
                         .example = "64"},
                        [](auto& m) -> auto& { return m.micro_batch; }),
      number<Measured>({.path = "measured[].step_seconds",
                        .unit = "s",
                        .range = {0, 1e7, true},
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
      {"plan", "How ranks share the work. The data-parallel degree follows: gpus / (tensor · pipeline · context). This version "
               "simulates data parallelism; a plan of any other kind is read, and refused with what is missing."},
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
