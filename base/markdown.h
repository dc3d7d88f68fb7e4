// Markdown: text as content, never as markup.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace foretrain {

// printable(text, limit) that a Markdown renderer shows as it is: no HTML, link, emphasis, code or heading comes of it.
// Of (CommonMark's) special characters, parentheses need no escape once the brackets before them have one.
[[nodiscard]] std::string markdown_text(std::string_view text, std::size_t limit = 1000);

}  // namespace foretrain
