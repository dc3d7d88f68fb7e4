#include "cli/commands.h"

namespace foretrain::cli {

const std::vector<CommandHelp>& command_help() {
  static const std::string scenario_doc = "A scenario file; - reads it from stdin";
  static const std::vector<CommandHelp> help = {
      {"decide",
       "Will distribution help, how far, and what is the simplest thing to run?",
       "SCENARIO",
       scenario_doc,
       {"foretrain decide scenario.json",
        "foretrain decide --model resnet50 --machine p3.2xlarge --batch 64 --try p3.8xlarge:1,p3.16xlarge:1-4",
        "foretrain decide scenario.json --require 'answer==Yes' --md decision.md"}},
      {"predict",
       "How long does a step take, where does it go, does it fit, what does it cost?",
       "SCENARIO",
       scenario_doc,
       {"foretrain predict --model resnet50 --machine p3.16xlarge --gpus 16 --batch 64 --precision fp16",
        "foretrain predict scenario.json --set cluster.gpus=8 --json result.json",
        "foretrain predict --megatron launch.sh --machine 'DGX H100' --gpus 512",
        "foretrain predict scenario.json --require 'efficiency.value>=0.8' -q"}},
      {"explain",
       "Every term of a prediction: seconds, formula, provenance and source",
       "SCENARIO",
       scenario_doc,
       {"foretrain explain scenario.json", "foretrain explain scenario.json --top 0 --csv terms.csv"}},
      {"validate",
       "How well are measured speedups and training runs predicted, beside baselines?",
       "FILE...",
       "CSV files of speedup curves or training runs; - is stdin",
       {"foretrain validate families.csv", "foretrain validate families.csv --gate gate.json --json result.json -q",
        "foretrain validate families.csv --require 'overall.mape<=0.08' --save-track-record record.json"}},
      {"list",
       "What the catalogue knows: models, devices, machines, networks, stacks",
       "KIND",
       "models, devices, machines, networks or stacks",
       {"foretrain list machines", "foretrain list models --json -"}},
      {"init",
       "Write a commented scenario to start from",
       "FILE",
       "Where to write it (stdout); an existing file is left alone",
       {"foretrain init scenario.json"}},
      {"schema",
       "The JSON Schema of scenarios, for editors",
       "",
       "",
       {"foretrain schema > scenario.schema.json"}},
  };
  return help;
}

}  // namespace foretrain::cli
