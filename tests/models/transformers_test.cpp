// Encoders with shared layers or a generator, translation, Transformer-XL: parameters and FLOPs.
#include <tuple>

#include "models/model.h"
#include "tests/catch.h"
#include "tests/models/zoo_models.h"

using namespace foretrain;
using namespace foretrain::models;
using test::find_operator;
using test::zoo_model;

namespace {

double forward(const Model& model) { return forward_flops(model).value; }

const Layer& layer_of(const Model& model, const std::string& name) {
  for (const Layer& layer : model.layers) {
    if (layer.name == name) return layer;
  }
  throw std::runtime_error("no layer " + name);
}

double parameters_of(const Layer& layer) {
  double sum = 0;
  for (const Operator& op : layer.operators) sum += static_cast<double>(parameter_count(op));
  return sum;
}

}  // namespace

TEST_CASE("ALBERT's layer is counted once, with its first user, and computed twelve times") {
  const Model albert = zoo_model("albert-base"), bert = zoo_model("bert-base");
  // A layer of BERT base: 7,087,872 (parameters_test.cpp).
  CHECK(parameters_of(layer_of(albert, "encoder.layer.0")) == 7'087'872);
  for (int i = 1; i < 12; ++i) {
    const Layer& layer = layer_of(albert, "encoder.layer." + std::to_string(i));
    CHECK(parameters_of(layer) == 0);
    // Its gradients are added to the first's: three elements per weight, beside the layer norm's own five.
    const double own = backward_elements(find_operator(bert, layer.name + ".output.LayerNorm"));
    CHECK(backward_elements(layer.operators.back()) > own + 3. * 7'087'872);
  }
  // Tables 128 wide: 128·768 more weights per token, 30,000 words instead of 30,522 (which cost no FLOPs).
  CHECK(forward(albert) - forward(bert) == Approx(2. * 512 * 128 * 768).epsilon(1e-6));
}

