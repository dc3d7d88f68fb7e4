#include "scenarios/megatron_log.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace foretrain::scenarios {
namespace {

constexpr std::size_t longest_line = 20000;  // an argument may be a long list of files

bool is_name_part(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool has(std::string_view line, std::string_view part) { return line.find(part) != std::string_view::npos; }

bool begins_block(std::string_view line) { return has(line, "-- arguments --"); }
bool ends_block(std::string_view line) { return has(line, "-- end of arguments --"); }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return text;
}

// Calls `take(line, number)` for every line.
template <class Take>
void for_each_line(std::string_view text, Take take) {
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    take(text.substr(0, std::min(end, longest_line)), number);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

struct NamedValue {
  std::string name, value;
};

// "  name ....... value"; a name too long for dots is followed by two blanks.
std::optional<NamedValue> argument_of(std::string_view line) {
  std::size_t gap = line.find(" ..");
  std::size_t value = gap;
  if (gap != std::string_view::npos) {
    value = line.find_first_not_of('.', gap + 1);
  } else {
    line = trimmed(line);
    gap = value = line.find("  ");
  }
  if (gap == std::string_view::npos || gap == 0) return std::nullopt;
  std::size_t start = gap;
  while (start > 0 && is_name_part(line[start - 1])) --start;
  if (start == gap) return std::nullopt;
  const std::string_view rest = value == std::string_view::npos ? std::string_view() : line.substr(value);
  return NamedValue{std::string(line.substr(start, gap - start)), std::string(trimmed(rest))};
}

// The positive number after `label`; nothing when there is none.
std::optional<double> number_after(std::string_view line, std::string_view label) {
  const std::size_t at = line.find(label);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string rest(line.substr(at + label.size(), 40));
  char* end = nullptr;
  const double number = std::strtod(rest.c_str(), &end);
  if (end == rest.c_str() || !std::isfinite(number) || number <= 0) return std::nullopt;
  return number;
}

std::optional<LoggedIteration> iteration_of(std::string_view line) {
  constexpr double milli = 1e-3, largest_batch = 1e12;
  if (!has(line, "iteration")) return std::nullopt;
  LoggedIteration iteration;
  if (const auto milliseconds = number_after(line, "elapsed time per iteration (ms):")) {
    iteration.seconds = *milliseconds * milli;
  } else if (const auto seconds = number_after(line, "elapsed time per iteration (s):")) {
    iteration.seconds = *seconds;
  } else {
    return std::nullopt;
  }
  const double batch = number_after(line, "global batch size:").value_or(0);
  if (batch <= largest_batch) iteration.global_batch = static_cast<std::int64_t>(batch);
  return iteration;
}

}  // namespace

bool is_megatron_log(std::string_view text) {
  bool found = false;
  for_each_line(text, [&](std::string_view line, int) { found = found || begins_block(line); });
  return found;
}

MegatronLog read_megatron_log(std::string_view text, const std::string& source) {
  MegatronLog log{ArgumentList(source, true), {}};
  bool inside = false;
  for_each_line(text, [&](std::string_view line, int number) {
    if (begins_block(line)) {
      inside = true;
    } else if (ends_block(line)) {
      inside = false;
    } else if (auto argument = inside ? argument_of(line) : std::nullopt) {
      log.arguments.add(argument->name, {argument->value, number, ""});
    } else if (const auto padded = number_after(line, "> padded vocab (size:"); padded && has(line, "new size:")) {
      const double size = number_after(line, "new size:").value_or(0);
      log.arguments.add("padded_vocab_size", {std::to_string(std::llround(std::min(size, 1e9))), number, ""});
    } else if (const auto iteration = iteration_of(line)) {
      log.iterations.push_back(*iteration);
    }
  });
  if (log.arguments.size() == 0) {
    throw Error("the block of arguments is empty", printable(source), "pass the whole log of rank 0");
  }
  return log;
}

LoggedStep usual_step(const std::vector<LoggedIteration>& iterations) {
  if (iterations.empty()) return {};
  constexpr std::size_t tenth = 10;
  const std::int64_t batch = iterations.back().global_batch;
  const std::size_t first = std::max<std::size_t>(1, iterations.size() / tenth);
  std::vector<double> seconds;
  for (std::size_t i = first; i < iterations.size(); ++i) {
    if (iterations[i].global_batch == batch) seconds.push_back(iterations[i].seconds);
  }
  if (seconds.empty()) return {};
  std::sort(seconds.begin(), seconds.end());
  const std::size_t middle = seconds.size() / 2;
  const double median = seconds.size() % 2 == 1 ? seconds[middle] : (seconds[middle - 1] + seconds[middle]) / 2;
  return {median, seconds.size()};
}

}  // namespace foretrain::scenarios
