#include "calibrate/interval_factors.h"

#include "calibrate/catalogue.h"
#include "tests/catch.h"

namespace foretrain::calibrate {
namespace {

RunTraits traits(const std::string& stack, const std::string& chip, std::int64_t nodes) {
  RunTraits traits;
  traits.family = "transformer";
  traits.stack = stack;
  traits.chip = chip;
  traits.nodes = nodes;
  return traits;
}

const std::vector<IntervalFactors> classes = {{"transformer", "megatron", "", "", 100, 1, 4},
                                              {"transformer", "megatron", "A100", "", 60, 1, 3},
                                              {"transformer", "megatron", "A100", "few nodes", 20, 1, 2}};

TEST_CASE("the narrowest class that holds a run speaks for its interval") {
  CHECK(factors_for(classes, traits("megatron", "A100", 4))->above == 2);
  CHECK(factors_for(classes, traits("megatron", "A100", 5))->above == 3);
  CHECK(factors_for(classes, traits("megatron", "V100", 1))->above == 4);
  CHECK_FALSE(factors_for(classes, traits("horovod", "A100", 1)));
}

TEST_CASE("factors of language models say nothing about other models") {
  RunTraits of_images = traits("megatron", "A100", 1);
  of_images.family = "convnet";
  CHECK_FALSE(factors_for(classes, of_images));
}

TEST_CASE("shipped factors rest on enough runs and reach to both sides or say that runs lay on one") {
  const Catalogue catalogue{DataStore()};
  CHECK_FALSE(catalogue.interval_factors().empty());
  for (const IntervalFactors& factors : catalogue.interval_factors()) {
    INFO(factors.stack << ", " << factors.chip << ", " << factors.scale);
    CHECK(factors.runs >= 20);
    CHECK(factors.below + factors.above > 0);
  }
}

}  // namespace
}  // namespace foretrain::calibrate
