// The shapes of a user's operators: one reader per kind, with the keys that it knows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "models/operator.h"

namespace foretrain::models {

inline constexpr std::int64_t longest_listed_sequence = 1 << 24;
inline constexpr double most_listed_elements = 1e15;  // per sample

// Reads an operator's shape for `batch` samples, and sets what the shape implies when the user says
// nothing else: saved and output elements of the whole micro-batch, and kernels.
struct ShapeReader {
  void (*read)(const JsonView& view, std::int64_t batch, Operator& op);
  std::vector<std::string> keys;
};
[[nodiscard]] const ShapeReader& shape_reader(OperatorKind kind);

// Optional members.
[[nodiscard]] std::int64_t integer_or(const JsonView& view, const std::string& key, std::int64_t low, std::int64_t high,
                                      std::int64_t otherwise);
[[nodiscard]] double number_or(const JsonView& view, const std::string& key, double high, double otherwise);
[[nodiscard]] bool boolean_or(const JsonView& view, const std::string& key, bool otherwise);

}  // namespace foretrain::models
