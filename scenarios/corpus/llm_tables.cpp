#include "scenarios/corpus/llm_tables.h"

#include <vector>

#include "models/precision.h"
#include "scenarios/corpus/fact_parsers.h"
#include "scenarios/corpus/llm_row.h"
#include "sim/plan_names.h"

namespace foretrain::scenarios {
namespace {

// The columns but the measured one, and what the mapping itself finds out: device, and what is assumed.
const std::vector<std::string>& llm_texts() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const std::string& column : llm_columns()) {
      if (column != "step_time_s") all.push_back(column);
    }
    all.insert(all.end(), {"device", "assumed"});
    return all;
  }();
  return names;
}

// One text under `key`, one of `names` unless those are empty.
RuleTable<TextFact>::Parser text_fact(const char* key, const std::vector<std::string>& names = {}) {
  return [key, names](const JsonView& is) {
    is.allow_only({key, "unsupported", "assumed"});
    need_one_of(is, key, "unsupported");
    if (const auto value = is.find(key); value && !names.empty()) (void)value->one_of(names);
    return TextFact{text_of(is, key), text_of(is, "unsupported"), text_of(is, "assumed")};
  };
}

RuleTable<NumberFact>::Parser number_fact(const char* key) {
  return [key](const JsonView& is) {
    is.allow_only({key, "assumed"});
    return NumberFact{is.at(key).number({1, 1e9}), text_of(is, "assumed")};
  };
}

LlmMachineFact parse_llm_machine(const JsonView& is) {
  is.allow_only({"of", "assumed"});
  return {parse_machine(is.at("of")), text_of(is, "assumed")};
}

ShardingFact parse_sharding(const JsonView& is) {
  is.allow_only({"sharding", "shard_group"});
  return {is.at("sharding").string(), count_of(is, "shard_group", std::int64_t{1} << 24)};
}

AssumptionFact parse_assumption(const JsonView& is) {
  is.allow_only({"relative_spread", "between_nodes", "pipelined"});
  return {is.at("relative_spread").number({0, 1}), flag_of(is, "between_nodes"), flag_of(is, "pipelined")};
}

template <class Fact>
RuleTable<Fact> table(const DataStore& data, const char* file, const char* list,
                      const typename RuleTable<Fact>::Parser& parse) {
  return RuleTable<Fact>(data, file, list, parse, llm_texts());
}

}  // namespace

LlmTables::LlmTables(const DataStore& data)
    : unsupported(table<std::string>(data, "llm_models", "unsupported", text_under("unsupported"))),
      zoo(table<std::string>(data, "llm_models", "models", text_under("zoo"))),
      sizes(table<NumbersFact>(data, "llm_models", "sizes", parse_numbers)),
      encoder_decoder_sizes(table<NumbersFact>(data, "llm_models", "encoder_decoder_sizes", parse_numbers)),
      vocabularies(table<NumberFact>(data, "llm_models", "vocabularies", number_fact("vocabulary"))),
      gpus(table<TextFact>(data, "llm_machines", "gpus", text_fact("device"))),
      machines(table<LlmMachineFact>(data, "llm_machines", "machines", parse_llm_machine)),
      stacks(table<TextFact>(data, "llm_software", "stacks", text_fact("stack"))),
      stack_options(table<NumbersFact>(data, "llm_software", "options", parse_options)),
      precisions(table<TextFact>(data, "llm_software", "precisions",
                                 text_fact("precision", models::precision_names()))),
      recompute(table<TextFact>(data, "llm_software", "recompute",
                                text_fact("recompute", {"none", "selective", "full"}))),
      sequence_parallel(table<TextFact>(data, "llm_software", "sequence_parallel",
                                        text_fact("sequence_parallel", {"yes", "no"}))),
      schedules(table<TextFact>(data, "llm_software", "schedules",
                                text_fact("schedule", sim::schedule_names()))),
      sharding(table<ShardingFact>(data, "llm_software", "sharding", parse_sharding)),
      assumptions(table<AssumptionFact>(data, "llm_assumptions", "assumptions", parse_assumption)) {}

}  // namespace foretrain::scenarios
