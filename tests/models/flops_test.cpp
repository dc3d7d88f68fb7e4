// FLOPs against published figures and against sums by hand.
#include "models/model.h"
#include "tests/catch.h"
#include "tests/models/zoo_models.h"

using namespace foretrain;
using namespace foretrain::models;
using test::find_operator;
using test::zoo_model;

namespace {

double forward(const Model& model) { return forward_flops(model).value; }
double training(const Model& model) { return training_flops(model).value; }

}  // namespace

TEST_CASE("convolutional networks need the published FLOPs") {
  // Published as multiply-adds of convolutions and linear layers; two operations each. torchvision's
  // documentation: 4.09 G for resnet50 (v1.5), 15.47 G for vgg16; He et al. 2015, table 1: 3.8 G for v1.
  CHECK(forward(zoo_model("resnet50")) == Approx(2 * 4.09e9).epsilon(0.002));
  CHECK(forward(zoo_model("resnet50-v1")) == Approx(2 * 3.8e9).epsilon(0.02));
  CHECK(forward(zoo_model("vgg16")) == Approx(2 * 15.47e9).epsilon(0.002));
}

TEST_CASE("ViT-B/16 needs torchvision's FLOPs, which count the attention products") {
  // 17.56 G multiply-adds. By hand: patches 196·768·768 = 0.116 G; a layer over 197 tokens
  // 12·768²·197 + 2·197²·768 = 1.394 + 0.0596 G, twelve of them 17.447 G; classifier 768·1000.
  CHECK(forward(zoo_model("vit-b-16")) == Approx(2 * 17.56e9).epsilon(0.002));
  const double by_hand = 196. * 768 * 768 + 12 * (12. * 768 * 768 * 197 + 2. * 197 * 197 * 768) + 768. * 1000;
  CHECK(forward(zoo_model("vit-b-16")) == Approx(2 * by_hand).epsilon(1e-12));
}

TEST_CASE("GPT-2 needs the FLOPs of Megatron's formula") {
  // Narayanan et al. 2021 (arXiv:2104.04473) count 24·B·s·h² per layer for projections and feed-forward,
  // 4·B·s²·h for attention and 2·B·s·h·V for the logits, backward twice that, and a second forward pass of
  // the layers (not of the logits) under recompute: 96·B·s·L·h²·(1 + s/6h + V/16Lh). Without recompute the
  // layers have three parts of the four and the logits all theirs: 72·B·s·L·h²·(1 + s/6h + V/12Lh).
  struct Size {
    const char* name;
    double layers, hidden;
  };
  const double B = 4, V = 50257;
  for (const Size size : {Size{"gpt2", 12, 768}, Size{"gpt2-medium", 24, 1024}, Size{"gpt2-large", 36, 1280},
                          Size{"gpt2-xl", 48, 1600}}) {
    for (const double s : {128.0, 1024.0}) {
      INFO(size.name << ", sequence " << s);
      const double L = size.layers, h = size.hidden;
      const double formula = 72 * B * s * L * h * h * (1 + s / (6 * h) + V / (12 * L * h));
      CHECK(training(zoo_model(size.name, 4, static_cast<std::int64_t>(s))) == Approx(formula).epsilon(1e-12));
    }
  }
}

TEST_CASE("a decoder with gated feed-forward, grouped queries and rotary positions by hand") {
  // 32 heads of 128 share 8 key-value heads: queries and output h², keys and values h·1024 each; three
  // products of the gated feed-forward; 4·s²·h for attention; logits h·V on s tokens.
  const double s = 2048, L = 2, h = 4096, f = 14336, V = 50257;
  const Model model = zoo_model("gpt2", 3, 2048,
                                {{"layers", L},
                                 {"hidden", h},
                                 {"heads", 32},
                                 {"key_value_heads", 8},
                                 {"feed_forward", f},
                                 {"gated_feed_forward", 1},
                                 {"rms_norm", 1},
                                 {"biases", 0},
                                 {"query_key_value_biases", 0},
                                 {"learned_positions", 0},
                                 {"rotary_positions", 1}});
  const double layer = 2 * s * (2 * h * h + 2 * h * 1024 + 3 * h * f) + 4 * s * s * h;
  CHECK(forward(model) == Approx(3 * (L * layer + 2 * s * h * V)).epsilon(1e-12));
  // The rotation passes over queries and keys only: 10 elements read or written for each.
  CHECK(forward_elements(find_operator(model, "h.1.rotary_positions")) == 10 * 3 * s * (h + 1024));
}

