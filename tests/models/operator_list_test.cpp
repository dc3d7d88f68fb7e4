#include "base/error.h"
#include "models/model.h"
#include "tests/base/thrown.h"
#include "tests/catch.h"
#include "tests/models/zoo_models.h"

using namespace foretrain;
using namespace foretrain::models;
using Catch::Matchers::Contains;
using test::find_operator;
using test::operator_list;

namespace {

// One operator in an otherwise complete file.
std::string file_of(const std::string& op) {
  return R"({"foretrain_operators": 1, "name": "mine", "operators": [)" + op + "]}";
}

struct Refusal {
  std::string what, where;
};
Refusal refused(const std::string& text) {
  const Error error = test::thrown([&] { (void)operator_list(text); });
  return {std::string(error.what()) + " | " + error.hint(), error.where()};
}

const char* const small_network = R"({
  "foretrain_operators": 1, "name": "small", "sample_unit": "image", "sample_elements": 784,
  "operators": [
    {"name": "conv", "kind": "convolution", "in_channels": 1, "height": 28, "width": 28, "out_channels": 8,
     "kernel_height": 3, "kernel_width": 3, "padding_height": 1, "padding_width": 1, "stride_width": 2,
     "parameters": [{"name": "weight", "shape": [8, 1, 3, 3]}, {"name": "bias", "shape": [8]}]},
    {"name": "relu", "kind": "elementwise", "elements_read_per_sample": 3136, "elements_written_per_sample": 3136,
     "backward_elements_per_sample": 9408},
    {"name": "query", "layer": "mix", "kind": "gemm", "m_per_sample": 49, "n": 64, "k": 64,
     "parameters": [{"name": "weight", "shape": [64, 64]}]},
    {"name": "scores", "layer": "mix", "kind": "gemm", "products_per_sample": 4, "m": 49, "n": 49, "k": 16},
    {"name": "core", "layer": "mix", "kind": "attention", "heads": 4, "query_length": 49, "head_dimension": 16},
    {"name": "gru", "kind": "recurrent", "steps": 49, "input": 64, "hidden": 32, "gates": 3,
     "saved_elements_per_sample": 5000, "kernels_forward": 7},
    {"name": "loss", "kind": "loss", "elements_read_per_sample": 10, "elements_written_per_sample": 1}
  ]})";

}  // namespace

TEST_CASE("a list of operators is scaled to the micro-batch") {
  const Model model = operator_list(small_network, 16);
  CHECK(model.name == "small");
  CHECK(model.family == "operators");
  CHECK(model.sample_unit == "image");
  CHECK(model.sample_elements == 784);
  CHECK(parameter_count(model) == 72 + 8 + 64 * 64);

  const auto& convolution = std::get<ConvolutionShape>(find_operator(model, "conv").shape);
  CHECK(convolution.batch == 16);
  CHECK(convolution.out_height == 28);
  CHECK(convolution.out_width == 14);
  CHECK(find_operator(model, "conv").parameters[0].name == "conv.weight");
  CHECK_FALSE(find_operator(model, "conv").needs_input_gradient);
  CHECK(find_operator(model, "relu").needs_input_gradient);

  CHECK(forward_flops(find_operator(model, "query")).value == 2. * (16 * 49) * 64 * 64);
  CHECK(forward_flops(find_operator(model, "scores")).value == 2. * (16 * 4) * 49 * 49 * 16);
  CHECK(score_elements(std::get<AttentionShape>(find_operator(model, "core").shape)) == 16. * 4 * 49 * 49);
  CHECK(backward_elements(find_operator(model, "relu")) == 16 * 9408.);
  CHECK(backward_elements(find_operator(model, "loss")) == 16 * 2 * 11.);  // not said: twice forward
}

