// Style: what makes text pleasant on a terminal: emphasis, bars, wrapped lines. Plain when colour is off.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace foretrain::reports {

inline constexpr std::size_t page_width = 100;  // columns; every table fits

struct Style {
  bool colour = false;

  [[nodiscard]] std::string bold(std::string_view text) const;
  [[nodiscard]] std::string dim(std::string_view text) const;
  [[nodiscard]] std::string warn(std::string_view text) const;    // yellow
  [[nodiscard]] std::string error(std::string_view text) const;   // red
  [[nodiscard]] std::string accent(std::string_view text) const;  // cyan: bars

 private:
  [[nodiscard]] std::string wrap(std::string_view code, std::string_view text) const;
};

// A bar of `columns` · `fraction` character cells, in eighths; the fraction is held within 0…1.
[[nodiscard]] std::string bar(double fraction, std::size_t columns);

// Padded with spaces to `width` columns.
[[nodiscard]] std::string left_padded(std::string_view text, std::size_t width);
[[nodiscard]] std::string right_padded(std::string_view text, std::size_t width);

// At most `width` columns, with "…" in the middle where something was left out.
[[nodiscard]] std::string elided(std::string_view text, std::size_t width);

// `text` broken at spaces into lines of at most page_width columns: the first after `first` ("  - "), the
// others after as many spaces. A number stays with its "%"; words longer than a line stay whole. Ends with a
// line break.
[[nodiscard]] std::string wrapped(std::string_view text, std::string_view first = "");

}  // namespace foretrain::reports
