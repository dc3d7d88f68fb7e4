#include <nlohmann/json.hpp>

#include "scenarios/reader.h"

#include "tests/catch.h"
#include "tests/scenarios/examples.h"

using namespace foretrain;
using namespace foretrain::scenarios;
using Catch::Matchers::Contains;

TEST_CASE("A scenario is read into plain values") {
  const sim::Scenario s = read(small_scenario(R"(, "precision": "bf16", "dataset_samples": 1281167)")).base;
  CHECK(s.model.name == "resnet50");
  CHECK(s.training.micro_batch == 64);
  CHECK(s.training.global_batch == 0);
  CHECK(s.training.precision == models::Precision::bf16);
  CHECK(s.training.dataset_samples == 1281167);
  CHECK(s.cluster.machine == "DGX A100");
  CHECK(s.cluster.gpus == 8);
  CHECK_FALSE(s.cluster.price_usd_per_hour);
  CHECK(s.stack.name == "pytorch-ddp");
}

TEST_CASE("Whole numbers may be written with an exponent, others are no counts") {
  CHECK(read(small_scenario(R"(, "global_batch": 5.12e2)")).base.training.global_batch == 512);
  CHECK_THAT(read_error(small_scenario(R"(, "global_batch": 512.5)")).where(),
             Contains("s.json: /training/global_batch"));
}

TEST_CASE("The version is required and known") {
  CHECK_THAT(read_error(R"({"name": "x"})").what(), Contains("foretrain"));
  const Error next = read_error(R"({"foretrain": 2, "new_key": 1})");
  CHECK_THAT(next.where(), Contains("/foretrain"));
  CHECK_THAT(next.what(), Contains("version 1"));
  CHECK_THAT(read_error("[]").what(), Contains("object"));
  CHECK_THAT(read_error(R"({"foretrain": "1"})").where(), Contains("/foretrain"));
}

TEST_CASE("What is required is asked for") {
  CHECK_THAT(read_error(R"({"foretrain": 1})").what(), Contains("micro_batch"));
  CHECK_THAT(read_error(R"({"foretrain": 1, "training": {"micro_batch": 1}})").what(), Contains("model"));
  const Error no_machine = read_error(
      R"({"foretrain": 1, "model": {"zoo": "resnet50"}, "training": {"micro_batch": 1}, "cluster": {"gpus": 8}})");
  CHECK_THAT(no_machine.where(), Contains("/cluster"));
  CHECK_THAT(no_machine.hint(), Contains("gpus_per_node"));
}

TEST_CASE("A model is given in exactly one way") {
  const auto model = [](const std::string& text, const std::string& more = "") {
    return R"({"foretrain": 1, "training": {"micro_batch": 8}, "cluster": {"machine": "DGX A100"}, "model": )" + text +
           more + "}";
  };
  SECTION("a zoo entry whose sizes are overridden") {
    const sim::Scenario s = read(model(R"({"zoo": "gpt2", "layers": 24})")).base;
    CHECK(s.model.kind == models::ModelSource::Kind::zoo);
    CHECK(s.model.overrides == std::map<std::string, double>{{"layers", 24}});
  }
  SECTION("a size that the entry does not have") {
    const Error error = read_error(model(R"({"zoo": "gpt2", "layer": 24})"));
    CHECK_THAT(error.where(), Contains("s.json: /model/layer"));
    CHECK_THAT(error.hint(), Contains("layers"));
  }
  SECTION("totals, with FLOPs or a measured step") {
    const sim::Scenario s = read(model(R"({"parameters": 9e6, "flops_per_sample": 6e10, "layers": 20})")).base;
    CHECK(s.model.kind == models::ModelSource::Kind::totals);
    CHECK(s.model.totals.parameters == 9e6);
    CHECK(s.model.totals.layers == 20);
    const Error missing = read_error(model(R"({"parameters": 9e6})"));
    CHECK_THAT(missing.where(), Contains("/model"));
    CHECK_THAT(missing.hint(), Contains("measured"));
    CHECK(read(model(R"({"parameters": 9e6})", R"(, "measured": [{"gpus": 1, "step_seconds": 0.3}])"))
              .base.model.totals.flops_per_sample == 0);
  }
  SECTION("operators, from a file beside the scenario") {
    const sim::Scenario s = read(model(R"({"operators": "two_operators.json"})")).base;
    CHECK(s.model.kind == models::ModelSource::Kind::operators);
    CHECK_THAT(s.model.operators_text, Contains("\"operators\""));
    CHECK_THAT(read_error(model(R"({"operators": "none.json"})")).where(), Contains("none.json"));
  }
  SECTION("a Hugging Face configuration, from a file beside the scenario, with a size of its own") {
    const sim::Scenario s = read(model(R"({"huggingface": "fixtures/small_llama.json", "layers": 3})")).base;
    CHECK(s.model.kind == models::ModelSource::Kind::huggingface);
    CHECK_THAT(s.model.operators_text, Contains("\"hidden_size\""));
    CHECK(s.model.overrides == std::map<std::string, double>{{"layers", 3}});
    CHECK(write_scenario(s)["model"].dump() == R"({"huggingface":"fixtures/small_llama.json","layers":3})");
    CHECK_THAT(read_error(model(R"({"huggingface": "none.json"})")).where(), Contains("none.json"));
    CHECK_THAT(read_error(model(R"({"huggingface": "-"})")).where(), Contains("/model/huggingface"));
  }
  SECTION("two ways at once") {
    CHECK_THAT(read_error(model(R"({"zoo": "gpt2", "parameters": 1e9})")).what(), Contains("twice"));
  }
  SECTION("no way") {
    CHECK_THAT(read_error(model("{}")).where(), Contains("/model"));
    CHECK_THAT(read_error(model(R"({"name": "gpt2"})")).hint(), Contains("zoo"));
    CHECK_THAT(read_error(model(R"("gpt2")")).where(), Contains("/model"));
  }
}

