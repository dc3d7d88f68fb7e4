// Recommenders: dense parts and tables, parameters and FLOPs.
#include <initializer_list>

#include "models/model.h"
#include "tests/catch.h"
#include "tests/models/zoo_models.h"

using namespace foretrain;
using namespace foretrain::models;
using test::find_operator;
using test::zoo_model;

namespace {

double sharded_parameters(const Model& model) {
  double sum = 0;
  for (const Layer& layer : model.layers) {
    for (const Operator& op : layer.operators) {
      if (op.often_sharded) sum += static_cast<double>(parameter_count(op));
    }
  }
  return sum;
}

double layers(std::initializer_list<double> widths) {  // weights and biases
  double sum = 0, in = 0;
  for (const double width : widths) {
    if (in > 0) sum += in * width + width;
    in = width;
  }
  return sum;
}

}  // namespace

TEST_CASE("DLRM: the tables of Criteo 1TB and 2.4 million dense parameters") {
  // 187,767,399 rows of 128 (MLPerf's reference). 27 vectors make 351 pairs; with the dense vector 479 features.
  const Model model = zoo_model("dlrm");
  const double dense = layers({13, 512, 256, 128}) + layers({479, 1024, 1024, 512, 256, 1});
  CHECK(sharded_parameters(model) == 187'767'399. * 128);
  CHECK(parameter_count(model) - sharded_parameters(model) == dense);
  const double biases = 512 + 256 + 128 + 1024 + 1024 + 512 + 256 + 1;
  CHECK(forward_flops(model).value == Approx(2 * (dense - biases + 27. * 27 * 128)).epsilon(1e-12));
  CHECK(find_operator(model, "embeddings").parameters.size() == 26);
}

TEST_CASE("DLRM-DCNv2: 214 lookups per sample and a cross network of rank 512") {
  const Model model = zoo_model("dlrm-dcnv2", 4);
  const double features = 27 * 128;
  const double cross = 3 * (2 * features * 512 + features);
  CHECK(sharded_parameters(model) == 204'184'588. * 128);
  CHECK(parameter_count(model) - sharded_parameters(model) ==
        layers({13, 512, 256, 128}) + cross + layers({features, 1024, 1024, 512, 256, 1}));
  // Reads 214 vectors of 128, writes a sum for each of 26 tables.
  CHECK(forward_elements(find_operator(model, "embeddings")) == 4. * 128 * (214 + 26));
}

TEST_CASE("NCF has 32 million parameters, all of them with dense gradients") {
  const Model model = zoo_model("ncf");
  CHECK(parameter_count(model) == (138'493. + 26'744) * (64 + 128) + layers({256, 256, 128, 64}) + 128 + 1);
  CHECK(sharded_parameters(model) == 0);
}

TEST_CASE("Wide & Deep: one vocabulary in a deep and a wide table") {
  const Model model = zoo_model("wide-and-deep", 2);
  CHECK(sharded_parameters(model) == 2'359'296. * (32 + 1));
  CHECK(parameter_count(model) - sharded_parameters(model) ==
        layers({13 + 26 * 32, 1024, 1024, 1024, 1024, 1024, 1024, 1024, 1}));
  CHECK(find_operator(model, "deep").output_elements == 2. * 26 * 32);
}
