#include "reports/warnings.h"

#include <algorithm>

#include <fmt/format.h>

namespace foretrain::reports {

namespace {

// "assumed: recurrent step of A100 (61 % of the step)" -> "assumed: recurrent step of A100".
std::string without_last_parenthesis(const std::string& text) {
  if (text.empty() || text.back() != ')') return text;
  return text.substr(0, text.rfind(" ("));
}

}  // namespace

std::vector<SharedWarning> shared_warnings(const sim::Decision& decision) {
  std::vector<SharedWarning> all;
  const auto add = [&](std::size_t option, const std::string& text) {
    const std::string core = without_last_parenthesis(text);
    const auto same = std::find_if(all.begin(), all.end(), [&](const SharedWarning& one) {
      return without_last_parenthesis(one.text) == core;
    });
    if (same == all.end()) {
      all.push_back({text, {option}});
      return;
    }
    if (same->text != text) same->text = core;
    if (same->options.back() != option) same->options.push_back(option);
  };
  for (const std::string& warning : decision.base.prediction.warnings) add(0, warning);
  for (std::size_t i = 0; i < decision.alternatives.size(); ++i) {
    for (const std::string& warning : decision.alternatives[i].prediction.warnings) add(i + 1, warning);
  }
  return all;
}

std::string number_ranges(const std::vector<std::size_t>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i;
    while (end + 1 < numbers.size() && numbers[end + 1] == numbers[end] + 1) ++end;
    if (!text.empty()) text += ", ";
    text += fmt::format("{}", numbers[i]);
    if (end > i) text += fmt::format("{}{}", end == i + 1 ? ", " : "–", numbers[end]);
    i = end + 1;
  }
  return text;
}

}  // namespace foretrain::reports
