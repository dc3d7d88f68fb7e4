#include "scenarios/corpus/fact_parsers.h"

#include "calibrate/stack.h"

namespace foretrain::scenarios {
namespace {

constexpr NumberRange positive{0, 1e12, true};
constexpr std::int64_t most_gpus_per_node = 1024, most_nics_per_node = 256;

}  // namespace

std::string text_of(const JsonView& is, const char* key) {
  const auto member = is.find(key);
  return member ? member->string() : "";
}

std::int64_t count_of(const JsonView& is, const char* key, std::int64_t most) {
  const auto member = is.find(key);
  return member ? member->integer(1, most) : 0;
}

double number_of(const JsonView& is, const char* key) {
  const auto member = is.find(key);
  return member ? member->number(positive) : 0;
}

bool flag_of(const JsonView& is, const char* key) {
  const auto member = is.find(key);
  return member && member->boolean();
}

void need_one_of(const JsonView& is, const char* one, const char* other) {
  if (is.find(one).has_value() == is.find(other).has_value()) {
    is.fail(std::string("says not exactly one of ") + one + " and " + other);
  }
}

NumbersFact parse_numbers(const JsonView& is) {
  NumbersFact numbers;
  for (const std::string& key : is.keys()) numbers[key] = is.at(key).number({0, 1e12});
  return numbers;
}

NumbersFact parse_options(const JsonView& is) {
  is.allow_only(calibrate::stack_keys());
  return parse_numbers(is);
}

MachineFact parse_machine(const JsonView& is) {
  is.allow_only(
      {"machine", "intra_node", "network", "gpus_per_node", "gpus_per_node_at_most", "nics_per_node",
       "inter_node_gbits_per_s"});
  need_one_of(is, "machine", "intra_node");
  MachineFact fact{text_of(is, "machine"), text_of(is, "intra_node"), text_of(is, "network")};
  fact.gpus_per_node = count_of(is, "gpus_per_node", most_gpus_per_node);
  fact.gpus_per_node_at_most = count_of(is, "gpus_per_node_at_most", most_gpus_per_node);
  fact.nics_per_node = count_of(is, "nics_per_node", most_nics_per_node);
  fact.inter_node_gbits_per_s = number_of(is, "inter_node_gbits_per_s");
  if (fact.machine.empty() && fact.gpus_per_node == 0) is.fail("says no gpus_per_node");
  return fact;
}

RuleTable<std::string>::Parser text_under(const char* key) {
  return [key](const JsonView& is) {
    is.allow_only({key});
    return is.at(key).string();
  };
}

}  // namespace foretrain::scenarios