TEST_CASE("pre-training heads are entries of their own") {
  const Model model = zoo_model("bert-base-pretraining");
  CHECK(model.sequence == 128);
  CHECK(std::get<GemmShape>(find_operator(model, "cls.predictions.decoder").shape).m == 20);
  // BioBERT: the cased vocabulary has 1,526 words less, 768 weights and one bias each.
  CHECK(110'106'428 - parameter_count(zoo_model("biobert-pretraining")) == 1'526. * (768 + 1));
  // ALBERT: transform 768·128 + 128, its norm 2·128, a bias per word; sentence order 2·768 + 2.
  CHECK(parameter_count(zoo_model("albert-base-pretraining")) - 11'683'584 == 98'432 + 256 + 30'000 + 1'538);
}

TEST_CASE("ELECTRA base is a discriminator as large as BERT base and a generator of a third of its width") {
  // Discriminator: BERT base without pooler 108,891,648 (Hugging Face's ElectraModel), head 768² + 768 + 769.
  // Generator, reading the same tables: mapping 768·256 + 256; a layer 4·(256² + 256) + 2·256·1024 + 1024 + 256
  // + 2·2·256 = 789,760; transform 256·768 + 768, norm 2·768, a bias per word.
  const double discriminator = 108'891'648 + 590'592 + 769;
  const double generator = 196'864 + 12 * 789'760. + 197'376 + 1'536 + 30'522;
  const Model model = zoo_model("electra-base");
  CHECK(parameter_count(model) == discriminator + generator);
  CHECK(parameters_of(layer_of(model, "electra.embeddings")) == 0);

  // Forward on 128 tokens: layers as BERT's 2·s·(4 h² + 2 h f) + 4 s² h; the mapping; 19 predictions.
  const auto layers = [](double s, double h, double f) {
    return 12 * (2 * s * (4 * h * h + 2 * h * f) + 4 * s * s * h);
  };
  const double flops = layers(128, 768, 3072) + layers(128, 256, 1024) + 2. * 128 * 768 * 256 +
                       2. * 19 * (256. * 768 + 768. * 30522) + 2. * 128 * (768. * 768 + 768);
  CHECK(forward(model) == Approx(flops).epsilon(1e-12));
}

TEST_CASE("the translation Transformers by hand") {
  // Tables 32,768·h, once for source, target and output; an encoder layer 4·(h² + h) + 2·h·f + f + h + 2·2·h,
  // a decoder layer 4·(h² + h) + 2·h more. The paper rounds to 65 and 213 million with 37,000 words.
  for (const auto& [name, h, f] : {std::tuple{"transformer-base", 512., 2048.}, {"transformer-big", 1024., 4096.}}) {
    INFO(name);
    const double attention = 4 * (h * h + h), encoder = attention + 2 * h * f + f + h + 4 * h;
    CHECK(parameter_count(zoo_model(name)) == 32'768 * h + 6 * encoder + 6 * (encoder + attention + 2 * h));
    const double s = 48;
    const double products = 6 * (4 * h * h + 2 * h * f) + 6 * (8 * h * h + 2 * h * f) + 32'768 * h;
    CHECK(forward(zoo_model(name, 1, 48)) == Approx(2 * s * products + 18 * 4 * s * s * h).epsilon(1e-12));
  }
  CHECK(parameter_count(zoo_model("transformer-big")) == 209'911'808);
}

TEST_CASE("a decoder attends to itself causally, to the encoder's output without a mask, and keeps that once") {
  const Model model = zoo_model("transformer-base", 2);
  CHECK(std::get<AttentionShape>(find_operator(model, "decoder.layers.3.self_attn.core").shape).causal);
  CHECK_FALSE(std::get<AttentionShape>(find_operator(model, "decoder.layers.3.encoder_attn.core").shape).causal);
  CHECK(find_operator(model, "decoder.layers.0.encoder_attn.k_proj").saved_elements == 2. * 32 * 512);
  CHECK(find_operator(model, "decoder.layers.1.encoder_attn.k_proj").saved_elements == 0);
}

TEST_CASE("Transformer-XL has NVIDIA's parameters") {
  // Base: 267,735·512 in the tables, a bias per word, three classes of 512 + 1 for the tails, two biases of
  // queries; a layer 5·512² (query, key, value, position, output) + 2·512·2048 + 2048 + 512 + 2·2·512.
  CHECK(parameter_count(zoo_model("transformer-xl-base")) ==
        267'735. * 513 + 3 * 513 + 2 * 512 + 16 * (5. * 512 * 512 + 2. * 512 * 2048 + 2048 + 512 + 4 * 512));
  CHECK(parameter_count(zoo_model("transformer-xl-base")) == Approx(192e6).epsilon(0.001));  // its README
  // Large: tables 1024, 256, 64 and 16 wide, projected to 1024 on the way in; out only the head's is its own.
  const double tables = 19'997. * 1024 + 20'000. * 256 + 160'000. * 64 + 67'738. * 16;
  const double projections = 1024. * (1024 + 256 + 64 + 16) + 1024. * 1024;
  const double layer = 5. * 1024 * 1024 + 2. * 1024 * 4096 + 4096 + 1024 + 4 * 1024;
  CHECK(parameter_count(zoo_model("transformer-xl-large")) ==
        tables + projections + 267'735 + 3 * 1025 + 2 * 1024 + 18 * layer);
}

TEST_CASE("Transformer-XL's forward pass by hand") {
  // 192 tokens against 384 keys. Per sample: query, key and value of tokens and memory, output, two products of
  // scores and one with the values, feed-forward. The positions' projection is the same for all samples.
  const double s = 192, k = 384, h = 512, f = 2048;
  const double layer = 2 * k * h * 3 * h + 2 * s * h * h + 3 * 2 * s * k * h + 4 * s * h * f;
  const double positions = 2 * k * h * h;
  // All tokens against 19,997 words and three tails; 6, 6 and 1 tokens (3, 3 and 0.3 % of 192) in the tails.
  const double softmax = 2 * h * (s * 20'000 + 6 * 20'000. + 6 * 160'000. + 1 * 67'738.);
  CHECK(forward(zoo_model("transformer-xl-base", 4)) ==
        Approx(16 * (4 * layer + positions) + 4 * softmax).epsilon(1e-12));
}
