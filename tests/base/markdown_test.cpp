#include "base/markdown.h"

#include "tests/catch.h"

using namespace foretrain;

TEST_CASE("HTML, links, images, emphasis, code, headings and strikethrough stay text") {
  CHECK(markdown_text("<script>a&b</script>") == "&lt;script&gt;a&amp;b&lt;/script&gt;");
  CHECK(markdown_text("&lt;b&gt;") == "&amp;lt;b&amp;gt;");
  CHECK(markdown_text("[here](http://x)") == "\\[here\\](http://x)");
  CHECK(markdown_text("![i](u) [r]: u") == "!\\[i\\](u) \\[r\\]: u");
  CHECK(markdown_text("*a* _b_ __c__ ~~d~~") == "\\*a\\* \\_b\\_ \\_\\_c\\_\\_ \\~\\~d\\~\\~");
  CHECK(markdown_text("`c` # h | cell") == "\\`c\\` \\# h \\| cell");
}

TEST_CASE("a backslash is doubled only where it would escape something") {
  CHECK(markdown_text("\\*") == "\\\\\\*");   // \* becomes \\ and \*
  CHECK(markdown_text("a\\b") == "a\\b");       // before a letter it is shown as it is
  CHECK(markdown_text("end\\") == "end\\\\");  // or it would escape what follows the text
  CHECK(markdown_text("\\\\x") == "\\\\\\x");   // the first of two is before punctuation
}

TEST_CASE("control characters of Markdown text are spelt out once") {
  CHECK(markdown_text("\xE2\x80\xAE" "abc") == "\\xE2\\x80\\xAEabc");
  CHECK(markdown_text("\x1b[31m") == "\\x1B\\[31m");
}

TEST_CASE("Markdown text is cut like printable text") { CHECK(markdown_text("abcdef", 3) == "abc…"); }