TEST_CASE("heads may be wider than their share of the hidden size") {
  // 12 heads of 128 over a hidden size of 768: projections 768×1536 in four places.
  const Model model = zoo_model("gpt2", 1, 64, {{"layers", 1}, {"head_dimension", 128}, {"vocabulary", 10}});
  const double layer = 2. * 64 * (4. * 768 * 1536 + 2. * 768 * 3072) + 4. * 64 * 64 * 1536;
  CHECK(forward(model) == Approx(layer + 2. * 64 * 768 * 10).epsilon(1e-12));
}

TEST_CASE("every zoo entry has its published forward FLOPs within 2 %") {
  int with_published = 0;
  for (const ZooEntry& entry : zoo_entries(DataStore())) {
    if (entry.published_forward_flops == 0) continue;
    INFO(entry.name);
    CHECK(entry.forward_flops.value == Approx(entry.published_forward_flops).epsilon(0.02));
    ++with_published;
  }
  CHECK(with_published >= 21);
}

TEST_CASE("BERT base's forward pass by hand") {
  // 512 tokens, a layer: 2·512·(4·768² + 2·768·3072) = 7.248e9 for projections and feed-forward, 4·512²·768
  // = 0.805e9 for attention; twelve layers 96.64e9; the pooler on one token 2·768².
  const double layer = 2. * 512 * (4. * 768 * 768 + 2. * 768 * 3072) + 4. * 512 * 512 * 768;
  CHECK(layer == Approx(8.053e9).epsilon(1e-3));
  const double without_heads = 12 * layer + 2. * 768 * 768;
  CHECK(forward(zoo_model("bert-base")) == Approx(without_heads).epsilon(1e-12));

  // The masked language model on 80 of them: the transform and the logits over 30,522 words.
  const double head = 80 * (2. * 768 * 768 + 2. * 768 * 30522);
  const Model pretraining =
      zoo_model("bert-base", 1, 0, {{"mlm_head", 1}, {"predictions_per_sequence", 80}, {"nsp_head", 1}});
  CHECK(forward(pretraining) == Approx(without_heads + head + 2. * 768 * 2).epsilon(1e-12));
}

TEST_CASE("the CRNN's forward pass by hand") {
  const Model model = zoo_model("crnn-handwriting");
  // Multiply-adds. Convolutions over 64×1024, pooled to 32×512, 16×256, 8×256, 4×256, 2×256; the 2×2 one
  // leaves 1×255:
  const double convolutions = 9. * 64 * 64 * 1024 + 9. * 64 * 128 * 32 * 512 + 9. * 128 * 256 * 16 * 256 +
                              9. * 256 * 256 * 16 * 256 + 9. * 256 * 512 * 8 * 256 + 9. * 512 * 512 * 4 * 256 +
                              4. * 512 * 512 * 255;
  const double lstm = 255. * 2 * 4 * 256 * (512 + 256);  // steps · directions · gates · hidden · (input + hidden)
  const double linear = 255. * 512 * 101;
  CHECK(forward(model) == Approx(2 * (convolutions + 2 * lstm + linear)).epsilon(1e-12));
}

TEST_CASE("the CRNN reads 255 time steps, one after the other, in both LSTMs and in the loss") {
  const Model model = zoo_model("crnn-handwriting", 8);
  const auto& first = std::get<RecurrentShape>(find_operator(model, "rnn.l0").shape);
  CHECK(first.steps == 255);
  CHECK(first.batch == 8);
  CHECK(first.input == 512);
  CHECK(first.directions == 2);
  CHECK(find_operator(model, "ctc_loss").sequential_steps == 255);
}
