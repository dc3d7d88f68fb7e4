#include "sim/strategies/reducer.h"

#include <algorithm>

#include "base/error.h"
#include "sim/stack_choice.h"
#include "sim/strategies/compression.h"
#include "tests/catch.h"
#include "tests/sim/strategies/step.h"

namespace foretrain::sim::strategies {
namespace {

TEST_CASE("the scenario's reducer replaces the stack's own") {
  StackChoice choice;
  calibrate::Stack stack;
  stack.reducer = "ddp";
  CHECK(chosen_reducer(choice, stack) == "ddp");
  choice.reducer = "horovod";
  CHECK(chosen_reducer(choice, stack) == "horovod");
}

TEST_CASE("unknown reducers and compressions are refused with the known names, on one GPU too") {
  const int gpus = GENERATE(1, 8);
  const auto error_of = [&](auto change) {
    Step step(gpus);
    change(step.scenario.stack);
    try {
      step.composed();
    } catch (const Error& error) {
      return error;
    }
    return Error("composed");
  };
  const Error reducer = error_of([](StackChoice& choice) { choice.reducer = "horovot"; });
  CHECK(reducer.where() == "/stack/reducer");
  CHECK(reducer.hint().find("horovod") != std::string::npos);
  const Error compression = error_of([](StackChoice& choice) { choice.compression = "gzip"; });
  CHECK(compression.where() == "/stack/compression");
  CHECK(compression.hint().find("top_k") != std::string::npos);
}

TEST_CASE("every named reducer and compression composes a step") {
  for (const std::string& reducer : reducer_names()) {
    Step step(8);
    step.scenario.stack.reducer = reducer;
    CHECK_NOTHROW(step.composed());
  }
  for (const std::string& compression : compression_names()) {
    Step step(8);
    step.scenario.stack.compression = compression;
    CHECK_NOTHROW(step.composed());
  }
  const std::vector<std::string> names = reducer_names();
  for (const char* name : {"ddp", "horovod", "mirrored", "multi_worker_mirrored", "local_sgd"}) {
    CHECK(std::find(names.begin(), names.end(), name) != names.end());
  }
}

}  // namespace
}  // namespace foretrain::sim::strategies
