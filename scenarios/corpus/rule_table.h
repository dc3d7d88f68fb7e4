// Rule table: what free text means, as data: rules of patterns over named texts, the first that matches decides.
//
// A rule's "if" maps names of texts ("gpu", "framework") to regular expressions (ECMAScript, case ignored, found
// anywhere in the text); all must be found. Its "is" is the fact, whose form the caller's parser knows. All rules are
// checked when the table is read. From scenarios/corpus/*.json (kind "corpus" of shipped data).
#pragma once

#include <functional>
#include <optional>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "base/data.h"
#include "base/json.h"
#include "scenarios/corpus/family_row.h"

namespace foretrain::scenarios {

// The patterns of one rule.
class Condition {
 public:
  // `view` is the object "if"; `names` are the texts it may speak of.
  Condition(const JsonView& view, const std::vector<std::string>& names);
  [[nodiscard]] bool holds(const Texts& texts) const;

 private:
  std::vector<std::pair<std::string, std::regex>> patterns_;
};

// The texts of speedup families: their columns, and what the mapping itself finds out as it goes on.
[[nodiscard]] const std::vector<std::string>& family_texts();

// Calls `use` with every rule of the list `list` in the corpus file `file`: its condition, over texts of those `names`,
// and its "is". Throws Error for a missing file, a pattern that is none, a rule without source.
void for_each_rule(const DataStore& data, const std::string& file, const std::string& list,
                   const std::vector<std::string>& names,
                   const std::function<void(Condition, const JsonView&)>& use);

template <class Fact>
class RuleTable {
 public:
  using Parser = std::function<Fact(const JsonView&)>;

  RuleTable(const DataStore& data, const std::string& file, const std::string& list, const Parser& parse,
            const std::vector<std::string>& names = family_texts()) {
    for_each_rule(data, file, list, names, [&](Condition condition, const JsonView& is) {
      rules_.push_back({std::move(condition), parse(is)});
    });
  }

  // The fact of the first rule that holds; null where none does.
  [[nodiscard]] const Fact* first(const Texts& texts) const {
    for (const auto& [condition, fact] : rules_) {
      if (condition.holds(texts)) return &fact;
    }
    return nullptr;
  }
  // The facts of all rules that hold, in the table's order.
  [[nodiscard]] std::vector<const Fact*> all(const Texts& texts) const {
    std::vector<const Fact*> facts;
    for (const auto& [condition, fact] : rules_) {
      if (condition.holds(texts)) facts.push_back(&fact);
    }
    return facts;
  }

 private:
  std::vector<std::pair<Condition, Fact>> rules_;
};

}  // namespace foretrain::scenarios
