// T5, and the language models of the zoo: parameters and FLOPs by hand.
#include <utility>
#include <vector>

#include "base/error.h"
#include "models/model.h"
#include "tests/base/thrown.h"
#include "tests/catch.h"
#include "tests/models/zoo_models.h"

using namespace foretrain;
using namespace foretrain::models;
using test::find_operator;
using test::zoo_model;

TEST_CASE("T5 11B has its checkpoint's parameters") {
  // One table; heads of 128·128 = 16,384 on a width of 1024; an encoder layer has one attention and two norms, a
  // decoder layer two and three; a table of 32 biases per head in the first layer of each; a last norm each.
  const double h = 1024, heads = 128, inner = heads * 128, f = 65'536;
  const double attention = 4 * h * inner, feed_forward = 2 * h * f;
  const double expected = 32'128 * h + 24 * (attention + feed_forward + 2 * h) +
                          24 * (2 * attention + feed_forward + 3 * h) + 2 * 32 * heads + 2 * h;
  CHECK(parameter_count(zoo_model("t5-11b")) == expected);
  CHECK(expected == 11'307'321'344);
  // v1.1: gate beside up, an output layer of its own.
  const double gated = parameter_count(zoo_model("t5-11b", 1, 0, {{"gated_feed_forward", 1}}));
  CHECK(gated - expected == 48 * h * f);
  CHECK(parameter_count(zoo_model("t5-11b", 1, 0, {{"tied_embeddings", 0}})) - expected == 32'128 * h);
}

TEST_CASE("T5's forward pass by hand, with a target shorter than the source") {
  const double h = 1024, inner = 32 * 128, f = 16'384, s = 256, t = 64;
  const double self = 4 * h * inner;
  const double encoder = 2 * s * (self + 2 * h * f) + 4 * s * s * inner;
  // Decoder: its own attention; queries and output of the other on the target, keys and values on the source.
  const double decoder =
      2 * t * (self + 2 * h * inner + 2 * h * f) + 2 * s * 2 * h * inner + 4 * t * t * inner + 4 * t * s * inner;
  const Model model = zoo_model("t5-3b", 1, 256, {{"decoder_sequence", 64}});
  CHECK(forward_flops(model).value == Approx(24 * (encoder + decoder) + 2 * t * h * 32'128).epsilon(1e-12));
  CHECK(
      std::get<AttentionShape>(find_operator(model, "decoder.block.3.layer.1.EncDecAttention.core").shape).key_length ==
      256);
}

TEST_CASE("T5's biases by distance stand with the first layers and are read by all") {
  const Model model = zoo_model("t5-3b", 2, 256);
  const Operator& table = find_operator(model, "encoder.block.0.relative_attention_bias");
  REQUIRE(table.parameters.size() == 1);
  CHECK(table.parameters[0].shape == std::vector<std::int64_t>{32, 32});
  CHECK(table.tensor_split == TensorSplit::heads);
  const double scores = 2. * 32 * 256 * 256, bias = 32. * 256 * 256;
  CHECK(forward_elements(find_operator(model, "encoder.block.23.position_bias")) == 2 * scores + bias);
  CHECK(find_operator(model, "decoder.embed_tokens").tied_parameters.size() == 1);
}

TEST_CASE("Megatron's GPT have the parameters of their formula") {
  // 12·L·h²·(1 + 13/12h + (V + s)/12Lh), Narayanan et al. 2021, arXiv:2104.04473, equation 2, and the last norm's 2·h.
  const auto expected = [](double layers, double h) {
    return 12 * layers * h * h + 13 * layers * h + (51'200. + 2048) * h + 2 * h;
  };
  CHECK(parameter_count(zoo_model("megatron-22b")) == expected(48, 6144));
  CHECK(parameter_count(zoo_model("gpt3-175b")) == expected(96, 12'288));
  CHECK(parameter_count(zoo_model("megatron-530b")) == expected(105, 20'480));
  CHECK(parameter_count(zoo_model("megatron-1t")) == expected(128, 25'600));
  CHECK(parameter_count(zoo_model("megatron-1t")) == Approx(1008e9).epsilon(0.001));  // its table 1
  CHECK(parameter_count(zoo_model("gpt3-175b")) == Approx(174.6e9).epsilon(0.001));
}

TEST_CASE("every size of the generic GPT may be overridden") {
  const Model model = zoo_model("megatron-gpt", 1, 2048,
                                {{"layers", 48},
                                 {"hidden", 6144},
                                 {"heads", 64},
                                 {"feed_forward", 24'576},
                                 {"vocabulary", 51'200},
                                 {"positions", 2048}});
  CHECK(parameter_count(model) == parameter_count(zoo_model("megatron-22b")));
}

TEST_CASE("BLOOM's norm of the embeddings, Qwen 3's norms of heads, OPT's ReLU") {
  CHECK(find_operator(zoo_model("bloom-176b"), "ln_emb").parameters.size() == 2);
  const Model qwen = zoo_model("qwen3-8b", 1, 128);
  const Operator& norm = find_operator(qwen, "h.0.key_norm");
  CHECK(norm.parameters[0].shape == std::vector<std::int64_t>{128});
  CHECK(norm.output_elements == 128. * 8 * 128);
  CHECK(find_operator(zoo_model("opt-13b"), "h.0.relu").tensor_split == TensorSplit::features);
  const Error error = test::thrown([] { (void)zoo_model("opt-13b", 1, 0, {{"gated_feed_forward", 1}}); });
  CHECK(error.where() == "scenario.json: /model/gated_feed_forward");
}

TEST_CASE("language models of the zoo have the parameters that were computed from their configurations") {
  // To the digits of a table computed apart from the files of the models, in billions.
  const std::vector<std::pair<const char*, double>> computed = {
      {"llama2-7b", 6.738},   {"llama2-13b", 13.015},     {"llama2-70b", 68.975}, {"llama3-8b", 8.030},
      {"llama3-70b", 70.552}, {"llama3.1-405b", 405.849}, {"mistral-7b", 7.241},  {"qwen2.5-7b", 7.615},
      {"qwen3-8b", 8.190},    {"opt-66b", 65.72},         {"opt-175b", 174.60},   {"bloom-176b", 176.247},
      {"t5-11b", 11.31},      {"t5-v1.1-xxl", 11.13},     {"gpt2-xl", 1.558}};
  for (const auto& [name, billions] : computed) {
    INFO(name);
    CHECK(parameter_count(zoo_model(name)) == Approx(billions * 1e9).epsilon(0.001));
  }
}
