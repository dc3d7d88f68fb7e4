// Fused kernels against the traffic of Megatron-LM's layers and by hand.
#include <map>
#include <string>

#include "models/fuse.h"
#include "tests/catch.h"
#include "tests/models/zoo_models.h"

using namespace foretrain;
using namespace foretrain::models;
using test::find_operator;
using test::zoo_model;

namespace {

const std::map<std::string, double> gpt_layer = {
    {"layers", 1}, {"hidden", 1024}, {"heads", 16}, {"feed_forward", 4096}};
constexpr double batch = 2, sequence = 512, hidden = 1024, feed_forward = 4096, tokens = batch * sequence;
constexpr double element = 2;  // bytes

Model gpt() { return zoo_model("gpt2", 2, 512, gpt_layer); }

const Layer& block_of(const Model& model) {
  for (const Layer& layer : model.layers) {
    if (layer.is_block) return layer;
  }
  throw std::runtime_error("no block");
}

struct Traffic {
  double forward = 0, backward = 0;  // bytes
};

template <class Chosen>
Traffic traffic(const Layer& layer, Chosen chosen) {
  Traffic sum;
  for (const Operator& op : layer.operators) {
    if (!chosen(op)) continue;
    sum.forward += element * forward_elements(op);
    sum.backward += element * backward_elements(op);
  }
  return sum;
}

Traffic of_kind(const Layer& layer, OperatorKind kind, TensorSplit split) {
  return traffic(layer, [&](const Operator& op) { return op.kind == kind && op.tensor_split == split; });
}

bool is_product(const Operator& op) { return std::holds_alternative<GemmShape>(op.shape); }

}  // namespace

TEST_CASE("a fused layer of Megatron-LM moves what its kernels move") {
  const Model model = with_fused_kernels(gpt());
  const Layer& layer = block_of(model);
  const double mh = tokens * hidden, mf = tokens * feed_forward;
  const Traffic norms = of_kind(layer, OperatorKind::normalization, TensorSplit::none);
  const Traffic sums = of_kind(layer, OperatorKind::elementwise, TensorSplit::none);
  const Traffic gelu = of_kind(layer, OperatorKind::elementwise, TensorSplit::features);
  // Two norms, each read and written: 2·2·2 bytes. Two of dropout and residual: branch, residual, output of two bytes
  // and a mask of one: 2·7. GELU: in and out.
  CHECK(norms.forward == 8 * mh);
  CHECK(sums.forward == 14 * mh);
  CHECK(gelu.forward == 4 * mf);
  // Back, for each of two: a norm reads input and gradient and writes one (3), dropout 2 and the mask, gradients of branch
  // and residual add up (3): 8.5 elements of 2 bytes. GELU reads gradient and input and writes one.
  CHECK(norms.backward + sums.backward == 34 * mh);
  CHECK(gelu.backward == 6 * mf);
}

TEST_CASE("dropout and residual are one kernel forward, its tensor between them is not written") {
  const Model eager = gpt();
  const Model model = with_fused_kernels(eager);
  const double n = tokens * hidden;
  const Operator& dropout = find_operator(eager, "h.0.attention_dropout");
  const Operator& residual = find_operator(eager, "h.0.attention_residual");
  CHECK(forward_elements(dropout) + forward_elements(residual) == 2.5 * n + 3 * n);
  const Operator& fused = find_operator(model, "h.0.attention_dropout+attention_residual");
  CHECK(forward_elements(fused) == 2 * n + 1.5 * n);
  CHECK(backward_elements(fused) == backward_elements(dropout) + backward_elements(residual));
  CHECK(fused.saved_elements == 0.5 * n);  // the mask
  CHECK(fused.kernels_forward == 1);
  CHECK(fused.kernels_backward == 2);  // the mask's; the sum of two gradients, where the layer begins
}

TEST_CASE("rotary positions and SwiGLU run as one kernel each way") {
  const std::map<std::string, double> sizes = {{"layers", 1}, {"gated_feed_forward", 1}, {"rotary_positions", 1}};
  const Model eager = zoo_model("gpt2", 2, 512, sizes);
  const Model model = with_fused_kernels(eager);
  const Operator& rotation = find_operator(model, "h.0.rotary_positions");
  const double queries_and_keys = 2 * tokens * 768;
  CHECK(forward_elements(rotation) == 2 * queries_and_keys);
  CHECK(backward_elements(rotation) == 2 * queries_and_keys);
  CHECK(forward_elements(find_operator(eager, "h.0.rotary_positions")) == 10 * queries_and_keys);

  const Operator& gated = find_operator(model, "h.0.swiglu");
  const double n = tokens * 3072;
  CHECK(forward_elements(gated) == 3 * n);   // gate and up, the product
  CHECK(backward_elements(gated) == 5 * n);  // those two and the gradient, two gradients
  CHECK(gated.saved_elements == 2 * n);
  CHECK(find_operator(eager, "h.0.swiglu").saved_elements == 3 * n);
  for (const Operator* op : {&rotation, &gated}) {
    CHECK(op->kernels_forward == 1);
    CHECK(op->kernels_backward == 1);
  }
}

