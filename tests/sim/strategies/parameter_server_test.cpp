#include "sim/strategies/parameter_server.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/error.h"
#include "sim/breakdown.h"
#include "sim/collectives.h"
#include "sim/engine/replay.h"
#include "sim/fold.h"
#include "sim/workload.h"
#include "tests/catch.h"
#include "tests/sim/strategies/step.h"

namespace foretrain::sim::strategies {
namespace {

using calibrate::CollectiveKind;

// A step of a zoo model with parameter servers.
struct ServerStep {
  Scenario scenario;
  calibrate::Stack stack = studies::catalogue().stack("tensorflow-parameter-server");
  ParameterTable parameters;
  Job job;

  ServerStep(const std::string& model, const std::string& machine, int gpus, int micro_batch = 32)
      : scenario(studies::scenario(model, machine, gpus, micro_batch, models::Precision::fp32)) {
    scenario.training.optimizer = "sgd";
    scenario.stack.name = stack.name;
    scenario.stack.reducer = "parameter_server";
  }
  ServerStep& set(const std::string& key, double value) {
    stack.values.at(key).value = value;
    return *this;
  }
  Composed composed() {
    cluster_ = resolve_cluster(scenario.cluster, studies::catalogue());
    model_ = build_workload(scenario, scenario.training.micro_batch, studies::catalogue().data());
    return compose({scenario, cluster_, model_, stack}, parameters);
  }
  Program program() { return composed().programs.front(); }
  Timeline replayed(bool folded = true) {
    Composed result = composed();
    const calibrate::CollectiveConstants& constants = studies::catalogue().collective_constants();
    const Topology topology(cluster_, parameters,
                            server_links(cluster_, scenario.stack.reducer, stack, constants, parameters));
    const CollectiveCosts costs(cluster_, topology, studies::catalogue(), parameters);
    job = folded ? fold(std::move(result.programs), result.placement, topology)
                 : expand(std::move(result.programs), result.placement, topology);
    return engine::replay(job, costs);
  }
  double seconds() { return replayed().step_seconds; }

