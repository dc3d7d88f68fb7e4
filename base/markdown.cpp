#include "base/markdown.h"

#include "base/text.h"

namespace foretrain {

namespace {

// What a backslash escapes; before anything else a backslash is a character like others (CommonMark 2.4).
bool is_punctuation(char c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

}  // namespace

std::string markdown_text(std::string_view text, std::size_t limit) {
  constexpr std::string_view special = "`*_[]|#~";
  const std::string shown = printable(text, limit);
  std::string result;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const char c = shown[i];
    if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else if (c == '&') {
      result += "&amp;";
    } else {
      // At the end a backslash would take whatever is written behind the text.
      const bool escapes = c == '\\' && (i + 1 == shown.size() || is_punctuation(shown[i + 1]));
      if (escapes || special.find(c) != std::string_view::npos) result += '\\';
      result += c;
    }
  }
  return result;
}

}  // namespace foretrain
