#include "reports/markdown.h"

#include "tests/catch.h"
#include "tests/reports/example_results.h"
#include "tests/reports/golden.h"

using namespace foretrain::reports;
using namespace foretrain::reports::test;

TEST_CASE("Markdown is as reviewed") {
  check_golden("predict.md", markdown(predict_example()));
  check_golden("awkward.md", markdown(awkward_example()));
  check_golden("explain.md", markdown(explain_example()));
  check_golden("decide.md", markdown(decide_example()));
}

TEST_CASE("names cannot become markup") {
  const std::string text = markdown(awkward_example());
  CHECK(text.find("</script>") == std::string::npos);
  CHECK(text.find("*model*") == std::string::npos);
  CHECK(text.find("\\*model\\*") != std::string::npos);
}
