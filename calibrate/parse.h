// Parsing: catalogue files to structs. The formats are described in docs/data.md.
//
// A user may bring files of their own (--data), so every function checks types, ranges and unknown keys and
// throws Error with file and JSON pointer.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "calibrate/collective_profile.h"
#include "calibrate/device.h"
#include "calibrate/machine.h"
#include "calibrate/stack.h"

namespace foretrain::calibrate {

// `value` is a device with "like" already resolved (calibrate/catalogue.cpp).
[[nodiscard]] Device parse_device(const JsonView& value);
[[nodiscard]] std::vector<Machine> parse_machines(const JsonView& file);
[[nodiscard]] NetworkKind parse_network(const JsonView& value);
[[nodiscard]] Stack parse_stack(const JsonView& value);
[[nodiscard]] std::vector<CollectiveTable> parse_collective_tables(const JsonView& file);
[[nodiscard]] CollectiveConstants parse_collective_constants(const JsonView& file);

// The keys that every group of numbers carries: "relative_spread", "provenance", "source".
[[nodiscard]] Evidence parse_evidence(const JsonView& group);
[[nodiscard]] const std::vector<std::string>& evidence_keys();
// A list of numbers in `range`, ascending without repetition when `ascending`.
[[nodiscard]] std::vector<double> parse_numbers(const JsonView& list, NumberRange range, bool ascending);
// `group` without a key means: no such text.
[[nodiscard]] std::string optional_text(const JsonView& group, const std::string& key);

}  // namespace foretrain::calibrate