TEST_CASE("Unknown names suggest the nearest") {
  const Error model = read_error(small_scenario(), {"model.zoo=resnet5"});
  CHECK_THAT(model.where(), Contains("--set model.zoo=resnet5"));
  CHECK_THAT(model.hint(), Contains("resnet50"));
  CHECK_THAT(read_error(small_scenario(), {"cluster.machine=DGX A10"}).hint(), Contains("DGX A100"));
  CHECK_THAT(read_error(small_scenario(), {"cluster.gpu=A100-SXM4-80G"}).hint(), Contains("A100-SXM4-80GB"));
  CHECK_THAT(read_error(small_scenario(), {"cluster.network=infinband"}).hint(), Contains("infiniband"));
  CHECK_THAT(read_error(small_scenario(), {"stack.name=pytorch-dpp"}).hint(), Contains("pytorch-ddp"));
  CHECK_THAT(read_error(small_scenario(), {"stack.options.bucket_byte=1"}).hint(), Contains("bucket_bytes"));
  CHECK_THAT(read_error(small_scenario(), {"training.precision=fp6"}).hint(), Contains("fp16"));
}

TEST_CASE("Keys in another unit or by another name are explained") {
  const auto hint = [](const std::string& section) { return read_error(section).hint(); };
  const std::string head = R"({"foretrain": 1, "model": {"zoo": "resnet50"}, )";
  const std::string training = R"("training": {"micro_batch": 64}, )";
  CHECK_THAT(hint(head + training + R"("cluster": {"machine": "DGX A100", "inter_node_gbytes_per_s": 25}})"),
             Contains("inter_node_gbits_per_s") && Contains("1 GB/s = 8 Gbit/s"));
  CHECK_THAT(hint(head + training + R"("cluster": {"machine": "DGX A100", "inter_node_gbps": 25}})"),
             Contains("inter_node_gbits_per_s"));
  CHECK_THAT(hint(small_scenario("", R"(, "measured": [{"gpus": 8, "step_ms": 310}])")),
             Contains("step_seconds") && Contains("in s"));
  CHECK_THAT(hint(head + R"("training": {"batch_size": 64}, "cluster": {"machine": "DGX A100"}})"),
             Contains("micro_batch"));
  CHECK_THAT(hint(head + training + R"("cluster": {"machine": "DGX A100"}, "plan": {"dp": 8}})"),
             Contains("gpus / (tensor"));
  CHECK_THAT(hint(small_scenario("", R"(, "micro_batch": 8)")), Contains("\"training\""));
  CHECK_THAT(hint(small_scenario("", R"(, "cluster.gpus": 8)")), Contains("\"cluster\""));
}

TEST_CASE("Contradictions are errors") {
  CHECK_THAT(
      read_error(small_scenario("", R"(, "input": {"samples_per_s_per_node": 3000, "samples_per_s_per_vcpu": 125})"))
          .where(),
      Contains("/input/samples_per_s_per_vcpu"));
  CHECK_THAT(read_error(small_scenario("", R"(, "input": {"storage_gbytes_per_s": 1})")).hint(),
             Contains("dataset_bytes"));
  CHECK_THAT(read_error(small_scenario(), {"cluster.oversubscription=2"}).what(), Contains("nodes_per_leaf"));
  CHECK_THAT(
      read_error(small_scenario("", R"(, "measured": [{"machine": "DGX B", "gpus": 8, "step_seconds": 1}])")).where(),
      Contains("/measured/0/machine"));
  // 8 GPUs do not divide into replicas of 3; 8 = 2 · 4 do
  CHECK_THAT(read_error(small_scenario(), {"plan.tensor=3"}).what(), Contains("replicas of 3"));
  CHECK_THAT(read_error(small_scenario(), {"plan.tensor=3"}).where(), Contains("--set plan.tensor=3"));
  CHECK(read(small_scenario(), {"plan.tensor=2", "plan.pipeline=4"}).base.plan.pipeline == 4);
}