TEST_CASE("the loss over a part of the vocabulary moves 52 bytes per logit") {
  const Model eager = gpt();
  const Model model = with_fused_kernels(eager);
  const Operator& loss = find_operator(model, "loss");
  const double logits = tokens * 50257, bytes = 4;
  // Copy 2 + 4, largest 4, difference 8, exponential 8, sum 4, quotient 8.
  CHECK(bytes * forward_elements(loss) == 38 * logits);
  // Product with the loss's gradient 8, copy in two bytes 4 + 2.
  CHECK(bytes * backward_elements(loss) == 14 * logits);
  CHECK(element * loss.saved_elements == 4 * logits);  // Korthikanti et al. 2022, section 4.3
  CHECK(loss.tensor_split == TensorSplit::vocabulary);
  // A classifier's loss, of few classes and on every rank, stays as it is.
  const Model vision = zoo_model("vit-b-16"), fused_vision = with_fused_kernels(vision);
  CHECK(forward_elements(find_operator(fused_vision, "loss.log_softmax")) ==
        forward_elements(find_operator(vision, "loss.log_softmax")));
}

TEST_CASE("what is kept is still written, what has weights of its own or another part of the tensors stays apart") {
  // ReLU keeps its output, which dropout reads: forward 2 + 2.5 elements lose one read only.
  Model model;
  model.layers = {{"l", {}}};
  auto pass = [&model](const std::string& name, double read, double written, double backward, double saved) {
    Operator op;
    op.name = name;
    op.shape = MemoryShape{read, written, backward};
    op.saved_elements = saved;
    op.output_elements = 100;
    op.kernels_backward = 1;
    model.layers[0].operators.push_back(op);
  };
  pass("relu", 100, 100, 300, 100);
  pass("dropout", 100, 150, 250, 50);
  {
    const Model fused = with_fused_kernels(model);
    REQUIRE(fused.layers[0].operators.size() == 1);
    const Operator& both = fused.layers[0].operators[0];
    CHECK(forward_elements(both) == 200 + 250 - 100);
    CHECK(backward_elements(both) == 300 + 250 - 200);
    CHECK(both.saved_elements == 150);
    CHECK(both.kernels_backward == 1);
  }
  model.layers[0].operators[1].parameters.push_back({"scale", {1}});
  CHECK(with_fused_kernels(model).layers[0].operators.size() == 2);
  model.layers[0].operators[1].parameters.clear();
  model.layers[0].operators[1].tensor_split = TensorSplit::features;
  CHECK(with_fused_kernels(model).layers[0].operators.size() == 2);
}

TEST_CASE("fusing changes no products, parameters or FLOPs, and never moves or keeps more beside the loss") {
  for (const char* name : {"gpt2", "bert-base-pretraining", "vit-b-16", "transformer-big", "transformer-xl-base",
                           "resnet50", "electra-base"}) {
    INFO(name);
    const Model eager = zoo_model(name);
    const Model fused = with_fused_kernels(eager);
    CHECK(parameter_count(fused) == parameter_count(eager));
    CHECK(training_flops(fused) == training_flops(eager));
    CHECK(saved_elements(fused) == saved_elements(eager));
    REQUIRE(fused.layers.size() == eager.layers.size());
    for (std::size_t i = 0; i < eager.layers.size(); ++i) {
      CHECK(fused.layers[i].is_block == eager.layers[i].is_block);
      const auto passes = [](const Operator& op) {
        return !is_product(op) && op.tensor_split != TensorSplit::vocabulary;
      };
      const Traffic before = traffic(eager.layers[i], passes), after = traffic(fused.layers[i], passes);
      CHECK(after.forward <= before.forward);
      CHECK(after.backward <= before.backward);
      CHECK(fused.layers[i].operators.back().output_elements == eager.layers[i].operators.back().output_elements);
    }
  }
}
