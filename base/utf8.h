// UTF-8: decoding one code point at a time, strictly (RFC 3629: no overlong forms, no surrogates).
#pragma once

#include <cstddef>
#include <string_view>

namespace foretrain::utf8 {

struct CodePoint {
  char32_t value = 0;
  std::size_t length = 1;  // bytes; 1 where the text is not valid here
  bool valid = false;
};

// The code point at the beginning of `text`, which must not be empty.
[[nodiscard]] CodePoint decode(std::string_view text);

// Offset of the first byte that is not valid UTF-8, or npos.
[[nodiscard]] std::size_t first_invalid(std::string_view text);

// Changes what is shown without being seen itself: C0, DEL, C1, line and paragraph separators, and the bidirectional
// controls, which make text read differently from what it is.
[[nodiscard]] bool is_control(char32_t code_point);

}  // namespace foretrain::utf8
