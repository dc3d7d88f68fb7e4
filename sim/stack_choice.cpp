#include "sim/stack_choice.h"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace foretrain::sim {

calibrate::Stack chosen_stack(const StackChoice& choice, const calibrate::Catalogue& catalogue) {
  calibrate::Stack stack = catalogue.stack(choice.name, "/stack/name");
  for (const auto& [key, value] : choice.options) {
    const auto found = stack.values.find(key);
    if (found == stack.values.end()) {
      std::vector<std::string> known;
      for (const auto& [name, entry] : stack.values) known.push_back(name);
      throw Error("stack " + quoted(stack.name) + " has no value " + quoted(key), "/stack/options",
                  name_hint(key, known));
    }
    const calibrate::StackRange& range = calibrate::stack_range(key);
    if (!range.contains(value)) {
      throw Error(fmt::format("{} cannot be {}", key, value), "/stack/options/" + key, range.words());
    }
    found->second.value = value;
    found->second.relative_spread = 0;
    found->second.provenance = Provenance::given;
    found->second.source = "the scenario";
  }
  return stack;
}

const std::string& chosen_reducer(const StackChoice& choice, const calibrate::Stack& stack) {
  return choice.reducer.empty() ? stack.reducer : choice.reducer;
}

const std::string& chosen_sharding(const Plan& plan, const calibrate::Stack& stack) {
  return plan.sharding.empty() ? stack.sharding : plan.sharding;
}

}  // namespace foretrain::sim