TEST_CASE("what a list does not say follows from the shapes, and what it says counts") {
  const Model model = operator_list(small_network, 2);
  CHECK(find_operator(model, "query").saved_elements == 2. * 49 * 64);           // its input
  CHECK(find_operator(model, "scores").saved_elements == 2. * 4 * 2 * 49 * 16);  // both factors
  CHECK(find_operator(model, "core").saved_elements == 4 * 2. * 4 * 49 * 16);    // query, key, value, output
  CHECK(find_operator(model, "gru").saved_elements == 2 * 5000.);
  CHECK(find_operator(model, "gru").kernels_forward == 7);
  CHECK(find_operator(model, "gru").output_elements == 2. * 49 * 32);
  CHECK(find_operator(model, "relu").output_elements == 2 * 3136.);
}

TEST_CASE("neighbours of one layer stand together") {
  const Model model = operator_list(small_network);
  REQUIRE(model.layers.size() == 5);
  CHECK(model.layers[2].name == "mix");
  CHECK(model.layers[2].operators.size() == 3);
  CHECK(model.layers[3].name == "gru");
}

TEST_CASE("a product written by hand is the one that the builder writes") {
  // The first feed-forward product of GPT-2 for 1024 tokens.
  const Model mine = operator_list(file_of(R"({"name": "first", "kind": "elementwise", "elements_read_per_sample": 1,
                  "elements_written_per_sample": 1},
                 {"name": "c_fc", "kind": "gemm", "m_per_sample": 1024, "n": 3072, "k": 768,
                  "parameters": [{"name": "weight", "shape": [3072, 768]}, {"name": "bias", "shape": [3072]}]})"),
                                   4);
  const Model gpt2 = test::zoo_model("gpt2", 4);
  const Operator &own = find_operator(mine, "c_fc"), &built = find_operator(gpt2, "h.0.mlp.c_fc");
  CHECK(forward_flops(own).value == forward_flops(built).value);
  CHECK(backward_flops(own).value == backward_flops(built).value);
  CHECK(forward_elements(own) == forward_elements(built));
  CHECK(backward_elements(own) == backward_elements(built));
  CHECK(own.saved_elements == built.saved_elements);
  CHECK(own.output_elements == built.output_elements);
  CHECK(parameter_count(own) == parameter_count(built));
}

TEST_CASE("a bad operator list is refused with the place of what is wrong") {
  const std::string gemm = R"("name": "a", "kind": "gemm", "m_per_sample": 4, "n": 2)";
  SECTION("not a list of operators") {
    CHECK(refused("{}").where == "my.json");
    CHECK_THAT(refused(R"({"foretrain_operators": 2, "name": "x", "operators": []})").where,
               Contains("/foretrain_operators"));
    CHECK_THAT(refused(R"({"foretrain_operators": 1, "name": "x", "operators": []})").what, Contains("found 0"));
    CHECK_THAT(refused(R"({"foretrain_operators": 1, "name": "x", "operator": []})").what, Contains("operators"));
    CHECK_THAT(refused("{").where, Contains("my.json:1"));
  }
  SECTION("an operator") {
    CHECK_THAT(refused(file_of("{" + gemm + "}")).what, Contains("\"k\" is missing"));
    CHECK_THAT(refused(file_of("{" + gemm + R"(, "k": 0})")).where, Contains("/operators/0/k"));
    CHECK_THAT(refused(file_of("{" + gemm + R"(, "k": 2.5})")).what, Contains("2.5"));
    CHECK_THAT(refused(file_of("{" + gemm + R"(, "k": 1e300})")).where, Contains("/operators/0/k"));
    CHECK_THAT(refused(file_of("{" + gemm + R"(, "k": 3, "heads": 3})")).what, Contains("heads"));
    CHECK_THAT(refused(file_of("{" + gemm + R"(, "k": 3, "m": 3})")).where, Contains("/operators/0/m"));
    CHECK_THAT(refused(file_of(R"({"name": "a", "kind": "gemm", "n": 2, "k": 3})")).what, Contains("m_per_sample"));
    CHECK_THAT(refused(file_of(R"({"name": "a", "kind": "gem"})")).what, Contains("gemm"));
    CHECK_THAT(refused(file_of(R"({"name": "", "kind": "gemm", "m_per_sample": 1, "n": 1, "k": 1})")).where,
               Contains("/operators/0/name"));
  }
  SECTION("shapes that cannot be") {
    CHECK_THAT(refused(file_of(R"({"name": "a", "kind": "convolution", "in_channels": 1, "height": 2, "width": 2,
                                   "out_channels": 1, "kernel_height": 3, "kernel_width": 3})"))
                   .what,
               Contains("larger than the padded image"));
    CHECK_THAT(refused(file_of(R"({"name": "a", "kind": "convolution", "in_channels": 3, "height": 8, "width": 8,
                                   "out_channels": 4, "kernel_height": 3, "kernel_width": 3, "groups": 2})"))
                   .where,
               Contains("/operators/0/groups"));
    CHECK_THAT(refused(file_of(R"({"name": "a", "kind": "attention", "heads": 6, "query_length": 8,
                                   "head_dimension": 8, "key_value_heads": 4})"))
                   .where,
               Contains("key_value_heads"));
  }
  SECTION("parameters") {
    const auto with = [&gemm](const std::string& parameters) {
      return refused(file_of("{" + gemm + R"(, "k": 3, "parameters": )" + parameters + "}"));
    };
    CHECK_THAT(with(R"([{"name": "w", "shape": []}])").where, Contains("/operators/0/parameters/0/shape"));
    CHECK_THAT(with(R"([{"name": "w", "shape": [0]}])").where, Contains("/shape/0"));
    CHECK_THAT(with(R"([{"name": "w", "shape": [1000000000, 1000000000]}])").what, Contains("2^53"));
    CHECK_THAT(with(R"([{"name": "w", "shape": [2]}, {"name": "w", "shape": [2]}])").what, Contains("two parameters"));
  }
}

