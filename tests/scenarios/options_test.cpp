#include "scenarios/reader.h"

#include "tests/catch.h"
#include "tests/scenarios/examples.h"

using namespace foretrain;
using namespace foretrain::scenarios;
using Catch::Matchers::Contains;

namespace {

std::string with_options(const std::string& options, const std::string& training = "") {
  return small_scenario(training, R"(, "options": )" + options);
}

std::vector<std::string> names(const sim::Question& question) {
  std::vector<std::string> all;
  for (const sim::Alternative& option : question.options) all.push_back(option.name);
  return all;
}

const sim::Scenario& only(const sim::Question& question) {
  REQUIRE(question.options.size() == 1);
  return question.options.front().scenario;
}

}  // namespace

TEST_CASE("A list is one option each, several lists every combination, the last varying fastest") {
  const sim::Question question = read(with_options(
      R"([{"cluster.gpus": [16, 24], "training.micro_batch": [32, 128]}, {"cluster.machine": "DGX H100"}])"));
  CHECK(names(question) ==
        std::vector<std::string>{"2 × DGX A100 (16 GPUs), micro-batch 32", "2 × DGX A100 (16 GPUs), micro-batch 128",
                                 "3 × DGX A100 (24 GPUs), micro-batch 32", "3 × DGX A100 (24 GPUs), micro-batch 128",
                                 "1 × DGX H100 (8 GPUs)"});
  CHECK(question.options[2].scenario.cluster.gpus == 24);
  CHECK(question.options[2].scenario.training.micro_batch == 32);
  CHECK(question.options[4].scenario.training.micro_batch == 64);
}

TEST_CASE("Names say how much of the machines is used and what else differs") {
  const sim::Question question = read(with_options(R"([
    {"cluster.gpus": 1}, {"cluster.gpus": 12},
    {"cluster.machine": "standard_nc24ads_a100_v4", "cluster.gpus": 1},
    {"cluster.gpus": 16, "cluster.inter_node_gbits_per_s": 100, "cluster.network": "tcp"},
    {"stack.options.bucket_bytes": 1000000}, {"model.zoo": "vgg16", "training.precision": "fp16"}])"));
  CHECK(names(question) == std::vector<std::string>{"1 × DGX A100 (1 of 8 GPUs)", "2 × DGX A100 (12 of 16 GPUs)",
                                                    "1 × Standard_NC24ads_A100_v4 (1 GPU)",
                                                    "2 × DGX A100 (16 GPUs), 100 Gbit/s between nodes, tcp",
                                                    "1 × DGX A100 (8 GPUs), bucket_bytes 1000000",
                                                    "1 × DGX A100 (8 GPUs), model vgg16, fp16"});
}

TEST_CASE("A cluster described field by field is named after its GPUs") {
  const std::string file = R"({"foretrain": 1, "model": {"zoo": "resnet50"}, "training": {"micro_batch": 64},
    "cluster": {"gpu": "V100-SXM2-32GB", "gpus_per_node": 8, "intra_node": "nvswitch", "intra_node_gbytes_per_s": 150, "gpus": 8},
    "options": [{"cluster.gpus": 16}, {"cluster.machine": "DGX A100"}]})";
  const sim::Question question = read(file);
  CHECK(question.options[0].name == "2 × 8-GPU machine with V100-SXM2-32GB (16 GPUs)");
  CHECK_FALSE(question.options[1].scenario.cluster.gpu);
}

TEST_CASE("The shipped example asks about the machines of the insurer's question") {
  CHECK(names(read(example_text())) ==
        std::vector<std::string>{"1 × Standard_NC96ads_A100_v4 (4 GPUs)", "2 × Standard_NC96ads_A100_v4 (8 GPUs)",
                                 "3 × Standard_NC96ads_A100_v4 (12 GPUs)", "4 × Standard_NC96ads_A100_v4 (16 GPUs)",
                                 "1 × Standard_ND96amsr_A100_v4 (8 GPUs)", "2 × Standard_ND96amsr_A100_v4 (16 GPUs)",
                                 "1 × Standard_NC40ads_H100_v5 (1 GPU)"});
}

