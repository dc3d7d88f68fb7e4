#include "scenarios/deepspeed.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace foretrain::scenarios {
namespace {

constexpr std::int64_t most_samples = 1000000000000;
constexpr double most_elements = 1e12;

// The value at a dotted path; nothing when it is absent or "auto".
std::optional<JsonView> stated(const JsonView& config, std::string_view path) {
  std::optional<JsonView> view = config;
  while (view && !path.empty()) {
    const std::size_t dot = path.find('.');
    view = view->find(path.substr(0, dot));
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  if (view && view->is_string() && view->string() == "auto") return std::nullopt;
  return view;
}

bool is_auto(const JsonView& config, const std::string& section, const char* key) {
  const auto object = config.find(section);
  const auto value = object ? object->find(key) : std::nullopt;
  return value && value->is_string() && value->string() == "auto";
}

// Files have "true" as often as true.
bool is_true(const JsonView& value) {
  if (!value.is_string()) return value.boolean();
  const std::string text = value.string();
  if (text == "true" || text == "True") return true;
  if (text == "false" || text == "False") return false;
  value.fail("expected true or false, found " + quoted(text));
}

bool is_on(const JsonView& config, std::string_view path) {
  const auto value = stated(config, path);
  return value && is_true(*value);
}

// A number of elements, which files write as 5e8 as often as 500000000; 0 is none.
std::optional<double> elements(const JsonView& config, std::string_view path) {
  const auto value = stated(config, path);
  if (!value) return std::nullopt;
  const double number = value->number({0, 1e18});
  if (number == 0) return std::nullopt;
  return number;
}

void refuse(const JsonView& at, const std::string& what) {
  at.fail(what + " is not simulated", "without it the answer would be about another run");
}

void check_simulated(const JsonView& config) {
  for (const char* name : {"offload_optimizer", "offload_param"}) {
    const auto section = stated(config, std::string("zero_optimization.") + name);
    if (!section) continue;
    const auto device = section->find("device");
    if (device && device->is_string() && device->string() != "none") refuse(*device, "offloading to the host");
  }
  for (const char* key : {"cpu_offload", "cpu_offload_params", "cpu_offload_use_pin_memory"}) {
    const auto value = stated(config, std::string("zero_optimization.") + key);
    if (value && value->is_boolean() && value->boolean()) refuse(*value, "offloading to the host");
  }
  for (const char* path : {"zero_optimization.zero_quantized_weights", "zero_optimization.zero_quantized_gradients",
                           "zero_optimization.zero_quantized_nontrainable_weights",
                           "activation_checkpointing.cpu_checkpointing", "amp.enabled", "elasticity.enabled",
                           "autotuning.enabled", "progressive_layer_drop.enabled", "data_efficiency.enabled"}) {
    if (is_on(config, path)) refuse(*stated(config, path), printable(path));
  }
  for (const char* path : {"zero_optimization.zero_hpz_partition_size", "sequence_parallel_size"}) {
    const auto value = stated(config, path);
    if (value && value->integer(1, 65536) > 1) refuse(*value, printable(path));
  }
  for (const char* key : {"sparse_attention", "compression_training"}) {
    if (const auto section = stated(config, key)) refuse(*section, quoted(key));
  }
}

void apply_batches(const JsonView& config, Json& scenario) {
  Json& training = scenario["training"];
  const auto whole = [&](const char* key) -> std::optional<std::int64_t> {
    const auto value = stated(config, key);
    if (!value) return std::nullopt;
    return value->integer(1, most_samples);
  };
  auto micro = whole("train_micro_batch_size_per_gpu");
  const auto accumulation = whole("gradient_accumulation_steps");
  const auto global = whole("train_batch_size");
  if (!micro && training.contains("micro_batch")) micro = training["micro_batch"].get<std::int64_t>();
  const Json plan = scenario.value("plan", Json::object());
  const auto degree = [&](const char* key) { return plan.value(key, std::int64_t{1}); };
  const std::int64_t gpus = scenario["cluster"].value("gpus", std::int64_t{1});
  const std::int64_t ranks = std::max<std::int64_t>(1, gpus / (degree("tensor") * degree("pipeline")));
  if (!micro && global) {
    const std::int64_t steps = accumulation.value_or(1);
    if (*global % (ranks * steps) != 0) {
      config.at("train_batch_size")
          .fail(fmt::format("{} samples are not divisible by {} data-parallel ranks times {} accumulation steps",
                            *global, ranks, steps),
                "train_batch_size = train_micro_batch_size_per_gpu · gradient_accumulation_steps · ranks");
    }
    micro = *global / (ranks * steps);
  }
  if (!micro) {
    config.fail("says no batch of its own (or \"auto\")", "give --batch: samples per GPU in one forward pass");
  }
  if (global && accumulation && *micro * *accumulation * ranks != *global) {
    config.at("train_batch_size")
        .fail(fmt::format("{} is not {} · {} · {} (micro-batch, accumulation steps, data-parallel ranks)", *global,
                          *micro, *accumulation, ranks),
              "leave out one of the three, or give the --gpus that it was written for");
  }
  training["micro_batch"] = *micro;
  if (global) {
    training["global_batch"] = *global;
  } else if (accumulation.value_or(1) > 1) {
    training["global_batch"] = *micro * *accumulation * ranks;
  }
}

void apply_precision(const JsonView& config, Json& training) {
  const bool fp16 = is_on(config, "fp16.enabled");
  const bool bf16 = is_on(config, "bf16.enabled") || is_on(config, "bfloat16.enabled");
  if (fp16 && bf16) config.at("fp16").fail("fp16 and bf16 are both enabled", "enable one of them");
  const bool unknown = is_auto(config, "fp16", "enabled") || is_auto(config, "bf16", "enabled");
  if (fp16 || bf16) {
    training["precision"] = fp16 ? "fp16" : "bf16";
  } else if (!training.contains("precision")) {
    if (unknown) config.fail("leaves the precision to the training script (\"auto\")", "give --precision bf16 or fp16");
    training["precision"] = "fp32";
  }
}

void apply_optimizer(const JsonView& config, Json& scenario) {
  const auto type = stated(config, "optimizer.type");
  if (!type) return;
  std::string name = type->string();
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (name == "deepspeedcpuadam" || name == "cpuadam") refuse(*type, "offloading to the host");
  if (name == "fusedadam") name = "adam";
  if (name == "onebitadam") {
    name = "adam";
    scenario["stack"]["compression"] = "onebit_adam";
  }
  if (name != "adam" && name != "adamw" && name != "lamb" && name != "sgd") {
    type->fail("the optimizer " + quoted(type->string()) + " is not simulated", "Adam, AdamW, Lamb, SGD or OneBitAdam");
  }
  scenario["training"]["optimizer"] = name;
  if (is_on(config, "optimizer.params.torch_adam")) scenario["stack"]["options"]["fused_optimizer"] = 0;
}

void apply_sharding(const JsonView& config, Json& scenario) {
  const auto stage = stated(config, "zero_optimization.stage");
  const std::int64_t number = stage ? stage->integer(0, 3) : 0;
  Json& plan = scenario["plan"];
  plan["sharding"] = number == 0 ? "none" : fmt::format("zero{}", number);
  if (const auto group = stated(config, "zero_optimization.mics_shard_size"); group && group->number() > 0) {
    if (number != 3) group->fail("MiCS shards parameters: it goes with stage 3 only");
    plan["sharding"] = "hsdp";
    plan["shard_group"] = group->integer(1, 1048576);
  }
  if (const auto tensor = stated(config, "tensor_parallel.autotp_size"); tensor && tensor->integer(0, 65536) > 1) {
    plan["tensor"] = tensor->integer(1, 65536);
  }
}

void apply_communication(const JsonView& config, Json& scenario) {
  constexpr double bucket_element_bytes = 4;  // as stacks count the limits of buckets
  Json& options = scenario["stack"]["options"];
  if (const auto bucket = elements(config, "zero_optimization.reduce_bucket_size")) {
    options["first_bucket_bytes"] = options["bucket_bytes"] = std::min(*bucket, most_elements) * bucket_element_bytes;
  }
  const auto stage = stated(config, "zero_optimization.stage");
  const auto overlap = stated(config, "zero_optimization.overlap_comm");
  if (overlap) {
    options["overlap"] = is_true(*overlap) ? 1 : 0;
  } else if (stage && stage->integer(0, 3) > 0 && !is_auto(config, "zero_optimization", "overlap_comm")) {
    options["overlap"] = stage->integer(0, 3) == 3 ? 1 : 0;  // deepspeed/runtime/zero/config.py
  }
  if (const auto type = stated(config, "communication_data_type")) {
    options["gradient_bytes_per_parameter"] = type->one_of({"fp16", "bf16", "bfp16", "fp32"}) == "fp32" ? 4 : 2;
  }
  if (const auto type = stated(config, "data_types.grad_accum_dtype")) {
    options["gradient_storage_bytes"] = type->one_of({"fp16", "bf16", "fp32"}) == "fp32" ? 4 : 2;
  }
  if (const auto clipping = stated(config, "gradient_clipping"); clipping && clipping->number({0, 1e9}) > 0) {
    options["gradient_norm"] = 1;
  }
}

// Top-level keys of DeepSpeed's documentation (config-json) and of its own configurations; one beside them is taken for
// a typing error by nobody but the reader.
const std::vector<std::string>& documented_keys() {
  static const std::vector<std::string> keys = {
      "train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps", "optimizer", "scheduler",
      "communication_data_type", "seq_parallel_communication_data_type", "prescale_gradients",
      "gradient_predivide_factor", "sparse_gradients", "fp16", "bf16", "amp", "torch_autocast", "data_types",
      "gradient_clipping", "zero_optimization", "zero_allow_untested_optimizer", "zero_force_ds_cpu_optimizer",
      "steps_per_print", "wall_clock_breakdown", "memory_breakdown", "dump_state", "disable_allgather", "aio",
      "flops_profiler", "activation_checkpointing", "sparse_attention", "data_efficiency", "curriculum_learning",
      "monitor_config", "tensorboard", "wandb", "comet", "csv_monitor", "comms_logger", "elasticity", "autotuning",
      "compression_training", "checkpoint", "tensor_parallel", "pipeline", "eigenvalue", "progressive_layer_drop",
      "hybrid_engine", "load_universal_checkpoint", "compile", "nebula", "use_node_local_storage"};
  return keys;
}

void note_the_rest(const JsonView& config, std::vector<std::string>& notes) {
  for (const std::string& key : config.keys()) {
    const std::vector<std::string>& known = documented_keys();
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    notes.push_back("ignored: " + quoted(key) + ", which DeepSpeed does not document; " + name_hint(key, known));
  }
  if (config.find("activation_checkpointing")) {
    notes.emplace_back("activation_checkpointing says how, not whether layers are recomputed: if the training script "
                       "does it, say --set plan.recompute=full");
    if (is_on(config, "activation_checkpointing.partition_activations")) {
      notes.emplace_back("left out of the answer: partition_activations (kept inputs are spread over ranks)");
    }
  }
}

}  // namespace

void apply_deepspeed(const JsonView& config, Json& scenario, std::vector<std::string>& notes) {
  if (!config.is_object()) config.fail("a DeepSpeed configuration is an object: { \"train_batch_size\": … }");
  check_simulated(config);
  scenario["stack"]["name"] = "deepspeed";
  apply_sharding(config, scenario);
  apply_batches(config, scenario);
  apply_precision(config, scenario["training"]);
  apply_optimizer(config, scenario);
  apply_communication(config, scenario);
  if (scenario["stack"]["options"].empty()) scenario["stack"].erase("options");
  note_the_rest(config, notes);
}

void apply_gather_limits(const JsonView& config, double unit_parameters, Json& scenario) {
  constexpr double most_units = 1024;
  const auto units = [&](double count) {
    return static_cast<std::int64_t>(std::clamp(std::floor(count / unit_parameters), 1.0, most_units));
  };
  Json& options = scenario["stack"]["options"];
  if (const auto ahead = elements(config, "zero_optimization.stage3_prefetch_bucket_size")) {
    options["prefetched_units"] = units(*ahead);
  }
  if (const auto live = elements(config, "zero_optimization.stage3_max_live_parameters")) {
    options["gathers_in_flight"] = std::max<std::int64_t>(1, units(*live) - 1);  // one of them is in use
  }
}

}  // namespace foretrain::scenarios