TEST_CASE("a sequence must be the file's own") {
  const std::string text = R"({"foretrain_operators": 1, "name": "x", "sequence": 128, "operators": [
    {"name": "a", "kind": "gemm", "m_per_sample": 128, "n": 2, "k": 3}]})";
  CHECK(operator_list(text, 1, 128).sequence == 128);
  CHECK(operator_list(text).sequence == 128);
  const Error error = test::thrown([&] { (void)operator_list(text, 1, 256); });
  CHECK_THAT(error.what(), Contains("a sequence of 128, not for a sequence of 256"));
}

TEST_CASE("frozen operators in front run forward only, and the first trained one needs no gradient by its input") {
  const std::string first = R"({"name": "a", "kind": "gemm", "m_per_sample": 4, "n": 8, "k": 16, "frozen": true,
                                "parameters": [{"name": "weight", "shape": [8, 16]}]})";
  const std::string second = R"({"name": "b", "kind": "gemm", "m_per_sample": 4, "n": 2, "k": 8,
                                 "parameters": [{"name": "weight", "shape": [2, 8]}]})";
  const Model model = operator_list(file_of(first + ", " + second), 3);
  const Operator& frozen = find_operator(model, "a");
  CHECK(frozen.forward_only);
  CHECK(frozen.saved_elements == 0);
  CHECK(frozen.kernels_backward == 0);
  CHECK(forward_flops(frozen).value == 2. * 3 * 4 * 8 * 16);
  CHECK(backward_flops(frozen).value == 0);
  CHECK(frozen.frozen_parameters.front().name == "a.weight");
  CHECK(parameter_count(model) == 16);
  CHECK(frozen_parameter_count(model) == 128);
  CHECK(backward_flops(find_operator(model, "b")).value == forward_flops(find_operator(model, "b")).value);
  CHECK(find_operator(model, "b").saved_elements == 3. * 4 * 8);

  const Refusal behind = refused(file_of(second + ", " + first));
  CHECK_THAT(behind.what, Contains("stands behind a trained one"));
  CHECK_THAT(behind.where, Contains("/operators/1/frozen"));
}
