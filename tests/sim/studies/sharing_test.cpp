// Ways of sharing gradients as predict answers about them.
#include <map>
#include <string>

#include "base/error.h"
#include "sim/studies/predict.h"
#include "tests/catch.h"
#include "tests/sim/studies/scenarios.h"

namespace foretrain::sim::studies {
namespace {

using models::Precision;

Scenario shared_by(const std::string& stack, std::int64_t gpus,
                   const std::map<std::string, double>& options = {}) {
  Scenario asked = scenario("resnet50", "p3.16xlarge", gpus, 32, Precision::fp32);
  asked.stack.name = stack;
  asked.stack.options = options;
  return asked;
}

double part(const Prediction& prediction, const std::string& name) {
  for (const auto& [key, quantity] : prediction.breakdown) {
    if (key == name) return quantity.value;
  }
  return 0;
}

TEST_CASE("asynchronous workers go at their own pace, folded or not") {
  const std::int64_t gpus = GENERATE(1, 2, 16);
  const Scenario asked = shared_by("tensorflow-parameter-server", gpus, {{"asynchronous", 1}});
  PredictOptions unfolded;
  unfolded.fold = false;
  const Prediction folded = predict(asked, catalogue());
  CHECK(folded.throughput.value == Approx(predict(asked, catalogue(), unfolded).throughput.value).epsilon(1e-9));
  // At least as fast as if all waited for the slowest, and not faster than by the spread of their paces.
  const double slowest = static_cast<double>(folded.global_batch) / folded.step_time.value;
  CHECK(folded.throughput.value >= slowest * (1 - 1e-9));
  CHECK(folded.throughput.value < 3 * slowest);
}

TEST_CASE("a straggler does not hold asynchronous workers up") {
  Scenario asked = shared_by("mxnet-kvstore", 16, {{"asynchronous", 1}, {"local_aggregation", 0}});
  asked.cluster.machine = "Standard_NC24ads_A100_v4";  // one GPU per node: a straggler is a worker of its own
  asked.cluster.network = "infiniband";
  asked.cluster.inter_node_gbits_per_s = 200;
  const double even = predict(asked, catalogue()).throughput.value;
  asked.cluster.straggler_slowdown = 3;
  const double with_straggler = predict(asked, catalogue()).throughput.value;
  CHECK(with_straggler > 0.9 * even);  // 15 of 16 workers go on
}

TEST_CASE("servers on nodes of their own need the network on one node too") {
  const Prediction apart = predict(shared_by("tensorflow-parameter-server", 16, {{"servers_apart", 1}}), catalogue());
  CHECK(apart.speedup.value > 0);
  CHECK(part(apart, "exposed_push") > 0);
}

TEST_CASE("values that software cannot have are refused by name") {
  const auto where = [](const std::string& key, double value) -> std::string {
    try {
      static_cast<void>(predict(shared_by("pytorch-ddp", 8, {{key, value}}), catalogue()));
    } catch (const Error& error) {
      CHECK_FALSE(error.hint().empty());
      return error.where();
    }
    return "accepted";
  };
  CHECK(where("overlap", 2) == "/stack/options/overlap");
  CHECK(where("hierarchical", 0.5) == "/stack/options/hierarchical");
  CHECK(where("powersgd_rank", 1.5) == "/stack/options/powersgd_rank");
  CHECK(where("top_k_fraction", 0) == "/stack/options/top_k_fraction");
  CHECK(where("compute_slowdown_while_communicating", 1) == "/stack/options/compute_slowdown_while_communicating");
  CHECK(where("overlap", 0.5) == "accepted");
}

TEST_CASE("compression's own work is a part of the step by its name") {
  Scenario asked = shared_by("pytorch-ddp", 8);
  CHECK(part(predict(asked, catalogue()), "compression") == 0);
  asked.stack.compression = "powersgd";
  CHECK(part(predict(asked, catalogue()), "compression") > 0);
}

TEST_CASE("gradients of servers that work beside one another do not take longer than the step") {
  const Prediction servers = predict(shared_by("tensorflow-parameter-server", 16), catalogue());
  CHECK(servers.gradients.seconds <= servers.step_time.value);
  CHECK(servers.gradients.bytes == Approx(25557032.0 * 4));  // each gradient is pushed once
}

TEST_CASE("what holds a step is the same kind of work with and without accumulation") {
  Scenario asked = shared_by("pytorch-ddp", 1);
  const auto kind = [&] {
    const std::string binding = predict(asked, catalogue()).binding;
    return binding.substr(binding.find(" in "));
  };
  const std::string alone = kind();
  asked.training.global_batch = 32 * 16;
  CHECK(kind() == alone);
}

TEST_CASE("the very run that was measured is known as well as steps repeat") {
  Scenario asked = shared_by("pytorch-ddp", 16);
  asked.measured = {{"", 16, 32, 0.4}};
  const Prediction measured = predict(asked, catalogue());
  CHECK(measured.step_time.value == Approx(0.4));
  CHECK(measured.step_time.high / measured.step_time.low < 1.03);
  // Another way of sharing is anchored on the same run: compute stays, the exchange changes.
  Scenario other = asked;
  other.stack.compression = "fp16";
  PredictOptions options;
  options.measured_in = &asked;
  CHECK(predict(other, catalogue(), options).step_time.value < 0.39);
}

}  // namespace
}  // namespace foretrain::sim::studies
