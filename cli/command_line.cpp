#include "cli/command_line.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>
#include <map>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/commands.h"

namespace foretrain::cli {

namespace {

constexpr const char* outputs_group = "Output";
constexpr const char* question_group = "Without a scenario file";
constexpr const char* change_group = "The question";
constexpr const char* simulation_group = "Simulation";
constexpr const char* common_group = "Every command";

// Numbers are taken as text and checked here: CLI11's own messages name neither range nor remedy.
struct Texts {
  std::string replays, seed, top, workers, colour = "auto";
  bool no_fold = false;
};

template <class Integer>
Integer whole_number(const std::string& text, const std::string& option, Integer low, Integer high) {
  Integer value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stopped != end || value < low || value > high) {
    throw Error(fmt::format("{} is not a whole number from {} to {}", quoted(text), low, high), option);
  }
  return value;
}

const CommandHelp* help_of(const std::string& command) {
  for (const CommandHelp& help : command_help()) {
    if (help.name == command) return &help;
  }
  return nullptr;
}

// Help that leads with examples.
class ExamplesFirst : public CLI::Formatter {
 public:
  ExamplesFirst() { column_width(34); }

  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode mode) const override {
    const bool is_command = app->get_parent() != nullptr;
    const std::string name = is_command ? app->get_name() : "";
    const CommandHelp* help = help_of(name);
    std::string text = is_command ? fmt::format("foretrain {}: {}\n", name, app->get_description())
                                  : fmt::format("foretrain: {}\n", app->get_description());
    text += "\nExamples:\n";
    for (const CommandHelp& one : command_help()) {
      if (is_command && &one != help) continue;
      const std::size_t shown = is_command ? one.examples.size() : std::min<std::size_t>(1, one.examples.size());
      for (std::size_t i = 0; i < shown; ++i) text += "  " + one.examples[i] + '\n';
    }
    text += is_command ? fmt::format("\nUsage: foretrain {}{} [options]\n", name,
                                     help->subject.empty() ? "" : " [" + help->subject + "]")
                       : "\nUsage: foretrain COMMAND [options]; foretrain COMMAND --help says more\n";
    // CLI11 leaves two empty lines between groups.
    return CLI::detail::find_and_replace(text + make_positionals(app) + make_groups(app, mode) +
                                             make_subcommands(app, mode), "\n\n\n", "\n\n");
  }

  std::string make_positionals(const CLI::App* app) const override {
    const CommandHelp* help = app->get_parent() != nullptr ? help_of(app->get_name()) : nullptr;
    if (help == nullptr || help->subject.empty()) return "";
    return fmt::format("\n  {:<32}{}\n", help->subject, help->subject_doc);
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    return option->get_type_size() == 0 ? "" : " " + option->get_type_name();
  }
};

void add_common(CLI::App& app, Arguments& arguments, Texts& texts) {
  app.set_help_flag("-h,--help", "This text")->group(common_group);
  app.add_flag("-q,--quiet", arguments.quiet, "No text on stdout, no progress, no notes")->group(common_group);
  app.add_option("--data", arguments.data, "Directory that overlays the catalogue (or FORETRAIN_DATA)")
      ->type_name("DIR")->envname("FORETRAIN_DATA")->group(common_group);
  app.add_option("--color", texts.colour, "auto, always or never; auto heeds NO_COLOR")
      ->type_name("WHEN")->group(common_group);
}

// An option that writes a file; an empty path is a script's empty variable.
void add_output(CLI::App& app, const char* name, std::string& path, const char* doc) {
  app.add_option(name, path, doc)->type_name("F")->group(outputs_group)->check([](const std::string& given) {
    return given.empty() ? std::string("an empty file name cannot be written") : std::string();
  });
}

void add_outputs(CLI::App& app, Arguments& arguments) {
  add_output(app, "--json", arguments.json, "Write the result as JSON; - is stdout");
  add_output(app, "--csv", arguments.csv, "Write the numbers as CSV");
  add_output(app, "--md", arguments.markdown, "Write the result as Markdown");
}

