// Field rows: how the rows of the field table are made. Included by the files that hold the rows only.
//
// A row of the usual kind needs the member that it is about: `access` gives it, of an owner that is const or not.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/fields.h"

namespace foretrain::scenarios {

using Fields = std::vector<Field<sim::Scenario>>;

// One function per section (rows_*.cpp), in the order of the file.
void add_model_fields(Fields& fields);
void add_training_fields(Fields& fields);
void add_cluster_fields(Fields& fields);
void add_plan_fields(Fields& fields);

// Text as every row takes it: not empty, not longer than 1,000 bytes.
[[nodiscard]] std::string checked_text(const JsonView& view);

namespace rows {

// Into `out`; what is not stated (an empty optional, text or list) leaves it null.
void put(std::int64_t value, Json& out);
void put(double value, Json& out);
void put(const std::string& value, Json& out);
void put(bool value, Json& out);
void put(const std::vector<std::int64_t>& value, Json& out);
template <class T>
void put(const std::optional<T>& value, Json& out) {
  if (value) put(*value, out);
}

template <class Owner, class Access>
Field<Owner> integer(FieldInfo info, Access access) {
  info.type = FieldType::integer;
  const auto low = static_cast<std::int64_t>(info.range.low), high = static_cast<std::int64_t>(info.range.high);
  return {std::move(info),
          [access, low, high](const JsonView& view, Owner& owner) { access(owner) = view.integer(low, high); },
          [access](const Owner& owner, Json& out) { put(access(owner), out); },
          {}};
}

template <class Owner, class Access>
Field<Owner> number(FieldInfo info, Access access) {
  info.type = FieldType::number;
  const NumberRange range = info.range;
  return {std::move(info),
          [access, range](const JsonView& view, Owner& owner) { access(owner) = view.number(range); },
          [access](const Owner& owner, Json& out) { put(access(owner), out); },
          {}};
}

template <class Owner, class Access>
Field<Owner> text(FieldInfo info, Access access) {
  info.type = FieldType::text;
  return {std::move(info),
          [access](const JsonView& view, Owner& owner) { access(owner) = checked_text(view); },
          [access](const Owner& owner, Json& out) { put(access(owner), out); },
          {}};
}

template <class Owner, class Access>
Field<Owner> choice(FieldInfo info, Access access) {
  info.type = FieldType::choice;
  const std::vector<std::string> choices = info.choices;
  return {std::move(info),
          [access, choices](const JsonView& view, Owner& owner) { access(owner) = view.one_of(choices); },
          [access](const Owner& owner, Json& out) { put(access(owner), out); },
          {}};
}

template <class Owner, class Access>
Field<Owner> flag(FieldInfo info, Access access) {
  info.type = FieldType::flag;
  return {std::move(info),
          [access](const JsonView& view, Owner& owner) { access(owner) = view.boolean(); },
          [access](const Owner& owner, Json& out) { put(access(owner), out); },
          {}};
}

// A list of whole numbers, each in the row's range; not an empty one.
[[nodiscard]] std::vector<std::int64_t> checked_integers(const JsonView& view, NumberRange range);

template <class Owner, class Access>
Field<Owner> integers(FieldInfo info, Access access) {
  info.type = FieldType::integers;
  const NumberRange range = info.range;
  return {std::move(info),
          [access, range](const JsonView& view, Owner& owner) { access(owner) = checked_integers(view, range); },
          [access](const Owner& owner, Json& out) { put(access(owner), out); },
          {}};
}

// Numbers by key ("stack.options.*").
template <class Access>
Field<sim::Scenario> numbers(FieldInfo info, Access access) {
  info.type = FieldType::number;
  return {std::move(info), {}, {}, [access](sim::Scenario& s) -> std::map<std::string, double>& { return access(s); }};
}

}  // namespace rows
}  // namespace foretrain::scenarios
