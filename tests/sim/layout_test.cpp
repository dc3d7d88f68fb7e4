#include "sim/layout.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "tests/catch.h"

using namespace foretrain;
using namespace foretrain::sim;

namespace {

Layout layout(int tensor, int stages, int gpus) {
  Plan plan;
  plan.tensor = tensor;
  plan.pipeline = stages;
  return Layout(plan, gpus);
}

// Every rank once.
bool is_partition(const Communicator& communicator, int ranks) {
  std::set<int> seen;
  std::size_t members = 0;
  for (const std::vector<int>& group : communicator.groups) {
    members += group.size();
    seen.insert(group.begin(), group.end());
  }
  return members == seen.size() && seen.size() == static_cast<std::size_t>(ranks) && *seen.begin() == 0 &&
         *seen.rbegin() == ranks - 1;
}

bool stays_in_nodes(const Communicator& communicator, int gpus_per_node) {
  return std::all_of(communicator.groups.begin(), communicator.groups.end(), [&](const std::vector<int>& group) {
    return std::all_of(group.begin(), group.end(),
                       [&](int rank) { return rank / gpus_per_node == group.front() / gpus_per_node; });
  });
}

}  // namespace

TEST_CASE("tensor-parallel ranks are neighbours, stages farthest apart") {
  // Tensor 2, data 3, two stages on 12 GPUs: rank = t + 2·(d + 3·s).
  const Layout twelve = layout(2, 2, 12);
  CHECK(twelve.data() == 3);
  CHECK(twelve.tensor_groups().groups ==
        std::vector<std::vector<int>>{{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}, {10, 11}});
  CHECK(twelve.data_groups().groups == std::vector<std::vector<int>>{{0, 2, 4}, {1, 3, 5}, {6, 8, 10}, {7, 9, 11}});
  CHECK(twelve.activations_from(0).groups ==
        std::vector<std::vector<int>>{{0, 6}, {1, 7}, {2, 8}, {3, 9}, {4, 10}, {5, 11}});
  CHECK(twelve.gradients_from(1).groups ==
        std::vector<std::vector<int>>{{6, 0}, {7, 1}, {8, 2}, {9, 3}, {10, 4}, {11, 5}});
  CHECK(twelve.activations_from(0).pattern == Pattern::pair);
  CHECK(twelve.embedding_groups().pattern == Pattern::ring);
  CHECK(twelve.rank(1, 2, 1) == 11);
  CHECK(twelve.stage_of(5) == 0);
  CHECK(twelve.stage_of(6) == 1);
}

TEST_CASE("after the last stage comes the first") {
  const Layout four = layout(1, 4, 4);
  CHECK(four.activations_from(3).groups == std::vector<std::vector<int>>{{3, 0}});
  CHECK(four.gradients_from(0).groups == std::vector<std::vector<int>>{{0, 3}});
  CHECK(four.gradients_from(2).groups == std::vector<std::vector<int>>{{2, 1}});
}

TEST_CASE("shards and replicas cut data-parallel groups crosswise") {
  // Tensor 1, data 6: shards of 3 neighbours; replicas are the ranks of equal place.
  const Layout six = layout(1, 1, 6);
  CHECK(six.shard_groups(3).groups == std::vector<std::vector<int>>{{0, 1, 2}, {3, 4, 5}});
  CHECK(six.replica_groups(3).groups == std::vector<std::vector<int>>{{0, 3}, {1, 4}, {2, 5}});
}

TEST_CASE("every set of groups has every rank once") {
  for (const int tensor : {1, 2, 4, 8}) {
    for (const int stages : {1, 2, 3, 8}) {
      for (const int data : {1, 2, 6}) {
        const int gpus = tensor * stages * data;
        const Layout all = layout(tensor, stages, gpus);
        CAPTURE(tensor, stages, data);
        REQUIRE(all.ranks() == gpus);
        CHECK(is_partition(all.tensor_groups(), gpus));
        CHECK(is_partition(all.data_groups(), gpus));
        for (int shards = 1; shards <= data; ++shards) {
          if (data % shards != 0) continue;
          CHECK(is_partition(all.shard_groups(shards), gpus));
          CHECK(is_partition(all.replica_groups(shards), gpus));
        }
        std::set<int> ranks;
        for (int stage = 0; stage < stages; ++stage) {
          for (int d = 0; d < data; ++d) {
            for (int t = 0; t < tensor; ++t) {
              CHECK(all.stage_of(all.rank(t, d, stage)) == stage);
              ranks.insert(all.rank(t, d, stage));
            }
          }
        }
        CHECK(ranks.size() == static_cast<std::size_t>(gpus));
      }
    }
  }
}

TEST_CASE("which communicators stay in a node of 8 follows from the order of ranks") {
  // Tensor 4, data 2, stages 4: a stage fills a node.
  const Layout fits = layout(4, 4, 32);
  CHECK(stays_in_nodes(fits.tensor_groups(), 8));
  CHECK(stays_in_nodes(fits.data_groups(), 8));
  CHECK_FALSE(stays_in_nodes(fits.activations_from(0), 8));
  // Tensor 2, data 2, stages 4: two stages in a node; stages 1 and 2 are in different ones.
  const Layout small = layout(2, 4, 16);
  CHECK(stays_in_nodes(small.data_groups(), 8));
  CHECK(stays_in_nodes(small.activations_from(0), 8));
  CHECK_FALSE(stays_in_nodes(small.activations_from(1), 8));
  // Tensor 8, data 4: a tensor group fills a node, data groups cross.
  const Layout wide = layout(8, 1, 32);
  CHECK(stays_in_nodes(wide.tensor_groups(), 8));
  CHECK_FALSE(stays_in_nodes(wide.data_groups(), 8));
  // Tensor 16 does not fit.
  CHECK_FALSE(stays_in_nodes(layout(16, 1, 32).tensor_groups(), 8));
}

TEST_CASE("GPUs that the degrees do not divide are refused") {
  CHECK_THROWS_AS(layout(3, 2, 16), Error);
  CHECK_THROWS_WITH(layout(3, 2, 16), Catch::Contains("16 GPUs cannot be split into tensor 3 × pipeline 2"));
  CHECK_THROWS_AS(layout(8, 4, 16), Error);
}