TEST_CASE("A batch that does not divide is an error that names the batches that do") {
  const Error error = read_error(small_scenario(R"(, "global_batch": 1000)"));
  CHECK_THAT(error.where(), Contains("s.json: /training/global_batch"));
  // micro_batch · ranks = 64 · 8 = 512
  CHECK_THAT(error.hint(), Contains("512") && Contains("1024"));
  const Error set = read_error(small_scenario(R"(, "global_batch": 512)"), {"training.micro_batch=48"});
  CHECK_THAT(set.where(), Contains("--set training.micro_batch=48"));
}

TEST_CASE("Zero GPUs and other values out of range name what is allowed") {
  const Error error = read_error(small_scenario(), {"cluster.gpus=0"});
  CHECK_THAT(error.where(), Contains("--set cluster.gpus=0"));
  CHECK_THAT(error.what(), Contains("from 1 to 1048576"));
}

TEST_CASE("set takes JSON or bare words") {
  CHECK(parse_assignment("cluster.gpus=8", "--set").key == "cluster.gpus");
  CHECK(parse_assignment("name=a=b", "--set").value == "a=b");
  CHECK_THAT(error_of([] { static_cast<void>(parse_assignment("cluster.gpus", "--set")); }).where(),
             Contains("--set cluster.gpus"));
  CHECK_THAT(error_of([] { static_cast<void>(parse_assignment("=8", "--set")); }).where(), Contains("--set =8"));

  CHECK(read(small_scenario(), {"training.precision=fp16"}).base.training.precision == models::Precision::fp16);
  CHECK(read(small_scenario(), {"training.precision=\"fp16\""}).base.training.precision == models::Precision::fp16);
  CHECK(read(small_scenario(), {"name=7"}).base.name == "7");
  CHECK(read(small_scenario(), {"stack.options.bucket_bytes=1e6"}).base.stack.options.at("bucket_bytes") == 1e6);
  CHECK(read(small_scenario(), {"cluster.gpus=8", "cluster.gpus=16"}).base.cluster.gpus == 16);

  CHECK(read(small_scenario(), {"name=" + std::string(900, 'x')}).base.name.size() == 900);
  CHECK_THAT(read_error(small_scenario(), {"name=" + std::string(1001, 'x')}).what(), Contains("1000 bytes"));
  CHECK(read(small_scenario(), {"name=\xff"}).base.name == "\\xFF");

  const Error unknown = read_error(small_scenario(), {"cluster.gpuz=8"});
  CHECK_THAT(unknown.where(), Contains("--set cluster.gpuz=8"));
  CHECK_THAT(unknown.hint(), Contains("gpus"));
  CHECK_THAT(read_error(small_scenario(), {"cluster=8"}).hint(), Contains("dotted"));
  CHECK_THAT(read_error(small_scenario(), {"foretrain=2"}).where(), Contains("--set foretrain=2"));
  CHECK_THAT(read_error(small_scenario(), {"cluster.gpus=[8,16]"}).hint(), Contains("options"));
  for (const std::string value : {"", "null", "1e400", "1e-310", "-1", "x", "{}", "[[", "3.5", "true"}) {
    INFO(value);
    CHECK_THAT(read_error(small_scenario(), {"cluster.gpus=" + value}).where(), Contains("--set cluster.gpus="));
  }
}

TEST_CASE("set may give what the file leaves out") {
  const std::string file = R"({"foretrain": 1, "model": {"zoo": "resnet50"}})";
  const sim::Scenario s = read(file, {"training.micro_batch=32", "cluster.machine=DGX A100", "cluster.gpus=4"}).base;
  CHECK(s.training.micro_batch == 32);
  CHECK(s.cluster.gpus == 4);
}

TEST_CASE("A measured step is of the file's own machine and micro-batch, and only of its own run") {
  const std::string file = small_scenario("", R"(, "measured": [{"gpus": 8, "step_seconds": 0.1}])");
  SECTION("whatever machine and batch are tried") {
    const sim::Scenario s = read(file, {"cluster.machine=DGX H100", "training.micro_batch=128"}).base;
    REQUIRE(s.measured.size() == 1);
    CHECK(s.measured[0].machine == "DGX A100");
    CHECK(s.measured[0].micro_batch == 64);
    CHECK(s.measured[0].step_seconds == 0.1);
  }
  SECTION("another precision, optimizer or model is another run") {
    CHECK(read(file, {"training.precision=fp16"}).base.measured.empty());
    CHECK(read(file, {"training.optimizer=sgd"}).base.measured.empty());
    CHECK(read(file, {"model.zoo=vgg16"}).base.measured.empty());
    CHECK(read(file, {"training.optimizer=adam"}).base.measured.size() == 1);  // the default, said aloud
    CHECK(read(file, {"stack.options.bucket_bytes=1e6"}).base.measured.size() == 1);
  }
}
