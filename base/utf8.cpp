#include "base/utf8.h"

#include <cassert>

namespace foretrain::utf8 {

CodePoint decode(std::string_view text) {
  assert(!text.empty());
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};

  std::size_t length = 0;
  char32_t value = 0;
  char32_t smallest = 0;  // of this length: anything below it is an overlong form
  if ((lead & 0xE0U) == 0xC0U) {
    length = 2, value = lead & 0x1FU, smallest = 0x80;
  } else if ((lead & 0xF0U) == 0xE0U) {
    length = 3, value = lead & 0x0FU, smallest = 0x800;
  } else if ((lead & 0xF8U) == 0xF0U) {
    length = 4, value = lead & 0x07U, smallest = 0x10000;
  } else {
    return {};
  }
  if (text.size() < length) return {};
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {};
    value = (value << 6U) | (byte(i) & 0x3FU);
  }
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < smallest || value > 0x10FFFF || surrogate) return {};
  return {value, length, true};
}

std::size_t first_invalid(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint next = decode(text.substr(at));
    if (!next.valid) return at;
    at += next.length;
  }
  return std::string_view::npos;
}

bool is_control(char32_t code_point) {
  const auto within = [code_point](char32_t first, char32_t last) { return first <= code_point && code_point <= last; };
  return code_point < 0x20 || within(0x7F, 0x9F) || code_point == 0x061C || within(0x200E, 0x200F) ||
         within(0x2028, 0x202E) || within(0x2066, 0x2069);
}

}  // namespace foretrain::utf8
