#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "reports/humanise.h"
#include "reports/sections.h"
#include "reports/sentences.h"
#include "reports/text.h"

namespace foretrain::reports {

namespace {

// Numbers sources in the order in which they are first quoted.
class Footnotes {
 public:
  std::size_t number_of(const std::string& source) {
    const auto [it, is_new] = numbers_.try_emplace(source, sources_.size() + 1);
    if (is_new) sources_.push_back(source);
    return it->second;
  }
  [[nodiscard]] std::string text() const {
    std::string result;
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      result += wrapped(printable(sources_[i], 600), fmt::format("  [{}] ", i + 1));
    }
    return result;
  }

 private:
  std::map<std::string, std::size_t> numbers_;
  std::vector<std::string> sources_;
};

// "h.12.attn" as "h.*.attn": the place of a layer among its like.
std::string without_numbers(const std::string& name) {
  std::string result;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool digit = name[i] >= '0' && name[i] <= '9';
    const bool begins_part = i == 0 || name[i - 1] == '.' || (!result.empty() && result.back() == '*');
    if (digit && begins_part) {
      if (result.empty() || result.back() != '*') result += '*';
    } else {
      result += name[i];
    }
  }
  return result;
}

// Terms that differ only in which layer they are of, as one.
std::vector<sim::Term> like_terms_together(const std::vector<sim::Term>& terms) {
  std::vector<sim::Term> merged;
  std::vector<std::size_t> count;
  std::map<std::string, std::size_t> known;
  for (const sim::Term& term : terms) {
    const std::string key = without_numbers(term.name) + '\n' + term.formula + '\n' + term.source;
    const auto [at, is_new] = known.try_emplace(key, merged.size());
    if (is_new) {
      merged.push_back(term);
      count.push_back(1);
    } else {
      merged[at->second].name = without_numbers(term.name);
      merged[at->second].seconds += term.seconds;
      ++count[at->second];
    }
  }
  for (std::size_t i = 0; i < merged.size(); ++i) {
    if (count[i] > 1) merged[i].name += fmt::format(" ({} alike)", count[i]);
  }
  return merged;
}

std::vector<std::size_t> longest_first(const std::vector<sim::Term>& terms) {
  std::vector<std::size_t> order(terms.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return terms[a].seconds > terms[b].seconds; });
  return order;
}

std::string term_line(const sim::Term& term, std::size_t source, const Style& style) {
  const std::string name = right_padded(elided(printable(term.name), 46), 46);
  const std::string time = left_padded(number_text(term.seconds, "s"), 9);
  return fmt::format("  {}  {}  {}\n", name, time, printable(term.provenance)) +
         style.dim(wrapped(fmt::format("{} [{}]", printable(term.formula, 400), source), "      "));
}

std::string term_section(const sim::Prediction& prediction, std::size_t top, const Style& style) {
  const std::vector<sim::Term> terms = like_terms_together(prediction.terms);
  if (terms.empty()) return "";
  const std::size_t shown = top == 0 ? terms.size() : std::min(top, terms.size());
  const std::vector<std::size_t> order = longest_first(terms);

  std::string text = '\n' + style.bold(fmt::format("Terms of one step{}, longest first (busy time; what overlaps is counted twice)",
                                            prediction.memory.stages.size() > 1 ? " of the stage that ends last" : "")) + '\n';
  Footnotes sources;
  for (std::size_t i = 0; i < shown; ++i) {
    const sim::Term& term = terms[order[i]];
    text += term_line(term, sources.number_of(term.source), style);
  }
  double rest = 0;
  for (std::size_t i = shown; i < terms.size(); ++i) rest += terms[order[i]].seconds;
  if (shown < terms.size()) {
    const std::size_t left = terms.size() - shown;
    text += style.dim(fmt::format("  and {} shorter term{}, {} together (--top 0 prints all)", left,
                                  left == 1 ? "" : "s", number_text(rest, "s"))) + '\n';
  }
  return text + '\n' + style.bold("Sources of these terms") + '\n' + sources.text();
}

}  // namespace

std::string explain_text(const PredictResult& result, std::size_t top, const Style& style) {
  const sim::Scenario& scenario = result.scenario;
  const sim::Prediction& prediction = result.prediction;
  std::string text = style.bold(wrapped(headline(scenario, prediction)));
  text += wrapped(bound_and_fit(prediction)) + '\n';
  text += wrapped(fmt::format("{} on {}, {}.", printable(result.workload.model), cluster_words(scenario, prediction),
                              training_words(scenario, prediction)));
  const std::string work = workload_words(result.workload, scenario, prediction);
  if (!work.empty()) text += wrapped(work + '.');
  if (!result.workload.source.empty()) text += wrapped("Model sizes: " + printable(result.workload.source, 600) + '.');
  text += warning_section(prediction.warnings, style);
  text += breakdown_section("Where the step goes", prediction, style);
  text += parameter_section(prediction, top, true, style);
  text += term_section(prediction, top, style);
  return text;
}

}  // namespace foretrain::reports
