// Fact parsers: how the "is" of a mapping rule is read, for every table that has such facts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "scenarios/corpus/rule_table.h"
#include "scenarios/corpus/tables.h"

namespace foretrain::scenarios {

// Members that may be absent: "", 0 and false then.
[[nodiscard]] std::string text_of(const JsonView& is, const char* key);
[[nodiscard]] std::int64_t count_of(const JsonView& is, const char* key, std::int64_t most);
[[nodiscard]] double number_of(const JsonView& is, const char* key);
[[nodiscard]] bool flag_of(const JsonView& is, const char* key);
// Throws Error unless exactly one of the two keys is there.
void need_one_of(const JsonView& is, const char* one, const char* other);

[[nodiscard]] NumbersFact parse_numbers(const JsonView& is);
[[nodiscard]] NumbersFact parse_options(const JsonView& is);  // keys of stacks
[[nodiscard]] MachineFact parse_machine(const JsonView& is);
// A fact of one text, under `key`.
[[nodiscard]] RuleTable<std::string>::Parser text_under(const char* key);

}  // namespace foretrain::scenarios
