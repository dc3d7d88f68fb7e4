// Imports: runs described in other tools' files, and the shipped examples of large models, asked of the program.
#include "base/files.h"
#include "tests/catch.h"
#include "tests/cli/process.h"

using namespace foretrain;
using namespace foretrain::test;
using Catch::Matchers::Contains;

namespace {

std::string fixture(const std::string& name) { return source_directory() + "/tests/scenarios/fixtures/" + name; }

}  // namespace

TEST_CASE("a launch script is answered without a scenario file, and saved it gives the same answer") {
  const TemporaryDirectory folder;
  const std::string saved = folder.file("saved.json");
  const Outcome flags = foretrain_with({"predict", "--megatron", fixture("launch.sh"), "--machine", "DGX H100", "--gpus",
                                        "512", "--save", saved});
  CHECK(flags.code == 0);
  CHECK_THAT(flags.out, Contains("64 × DGX H100 (512 GPUs)") && Contains("tensor 4 × pipeline 2 × data 64"));
  CHECK_THAT(flags.err, Contains("ignored: 3 arguments"));
  const Outcome file = foretrain_with({"predict", saved});
  CHECK(file.out == flags.out);
}

TEST_CASE("a log anchors the answer to its measured step") {
  const Outcome outcome =
      foretrain_with({"predict", "--megatron", fixture("megatron_core.log"), "--machine", "DGX A100"});
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.out, Contains("A step takes 802 ms"));  // the median that the log's test computes
}

TEST_CASE("a Hugging Face configuration and a DeepSpeed one make a run, and the parameter count is said") {
  const Outcome outcome = foretrain_with({"predict", "--model", fixture("small_llama.json"), "--machine", "DGX A100",
                                          "--gpus", "8", "--deepspeed", fixture("ds_zero3.json")});
  CHECK(outcome.code == 0);
  // A block: 512·(512 + 2·128 + 512) + 3·512·1376 + 2·512 = 2,769,920; four of them, two tables of 32000·512 and a norm
  // of 512 make 43,848,192.
  CHECK_THAT(outcome.out, Contains("43.8 M parameters") && Contains("zero3"));
}

TEST_CASE("imports do not go with a scenario file, and are not written over") {
  const std::string scenario = example("handwriting-azure.json"), script = fixture("launch.sh");
  const Outcome both = foretrain_with({"predict", scenario, "--megatron", script});
  CHECK(both.code == 2);
  CHECK_THAT(both.err, Contains("--megatron does not go with a scenario file"));
  const Outcome over = foretrain_with({"predict", "--megatron", script, "--machine", "DGX H100", "--save", script});
  CHECK(over.code == 2);
  CHECK_THAT(over.err, Contains("would overwrite the input"));
}

TEST_CASE("the examples of large models are predicted and compared") {
  for (const char* name : {"gpt3-175b-1024-a100.json", "gpt-1t-3072-a100.json", "llama3-70b-fsdp-h100.json",
                           "llama2-7b-one-node.json"}) {
    INFO(name);
    const Outcome predicted = foretrain_with({"predict", example(name)});
    CHECK(predicted.code == 0);
    CHECK_THAT(predicted.out, Contains("A step takes") && Contains("Fits"));
    CHECK(foretrain_with({"decide", example(name), "-q"}).code == 0);
  }
}