 private:
  Cluster cluster_;
  models::Model model_;
};

// What a job of n GPUs does more than one GPU, per GPU.
double efficiency(ServerStep step) {
  ServerStep alone = step;
  alone.scenario.cluster.gpus = 1;
  return alone.seconds() / step.seconds();
}

double bytes_of_kind(const Program& program, CollectiveKind kind, const std::string& communicator = "") {
  double bytes = 0;
  for (const Activity& activity : program.activities) {
    if (!activity.is_collective || activity.collective != kind) continue;
    if (communicator.empty() || program.communicators[activity.communicator] == communicator) {
      bytes += activity.bytes.value;
    }
  }
  return bytes;
}

std::vector<Variable> made(const std::vector<double>& elements) {
  std::vector<Variable> variables;
  for (std::size_t i = 0; i < elements.size(); ++i) variables.push_back({"v" + std::to_string(i), elements[i], i});
  return variables;
}

// --- layout -------------------------------------------------------------------------------------

TEST_CASE("variables lie whole on one server after the other, in the order of creation") {
  const std::vector<Server> servers = place_variables(made({10, 20, 30, 40, 50}), {0, 1}, false);
  REQUIRE(servers.size() == 2);
  CHECK(servers[0].variables == std::vector<std::size_t>{0, 2, 4});
  CHECK(servers[0].elements == 90);
  CHECK(servers[0].nodes == std::vector<int>{0});
  CHECK(servers[1].elements == 60);
}

TEST_CASE("spread variables lie on all servers, one server holds everything") {
  const std::vector<Server> spread = place_variables(made({10, 20, 30}), {0, 1, 2, 3}, true);
  REQUIRE(spread.size() == 1);
  CHECK(spread[0].nodes.size() == 4);
  CHECK(spread[0].elements == 60);
  CHECK(place_variables(made({10, 20}), {7}, false).front().nodes == std::vector<int>{7});
  CHECK(place_variables(made({10, 20}), {0, 1, 2}, false).size() == 2);  // the third has nothing
}

TEST_CASE("of many servers the eight fullest stay single") {
  std::vector<double> elements;
  for (int i = 1; i <= 20; ++i) elements.push_back(i);
  std::vector<int> nodes;
  for (int i = 0; i < 20; ++i) nodes.push_back(i);
  const std::vector<Server> servers = place_variables(made(elements), nodes, false);
  REQUIRE(servers.size() == 9);
  CHECK(servers[0].elements == 20);
  CHECK(servers[7].elements == 13);
  CHECK(servers[8].nodes.size() == 12);
  CHECK(servers[8].elements == 78);  // 1 + … + 12
}

TEST_CASE("small neighbours travel together, large variables alone, and nothing is lost") {
  std::vector<double> elements(100, 1);
  elements[50] = 900;  // a parcel is full from 1000/64 = 15.6 elements on
  const std::vector<Variable> variables = made(elements);
  const std::vector<Parcel> parcels = parcels_of(variables, place_variables(variables, {0}, false));
  double total = 0;
  std::size_t count = 0, before = variables.size();
  for (const Parcel& parcel : parcels) {
    total += parcel.elements;
    count += parcel.variables;
    CHECK(parcel.first_use < before);  // in the order of backward
    before = parcel.first_use;
  }
  CHECK(total == 999);
  CHECK(count == 100);
  // 49 small ones behind the large one: 16, 16, 16; one and the large one; 50 before it: 16, 16, 16, 2.
  REQUIRE(parcels.size() == 8);
  CHECK(parcels[3].largest == "v50");
  CHECK(parcels[3].first_use == 50);
  CHECK(parcels[3].variables == 2);
}

TEST_CASE("a program stays small whatever the model and the number of servers") {
  for (const char* model : {"resnet50", "bert-large", "vgg16"}) {
    for (const int gpus : {8, 64, 256}) {
      ServerStep step(model, "p2.8xlarge", gpus, 1);
      const Program program = step.program();
      std::map<CollectiveKind, std::size_t> kinds;
      for (const Activity& activity : program.activities) kinds[activity.collective] += activity.is_collective;
      CHECK(kinds[CollectiveKind::push] <= static_cast<std::size_t>(most_parcels) + most_single_servers + 1);
      CHECK(kinds[CollectiveKind::push] >= 8);
      CHECK(kinds[CollectiveKind::pull] == kinds[CollectiveKind::push]);
      CHECK(kinds[CollectiveKind::update] == kinds[CollectiveKind::push]);
    }
  }
}

// --- programs -----------------------------------------------------------------------------------

TEST_CASE("every variable is pushed, updated and pulled once, and workers update nothing themselves") {
  for (const double sharded : {0.0, 1.0}) {
    ServerStep step("vgg16", "p2.8xlarge", 32);
    const Program program = step.set("variables_sharded", sharded).program();
    const double parameters = 138357544;
    CHECK(bytes_of_kind(program, CollectiveKind::push) == 4 * parameters);
    CHECK(bytes_of_kind(program, CollectiveKind::pull) == 4 * parameters);
    // Fused SGD with momentum reads gradient, variable and momentum and writes the last two: five words.
    CHECK(bytes_of_kind(program, CollectiveKind::update) == 5 * 4 * parameters);
    for (const Activity& activity : program.activities) CHECK(activity.category != Category::optimizer);
  }
}

TEST_CASE("the first dense layer of VGG-16 is one push of 411 MB") {
  const Program program = ServerStep("vgg16", "p2.8xlarge", 32).program();
  double largest = 0;
  std::string label;
  for (const Activity& activity : program.activities) {
    if (activity.collective != CollectiveKind::push || activity.bytes.value <= largest) continue;
    largest = activity.bytes.value;
    label = program.labels[activity.label];
  }
  CHECK(largest == 4.0 * 25088 * 4096);
  CHECK(label.find("push") == 0);
}

// When the exchanges with the servers and the passes of a step begin and end.
struct Moments {
  double first_push = 1e9, backward_end = 0, last_pull = 0, forward_begin = 1e9;