TEST_CASE("Weak scaling multiplies the file's global batch by the ratio of the GPUs") {
  // 1024 on 8 GPUs: two micro-batches of 64 each. On 16 GPUs 2048, on 4 GPUs 512.
  const sim::Question question = read(with_options(R"([{"cluster.gpus": [16, 4, 8]}])", R"(, "global_batch": 1024)"));
  CHECK(question.options[0].scenario.training.global_batch == 2048);
  CHECK(question.options[1].scenario.training.global_batch == 512);
  CHECK(question.options[2].scenario.training.global_batch == 1024);
}

TEST_CASE("A file without a global batch has none with more GPUs either") {
  CHECK(only(read(with_options(R"([{"cluster.gpus": 16}])"))).training.global_batch == 0);
}

TEST_CASE("Scaling is from the file's values, whatever --set did to the base") {
  const std::string file = with_options(R"([{"cluster.gpus": 16}])", R"(, "global_batch": 1024)");
  const sim::Question question = read(file, {"cluster.gpus=4"});
  CHECK(question.base.training.global_batch == 512);
  CHECK(only(question).training.global_batch == 2048);
  CHECK(only(read(with_options(R"([{"training.precision": "fp16"}])", R"(, "global_batch": 1024)"), {"cluster.gpus=4"}))
            .training.global_batch == 512);  // the option has the base's 4 GPUs
}

TEST_CASE("An explicit global batch wins, from --set or in the option") {
  const std::string file = with_options(R"([{"cluster.gpus": 16}])", R"(, "global_batch": 1024)");
  CHECK(read(file, {"cluster.gpus=16", "training.global_batch=1024"}).base.training.global_batch == 1024);
  CHECK(only(read(file, {"training.global_batch=3072"})).training.global_batch == 3072);
  CHECK(
      only(read(with_options(R"([{"cluster.gpus": 16, "training.global_batch": 4096}])", R"(, "global_batch": 1024)")))
          .training.global_batch == 4096);
}

TEST_CASE("Strong scaling keeps the global batch") {
  const std::string strong = R"(, "global_batch": 1024, "scaling": "strong")";
  SECTION("with fewer micro-batches per rank where there were several") {
    // 1024 = 16 ranks · 64
    const sim::Scenario s = only(read(with_options(R"([{"cluster.gpus": 16}])", strong)));
    CHECK(s.training.global_batch == 1024);
    CHECK(s.training.micro_batch == 64);
  }
  SECTION("with a smaller micro-batch where a rank's share is less") {
    // 1024 / 32 ranks = 32 each
    const sim::Question question = read(with_options(R"([{"cluster.gpus": 32}])", strong));
    CHECK(only(question).training.global_batch == 1024);
    CHECK(only(question).training.micro_batch == 32);
    CHECK(question.options[0].name == "4 × DGX A100 (32 GPUs), micro-batch 32, global batch 1024");
  }
  SECTION("rounded down in an option where it makes no whole share, and the name says so") {
    // 1024 / 24 ranks = 42.7: 42 each, 1008 in all
    const sim::Question question = read(with_options(R"([{"cluster.gpus": 24}])", strong));
    CHECK(only(question).training.micro_batch == 42);
    CHECK(only(question).training.global_batch == 1008);
    CHECK(question.options[0].name == "3 × DGX A100 (24 GPUs), micro-batch 42, global batch 1008");
  }
  SECTION("but never silently in the base") {
    const Error error = read_error(small_scenario(strong), {"cluster.gpus=24"});
    CHECK_THAT(error.where(), Contains("--set cluster.gpus=24"));
    CHECK_THAT(error.what(), Contains("1024"));
  }
  SECTION("also the one that follows from the file: 8 · 64 = 512") {
    const sim::Scenario s = only(read(with_options(R"([{"cluster.gpus": 16}])", R"(, "scaling": "strong")")));
    CHECK(s.training.global_batch == 512);
    CHECK(s.training.micro_batch == 32);
  }
  SECTION("a micro-batch given on purpose is kept, or does not divide") {
    const std::string kept = R"([{"cluster.gpus": 32, "training.micro_batch": 16}])";  // 1024 = 32 · 16 · 2
    CHECK(only(read(with_options(kept, strong))).training.micro_batch == 16);
    const Error error = read_error(with_options(R"([{"cluster.gpus": 32, "training.micro_batch": 64}])", strong));
    CHECK_THAT(error.where(), Contains("/options/0/training.micro_batch"));
  }
  SECTION("more GPUs than samples is an error") {
    const Error error = read_error(with_options(R"([{"cluster.gpus": 2048}])", strong));
    CHECK_THAT(error.where(), Contains("/options/0/cluster.gpus"));
  }
}

