#include "scenarios/corpus/rule_table.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"

namespace foretrain::scenarios {
namespace {

std::regex pattern_of(const JsonView& view) {
  try {
    return std::regex(view.string(), std::regex::ECMAScript | std::regex::icase | std::regex::optimize);
  } catch (const std::regex_error&) {
    view.fail(quoted(view.string()) + " is no regular expression", "ECMAScript's, as in std::regex");
  }
}

}  // namespace

const std::vector<std::string>& family_texts() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = text_columns();
    all.insert(all.end(), {"hardware", "device", "zoo", "network", "kind"});  // found out, in this order
    return all;
  }();
  return names;
}

Condition::Condition(const JsonView& view, const std::vector<std::string>& names) {
  view.allow_only(names);
  for (const std::string& name : view.keys()) patterns_.emplace_back(name, pattern_of(view.at(name)));
}

bool Condition::holds(const Texts& texts) const {
  return std::all_of(patterns_.begin(), patterns_.end(), [&](const auto& named) {
    const auto text = texts.find(named.first);
    return std::regex_search(text == texts.end() ? std::string() : text->second, named.second);
  });
}

void for_each_rule(const DataStore& data, const std::string& file, const std::string& list,
                   const std::vector<std::string>& names,
                   const std::function<void(Condition, const JsonView&)>& use) {
  const std::vector<DataFile> files = data.files("corpus");
  const auto found = std::find_if(files.begin(), files.end(), [&](const DataFile& one) { return one.name == file; });
  if (found == files.end())
    throw Error("the mapping table " + quoted(file) + " is missing", "corpus/" + file + ".json");
  const Json json = parse_json(found->text, found->source);
  for (const JsonView& rule : JsonView(json, found->source).at(list).items()) {
    rule.allow_only({"if", "is", "source"});
    if (rule.at("source").string().empty()) rule.at("source").fail("no source", "say where this is known from");
    use(Condition(rule.at("if"), names), rule.at("is"));
  }
}

}  // namespace foretrain::scenarios
