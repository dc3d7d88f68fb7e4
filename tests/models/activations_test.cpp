// What is kept from forward to backward, against published formulas and sums by hand.
#include "models/model.h"
#include "tests/catch.h"
#include "tests/models/zoo_models.h"

using namespace foretrain;
using namespace foretrain::models;
using test::find_operator;
using test::zoo_model;

namespace {

const Layer& layer_of(const Model& model, const std::string& name) {
  for (const Layer& layer : model.layers) {
    if (layer.name == name) return layer;
  }
  throw std::runtime_error("no layer " + name);
}

double saved(const Layer& layer) {
  double sum = 0;
  for (const Operator& op : layer.operators) sum += op.saved_elements;
  return sum;
}

}  // namespace

TEST_CASE("a transformer layer keeps what Korthikanti et al. count") {
  // Korthikanti et al. 2022 (arXiv:2205.05198), section 4.1: s·b·h·(34 + 5·a·s/h) bytes per layer in two-byte
  // formats: the 34 are 17 elements (both norms' inputs and outputs, query, key, value, the attention output,
  // the 4 h wide input and output of GELU, two one-byte masks); the 5 bytes per score are left to unfused cores.
  const double b = 2, s = 1024, h = 768, a = 12;
  const Model model = zoo_model("gpt2", 2);
  CHECK(saved(layer_of(model, "h.3")) == Approx(17 * s * b * h).epsilon(1e-12));
  const auto& core = std::get<AttentionShape>(find_operator(model, "h.3.attn.core").shape);
  CHECK(score_elements(core) == a * s * s * b);
  CHECK(2 * unfused_saved_elements(core) == Approx(5 * a * s * s * b).epsilon(1e-12));
  CHECK(unfused_saved_elements(model) == Approx(12 * 2.5 * a * s * s * b).epsilon(1e-12));
}

TEST_CASE("BERT's layers keep as much: the norms stand elsewhere, the tensors are the same") {
  const Model model = zoo_model("bert-large", 3, 128);
  CHECK(saved(layer_of(model, "encoder.layer.7")) == Approx(17. * 128 * 3 * 1024).epsilon(1e-12));
}

TEST_CASE("a language model keeps its logits and their softmax") {
  const Model model = zoo_model("gpt2", 1);
  CHECK(find_operator(model, "loss.log_softmax").saved_elements == 1024. * 50257);
  CHECK(find_operator(model, "loss").saved_elements == 1024. * 50257);
}

TEST_CASE("a bottleneck of ResNet keeps each tensor once") {
  // layer2.1 on one image, 28×28, 512 channels in, 128 inside: conv1 keeps nothing (its input is the output of
  // the ReLU before); batch norms keep the outputs of their convolutions (128, 128, 512 channels), ReLUs
  // their results (128, 128 and 512, the block's output, which the next convolution reads).
  const Model model = zoo_model("resnet50");
  CHECK(find_operator(model, "layer2.1.conv1").saved_elements == 0);
  CHECK(saved(layer_of(model, "layer2.1")) == 28. * 28 * (2 * (128 + 128 + 512)));
}

TEST_CASE("pooling keeps eight-byte indices, VGG's dropout one-byte masks") {
  const Model vgg = zoo_model("vgg16");
  CHECK(find_operator(vgg, "features.4").saved_elements == 4. * 64 * 112 * 112);
  CHECK(find_operator(vgg, "classifier.2").saved_elements == 0.5 * 4096);
}

TEST_CASE("a bidirectional LSTM keeps its gates, cells and states") {
  // 255 steps, two directions of 256: per state four gates, the cell, its tanh and the state; the input
  // (512 wide) is the copy in front, kept by the first layer; the second layer's input is the first's output.
  const Model model = zoo_model("crnn-handwriting");
  CHECK(find_operator(model, "rnn.l0").saved_elements == 255. * 512 * (1 + 7));
  CHECK(find_operator(model, "rnn.l1").saved_elements == 255. * 512 * 7);
}