TEST_CASE("Weak scaling that makes no whole batch, or one that does not divide, is an error") {
  // 100 samples on 8 GPUs make 37.5 on 3
  const Error broken =
      read_error(small_scenario(R"(, "global_batch": 100)"), {"cluster.gpus=3", "training.micro_batch=1"});
  CHECK_THAT(broken.where(), Contains("--set cluster.gpus=3"));
  CHECK_THAT(broken.what(), Contains("no whole number"));
  // 64 on 8 GPUs make 72 on 9, which one rank of 9 GPUs cannot take in micro-batches of 64
  const Error odd = read_error(small_scenario(R"(, "global_batch": 64)"), {"cluster.gpus=9", "plan.tensor=9"});
  CHECK_THAT(odd.where(), Contains("--set cluster.gpus=9"));
  CHECK_THAT(odd.what(), Contains("72"));
}

TEST_CASE("What describes the old machine does not leak into a new one") {
  const std::string file = R"({"foretrain": 1, "model": {"zoo": "resnet50"}, "training": {"micro_batch": 64},
    "cluster": {"machine": "DGX A100", "gpus": 8, "price_usd_per_hour": 12.5, "inter_node_gbits_per_s": 100, "vcpus": 64,
                "network": "tcp", "nodes_per_leaf": 4, "oversubscription": 2, "straggler_slowdown": 1.5},
    "options": [{"cluster.machine": "DGX H100", "cluster.gpus": 16},
                {"cluster.machine": "DGX H100", "cluster.gpus": 16, "cluster.price_usd_per_hour": 80},
                {"cluster.machine": "dgx a100", "cluster.gpus": 16}]})";
  const sim::Question question = read(file);
  const sim::ClusterChoice &other = question.options[0].scenario.cluster,
                           &priced = question.options[1].scenario.cluster, &same = question.options[2].scenario.cluster;
  CHECK_FALSE(other.price_usd_per_hour);
  CHECK_FALSE(other.inter_node_gbits_per_s);
  CHECK_FALSE(other.network);
  CHECK_FALSE(other.vcpus);
  CHECK(other.nodes_per_leaf == 4);
  CHECK(other.oversubscription == 2);
  CHECK(other.straggler_slowdown == 1.5);
  CHECK(priced.price_usd_per_hour == 80);
  CHECK(same.price_usd_per_hour == 12.5);
  CHECK(same.inter_node_gbits_per_s == 100);

  const sim::ClusterChoice set = read(file, {"cluster.machine=DGX H100", "cluster.network=roce"}).base.cluster;
  CHECK_FALSE(set.price_usd_per_hour);
  CHECK(set.network == "roce");
}

TEST_CASE("A new model leaves the old one's sizes behind, a new stack the old one's options") {
  const std::string file = R"({"foretrain": 1, "model": {"zoo": "gpt2", "layers": 24}, "training": {"micro_batch": 8},
    "stack": {"name": "pytorch-ddp", "options": {"bucket_bytes": 1e6}}, "cluster": {"machine": "DGX A100", "gpus": 8},
    "options": [{"model.zoo": "gpt2-medium"}, {"model.layers": 36}, {"model.zoo": "gpt2", "stack.name": "pytorch-ddp"},
                {"model.parameters": 1e9, "model.flops_per_sample": 1e12}]})";
  const sim::Question question = read(file);
  using Sizes = std::map<std::string, double>;
  CHECK(question.options[0].scenario.model.overrides == Sizes{});
  CHECK(question.options[1].scenario.model.overrides == Sizes{{"layers", 36}});
  CHECK(question.options[2].scenario.model.overrides == Sizes{{"layers", 24}});
  CHECK(question.options[2].scenario.stack.options == Sizes{{"bucket_bytes", 1e6}});
  CHECK(question.options[3].scenario.model.kind == models::ModelSource::Kind::totals);
}

