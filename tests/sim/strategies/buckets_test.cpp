#include "sim/strategies/buckets.h"

#include <algorithm>
#include <cmath>

#include "tests/catch.h"

namespace foretrain::sim::strategies {
namespace {

constexpr double mi = 1024 * 1024;
// Elements of fp32 that fill `mebi` MiB.
double filling(double mebi) { return mebi * mi / 4; }

TEST_CASE("the first bucket closes at 1 MiB, later ones at 25 MiB") {
  // Ready order: 0.5, 0.5 | 10, 10, 10 | 3
  const std::vector<ReadyGradient> gradients = {{filling(0.5), 5}, {filling(0.5), 4}, {filling(10), 3},
                                                {filling(10), 2},  {filling(10), 1},  {filling(3), 0}};
  const std::vector<Bucket> buckets = assign_buckets(gradients, mebibytes(1), mebibytes(25));
  REQUIRE(buckets.size() == 3);
  CHECK(buckets[0].tensors.size() == 2);
  CHECK(buckets[0].ready_after == 4);
  CHECK(buckets[1].tensors.size() == 3);  // 20 MiB are not enough, 30 MiB are
  CHECK(buckets[1].elements == filling(30));
  CHECK(buckets[1].ready_after == 1);
  CHECK(buckets[2].elements == filling(3));  // what is left
  CHECK(buckets[2].ready_after == 0);
}

TEST_CASE("a large tensor makes a large bucket, together with what waits before it") {
  // VGG-16's first dense layer: 392 MiB
  const std::vector<ReadyGradient> gradients = {
      {filling(0.1), 3}, {filling(16), 2}, {filling(2), 1}, {filling(392), 0}};
  const std::vector<Bucket> buckets = assign_buckets(gradients, mebibytes(1), mebibytes(25));
  REQUIRE(buckets.size() == 2);
  CHECK(buckets[0].elements == Approx(filling(16.1)).epsilon(1e-12));
  CHECK(buckets[1].elements == Approx(filling(394)).epsilon(1e-12));
}

TEST_CASE("no gradient is lost and none is reduced twice") {
  std::vector<ReadyGradient> gradients;
  double all = 0;
  for (std::size_t i = 60; i-- > 0;) {
    gradients.push_back({1000.0 * static_cast<double>(1 + i * i % 97), i});
    all += gradients.back().elements;
  }
  double reduced = 0;
  std::size_t tensors = 0;
  for (const Bucket& bucket : assign_buckets(gradients, Bytes(50e3), Bytes(400e3))) {
    reduced += bucket.elements;
    tensors += bucket.tensors.size();
  }
  CHECK(reduced == all);
  CHECK(tensors == 60);
}

TEST_CASE("gradients become ready in reverse order, a tied embedding comes last") {
  models::Operator embedding, dense, head;
  embedding.name = "embedding";
  embedding.parameters = {{"embedding.weight", {1000, 8}}};  // shared with the head
  dense.parameters = {{"dense.weight", {8, 8}}, {"dense.bias", {8}}};
  models::Model model;
  model.layers = {{"embedding", {embedding}}, {"body", {dense}}, {"head", {head}}};
  const std::vector<ReadyGradient> order = ready_order(model, {});
  REQUIRE(order.size() == 3);
  CHECK(order[0].elements == 8);  // the bias stands after the weight
  CHECK(order[1].elements == 64);
  CHECK(order[2].elements == 8000);
  CHECK(order[2].made_by == 0);
}

TEST_CASE("the bytes put off follow the share that does not overlap, everywhere") {
  std::vector<double> bytes;
  for (int i = 0; i < 40; ++i) bytes.push_back(10.0 + i * 7 % 13);
  for (const double overlap : {0.2, 0.5, 0.78, 0.9}) {
    const std::vector<bool> waits = put_off(bytes, overlap);
    double so_far = 0, waiting = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      so_far += bytes[i];
      if (waits[i]) waiting += bytes[i];
      CHECK(std::abs(waiting - (1 - overlap) * so_far) <= *std::max_element(bytes.begin(), bytes.end()) / 2 + 1e-9);
    }
  }
}

TEST_CASE("all overlaps or nothing does") {
  const std::vector<double> bytes = {3, 100, 7, 7};
  CHECK(put_off(bytes, 1) == std::vector<bool>{false, false, false, false});
  CHECK(put_off(bytes, 0) == std::vector<bool>{true, true, true, true});
  CHECK(put_off({4, 4, 4, 4}, 0.5) == std::vector<bool>{false, true, false, true});
}

}  // namespace
}  // namespace foretrain::sim::strategies
