// Reader: scenario text to values.
//
// One field table (fields.h) drives reading, checking, `schema`, `init` and the docs page. The same
// dotted keys serve the file, --set, --over and `options`; docs/scenario.md has the rules of what goes
// with a machine, a model and a batch when one of them is changed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "calibrate/catalogue.h"
#include "sim/scenario.h"

namespace foretrain::scenarios {

// One `key=value` of --set; the value is JSON, or a bare word taken as a string.
struct Assignment {
  std::string key;    // dotted: "cluster.gpus"
  std::string value;  // text after '='
  std::string where;  // "--set cluster.gpus=8"
};
// Throws Error for text without '=' or without a key; `option` is the flag's name for messages.
[[nodiscard]] Assignment parse_assignment(std::string_view text, const std::string& option);

// Reads a scenario with its options. `set` is applied to the base (and so to every option). `directory` is
// where relative file names inside the scenario (operators) are looked up. Names of machines, devices,
// networks, stacks and models are checked against `catalogue`, which also knows how many GPUs a machine
// has (alternatives are named after it).
// With `with_options` false only how many options there are is kept (each is the base), whatever they say.
// Throws Error with file and JSON pointer (or the --set) of what is wrong.
[[nodiscard]] sim::Question read_question(std::string_view text, const std::string& source,
                                          const std::vector<Assignment>& set, const std::string& directory,
                                          const calibrate::Catalogue& catalogue, bool with_options = true);

// What the flags of predict and decide say without a scenario file; each is the text after the flag,
// empty when it was not given. model, machine and batch are required; gpus defaults to 1. A Megatron run has a model
// and batches of its own, a DeepSpeed configuration batches; the other flags change what they say.
struct QuickScenario {
  std::string model;                      // --model NAME | config.json | operators.json
  std::string machine;                    // --machine
  std::string gpus;                       // --gpus
  std::string batch;                      // --batch: samples per GPU
  std::string sequence;                   // --sequence
  std::string step;                       // --step: a measured step in seconds, of --gpus GPUs of --machine
  std::string precision;                  // --precision
  std::string optimizer;                  // --optimizer
  std::string stack;                      // --stack
  std::string megatron;                   // --megatron: a launch script or a log
  std::string deepspeed;                  // --deepspeed: a ds_config.json
  std::vector<std::string> try_machines;  // --try "Standard_ND96amsr_A100_v4:1-4,DGX H100:1": machines counted
};
// The same as a scenario in JSON, to be written (--save) and read by read_question: one path in.
// `notes` are sentences about what was read. Throws Error that names the flag, or the file and the place in it.
[[nodiscard]] Json quick_scenario(const QuickScenario& quick, const calibrate::Catalogue& catalogue,
                                  std::vector<std::string>& notes);

// A scenario back as JSON in the field table's order: required keys and what differs from the defaults.
// Reading it gives the same scenario.
[[nodiscard]] Json write_scenario(const sim::Scenario& scenario);

}  // namespace foretrain::scenarios