TEST_CASE("An input rate per node replaces one per vCPU, and the other way round") {
  const std::string file = small_scenario("", R"(, "input": {"samples_per_s_per_vcpu": 125},
    "options": [{"input.samples_per_s_per_node": 3000}, {"input.samples_per_s_per_node": 3000, "input.samples_per_s_per_vcpu": 1}])");
  const Error both = read_error(file);
  CHECK_THAT(both.where(), Contains("/options/1/input.samples_per_s_per_vcpu"));
  const sim::InputPipeline set =
      read(small_scenario("", R"(, "input": {"samples_per_s_per_vcpu": 125})"), {"input.samples_per_s_per_node=3000"})
          .base.input;
  CHECK(set.samples_per_s_per_node == 3000);
  CHECK_FALSE(set.samples_per_s_per_vcpu);
}

TEST_CASE("A measured step is dropped where it is of another run, and the name says so") {
  const sim::Question question = read(small_scenario(
      "",
      R"(, "measured": [{"gpus": 8, "step_seconds": 0.1}], "options": [{"cluster.gpus": 16}, {"training.precision": "fp16"}])"));
  CHECK(question.options[0].scenario.measured.size() == 1);
  CHECK(question.options[1].scenario.measured.empty());
  CHECK(question.options[1].name == "1 × DGX A100 (8 GPUs), fp16, without the measured step");
}

TEST_CASE("Bad options are named by entry and key") {
  CHECK_THAT(read_error(with_options(R"([{"cluster.gpus": [8, 0]}])")).where(),
             Contains("s.json: /options/0/cluster.gpus/1"));
  CHECK_THAT(read_error(with_options(R"([{"cluster.gpu": 8}])")).where(), Contains("/options/0/cluster.gpu"));
  CHECK_THAT(read_error(with_options(R"([{"cluster.gpuz": 8}])")).hint(), Contains("\"cluster.gpus\""));
  CHECK_THAT(read_error(with_options(R"([{"cluster.inter_node_gbps": 8}])")).hint(),
             Contains("\"cluster.inter_node_gbits_per_s\""));
  CHECK_THAT(read_error(with_options(R"([{"gpus": 8}])")).where(), Contains("/options/0/gpus"));
  CHECK_THAT(read_error(with_options(R"([{"cluster": {"gpus": 8}}])")).hint(), Contains("dotted"));
  CHECK_THAT(read_error(with_options(R"([{}])")).where(), Contains("/options/0"));
  CHECK_THAT(read_error(with_options(R"([{"cluster.gpus": []}])")).where(), Contains("/options/0/cluster.gpus"));
  CHECK_THAT(read_error(with_options(R"([8])")).where(), Contains("/options/0"));
  CHECK_THAT(read_error(with_options("{}")).where(), Contains("/options"));
  CHECK_THAT(read_error(with_options(R"([{"cluster.machine": "DGX Q100"}])")).where(),
             Contains("/options/0/cluster.machine"));
  CHECK_THAT(read_error(with_options(R"([{"measured": []}])")).where(), Contains("/options/0/measured"));
  CHECK_THAT(read_error(with_options(R"([{"foretrain": 1}])")).where(), Contains("/options/0/foretrain"));
}

TEST_CASE("Combinations are counted before they are made") {
  std::string list = "[1";
  for (int i = 2; i <= 200; ++i) list += ", " + std::to_string(i);
  list += "]";
  // 200 · 200 · 200 combinations are refused at once
  const std::string cube = R"([{"cluster.gpus": )" + list + R"(, "training.micro_batch": )" + list +
                           R"(, "training.epochs": )" + list + "}]";
  CHECK_THAT(read_error(with_options(cube)).what(), Contains("10000"));
  const std::string row = R"([{"cluster.gpus": )" + list + "}]";
  CHECK(read(with_options(row)).options.size() == 200);
}
