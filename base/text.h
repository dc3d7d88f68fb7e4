// Text: escaping, spelling hints, numbers as people read them.
//
// Everything that came from a file passes through printable() before it reaches a terminal, so that
// control characters and escape sequences stay visible text. Sizes are binary (KiB, MiB, GiB), rates
// decimal (GB/s), times s/ms/µs, money in dollars: the field's own split.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace foretrain {

// Control characters (bidirectional overrides among them) and invalid UTF-8 as \xNN, the rest unchanged; longer than
// `limit` bytes is cut with "…".
[[nodiscard]] std::string printable(std::string_view text, std::size_t limit = 200);
// The same in double quotes. The overloads keep argument-dependent lookup from finding std::quoted.
[[nodiscard]] std::string quoted(std::string_view text);
[[nodiscard]] inline std::string quoted(const std::string& text) { return quoted(std::string_view(text)); }
[[nodiscard]] inline std::string quoted(std::string& text) { return quoted(std::string_view(text)); }
[[nodiscard]] inline std::string quoted(const char* text) { return quoted(std::string_view(text)); }
// Column width of UTF-8 text on a terminal (code points; no wide-character tables).
[[nodiscard]] std::size_t display_width(std::string_view text);

// The candidate nearest to `word` by edit distance, if near enough to be a misspelling (case ignored).
[[nodiscard]] std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates);
// `did you mean "x"?` or `one of: a, b, c and 4 more` (at most `limit` names), for hints.
[[nodiscard]] std::string name_hint(std::string_view word, const std::vector<std::string>& candidates,
                                    std::size_t limit = 12);
[[nodiscard]] std::string joined(const std::vector<std::string>& parts, std::string_view separator = ", ");

[[nodiscard]] std::string format_time(Seconds time);                          // 5.2 µs, 312 ms, 4.20 s, 3.1 h
[[nodiscard]] std::string format_bytes(Bytes amount);                         // 25.0 MiB
[[nodiscard]] std::string format_rate(BytesPerSecond rate);                   // 12.5 GB/s
[[nodiscard]] std::string format_count(double count);                         // 5.2 k, 9.04 M, 175 G
[[nodiscard]] std::string format_money(double usd);                           // $3.67
[[nodiscard]] std::string format_percent(double fraction, int decimals = 0);  // 0.93 -> 93 %
// At least `digits` significant digits; digits before the point are never rounded away (12345, not 12300).
[[nodiscard]] std::string significant(double value, int digits = 3);

}  // namespace foretrain
