#include "scenarios/launch_script.h"

#include "tests/catch.h"
#include "tests/scenarios/examples.h"

using namespace foretrain;
using namespace foretrain::scenarios;
using Catch::Matchers::Contains;

namespace {

ArgumentList script(const std::string& text) { return read_launch_script(text, "launch.sh", {"bf16", "swiglu"}); }

Error error_of_integer(const std::string& text, const std::string& name) {
  const ArgumentList arguments = script(text);
  return error_of([&] { static_cast<void>(arguments.integer({name}, 1, 1000000)); });
}

}  // namespace

TEST_CASE("Arguments are found with a blank or an equals sign, over several lines, in arrays and quoted lists") {
  const ArgumentList arguments = script(
      "ARGS=(\n  --num-layers 24\n  --hidden_size=1024 # a comment --heads 3\n)\n"
      "MORE=\"--seq-length 2048 \\\n  --lr '3e-4'\"\n"
      "python pretrain_gpt.py ${ARGS[@]} $MORE --bf16 \\\n --swiglu --num-attention-heads \"16\"\n");
  CHECK(arguments.integer({"num_layers"}, 1, 100) == 24);
  CHECK(arguments.integer({"hidden_size"}, 1, 10000) == 1024);
  CHECK(arguments.integer({"seq_length"}, 1, 10000) == 2048);
  CHECK(arguments.integer({"num_attention_heads"}, 1, 100) == 16);
  CHECK(arguments.number({"lr"}) == Approx(3e-4).epsilon(1e-12));
  CHECK(arguments.is_set({"bf16"}));
  CHECK(arguments.is_set({"swiglu"}));
  CHECK_FALSE(arguments.has("heads"));
}

TEST_CASE("Plain variables, defaults and whole-number arithmetic are resolved") {
  const ArgumentList arguments = script(
      "export TP=8\nPP=\"4\"; NODES=${SLURM_NNODES:-2}\nWORLD=$((8 * $NODES))\nDP=$((WORLD / (TP * PP) + 7 % 4))\n"
      "run --tp $TP --pp=${PP} --world $WORLD --dp $DP --path ${TP}/${PP}\n");
  CHECK(arguments.integer({"tp"}, 1, 100) == 8);
  CHECK(arguments.integer({"pp"}, 1, 100) == 4);
  CHECK(arguments.integer({"world"}, 1, 100) == 16);
  CHECK(arguments.integer({"dp"}, 1, 100) == 3);  // 16 / 32 is 0, and 7 % 4 is 3
  CHECK(arguments.text({"path"}) == "8/4");
}

TEST_CASE("What cannot be known names argument, line, variable and what to do") {
  const Error error = error_of_integer("TP=$SLURM_TP\n\nrun --tp $TP\n", "tp");
  CHECK(error.where() == "launch.sh:3");
  CHECK_THAT(error.what(), Contains("--tp") && Contains("$SLURM_TP"));
  CHECK_THAT(error.hint(), Contains("log"));
  CHECK_THAT(error_of_integer("run --tp $(nproc)\n", "tp").what(), Contains("$(nproc)"));
  CHECK_THAT(error_of_integer("run --tp `nproc`\n", "tp").what(), Contains("nproc"));
  CHECK_THAT(error_of_integer("for TP in 1 2; do\nrun --tp $TP\ndone\n", "tp").what(), Contains("several values"));
  CHECK_THAT(error_of_integer("if [ $A ]; then\nTP=1\nfi\nrun --tp $TP\n", "tp").what(), Contains("line 2"));
  CHECK_THAT(error_of_integer("if [ $A ]; then\nrun --tp 1\nfi\n", "tp").what(), Contains("condition"));
  CHECK_THAT(error_of_integer("run --tp 1\nrun --tp 2\n", "tp").what(), Contains("twice"));
  CHECK_THAT(error_of_integer("run --tp $((4 / 0))\n", "tp").what(), Contains("$((4 / 0))"));
  CHECK_THAT(error_of_integer("run --tp $1\n", "tp").what(), Contains("$1"));
  CHECK_THAT(error_of_integer("run --tp two\n", "tp").what(), Contains("\"two\""));
  CHECK_THAT(error_of_integer("run --tp\n", "tp").what(), Contains("--tp"));
  // What nobody asks for does not matter.
  CHECK(script("run --tp $TP --layers 4\n").integer({"layers"}, 1, 10) == 4);
}

TEST_CASE("Text that is no script ends in an error or in arguments, never otherwise") {
  CHECK_THAT(error_of([] { static_cast<void>(script("")); }).where(), Contains("launch.sh"));
  const std::string zeros("run --tp 8\0--pp 4", 18);
  CHECK(script(zeros).has("tp"));
  std::string deep = "A=1\n", brackets = "run --tp ";
  for (int i = 0; i < 1000; ++i) deep += "A=$A$A\n";
  for (int i = 0; i < 100000; ++i) brackets += "${";
  CHECK_THAT(error_of_integer(deep + "run --tp $A\n", "tp").what(), Contains("too long"));
  CHECK(script(brackets + "\n").has("tp"));
  std::string many;
  for (int i = 0; i < 200000; ++i) many += "--a" + std::to_string(i) + " 1\n";
  CHECK_THAT(error_of([&] { static_cast<void>(script(many)); }).what(), Contains("100000 arguments"));
  const std::string shipped = "T=4\nif x; then\nrun --tp ${T:-8} $((T*2)) \"a b\" `date` \\\n --sp\nfi # end\n";
  for (std::size_t length = 0; length < shipped.size(); ++length) {
    try {
      static_cast<void>(script(shipped.substr(0, length)));
    } catch (const Error& error) {
      CHECK_FALSE(error.where().empty());
    }
  }
}
