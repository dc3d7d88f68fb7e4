#include "base/error.h"
#include "models/model.h"
#include "tests/base/thrown.h"
#include "tests/catch.h"
#include "tests/models/zoo_models.h"

using namespace foretrain;
using namespace foretrain::models;
using Catch::Matchers::Contains;
using test::totals_model;

TEST_CASE("totals become equal layers that add up to them") {
  const Totals totals{9e6, 1.2e9, 64e6, 20, 2};
  const Model model = totals_model(totals, 32);
  REQUIRE(model.layers.size() == 20);
  CHECK(parameter_count(model) == 9e6);
  CHECK(training_flops(model).value == Approx(32 * 1.2e9).epsilon(1e-3));
  CHECK(2 * saved_elements(model) == Approx(32 * 64e6).epsilon(1e-12));
  CHECK(saved_elements(totals_model(totals, 64)) == 2 * saved_elements(model));
  CHECK(training_flops(totals_model(totals, 64)).value == 2 * training_flops(model).value);
  // A fp32 figure is of half as many elements.
  CHECK(4 * saved_elements(totals_model({9e6, 1.2e9, 64e6, 20, 4}, 32)) == Approx(32 * 64e6).epsilon(1e-12));
}

TEST_CASE("a layer of totals is a square product with as many weights as the layer has parameters") {
  // 4 million weights in one layer, 2000×2000, used by 100 rows of a sample: 3·2·100·4e6 FLOPs.
  const Model model = totals_model({4e6, 2.4e9, 0, 1, 2}, 8);
  const auto& shape = std::get<GemmShape>(model.layers[0].operators[0].shape);
  CHECK(shape.m == 8 * 100);
  CHECK(shape.n == 2000);
  CHECK(shape.k == 2000);
}

TEST_CASE("parameters that do not divide into the layers are all there") {
  const Model model = totals_model({10, 600, 0, 3, 2});
  CHECK(parameter_count(model) == 10);
  CHECK(parameter_count(model.layers[0].operators[0]) == 4);
  CHECK(parameter_count(model.layers[2].operators[0]) == 3);
}

TEST_CASE("FLOPs of any size and ratio to the parameters are met") {
  for (const double parameters : {1e6, 1e8, 1.7e11}) {
    for (const double uses : {0.01, 1.0, 1.4, 333.3, 1e5}) {  // how often a sample uses a parameter
      const Totals totals{parameters, 6 * parameters * uses, 0, 24, 2};
      INFO(parameters << " parameters, used " << uses << " times");
      CHECK(training_flops(totals_model(totals)).value == Approx(totals.flops_per_sample).epsilon(2e-3));
    }
  }
}

TEST_CASE("without FLOPs the layers compute nothing") {
  const Model model = totals_model({25e6, 0, 0, 50, 2}, 16);
  CHECK(training_flops(model).value == 0);
  CHECK(parameter_count(model) == 25e6);
  CHECK(model.layers.size() == 50);
}

TEST_CASE("impossible totals are refused") {
  const auto refused = [](const Totals& totals) {
    const Error error = test::thrown([&] { (void)totals_model(totals); });
    CHECK(error.where() == "scenario.json: /model");
    return std::string(error.what());
  };
  CHECK_THAT(refused({0, 1e9, 0, 1, 2}), Contains("parameters, found 0"));
  CHECK_THAT(refused({-5, 1e9, 0, 1, 2}), Contains("parameters, found -5"));
  CHECK_THAT(refused({1e30, 1e9, 0, 1, 2}), Contains("parameters"));
  CHECK_THAT(refused({1e6, -1, 0, 1, 2}), Contains("FLOPs per sample, found -1"));
  CHECK_THAT(refused({10, 1e17, 0, 1, 2}), Contains("would use each of 10 parameters"));
  CHECK_THAT(refused({1e6, 1e9, -1, 1, 2}), Contains("activation bytes"));
  CHECK_THAT(refused({1e6, 1e9, 0, 0, 2}), Contains("layers, found 0"));
  CHECK_THAT(refused({1e6, 1e9, 0, 1'000'000'000, 2}), Contains("layers, found 1000000000"));
  CHECK_THAT(refused({5, 1e6, 0, 10, 2}), Contains("10 layers"));
}
