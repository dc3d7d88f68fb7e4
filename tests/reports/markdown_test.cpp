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

TEST_CASE("names of options, groups and reasons cannot become markup either") {
  DecideResult decided = decide_example();
  decided.decision.alternatives[0].name = "<img src=x> [a](b)";
  decided.decision.alternatives[0].prediction.binding = "*b*";
  decided.decision.reasons = {"[a]: b"};
  const std::string decision = markdown(decided);
  CHECK(decision.find("| &lt;img src=x&gt; \\[a\\](b) (recommended) |") != std::string::npos);
  CHECK(decision.find("| \\*b\\* |") != std::string::npos);
  CHECK(decision.find("- \\[a\\]: b\n") != std::string::npos);

  ValidateResult validated;
  validated.validation.declined = {{"<F1>", "g", "k", "the model \"<b>\" is not in the zoo"}};
  const std::string validation = markdown(validated);
  CHECK(validation.find("| 1 | the model \"&lt;b&gt;\" is not in the zoo | &lt;F1&gt; |") != std::string::npos);
}
