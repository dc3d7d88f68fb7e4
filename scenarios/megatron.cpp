#include "scenarios/megatron.h"

#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "scenarios/launch_script.h"
#include "scenarios/megatron_arguments.h"
#include "scenarios/megatron_log.h"

namespace foretrain::scenarios {
namespace {

constexpr std::int64_t most_gpus = 1048576;

std::optional<std::int64_t> known_gpus(const ArgumentList& arguments) {
  if (arguments.from_log()) return arguments.integer({"world_size"}, 1, most_gpus);
  const auto per_node = arguments.count({"nproc_per_node", "num_gpus"});
  const auto nodes = arguments.count({"nnodes", "num_nodes"});
  if (!per_node || !nodes || *per_node > most_gpus / *nodes) return std::nullopt;
  return *per_node * *nodes;
}

// The examples are BERT's, T5's and others' too; their arguments look alike.
void refuse_other_models(std::string_view text, const ArgumentList& arguments) {
  constexpr std::array<std::pair<std::string_view, const char*>, 8> others = {
      {{"pretrain_bert", "BERT"},
       {"building BERT model", "BERT"},
       {"pretrain_t5", "T5"},
       {"building T5 model", "T5"},
       {"pretrain_ict", "ICT"},
       {"pretrain_vision", "a vision model"},
       {"pretrain_mamba", "Mamba"},
       {"pretrain_vlm", "a vision-language model"}}};
  const auto mentions = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
  if (mentions("pretrain_gpt") || mentions("building GPT")) return;
  for (const auto& [part, name] : others) {
    if (!mentions(part)) continue;
    arguments.fail("", fmt::format("trains {} ({}), which is not read from Megatron's arguments", name, part),
                   "decoders (pretrain_gpt.py) are; name another model as model.zoo in a scenario");
  }
}

void add_measured(const MegatronLog& log, const Json& training, std::int64_t gpus, Json& scenario,
                  std::vector<std::string>& notes) {
  const LoggedStep step = usual_step(log.iterations);
  if (step.lines == 0) {
    notes.emplace_back(log.iterations.empty() ? "the log has no iterations: nothing measured to anchor the answer to"
                                              : "the log's only iteration has warm-up in it: not taken as measured");
    return;
  }
  scenario["measured"].push_back(
      Json({{"gpus", gpus}, {"micro_batch", training["micro_batch"]}, {"step_seconds", step.seconds}}));
  notes.push_back(fmt::format("measured: {} per step, the median of {} line{} of the log, taken as one of {} GPUs of "
                              "--machine",
                              format_time(Seconds(step.seconds)), step.lines, step.lines == 1 ? "" : "s", gpus));
}

void note_ignored(const ArgumentList& arguments, std::vector<std::string>& notes) {
  constexpr std::size_t most_names = 3;
  const std::vector<std::string> names = arguments.left_over();
  if (names.empty()) return;
  std::vector<std::string> some;
  for (const std::string& name : names) {
    if (some.size() < most_names) some.push_back(printable(shown_argument(name, arguments.from_log()), 60));
  }
  notes.push_back(fmt::format("ignored: {} argument{} not known to change time or memory, for instance {}",
                              names.size(), names.size() == 1 ? "" : "s", joined(some)));
}

}  // namespace

Json megatron_scenario(std::string_view text, const std::string& source, std::optional<std::int64_t> gpus,
                       std::vector<std::string>& notes) {
  const MegatronLog log = is_megatron_log(text)
                              ? read_megatron_log(text, source)
                              : MegatronLog{read_launch_script(text, source, megatron_flags()), {}};
  const ArgumentList& arguments = log.arguments;
  refuse_other_models(text, arguments);
  check_megatron_arguments(arguments, notes);
  const auto own_gpus = known_gpus(arguments);
  if (!gpus) gpus = own_gpus;

  Json scenario = {{"foretrain", 1}, {"model", megatron_model(arguments, notes)}};
  const Json plan = megatron_plan(arguments);
  scenario["training"] = megatron_training(arguments, plan, arguments.from_log() ? own_gpus : gpus);
  scenario["stack"] = megatron_stack(arguments, plan, scenario["training"]["precision"].get<std::string>());
  scenario["cluster"] = Json::object();
  if (gpus) scenario["cluster"]["gpus"] = *gpus;
  if (!plan.empty()) scenario["plan"] = plan;
  if (arguments.from_log() && own_gpus) add_measured(log, scenario["training"], *own_gpus, scenario, notes);
  note_ignored(arguments, notes);
  return scenario;
}

}  // namespace foretrain::scenarios
