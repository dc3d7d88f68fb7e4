#include "reports/csv.h"

#include <algorithm>
#include <sstream>

#include "tests/catch.h"
#include "tests/reports/example_results.h"
#include "tests/reports/golden.h"

using namespace foretrain::reports;
using namespace foretrain::reports::test;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  std::string line;
  while (std::getline(stream, line)) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("CSV is as reviewed") {
  check_golden("predict.csv", csv(predict_example()));
  check_golden("awkward.csv", csv(awkward_example()));
  check_golden("explain.csv", terms_csv(explain_example()));
  check_golden("decide.csv", csv(decide_example()));
}

TEST_CASE("every line has the header's columns") {
  // No cell of the examples holds a comma, so commas count columns.
  for (const std::string& text : {csv(predict_example()), csv(decide_example())}) {
    const std::vector<std::string> lines = lines_of(text);
    const auto commas = [](const std::string& line) { return std::count(line.begin(), line.end(), ','); };
    for (const std::string& line : lines) CHECK(commas(line) == commas(lines.front()));
  }
  CHECK(lines_of(csv(decide_example())).size() == 4);  // header, base, two options
}

TEST_CASE("what is not known is an empty cell, never zero") {
  const std::string text = csv(awkward_example());
  CHECK(text.find("\ncost,,,,usd,") != std::string::npos);
}
