// Marks that splitters read: what a tensor-parallel rank has of each operator, blocks, tied tables.
#include <map>

#include "models/model.h"
#include "tests/catch.h"
#include "tests/models/zoo_models.h"

using namespace foretrain;
using namespace foretrain::models;
using test::find_operator;
using test::zoo_model;

namespace {

std::int64_t blocks(const Model& model) {
  std::int64_t count = 0;
  for (const Layer& layer : model.layers) count += layer.is_block ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("a decoder's layer is dealt out as Megatron-LM deals it") {
  const Model model = zoo_model("gpt2");
  const auto split = [&model](const std::string& name) { return find_operator(model, name).tensor_split; };
  CHECK(split("wte") == TensorSplit::vocabulary);
  CHECK(split("wpe") == TensorSplit::none);
  CHECK(split("h.0.ln_1") == TensorSplit::none);
  CHECK(split("h.0.attn.c_attn") == TensorSplit::columns);
  CHECK(split("h.0.attn.core") == TensorSplit::heads);
  CHECK(split("h.0.attn.c_proj") == TensorSplit::rows);
  CHECK(split("h.0.attention_dropout") == TensorSplit::none);
  CHECK(split("h.0.attention_residual") == TensorSplit::none);
  CHECK(split("h.0.mlp.c_fc") == TensorSplit::columns);
  CHECK(split("h.0.gelu") == TensorSplit::features);
  CHECK(split("h.0.mlp.c_proj") == TensorSplit::rows);
  CHECK(split("ln_f") == TensorSplit::none);
  for (const char* name : {"lm_head", "loss.log_softmax", "loss"}) CHECK(split(name) == TensorSplit::vocabulary);
}

TEST_CASE("separate projections, rotary positions and a gated feed-forward network are dealt out alike") {
  const Model bert = zoo_model("bert-base-pretraining");
  for (const char* name : {"query", "key", "value"}) {
    CHECK(find_operator(bert, std::string("encoder.layer.3.attention.self.") + name).tensor_split ==
          TensorSplit::columns);
  }
  CHECK(find_operator(bert, "cls.predictions.transform.dense").tensor_split == TensorSplit::none);
  CHECK(find_operator(bert, "cls.predictions.decoder").tensor_split == TensorSplit::vocabulary);
  CHECK(find_operator(bert, "cls.seq_relationship.loss").tensor_split == TensorSplit::none);

  const Model gated = zoo_model("gpt2", 1, 0, {{"gated_feed_forward", 1}, {"rotary_positions", 1}});
  CHECK(find_operator(gated, "h.0.rotary_positions").tensor_split == TensorSplit::heads);
  CHECK(find_operator(gated, "h.0.mlp.c_gate").tensor_split == TensorSplit::columns);
  CHECK(find_operator(gated, "h.0.swiglu").tensor_split == TensorSplit::features);

  const Model translation = zoo_model("transformer-base");
  CHECK(find_operator(translation, "decoder.layers.0.encoder_attn.k_proj").tensor_split == TensorSplit::columns);
  CHECK(find_operator(translation, "decoder.layers.0.encoder_attn.core").tensor_split == TensorSplit::heads);
  CHECK(find_operator(translation, "decoder.layers.0.encoder_attn.out_proj").tensor_split == TensorSplit::rows);
  CHECK(find_operator(translation, "loss.smoothing").tensor_split == TensorSplit::vocabulary);
}

TEST_CASE("the repeated layers are blocks, what stands around them is not") {
  CHECK(blocks(zoo_model("gpt2")) == 12);
  CHECK(blocks(zoo_model("bert-large")) == 24);
  CHECK(blocks(zoo_model("vit-b-16")) == 12);
  CHECK(blocks(zoo_model("transformer-big")) == 12);
  CHECK(blocks(zoo_model("transformer-xl-base")) == 16);
  CHECK(blocks(zoo_model("resnet50")) == 0);
}

TEST_CASE("who uses a tensor that stands elsewhere names it") {
  const Model gpt2 = zoo_model("gpt2");
  const Operator& head = find_operator(gpt2, "lm_head");
  REQUIRE(head.tied_parameters.size() == 1);
  CHECK(head.tied_parameters[0].name == find_operator(gpt2, "wte").parameters[0].name);
  CHECK(head.tied_parameters[0].shape == find_operator(gpt2, "wte").parameters[0].shape);
  CHECK(find_operator(zoo_model("gpt2", 1, 0, {{"tied_embeddings", 0}}), "lm_head").tied_parameters.empty());
}

TEST_CASE("every tied tensor of the zoo stands with another operator, in the same size") {
  const DataStore data;
  for (const ZooEntry& entry : zoo_entries(data)) {
    const Model model = zoo_model(entry.name);
    std::map<std::string, std::int64_t> owned;
    for (const Layer& layer : model.layers) {
      for (const Operator& op : layer.operators) {
        for (const ParameterTensor& tensor : op.parameters) owned[tensor.name] = tensor.elements();
        for (const ParameterTensor& tensor : op.tied_parameters) {
          INFO(entry.name << ": " << op.name << " uses " << tensor.name);
          REQUIRE(owned.count(tensor.name) == 1);
          CHECK(tensor.elements() <= owned[tensor.name]);  // less: rows of a table (clusters of words)
        }
      }
    }
  }
}
