#include "scenarios/corpus/tables.h"

#include <vector>

#include "models/precision.h"
#include "scenarios/corpus/fact_parsers.h"

namespace foretrain::scenarios {
namespace {

constexpr NumberRange positive{0, 1e12, true};
constexpr std::int64_t most_sequence = 1 << 24;

ModelFact parse_model(const JsonView& is) {
  is.allow_only({"zoo", "optimizer", "sequence", "unsupported"});
  need_one_of(is, "zoo", "unsupported");
  return {text_of(is, "zoo"), text_of(is, "optimizer"), text_of(is, "unsupported"),
          count_of(is, "sequence", most_sequence)};
}

DeviceFact parse_device(const JsonView& is) {
  is.allow_only({"device", "unsupported"});
  need_one_of(is, "device", "unsupported");
  return {text_of(is, "device"), text_of(is, "unsupported")};
}

StackFact parse_stack(const JsonView& is) {
  is.allow_only({"stack", "across_nodes", "parameter_server", "unsupported"});
  need_one_of(is, "stack", "unsupported");
  return {text_of(is, "stack"), text_of(is, "across_nodes"), text_of(is, "unsupported"),
          flag_of(is, "parameter_server")};
}

LoaderFact parse_loader(const JsonView& is) {
  is.allow_only({"samples_per_s_per_node", "samples_per_s_per_vcpu"});
  LoaderFact fact;
  if (const auto rate = is.find("samples_per_s_per_node")) fact.samples_per_s_per_node = rate->number(positive);
  if (const auto rate = is.find("samples_per_s_per_vcpu")) fact.samples_per_s_per_vcpu = rate->number(positive);
  return fact;
}

UnitFact parse_unit(const JsonView& is) {
  is.allow_only({"per_sample", "batch_in_units"});
  const JsonView per_sample = is.at("per_sample");
  UnitFact fact;
  if (per_sample.is_string()) {
    fact.per_sample = per_sample.one_of({"sequence"}) == "sequence" ? 0 : 1;
  } else {
    fact.per_sample = per_sample.number(positive);
  }
  fact.batch_in_units = flag_of(is, "batch_in_units");
  return fact;
}

std::string parse_precision(const JsonView& is) {
  is.allow_only({"precision"});
  std::vector<std::string> names = models::precision_names();
  names.insert(names.end(), {"default", "not stated"});
  return is.at("precision").one_of(names);
}

BatchFact parse_batch(const JsonView& is) {
  is.allow_only({"assumed_batch_per_gpu", "memory_factor", "least_micro_batch_seconds", "most_micro_batch_seconds"});
  return {is.at("assumed_batch_per_gpu").number({1, 1e6}), is.at("memory_factor").number({1, 100}),
          is.at("least_micro_batch_seconds").number(positive), is.at("most_micro_batch_seconds").number(positive)};
}

bool parse_sharded(const JsonView& is) {
  is.allow_only({"sharded"});
  return is.at("sharded").boolean();
}

double parse_port_rate(const JsonView& is) {
  is.allow_only({"gbits_per_s"});
  return is.at("gbits_per_s").number(positive);
}

}  // namespace

CorpusTables::CorpusTables(const DataStore& data)
    : models(data, "models", "models", parse_model),
      sizes(data, "models", "sizes", parse_numbers),
      gpus(data, "gpus", "gpus", parse_device),
      machines(data, "machines", "machines", parse_machine),
      default_machines(data, "machines", "defaults", parse_machine),
      whole_texts(data, "networks", "whole_texts", text_under("kind")),
      unsupported_networks(data, "networks", "unsupported", text_under("unsupported")),
      clause_uses(data, "networks", "clause_uses", text_under("use")),
      clause_kinds(data, "networks", "clause_kinds", text_under("kind")),
      network_groups(data, "networks", "groups", text_under("kind")),
      port_rates(data, "networks", "port_rates", parse_port_rate),
      stacks(data, "stacks", "stacks", parse_stack),
      stack_options(data, "stacks", "options", parse_options),
      sharded_tables(data, "stacks", "sharded_tables", parse_sharded),
      loaders(data, "loaders", "loaders", parse_loader),
      units(data, "units", "units", parse_unit),
      precisions(data, "precisions", "precisions", parse_precision),
      batches(data, "batches", "batches", parse_batch) {}

}  // namespace foretrain::scenarios