void add_question(CLI::App& app, Arguments& arguments, bool several) {
  scenarios::QuickScenario& quick = arguments.quick;
  const auto add = [&](const char* name, std::string& value, const char* type, const char* doc) {
    app.add_option(name, value, doc)->type_name(type)->group(question_group);
  };
  add("--model", quick.model, "NAME|F", "Of `foretrain list models`, a config.json, or an operator list");
  add("--machine", quick.machine, "NAME", "A machine of `foretrain list machines`");
  add("--gpus", quick.gpus, "N", "GPUs to train on (1)");
  add("--batch", quick.batch, "N", "Samples per GPU and forward pass");
  add("--sequence", quick.sequence, "N", "Tokens (or columns) per sample");
  add("--precision", quick.precision, "P", "fp32, tf32, fp16, bf16, fp8");
  add("--optimizer", quick.optimizer, "O", "sgd, adam, adamw, lamb");
  add("--stack", quick.stack, "NAME", "A stack of `foretrain list stacks`");
  add("--megatron", quick.megatron, "F", "A Megatron launch script or, better, a log: the whole run");
  add("--deepspeed", quick.deepspeed, "F", "Batches, precision and ZeRO stage of a ds_config.json");
  add("--step", quick.step, "SECONDS", "A step you measured on --gpus GPUs of --machine");
  if (several) {
    app.add_option("--try", quick.try_machines, "Machines to compare with: NAME:1-4,NAME:2 (machines counted)")
        ->type_name("LIST")->allow_extra_args(false)->group(question_group);
  }
  add("--save", arguments.save, "F", "Write these flags as a scenario file");
  app.add_option("--set", arguments.set, "Change a value of the scenario; repeatable")
      ->type_name("KEY=VALUE")->allow_extra_args(false)->group(change_group);
}

void add_simulation(CLI::App& app, Texts& texts) {
  app.add_flag("--no-fold", texts.no_fold, "Replay every rank instead of one per class")->group(simulation_group);
  app.add_option("--replays", texts.replays, "Intervals from N replays with random errors instead of first order")
      ->type_name("N")->group(simulation_group);
  app.add_option("--seed", texts.seed, "Of those random errors (1)")->type_name("N")->group(simulation_group);
}

void add_require(CLI::App& app, Arguments& arguments) {
  app.add_option("--require", arguments.require, "Exit 3 unless a value of the result holds, as 'speedup.value>=3.5'")
      ->type_name("TEST")->allow_extra_args(false)->group(change_group);
}

void add_validation(CLI::App& app, const CommandHelp& help, Arguments& arguments, Texts& texts) {
  app.add_option(help.subject, arguments.files, help.subject_doc)->type_name("");
  app.add_option("--gate", arguments.gate, "Exit 3 unless the scores clear every bar of this file")
      ->type_name("F")->group(change_group);
  app.add_option("--workers", texts.workers, "Processes (one per core); the result is the same")
      ->type_name("N")->group(simulation_group);
  app.add_option("--save-track-record", arguments.track_record, "Write what answers may quote of these scores")
      ->type_name("F")->group(outputs_group);
  app.add_option("--save-interval-factors", arguments.interval_factors,
                 "Write what intervals of runs like these have to be widened by")
      ->type_name("F")->group(outputs_group);
}

CLI::App* add_command(CLI::App& app, const CommandHelp& help, Arguments& arguments, Texts& texts) {
  CLI::App* command = app.add_subcommand(help.name, help.summary);
  command->allow_extras();
  const bool validates = help.name == "validate";
  if (validates) {
    add_validation(*command, help, arguments, texts);
  } else if (!help.subject.empty()) {
    command->add_option(help.subject, arguments.subject, help.subject_doc)->type_name("");
  }
  const bool simulates = help.name == "predict" || help.name == "decide" || help.name == "explain";
  if (simulates) {
    add_question(*command, arguments, help.name == "decide");
    add_simulation(*command, texts);
  }
  if (help.name == "predict" || help.name == "decide" || validates) add_require(*command, arguments);
  if (help.name == "explain") {
    command->add_option("--top", texts.top, "Print the N longest terms (20); 0 prints all")
        ->type_name("N")->group(outputs_group);
  }
  if (simulates || validates || help.name == "list") add_outputs(*command, arguments);
  if (help.name == "predict") {
    add_output(*command, "--trace", arguments.trace, "Write the replayed step as a Chrome trace (Perfetto reads it)");
  }
  add_common(*command, arguments, texts);
  return command;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

// Another command that knows `option`, for a flag in the wrong place.
std::string command_with(const CLI::App& app, const std::string& option) {
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    const std::vector<std::string> names = option_names(*command);
    if (std::find(names.begin(), names.end(), option) != names.end()) return command->get_name();
  }
  return "";
}

