#include "base/table.h"

#include "tests/catch.h"

using namespace foretrain;

namespace {

Table options() {
  Table table;
  table.header = {"option", "speedup"};
  table.align = {Table::Align::left, Table::Align::right};
  table.rows = {{"4 GPUs", "3.1"}, {"größer", "12.25"}};
  return table;
}

}  // namespace

TEST_CASE("text columns are aligned by characters, two spaces apart") {
  CHECK(options().text() ==
        "option  speedup\n"
        "4 GPUs      3.1\n"
        "größer    12.25\n");
}

TEST_CASE("text is indented and has no trailing spaces") {
  Table table;
  table.rows = {{"a", "long"}, {"bbb", "x"}, {"c"}};
  CHECK(table.text(2) ==
        "  a    long\n"
        "  bbb  x\n"
        "  c\n");
}

TEST_CASE("control characters in a cell stay visible text") {
  Table table;
  table.header = {"name"};
  table.rows = {{"\x1b[2Jgone"}};
  CHECK(table.text() ==
        "name\n"
        "\\x1B[2Jgone\n");
}

TEST_CASE("Markdown escapes pipes and keeps a cell on one line") {
  Table table = options();
  table.rows = {{"a|b", "1"}, {"two\nlines", "2"}};
  CHECK(table.markdown() ==
        "| option | speedup |\n"
        "| --- | ---: |\n"
        "| a\\|b | 1 |\n"
        "| two lines | 2 |\n");
}

TEST_CASE("CSV quotes commas, quotes and line breaks") {
  Table table;
  table.header = {"name", "note"};
  table.rows = {{"plain", "1,5"}, {"say \"hi\"", "two\nlines"}, {"short"}};
  CHECK(table.csv() ==
        "name,note\n"
        "plain,\"1,5\"\n"
        "\"say \"\"hi\"\"\",\"two\nlines\"\n"
        "short,\n");
}

TEST_CASE("CSV disarms formulas and leaves numbers alone") {
  Table table;
  table.header = {"cell"};
  table.rows = {{"=1+1"}, {"@cmd"}, {"-2+3"}, {"+cmd"}, {"-2.5e-3"}, {"+4"}, {"a=b"}, {""}};
  CHECK(table.csv() == "cell\n'=1+1\n'@cmd\n'-2+3\n'+cmd\n-2.5e-3\n+4\na=b\n\n");
}

TEST_CASE("no markup comes out of a cell of text, and cells of Markdown keep theirs") {
  Table table;
  table.header = {"name"};
  table.rows = {{"<b>[x](y)</b>"}, {"`k`"}};
  CHECK(table.markdown() ==
        "| name |\n"
        "| --- |\n"
        "| &lt;b&gt;\\[x\\](y)&lt;/b&gt; |\n"
        "| \\`k\\` |\n");
  CHECK(table.markdown(Table::Cells::markdown) ==
        "| name |\n"
        "| --- |\n"
        "| <b>[x](y)</b> |\n"
        "| `k` |\n");
}

TEST_CASE("CSV spells control characters out and keeps tabs and line breaks") {
  Table table;
  table.header = {"name"};
  table.rows = {{"\x1b[2J"}, {"\xC2\x9B" "31m"}, {"\xE2\x80\xAE" "gpj"}, {"a\tb\r\nc"}};
  CHECK(table.csv() == "name\n\\x1B[2J\n\\xC2\\x9B31m\n\\xE2\\x80\\xAEgpj\n\"a\tb\r\nc\"\n");
}
