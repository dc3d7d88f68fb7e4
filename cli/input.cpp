#include "cli/input.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/data.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/output.h"
#include "models/model.h"
#include "reports/json.h"
#include "scenarios/reader.h"
#include "sim/cluster.h"

namespace foretrain::cli {

namespace fs = std::filesystem;

namespace {

struct QuickFlag {
  const char* flag;
  const std::string& value;
  const char* key;  // what says the same inside a scenario file
};

std::vector<QuickFlag> quick_flags(const scenarios::QuickScenario& quick) {
  return {{"--model", quick.model, "model.zoo"},
          {"--machine", quick.machine, "cluster.machine"},
          {"--gpus", quick.gpus, "cluster.gpus"},
          {"--batch", quick.batch, "training.micro_batch"},
          {"--sequence", quick.sequence, "training.sequence"},
          {"--precision", quick.precision, "training.precision"},
          {"--optimizer", quick.optimizer, "training.optimizer"},
          {"--stack", quick.stack, "stack.name"}};
}

// Files of other tools that make a scenario.
std::vector<QuickFlag> import_flags(const scenarios::QuickScenario& quick) {
  return {{"--megatron", quick.megatron, ""}, {"--deepspeed", quick.deepspeed, ""}};
}

// Flags make a scenario of their own; beside a file they would silently mean something else.
void refuse_flags_beside_file(const Arguments& arguments) {
  const std::string where = "foretrain " + arguments.command;
  for (const QuickFlag& flag : quick_flags(arguments.quick)) {
    if (flag.value.empty()) continue;
    throw Error(fmt::format("{} does not go with a scenario file", flag.flag), where,
                fmt::format("write --set {}={}", flag.key, printable(flag.value)));
  }
  for (const QuickFlag& flag : import_flags(arguments.quick)) {
    if (flag.value.empty()) continue;
    throw Error(fmt::format("{} does not go with a scenario file", flag.flag), where,
                "it makes a scenario of its own: --save writes that, to be joined by hand");
  }
  if (!arguments.quick.step.empty()) {
    throw Error("--step does not go with a scenario file", where, "write it into the file's \"measured\"");
  }
  if (!arguments.quick.try_machines.empty()) {
    throw Error("--try does not go with a scenario file", where, "write it into the file's \"options\"");
  }
  if (!arguments.save.empty()) {
    throw Error("--save writes the scenario of flags; here there is a file already", where,
                "copy the file, or leave it out and use flags");
  }
}

void require_some_input(const Arguments& arguments) {
  std::vector<QuickFlag> flags = quick_flags(arguments.quick);
  for (const QuickFlag& flag : import_flags(arguments.quick)) flags.push_back(flag);
  const bool any = std::any_of(flags.begin(), flags.end(), [](const QuickFlag& flag) { return !flag.value.empty(); });
  if (any) return;
  throw Error("nothing to answer: give a scenario file, or --model, --machine and --batch",
              "foretrain " + arguments.command, fmt::format("foretrain {} --help has examples", arguments.command));
}

std::vector<scenarios::Assignment> assignments(const Arguments& arguments) {
  std::vector<scenarios::Assignment> set;
  for (const std::string& text : arguments.set) set.push_back(scenarios::parse_assignment(text, "--set"));
  return set;
}

// The flags as a file that says the same, --set included; a model's file is named as seen from there.
void save_scenario(const std::string& path, const sim::Scenario& base, const Json& quick) {
  Json saved = scenarios::write_scenario(base);
  if (quick.contains("options")) saved["options"] = quick["options"];
  Json& model = saved["model"];
  for (const char* kind : {"operators", "huggingface"}) {
    if (path == "-" || !model.contains(kind)) continue;
    const fs::path folder = fs::absolute(path).parent_path();
    model[kind] = fs::proximate(fs::absolute(model[kind].get<std::string>()), folder).string();
  }
  write_file(path, reports::json_text(saved));
}

std::string digest_of(const std::string& text, const Arguments& arguments, const sim::Question& question) {
  std::string all = text;
  const char separator = '\0';
  for (const std::string& set : arguments.set) all += separator + set;
  return digest(all + separator + question.base.model.operators_text);
}

}  // namespace

Input read_input(const Arguments& arguments, const calibrate::Catalogue& catalogue) {
  const std::vector<scenarios::Assignment> set = assignments(arguments);
  const bool compares = arguments.command == "decide";  // the others answer the base
  Input input;
  if (!arguments.subject.empty()) {
    refuse_flags_beside_file(arguments);
    const std::string& path = arguments.subject;
    const std::string text = read_file(path);
    input.source = path == "-" ? "standard input" : printable(path);
    const std::string source = path == "-" ? input.source : path;
    const std::string directory = path == "-" ? "" : fs::path(path).parent_path().string();
    input.question = scenarios::read_question(text, source, set, directory, catalogue, compares);
    input.digest = digest_of(text, arguments, input.question);
    return input;
  }
  require_some_input(arguments);
  input.source = "command line";
  std::vector<std::string> notes;
  const Json quick = scenarios::quick_scenario(arguments.quick, catalogue, notes);
  for (const std::string& text : notes) note(arguments, text);
  const std::string text = reports::json_text(quick);
  input.question = scenarios::read_question(text, input.source, set, "", catalogue);
  input.digest = digest_of(text, arguments, input.question);
  if (!arguments.save.empty()) save_scenario(arguments.save, input.question.base, quick);
  return input;
}

reports::Head head_of(const Arguments& arguments, const Input& input, const calibrate::Catalogue& catalogue) {
  reports::Head head;
  head.command = arguments.command;
  head.version = FORETRAIN_VERSION;
  head.input_digest = input.digest;
  head.folded = arguments.fold;
  head.replays = arguments.replays;
  head.seed = arguments.seed;
  if (catalogue.data().overlay().empty()) return head;
  const std::vector<EmbeddedFile>& built_in = embedded_files();
  for (const char* kind : {"devices", "machines", "networks", "stacks", "collectives", "zoo", "corpus"}) {
    for (const DataFile& file : catalogue.data().files(kind)) {
      const bool is_built_in = std::any_of(built_in.begin(), built_in.end(), [&](const EmbeddedFile& one) {
        return one.kind == kind && one.name == file.name && one.text == file.text;
      });
      if (!is_built_in) head.profiles.push_back({kind, file.name, digest(file.text)});
    }
  }
  return head;
}

reports::Workload workload_of(const sim::Scenario& scenario, const calibrate::Catalogue& catalogue) {
  const sim::Training& training = scenario.training;
  const models::Model model =
      models::build_model(scenario.model, {training.micro_batch, training.sequence}, catalogue.data());
  const auto samples = static_cast<double>(training.micro_batch);
  reports::Workload workload;
  workload.model = scenario.model.name.empty() ? model.name : scenario.model.name;
  workload.family = model.family;
  workload.sample_unit = model.sample_unit;
  workload.source = model.source;
  workload.parameters = models::parameter_count(model);
  workload.training_flops_per_sample = models::training_flops(model).value / samples;
  workload.saved_elements_per_sample = models::saved_elements(model) / samples;
  const sim::Cluster cluster = sim::resolve_cluster(scenario.cluster, catalogue);
  const auto peak = cluster.device->peak.find(training.precision);
  if (peak != cluster.device->peak.end()) workload.device_peak_flops_per_s = peak->second.value;
  return workload;
}

sim::studies::PredictOptions predict_options(const Arguments& arguments, const Input& input) {
  sim::studies::PredictOptions options;
  options.fold = arguments.fold;
  options.replays = arguments.replays;
  options.seed = arguments.seed;
  if (input.question.as_written) options.measured_in = &*input.question.as_written;
  return options;
}

}  // namespace foretrain::cli