[[noreturn]] void fail_unknown_option(const CLI::App& app, const CLI::App& command, const std::string& word) {
  const std::string option = word.substr(0, word.find('='));
  const bool is_command = command.get_parent() != nullptr;
  const std::string where = is_command ? "foretrain " + command.get_name() : "";
  const std::string other = command_with(app, option);
  const std::string help = (is_command ? where : "foretrain") + " --help lists the options";
  const auto near = nearest(option, option_names(command));
  const std::string hint = !other.empty() ? fmt::format("it belongs to foretrain {}", other)
                           : near         ? fmt::format("did you mean {}?", *near)
                                          : help;
  throw Error("unknown option " + quoted(option), where, hint);
}

// What CLI11 could not place: a misspelt flag first, because its value was then taken for something else.
void check_remaining(const CLI::App& app) {
  const std::vector<const CLI::App*> chosen = app.get_subcommands([](const CLI::App* a) { return a->parsed(); });
  const CLI::App& command = chosen.empty() ? app : *chosen.front();
  const std::vector<std::string> remaining = command.remaining();
  for (const std::string& word : remaining) {
    if (word.size() > 1 && word.front() == '-' && word != "--") fail_unknown_option(app, command, word);
  }
  const auto extra = std::find_if(remaining.begin(), remaining.end(), [](const auto& word) { return word != "--"; });
  if (extra == remaining.end()) return;
  if (!chosen.empty()) {
    throw Error("one argument too many: " + quoted(*extra), "foretrain " + command.get_name(),
                fmt::format("foretrain {} --help says what it takes", command.get_name()));
  }
  std::vector<std::string> names;
  for (const CommandHelp& help : command_help()) names.push_back(help.name);
  throw Error("there is no command " + quoted(*extra), "", name_hint(*extra, names));
}

Colour colour_from(const std::string& text) {
  const std::map<std::string, Colour> known = {
      {"auto", Colour::automatic}, {"always", Colour::always}, {"never", Colour::never}};
  const auto it = known.find(text);
  if (it == known.end()) throw Error(quoted(text) + " is no way to colour", "--color", "one of: auto, always, never");
  return it->second;
}

void take_numbers(const Texts& texts, Arguments& arguments) {
  constexpr int most_replays = 100000;
  arguments.fold = !texts.no_fold;
  arguments.colour = colour_from(texts.colour);
  if (!texts.replays.empty()) arguments.replays = whole_number(texts.replays, "--replays", 0, most_replays);
  if (!texts.seed.empty()) {
    arguments.seed = whole_number<std::uint64_t>(texts.seed, "--seed", 0, std::numeric_limits<std::uint64_t>::max());
  }
  constexpr unsigned most_workers = 1024;
  if (!texts.workers.empty()) arguments.workers = whole_number(texts.workers, "--workers", 1U, most_workers);
  if (!texts.top.empty()) arguments.top = whole_number<std::size_t>(texts.top, "--top", 0, 1000000);
}

// An empty name comes from an unset variable of a script: the result would vanish unseen.
void refuse_empty_paths(const CLI::App& command) {
  for (const char* name : {"--json", "--csv", "--md", "--save", "--save-track-record", "--gate"}) {
    const CLI::Option* option = command.get_option_no_throw(name);
    if (option == nullptr || option->count() == 0 || !option->results().front().empty()) continue;
    throw Error("an empty file name cannot be written", name, "give a path, or - for stdout");
  }
}

}  // namespace

CommandLine parse_command_line(int argc, const char* const* argv) {
  CommandLine result;
  Texts texts;
  CLI::App app("forecasts how fast deep-learning training runs when it is distributed", "foretrain");
  app.formatter(std::make_shared<ExamplesFirst>());
  app.require_subcommand(0, 1);
  app.allow_extras();
  add_common(app, result.arguments, texts);
  app.set_version_flag("--version", "foretrain " FORETRAIN_VERSION, "The version")->group(common_group);
  for (const CommandHelp& help : command_help()) add_command(app, help, result.arguments, texts);

  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    result.answer = app.help();
    return result;
  } catch (const CLI::CallForVersion& version) {
    result.answer = std::string(version.what()) + '\n';
    return result;
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string message = error.what();  // "--model: 1 required NAME missing"
    throw Error("takes exactly one value", printable(message.substr(0, message.find(':'))));
  } catch (const CLI::ParseError& error) {
    check_remaining(app);  // a misspelt flag is the likelier cause of anything else
    throw Error(printable(error.what(), 400), "", "foretrain --help shows how it is used");
  }
  check_remaining(app);
  const auto chosen = app.get_subcommands();
  if (!chosen.empty()) {
    result.arguments.command = chosen.front()->get_name();
    refuse_empty_paths(*chosen.front());
  }
  take_numbers(texts, result.arguments);
  return result;
}

}  // namespace foretrain::cli
