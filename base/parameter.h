// Parameters: the few uncertain numbers a prediction rests on.
//
// Every duration and every link in a simulation belongs to one parameter: one row of a short table
// ("GEMM efficiency of A100-SXM4-80GB in fp16", "InfiniBand achieved fraction", "kernel launch cost").
// The parameter carries how far it may be off, as a relative standard deviation of *time*, and where it
// comes from. Errors of one parameter are fully correlated, errors of different parameters independent.
// A Draw is one multiplier of time per parameter; it depends only on (seed, replay number, parameter
// name), so that alternatives that share a parameter share its draw.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/units.h"

namespace foretrain {

struct ParameterId {
  std::uint32_t index = 0;
  friend bool operator==(ParameterId, ParameterId) = default;
};

// How a number is known, best first. Decides the default spread and what `explain` prints.
enum class Provenance { measured, interpolated, fitted, datasheet, assumed, given };
[[nodiscard]] const char* to_string(Provenance provenance);

struct Parameter {
  std::string name;              // unique
  double relative_spread = 0.0;  // standard deviation of the logarithm of time
  Provenance provenance = Provenance::assumed;
  std::string source;  // file, paper or page the number is from
  double value = 0.0;  // the number itself, in `unit`, for explain
  std::string unit;
};

class ParameterTable {
 public:
  // Adds `parameter`, or returns the id it already has under that name (the first one stays).
  ParameterId add(Parameter parameter);
  [[nodiscard]] const Parameter& at(ParameterId id) const { return rows_[id.index]; }
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] const std::vector<Parameter>& rows() const { return rows_; }

 private:
  std::vector<Parameter> rows_;
  std::unordered_map<std::string, std::uint32_t> index_;
};

// A time that scales with one parameter.
struct Duration {
  Seconds time;
  ParameterId parameter;
};

// One multiplier of time per parameter of a table (log-normal with the parameter's spread, median 1).
using Draw = std::vector<double>;
[[nodiscard]] Draw neutral_draw(const ParameterTable& table);
[[nodiscard]] Draw random_draw(const ParameterTable& table, std::uint64_t seed, std::uint64_t replay);

}  // namespace foretrain
