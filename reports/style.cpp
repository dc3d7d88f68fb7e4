#include "reports/style.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"

namespace foretrain::reports {

namespace {

// Byte position of the `columns`-th code point of `text`.
std::size_t byte_of_column(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  while (at < text.size() && columns > 0) {
    ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) ++at;
    --columns;
  }
  return at;
}

// Where the word that begins at `at` ends; "82 %" is one word.
std::size_t word_end(std::string_view text, std::size_t at) {
  std::size_t space = text.find(' ', at);
  while (space != std::string_view::npos && text.substr(space + 1, 1) == "%") space = text.find(' ', space + 1);
  return std::min(space, text.size());
}

}  // namespace

std::string Style::wrap(std::string_view code, std::string_view text) const {
  return colour ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}
std::string Style::bold(std::string_view text) const { return wrap("1", text); }
std::string Style::dim(std::string_view text) const { return wrap("2", text); }
std::string Style::warn(std::string_view text) const { return wrap("33", text); }
std::string Style::error(std::string_view text) const { return wrap("1;31", text); }
std::string Style::accent(std::string_view text) const { return wrap("36", text); }

std::string bar(double fraction, std::size_t columns) {
  constexpr std::array<const char*, 8> part = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double held = std::clamp(fraction, 0.0, 1.0);
  const auto eighths = static_cast<std::size_t>(std::lround(held * static_cast<double>(columns) * 8));
  std::string result;
  for (std::size_t i = 0; i < eighths / 8; ++i) result += "█";
  return result + part[eighths % 8];
}

std::string left_padded(std::string_view text, std::size_t width) {
  return std::string(width - std::min(width, display_width(text)), ' ') + std::string(text);
}

std::string right_padded(std::string_view text, std::size_t width) {
  return std::string(text) + std::string(width - std::min(width, display_width(text)), ' ');
}

std::string elided(std::string_view text, std::size_t width) {
  const std::size_t all = display_width(text);
  if (all <= width || width < 3) return std::string(text);
  const std::size_t head = width / 2;
  const std::size_t tail = width - head - 1;
  return std::string(text.substr(0, byte_of_column(text, head))) + "…" +
         std::string(text.substr(byte_of_column(text, all - tail)));
}

std::string wrapped(std::string_view text, std::string_view first) {
  const std::string indent(display_width(first), ' ');
  std::string result;
  std::string line(first);
  bool empty = true;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t space = word_end(text, at);
    const std::string_view word = text.substr(at, space - at);
    at = space + 1;
    if (word.empty()) continue;
    if (!empty && display_width(line) + 1 + display_width(word) > page_width) {
      result += line + '\n';
      line = indent;
      empty = true;
    }
    if (!empty) line += ' ';
    line += word;
    empty = false;
  }
  return result + line + '\n';
}

}  // namespace foretrain::reports
