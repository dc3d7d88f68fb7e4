#include "base/text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

#include "base/utf8.h"

namespace foretrain {

namespace {

std::string lower_case(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

// Edits between two words: insertions, deletions, substitutions and swaps of neighbours (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, substitution});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

// "9.04", "9.4", "9": `digits` significant digits, without zeros that carry nothing.
std::string trimmed(double value, int digits) {
  std::string text = significant(value, digits);
  if (text.find('.') == std::string::npos || text.find('e') != std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

// `value` in the largest of `units` (each `step` times the one before) that leaves at least 1 after rounding.
template <std::size_t N, class Format>
std::string scaled(double value, double step, const std::array<const char*, N>& units, Format format) {
  std::size_t unit = 0;
  // 0.9995 and more is printed as 1.00 or 1000: it belongs to the next unit.
  while (unit + 1 < N && std::abs(value) >= 0.9995 * step) {
    value /= step;
    ++unit;
  }
  return fmt::format("{} {}", format(value), units[unit]);
}

std::string one_decimal(double value) { return fmt::format("{:.{}f}", value, std::abs(value) < 99.95 ? 1 : 0); }

std::string three_digits(double value) { return significant(value, 3); }

}  // namespace

std::string printable(std::string_view text, std::size_t limit) {
  std::string result;
  std::size_t at = 0;
  while (at < text.size()) {
    const utf8::CodePoint next = utf8::decode(text.substr(at));
    if (at + next.length > limit) return result + "…";
    const std::string_view bytes = text.substr(at, next.length);
    if (next.valid && !utf8::is_control(next.value)) {
      result += bytes;
    } else {
      for (const char byte : bytes) result += fmt::format("\\x{:02X}", static_cast<unsigned char>(byte));
    }
    at += next.length;
  }
  return result;
}

std::string quoted(std::string_view text) { return '"' + printable(text) + '"'; }

std::size_t display_width(std::string_view text) {
  const auto starts_code_point = [](unsigned char byte) { return (byte & 0xC0U) != 0x80U; };
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_code_point));
}

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates) {
  constexpr std::size_t longest_name = 100;  // the distance takes time in proportion to the product of both lengths
  if (word.empty() || word.size() > longest_name) return std::nullopt;
  const std::string wanted = lower_case(word);
  std::optional<std::string> best;
  std::size_t best_distance = 0;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > longest_name) continue;
    const std::size_t distance = edit_distance(wanted, lower_case(candidate));
    // A misspelling leaves at least two thirds of the word right.
    const bool near = distance <= std::max(word.size(), candidate.size()) / 3;
    if (near && (!best || distance < best_distance)) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string name_hint(std::string_view word, const std::vector<std::string>& candidates, std::size_t limit) {
  if (const auto name = nearest(word, candidates)) return fmt::format("did you mean {}?", quoted(*name));
  if (candidates.empty()) return "";
  const std::size_t shown = std::min(limit, candidates.size());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < shown; ++i) names.push_back(printable(candidates[i]));
  const std::size_t left = candidates.size() - shown;
  return "one of: " + joined(names) + (left > 0 ? fmt::format(" and {} more", left) : "");
}

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string format_time(Seconds time) {
  const double seconds = time.value;
  const double size = std::abs(seconds);
  if (seconds == 0.0) return "0 s";
  if (size < 0.995e-7) return significant(seconds * 1e9, 2) + " ns";
  if (size < 0.9995e-3) return one_decimal(seconds * 1e6) + " µs";
  if (size < 0.9995) return three_digits(seconds * 1e3) + " ms";
  if (size < 120.0) return three_digits(seconds) + " s";
  if (size < 7200.0) return one_decimal(seconds / 60.0) + " min";
  if (size < 172800.0) return one_decimal(seconds / 3600.0) + " h";
  return one_decimal(seconds / 86400.0) + " days";
}

std::string format_bytes(Bytes amount) {
  if (std::abs(amount.value) < 1023.5) return fmt::format("{:.0f} B", amount.value);
  constexpr std::array<const char*, 5> units = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  return scaled(amount.value / 1024.0, 1024.0, units, three_digits);
}

std::string format_rate(BytesPerSecond rate) {
  constexpr std::array<const char*, 5> units = {"B/s", "kB/s", "MB/s", "GB/s", "TB/s"};
  return scaled(rate.value, 1000.0, units, three_digits);
}

std::string format_count(double count) {
  if (std::abs(count) < 999.5) return trimmed(count, 3);
  constexpr std::array<const char*, 5> units = {"k", "M", "G", "T", "P"};
  return scaled(count / 1000.0, 1000.0, units, [](double value) { return trimmed(value, 3); });
}

std::string format_money(double usd) {
  const std::string sign = usd < 0 ? "-" : "";
  const double size = std::abs(usd);
  if (!std::isfinite(size)) return fmt::format("{}${}", sign, size);
  if (size > 0 && size < 0.1) return fmt::format("{}${}", sign, significant(size, 2));
  std::string digits = fmt::format("{:.{}f}", size, size < 999.995 ? 2 : 0);
  if (digits.find('.') == std::string::npos) {
    for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  }
  return fmt::format("{}${}", sign, digits);
}

std::string format_percent(double fraction, int decimals) {
  return fmt::format("{:.{}f} %", fraction * 100.0, decimals);
}

std::string significant(double value, int digits) {
  if (value == 0.0) return "0";
  if (!std::isfinite(value)) return fmt::format("{}", value);
  const double size = std::abs(value);
  if (size < 1e-6 || size >= 1e15) return fmt::format("{:.{}e}", value, digits - 1);
  int decimals = digits - 1 - static_cast<int>(std::floor(std::log10(size)));
  // Rounding may add a digit before the point: 9.996 is 10.0, not 10.00.
  if (decimals > 0 && std::round(size * std::pow(10.0, decimals)) >= std::pow(10.0, digits)) --decimals;
  return fmt::format("{:.{}f}", value, std::max(decimals, 0));
}

}  // namespace foretrain