  explicit Moments(ServerStep step) {
    const Timeline timeline = step.replayed();
    const Program& program = step.job.programs.front();
    for (std::size_t a = 0; a < program.activities.size(); ++a) {
      const Activity& activity = program.activities[a];
      const Span& span = timeline.spans[timeline.first_of[0] + a];
      if (activity.is_collective && activity.collective == CollectiveKind::push) {
        first_push = std::min(first_push, span.start);
      } else if (activity.is_collective && activity.collective == CollectiveKind::pull) {
        last_pull = std::max(last_pull, span.finish);
      } else if (activity.category == Category::forward && span.finish > span.start) {
        forward_begin = std::min(forward_begin, span.start);
      } else if (activity.category == Category::backward) {
        backward_end = std::max(backward_end, span.finish);
      }
    }
  }
};

TEST_CASE("pulls come in the order of use, pushes in the order of backward") {
  const Moments moments(ServerStep("resnet50", "p2.8xlarge", 16).set("variables_sharded", 1));
  CHECK(moments.forward_begin < moments.last_pull);
  CHECK(moments.first_push < moments.backward_end);
}

TEST_CASE("without overlap everything is pulled before forward and pushed after backward") {
  const Moments moments(ServerStep("resnet50", "p2.8xlarge", 16).set("variables_sharded", 1).set("overlap", 0));
  CHECK(moments.forward_begin >= moments.last_pull);
  CHECK(moments.first_push >= moments.backward_end);
}

TEST_CASE("MXNet's names: where a node's gradients are summed") {
  const auto communicators = [](int gpus, double local_aggregation, const char* reducer) {
    ServerStep step("resnet50", "p2.8xlarge", gpus);
    step.scenario.stack.reducer = reducer;
    return step.set("variables_sharded", 1)
        .set("local_aggregation", local_aggregation)
        .composed()
        .placement.communicators;
  };
  // dist_device_sync: GPUs in a ring, then each sends its part.
  const std::vector<Communicator> device = communicators(16, 1, "kvstore");
  REQUIRE(device.size() == 2);
  CHECK(device[0].pattern == Pattern::ring);
  CHECK(device[0].groups.size() == 2);
  CHECK(device[1].client == Client::node);
  CHECK(device[1].server_nodes == std::vector<int>{0, 1});
  // dist_sync: in the host of each node.
  const std::vector<Communicator> host = communicators(16, 0, "kvstore");
  REQUIRE(host.size() == 2);
  CHECK(host[0].pattern == Pattern::servers);
  CHECK(host[0].server_nodes.empty());
  CHECK(host[1].client == Client::host);
  // In one node: device has no servers at all, local's server is the host.
  const std::vector<Communicator> one_device = communicators(8, 1, "kvstore");
  REQUIRE(one_device.size() == 1);
  CHECK(one_device[0].pattern == Pattern::ring);
  const std::vector<Communicator> one_local = communicators(8, 0, "kvstore");
  REQUIRE(one_local.size() == 1);
  CHECK(one_local[0].pattern == Pattern::servers);
  CHECK(one_local[0].client == Client::rank);
  // TensorFlow: every worker for itself.
  CHECK(communicators(16, 0, "parameter_server").front().client == Client::rank);
}

TEST_CASE("asynchronous workers are groups of their own, or the workers of a node") {
  ServerStep step("resnet50", "p2.8xlarge", 12);
  step.set("asynchronous", 1).set("variables_sharded", 1);
  CHECK(step.composed().placement.communicators.front().groups.size() == 12);
  step.set("local_aggregation", 1);
  CHECK(step.composed().placement.communicators.back().groups.size() == 2);
  step.set("asynchronous", 0);
  CHECK(step.composed().placement.communicators.back().groups.size() == 1);
}

// --- what follows -------------------------------------------------------------------------------

TEST_CASE("folded and unfolded steps agree, whatever the servers") {
  for (const char* reducer : {"parameter_server", "kvstore"}) {
    for (const double asynchronous : {0.0, 1.0}) {
      for (const double apart : {0.0, 1.0}) {
        for (const double sharded : {0.0, 1.0}) {
          for (const double local_aggregation : {0.0, 1.0}) {
            for (const double on_gpu : {0.0, 1.0}) {
              CAPTURE(reducer, asynchronous, apart, sharded, local_aggregation, on_gpu);
              ServerStep step("alexnet", "p2.8xlarge", 19);  // 8, 8 and 3
              step.scenario.stack.reducer = reducer;
              step.set("asynchronous", asynchronous).set("servers_apart", apart).set("variables_sharded", sharded);
              step.set("local_aggregation", local_aggregation).set("servers_on_gpu", on_gpu);
              const double folded = step.seconds();
              CHECK(folded > 0);
              CHECK(step.replayed(false).step_seconds == Approx(folded).epsilon(1e-9));
            }
          }
        }
      }
    }
  }
}

TEST_CASE(
    "VGG-16 over 32 workers collapses on the server of its large variable, spread it does not, nor does ResNet-50") {
  // 100 Gb/s InfiniBand, a worker per node: 32 servers, one of which takes 31 times 411 MB in each direction.
  const auto step = [](const char* model, double sharded) {
    ServerStep of("resnet50", "DGX-1 V100", 32, 64);
    of.scenario.model.name = model;
    of.scenario.cluster.gpus_per_node = 1;
    of.scenario.cluster.nics_per_node = 1;
    of.scenario.cluster.inter_node_gbits_per_s = 100;
    return of.set("variables_sharded", sharded);
  };
  const double hot = efficiency(step("vgg16", 0)), spread = efficiency(step("vgg16", 1));
  const double resnet = efficiency(step("resnet50", 0)), resnet_spread = efficiency(step("resnet50", 1));
  CAPTURE(hot, spread, resnet, resnet_spread);
  CHECK(hot < 0.1);
  CHECK(spread > 0.6);
  CHECK(resnet > 6 * hot);
  CHECK(resnet_spread > 0.8);
  // No step is shorter than twice the bytes through the one NIC at what it achieves.
  ServerStep whole = step("vgg16", 0);
  const Cluster cluster = resolve_cluster(whole.scenario.cluster, studies::catalogue());
  const double rate = 12.5e9 * cluster.network_achieved_fraction * whole.stack.at("server_network_share").value;
  const double seconds = whole.seconds();
  CHECK(seconds > 2 * 31 * 411e6 / rate);
  CHECK(seconds < 1.3 * (2 * 31 * 411e6 / rate + 1));
}

TEST_CASE("on a slow network parameter servers collapse, and summing inside a node first helps by the GPUs of a node") {
  const auto step = [](const char* machine, double local_aggregation) {
    ServerStep of("resnet50", machine, 32, 32);
    of.scenario.cluster.inter_node_gbits_per_s = 10;
    return of.set("variables_sharded", 1).set("local_aggregation", local_aggregation);
  };
  const double plain = efficiency(step("p2.8xlarge", 0)), first = efficiency(step("p2.8xlarge", 1));
  CAPTURE(plain, first);
  CHECK(plain < 0.25);
  CHECK(first > 2 * plain);
  ServerStep slow = step("p2.8xlarge", 0);
  const Timeline timeline = slow.replayed();
  const std::map<std::string, double> parts = breakdown(slow.job, timeline, 0);
  CHECK(parts.at("exposed_push") + parts.at("exposed_pull") > 0.6 * timeline.step_seconds);
  double sum = 0;
  for (const auto& [name, seconds] : parts) sum += seconds;
  CHECK(sum == Approx(timeline.step_seconds).epsilon(1e-9));
}

TEST_CASE("one node: the host sums 2·L·S, which a model of dense layers feels and ResNet-50 does not") {
  for (const int gpus : {4, 8}) {  // one worker alone has its traffic with the server already
    CAPTURE(gpus);
    const double vgg = efficiency(ServerStep("vgg16", "DGX-1 P100", gpus, 32));
    const double resnet = efficiency(ServerStep("resnet50", "DGX-1 P100", gpus, 32));
    CHECK(resnet > 0.9);
    CHECK(vgg < resnet);
    // Variables on GPUs pass the host once instead of twice.
    CHECK(efficiency(ServerStep("vgg16", "DGX-1 P100", gpus, 32).set("servers_on_gpu", 1)) > vgg);
  }
}

TEST_CASE("an asynchronous job moves the same bytes and does not wait for a straggler") {
  const auto finish_of_others = [](double asynchronous, double slowdown) {
    ServerStep step("resnet50", "DGX-1 V100", 16, 64);
    step.set("asynchronous", asynchronous).set("variables_sharded", 1);
    step.scenario.cluster.straggler_slowdown = slowdown;
    CHECK(bytes_of_kind(step.program(), CollectiveKind::push) == 4.0 * 25557032);
    const Timeline timeline = step.replayed();
    double finish = 0;
    const std::size_t activities = step.job.programs[step.job.instances.front().program].activities.size();
    for (std::size_t a = 0; a < activities; ++a) finish = std::max(finish, timeline.spans[a].finish);
    return std::make_pair(finish, timeline.step_seconds);
  };
  const auto [even, even_step] = finish_of_others(1, 1);
  const auto [ahead, slow_step] = finish_of_others(1, 2);
  CHECK(ahead <= even * (1 + 1e-9));
  CHECK(slow_step > 1.5 * even_step);
  const auto [waiting, waiting_step] = finish_of_others(0, 2);
  CHECK(waiting == Approx(waiting_step).epsilon(1e-9));
  CHECK(waiting > 1.5 * ahead);
}

}  // namespace
}  // namespace foretrain::sim::strategies
