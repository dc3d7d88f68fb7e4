#include "reports/style.h"

#include "base/text.h"
#include "tests/catch.h"

using namespace foretrain;
using namespace foretrain::reports;

TEST_CASE("a bar is drawn in eighths of a column") {
  CHECK(bar(0.5, 4) == "██");
  CHECK(bar(1.0 / 32, 4) == "▏");
  CHECK(bar(0.28125, 4) == "█▏");  // 1.125 of 4 columns
  CHECK(bar(0, 4).empty());
  CHECK(bar(7, 4) == "████");
}

TEST_CASE("text breaks at spaces and continues under its first word") {
  const std::string words = "word word word word word word word word word word word word word word word word word word "
                            "word word word";
  const std::string text = wrapped(words, "  - ");
  const std::size_t line_break = text.find('\n');
  CHECK(line_break <= page_width);
  CHECK(text.substr(0, 8) == "  - word");
  CHECK(text.substr(line_break + 1, 8) == "    word");
  CHECK(wrapped("", "x ") == "x \n");
  const std::string before(97, 'x');  // leaves room for "82", not for "82 %"
  CHECK(wrapped(before + " 82 % of it") == before + "\n82 % of it\n");
}

TEST_CASE("long names lose their middle, not their number") {
  CHECK(elided("short", 10) == "short");
  const std::string cut = elided("2 × Standard_ND96amsr_A100_v4 (16 GPUs)", 20);
  CHECK(display_width(cut) == 20);
  CHECK(cut.substr(0, 3) == "2 \xC3");
  CHECK(cut.substr(cut.size() - 6) == " GPUs)");
}

TEST_CASE("style writes escape sequences only where colour is on") {
  CHECK(Style{false}.bold("x") == "x");
  CHECK(Style{true}.bold("x") == "\x1b[1mx\x1b[0m");
}
