#include "reports/text.h"

#include <sstream>

#include "base/text.h"
#include "tests/catch.h"
#include "tests/reports/example_results.h"
#include "tests/reports/golden.h"

using namespace foretrain;
using namespace foretrain::reports;
using namespace foretrain::reports::test;

namespace {

std::string without_colour(const std::string& text) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\x1b') {
      at = text.find('m', at);
    } else {
      result += text[at];
    }
  }
  return result;
}

std::size_t widest_line(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  std::size_t widest = 0;
  while (std::getline(lines, line)) widest = std::max(widest, display_width(line));
  return widest;
}

}  // namespace

TEST_CASE("text of each command is as reviewed") {
  check_golden("predict.txt", predict_text(predict_example(), {}));
  check_golden("awkward.txt", predict_text(awkward_example(), {}));
  check_golden("explain.txt", explain_text(explain_example(), 2, {}));
  check_golden("decide.txt", decide_text(decide_example(), {}));
}

TEST_CASE("the first line answers") {
  CHECK(predict_text(predict_example(), {}).rfind("A step takes 160 ms [144–176]: 6400 samples/s", 0) == 0);
  CHECK(predict_text(awkward_example(), {}).rfind("It does not fit: 22.0 GiB of 16.0 GiB per GPU.", 0) == 0);
  CHECK(decide_text(decide_example(), {}).rfind("Yes: 4 GPUs in one node", 0) == 0);
}

TEST_CASE("lines stay within 100 columns") {
  CHECK(widest_line(predict_text(predict_example(), {})) <= 100);
  CHECK(widest_line(predict_text(awkward_example(), {})) <= 100);
  CHECK(widest_line(explain_text(explain_example(), 0, {})) <= 100);
  CHECK(widest_line(decide_text(decide_example(), {})) <= 100);
}

TEST_CASE("colour adds escape sequences and changes nothing else") {
  const std::string plain = predict_text(predict_example(), {false});
  const std::string coloured = predict_text(predict_example(), {true});
  CHECK(plain.find('\x1b') == std::string::npos);
  CHECK(coloured.find("\x1b[36m") != std::string::npos);  // bars
  CHECK(without_colour(coloured) == plain);
  CHECK(without_colour(decide_text(decide_example(), {true})) == decide_text(decide_example(), {false}));
}

TEST_CASE("escape sequences in names stay visible text") {
  const std::string text = predict_text(awkward_example(), {});
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find("\\x1B[31m") != std::string::npos);
}

TEST_CASE("explain shows as many terms as asked for, and the rest's time") {
  const std::string two = explain_text(explain_example(), 2, {});
  CHECK(two.find("all-reduce bucket 1") < two.find("conv1 backward"));  // 30 ms before 20 ms
  CHECK(two.find("conv1 forward") == std::string::npos);
  CHECK(two.find("and 1 shorter term, 10.0 ms together") != std::string::npos);
  CHECK(explain_text(explain_example(), 0, {}).find("conv1 forward") != std::string::npos);
}
