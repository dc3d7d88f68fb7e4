#include "calibrate/parse.h"

namespace foretrain::calibrate {
namespace {

Provenance parse_provenance(const JsonView& value) {
  const std::string name = value.one_of({"measured", "interpolated", "fitted", "datasheet", "assumed"});
  for (const Provenance provenance :
       {Provenance::measured, Provenance::interpolated, Provenance::fitted, Provenance::datasheet}) {
    if (name == to_string(provenance)) return provenance;
  }
  return Provenance::assumed;
}

}  // namespace

const std::vector<std::string>& evidence_keys() {
  static const std::vector<std::string> keys = {"relative_spread", "provenance", "source"};
  return keys;
}

Evidence parse_evidence(const JsonView& group) {
  Evidence evidence;
  evidence.relative_spread = group.at("relative_spread").number({0, 2});
  evidence.provenance = parse_provenance(group.at("provenance"));
  evidence.source = group.at("source").string();
  if (evidence.source.empty()) group.at("source").fail("a number without a source", "say where it is from");
  return evidence;
}

std::vector<double> parse_numbers(const JsonView& list, NumberRange range, bool ascending) {
  std::vector<double> numbers;
  for (const JsonView& item : list.items()) {
    const double number = item.number(range);
    if (ascending && !numbers.empty() && number <= numbers.back()) item.fail("numbers must ascend");
    numbers.push_back(number);
  }
  if (numbers.empty()) list.fail("an empty list");
  return numbers;
}

std::string optional_text(const JsonView& group, const std::string& key) {
  const auto found = group.find(key);
  return found ? found->string() : std::string();
}

}  // namespace foretrain::calibrate
