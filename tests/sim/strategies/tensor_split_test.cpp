#include "sim/strategies/tensor_split.h"

#include <random>
#include <variant>
#include <vector>

#include "base/error.h"
#include "sim/strategies/vocabulary.h"
#include "tests/sim/strategies/local_models.h"

namespace foretrain::sim::strategies {
namespace {

using calibrate::CollectiveKind;
using models::AttentionShape;
using models::GemmShape;
using models::MemoryShape;

double real(std::int64_t count) { return static_cast<double>(count); }

const LocalLayer& block(const LocalModel& model) { return model.layers.at(1); }

// Bytes that one layer keeps in fp16, its unfused score matrix included: of recomputed operators what their segments
// do.
double kept_bytes(const LocalModel& model, const LocalLayer& layer) {
  double elements = 0;
  std::size_t counted = not_recomputed;
  for (const LocalOperator& local : layer.operators) {
    if (local.segment == not_recomputed) {
      elements += local.op.saved_elements;
      const auto* core = std::get_if<AttentionShape>(&local.op.shape);
      if (core != nullptr) elements += models::unfused_saved_elements(*core);
    } else if (local.segment != counted) {
      elements += model.segments[local.segment].kept_elements;
      counted = local.segment;
    }
  }
  return 2 * elements;
}

double bytes_of(const std::vector<LayerCollective>& collectives, CollectiveKind kind) {
  double sum = 0;
  for (const LayerCollective& collective : collectives) {
    CHECK(collective.communicator == "tensor");
    if (collective.kind == kind) sum += collective.bytes.value;
  }
  return sum;
}

struct Volume {
  double all_reduce = 0, all_gather = 0, reduce_scatter = 0;
};

void add(Volume& volume, const std::vector<LayerCollective>& collectives) {
  volume.all_reduce += bytes_of(collectives, CollectiveKind::all_reduce);
  volume.all_gather += bytes_of(collectives, CollectiveKind::all_gather);
  volume.reduce_scatter += bytes_of(collectives, CollectiveKind::reduce_scatter);
}

Volume forward_volume(const LocalLayer& layer) {
  Volume volume;
  for (const LocalOperator& local : layer.operators) {
    add(volume, local.before_forward);
    add(volume, local.after_forward);
  }
  return volume;
}

Volume backward_volume(const LocalLayer& layer) {
  Volume volume;
  for (const LocalOperator& local : layer.operators) {
    add(volume, local.before_backward);
    add(volume, local.after_backward);
  }
  return volume;
}

TEST_CASE("a layer keeps what Korthikanti et al. count, whatever the degree of tensor and sequence parallelism") {
  for (const auto& [sequence, micro_batch, hidden, heads] :
       std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>>{
           {512, 1, 1024, 16}, {2048, 4, 1024, 16}, {1024, 3, 4096, 32}}) {
    Sizes sizes;
    sizes.sequence = sequence;
    sizes.micro_batch = micro_batch;
    sizes.hidden = hidden;
    sizes.heads = heads;
    const models::Model model = decoder(sizes);
    const double s = real(sequence), b = real(micro_batch), h = real(hidden), a = real(heads);
    const double sbh = s * b * h, scores = 5 * a * s / h;  // arXiv:2205.05198, table 2
    const auto kept = [&](const Plan& plan) {
      const LocalModel local = Splitting(plan).of(model);
      return kept_bytes(local, block(local));
    };
    CHECK(kept(tensor_plan(1)) == Approx(sbh * (34 + scores)));
    CHECK(kept(tensor_plan(1, false, "selective")) == Approx(sbh * 34));
    CHECK(kept(tensor_plan(1, false, "full")) == Approx(2 * sbh));
    for (const double t : {2.0, 4.0, 8.0, 16.0}) {
      const auto ranks = static_cast<std::int64_t>(t);
      CHECK(kept(tensor_plan(ranks)) == Approx(sbh * (10 + 24 / t + scores / t)));
      CHECK(kept(tensor_plan(ranks, true)) == Approx(sbh / t * (34 + scores)));
      CHECK(kept(tensor_plan(ranks, false, "selective")) == Approx(sbh * (10 + 24 / t)));
      CHECK(kept(tensor_plan(ranks, true, "selective")) == Approx(sbh / t * 34));
      CHECK(kept(tensor_plan(ranks, false, "full")) == Approx(2 * sbh));
      CHECK(kept(tensor_plan(ranks, true, "full")) == Approx(2 * sbh / t));
    }
  }
}

TEST_CASE(
    "a layer has two all-reduces of its tokens each way, or as much in gathers and scatters and two more gathers") {
  for (const std::int64_t t : {2, 4, 8}) {
    for (const std::int64_t sequence : {256, 1024}) {
      for (const std::int64_t micro_batch : {1, 5}) {
        Sizes sizes;
        sizes.sequence = sequence;
        sizes.micro_batch = micro_batch;
        const models::Model model = decoder(sizes);
        const double bytes = real(micro_batch) * real(sequence) * 1024 * 2;
        const LocalModel plain = Splitting(tensor_plan(t)).of(model);
        CHECK(forward_volume(block(plain)).all_reduce == 2 * bytes);
        CHECK(backward_volume(block(plain)).all_reduce == 2 * bytes);
        CHECK(forward_volume(block(plain)).all_gather + backward_volume(block(plain)).reduce_scatter == 0);

        const LocalModel parts = Splitting(tensor_plan(t, true)).of(model);
        const Volume forward = forward_volume(block(parts)), backward = backward_volume(block(parts));
        CHECK(forward.all_reduce + backward.all_reduce == 0);
        CHECK(forward.all_gather == 2 * bytes);
        CHECK(forward.reduce_scatter == 2 * bytes);
        CHECK(backward.all_gather == (2 + 2) * bytes);  // gradients of both branches, inputs for the weights' gradients
        CHECK(backward.reduce_scatter == 2 * bytes);
      }
    }
  }
}

TEST_CASE("collectives stand where results or inputs are needed") {
  const LocalModel plain = Splitting(tensor_plan(4)).of(decoder({}));
  for (const char* product : {"h.0.attn.c_proj", "h.0.mlp.c_proj"}) {
    CHECK(operator_named(plain, product).after_forward.size() == 1);
    CHECK(operator_named(plain, product).before_backward.empty());
  }
  for (const char* product : {"h.0.attn.c_attn", "h.0.mlp.c_fc"}) {
    CHECK(operator_named(plain, product).before_forward.empty());
    CHECK(operator_named(plain, product).after_backward.size() == 1);
  }
  const LocalModel parts = Splitting(tensor_plan(4, true)).of(decoder({}));
  const LocalOperator& in = operator_named(parts, "h.0.mlp.c_fc");
  CHECK(in.before_forward.at(0).kind == CollectiveKind::all_gather);
  CHECK(in.before_backward.at(0).kind == CollectiveKind::all_gather);
  CHECK(in.after_backward.at(0).kind == CollectiveKind::reduce_scatter);
  const LocalOperator& out = operator_named(parts, "h.0.mlp.c_proj");
  CHECK(out.after_forward.at(0).kind == CollectiveKind::reduce_scatter);
  CHECK(out.before_backward.at(0).kind == CollectiveKind::all_gather);
}

TEST_CASE("products of one input share its gradient's collective: query, key, value, gate and up") {
  const LocalModel bert = Splitting(tensor_plan(4, true)).of(zoo_model("bert-base", 2));
  const std::string self = "encoder.layer.0.attention.self.";
  CHECK(operator_named(bert, self + "query").before_forward.size() == 1);
  CHECK(operator_named(bert, self + "query").after_backward.size() == 1);  // the last of the three on the way back
  CHECK(operator_named(bert, self + "query").before_backward.empty());
  CHECK(operator_named(bert, self + "key").before_backward.empty());
  CHECK(operator_named(bert, self + "key").after_backward.empty());
  CHECK(operator_named(bert, self + "value").before_backward.size() == 1);  // the first of the three
  CHECK(operator_named(bert, self + "value").after_backward.empty());

  Sizes sizes;
  sizes.gated = true;
  const LocalModel gated = Splitting(tensor_plan(4)).of(decoder(sizes));
  CHECK(operator_named(gated, "h.0.mlp.c_fc").after_backward.size() == 1);
  CHECK(operator_named(gated, "h.0.mlp.c_gate").after_backward.empty());
}

TEST_CASE("attention to an encoder's output has two inputs, also where both sequences are of one length") {
  const LocalModel model = Splitting(tensor_plan(4)).of(zoo_model("transformer-base", 2));
  const std::string cross = "decoder.layers.0.encoder_attn.";
  CHECK(operator_named(model, cross + "q_proj").after_backward.size() == 1);
  CHECK(operator_named(model, cross + "k_proj").after_backward.size() == 1);
  CHECK(operator_named(model, cross + "v_proj").after_backward.empty());
}

TEST_CASE("a vocabulary in parts: one collective after the lookup, one at the head's input, three numbers per token") {
  Sizes sizes;
  sizes.micro_batch = 2;
  const double tokens = 2 * 512, bytes = tokens * 1024 * 2;
  const LocalModel plain = Splitting(tensor_plan(8)).of(decoder(sizes));
  CHECK(bytes_of(operator_named(plain, "wte").after_forward, CollectiveKind::all_reduce) == bytes);
  CHECK(operator_named(plain, "wte").before_backward.empty());
  CHECK(bytes_of(operator_named(plain, "lm_head").after_backward, CollectiveKind::all_reduce) == bytes);
  CHECK(bytes_of(operator_named(plain, "loss.log_softmax").before_forward, CollectiveKind::all_reduce) == 4 * tokens);
  CHECK(bytes_of(operator_named(plain, "loss.log_softmax").after_forward, CollectiveKind::all_reduce) ==
        2 * 4 * tokens);
  CHECK(operator_named(plain, "loss").before_forward.empty());
  CHECK(operator_named(plain, "wte").op.parameters.at(0).shape == std::vector<std::int64_t>{51200 / 8, 1024});
  CHECK(operator_named(plain, "lm_head").op.tied_parameters.at(0).shape == std::vector<std::int64_t>{51200 / 8, 1024});
  CHECK(operator_named(plain, "loss").op.saved_elements == Approx(tokens * 51200 / 8));

  const LocalModel parts = Splitting(tensor_plan(8, true)).of(decoder(sizes));
  CHECK(bytes_of(operator_named(parts, "wte").after_forward, CollectiveKind::reduce_scatter) == bytes);
  CHECK(bytes_of(operator_named(parts, "wte").before_backward, CollectiveKind::all_gather) == bytes);
  CHECK(bytes_of(operator_named(parts, "lm_head").before_forward, CollectiveKind::all_gather) == bytes);
  CHECK(bytes_of(operator_named(parts, "lm_head").after_backward, CollectiveKind::reduce_scatter) == bytes);
}

// Sizes that ranks of `t` divide, drawn anew for every seed.
Sizes drawn(std::mt19937& random, std::int64_t t) {
  const auto between = [&random](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  Sizes sizes;
  sizes.layers = between(1, 3);
  sizes.heads = t * between(1, 4);
  sizes.hidden = sizes.heads * 8 * between(1, 8);
  sizes.sequence = t * between(1, 100);
  sizes.micro_batch = between(1, 4);
  sizes.vocabulary = t * between(10, 3000);
  sizes.key_value_heads = between(0, 1) == 0 ? 0 : t;
  if (sizes.key_value_heads > 0 && sizes.heads % sizes.key_value_heads != 0) sizes.key_value_heads = 0;
  sizes.gated = between(0, 1) == 1;
  sizes.rotary = between(0, 1) == 1;
  sizes.biases = between(0, 1) == 1;
  sizes.tied = between(0, 1) == 1;
  sizes.dropout = between(0, 1) == 1;
  return sizes;
}

// Norms, position tables, and the biases of what is summed up: on every rank whole.
double replicated_parameters(const models::Model& model) {
  double count = 0;
  for (const models::Layer& layer : model.layers) {
    for (const models::Operator& op : layer.operators) {
      for (const models::ParameterTensor& tensor : op.parameters) {
        const bool bias_of_sum = op.tensor_split == models::TensorSplit::rows && tensor.shape.size() == 1;
        if (op.tensor_split == models::TensorSplit::none || bias_of_sum) count += real(tensor.elements());
      }
    }
  }
  return count;
}

TEST_CASE("the ranks' parameters are the model's and copies of what is not split") {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    const std::int64_t t = std::int64_t{1} << std::uniform_int_distribution<int>(1, 4)(random);
    const models::Model model = decoder(drawn(random, t));
    const double copies = real(t - 1) * replicated_parameters(model);
    CAPTURE(seed, t);
    CHECK(real(t) * parameter_count(Splitting(tensor_plan(t, seed % 2 == 0)).of(model)) ==
          models::parameter_count(model) + copies);
  }
}

TEST_CASE(
    "transformers of the zoo are dealt out: encoders, shared layers, two encoders, attention to an encoder, images") {
  for (const char* name : {"gpt2-medium", "bert-large-pretraining", "albert-base-pretraining", "electra-base",
                           "transformer-big", "transformer-xl-base", "vit-b-16"}) {
    CAPTURE(name);
    const models::Model model = with_padded_vocabulary(zoo_model(name, 2), 4);
    const auto whole = flat_operators(model);
    const LocalModel local = Splitting(tensor_plan(4)).of(model);
    CHECK(4 * parameter_count(local) == models::parameter_count(model) + 3 * replicated_parameters(model));
    double products = 0, parts = 0;
    for (std::size_t i = 0; i < whole.size(); ++i) {
      if (whole[i]->tensor_split == models::TensorSplit::none) continue;
      products += models::forward_flops(*whole[i]).value;
      parts += models::forward_flops(flat_operators(local)[i]->op).value;
    }
    CHECK(products > 0);
    CHECK(4 * parts == Approx(products));
    for (const LocalLayer& layer : local.layers) {
      if (layer.is_block) CHECK(forward_volume(layer).all_reduce > 0);
    }
  }
}

TEST_CASE("the ranks' products, and with sequence parallelism all they read, keep and write, are the model's") {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    const std::int64_t t = std::int64_t{1} << std::uniform_int_distribution<int>(1, 4)(random);
    const models::Model model = decoder(drawn(random, t));
    const auto whole = flat_operators(model);
    const LocalModel local = Splitting(tensor_plan(t, true)).of(model);
    const auto parts = flat_operators(local);
    REQUIRE(parts.size() == whole.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      CAPTURE(seed, t, whole[i]->name);
      CHECK(real(t) * models::forward_flops(parts[i]->op).value == Approx(models::forward_flops(*whole[i]).value));
      CHECK(real(t) * parts[i]->op.saved_elements == Approx(whole[i]->saved_elements));
      // Every rank looks up all tokens.
      if (whole[i]->name == "wte" || !std::holds_alternative<MemoryShape>(whole[i]->shape)) continue;
      CHECK(real(t) * models::forward_elements(parts[i]->op) == Approx(models::forward_elements(*whole[i])));
    }
  }
}

TEST_CASE("without sequence parallelism norms, residuals and dropout are whole on every rank") {
  const models::Model model = decoder({});
  const auto whole = flat_operators(model);
  const LocalModel local = Splitting(tensor_plan(4)).of(model);
  const auto parts = flat_operators(local);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (whole[i]->tensor_split != models::TensorSplit::none) continue;
    CHECK(models::forward_elements(parts[i]->op) == models::forward_elements(*whole[i]));
    CHECK(parts[i]->op.saved_elements == whole[i]->saved_elements);
  }
}

TEST_CASE("what goes to the next layer is whole, or a rank's part of the tokens") {
  const double elements = 3 * 512 * 1024;
  CHECK(block(Splitting(tensor_plan(1)).of(decoder({}))).output_elements == elements);
  CHECK(block(Splitting(tensor_plan(8)).of(decoder({}))).output_elements == elements);
  const LocalModel parts = Splitting(tensor_plan(8, true)).of(decoder({}));
  CHECK(parts.layers.at(0).output_elements == elements / 8);
  CHECK(block(parts).output_elements == elements / 8);
}

TEST_CASE("grouped key-value heads are dealt out, and copied when there are fewer than ranks") {
  Sizes sizes;
  sizes.key_value_heads = 4;  // of 16 heads of 64
  const auto product = [&](std::int64_t t) {
    const LocalModel local = Splitting(tensor_plan(t)).of(decoder(sizes));
    return std::get<GemmShape>(operator_named(local, "h.0.attn.c_attn").op.shape);
  };
  CHECK(product(1).n == (16 + 2 * 4) * 64);
  CHECK(product(4).n == (4 + 2 * 1) * 64);
  CHECK(product(8).n == (2 + 2 * 1) * 64);
  CHECK(product(16).n == (1 + 2 * 1) * 64);
  const LocalModel local = Splitting(tensor_plan(8)).of(decoder(sizes));
  const models::Operator& core = operator_named(local, "h.0.attn.core").op;
  CHECK(std::get<AttentionShape>(core.shape).heads == 2);
  CHECK(std::get<AttentionShape>(core.shape).key_value_heads == 1);
  CHECK(core.saved_elements == 3 * 512 * 64 * (2 + 2 * 1));  // query, key, value
  const models::Operator& fused = operator_named(local, "h.0.attn.c_attn").op;
  CHECK(fused.parameters.at(0).shape == std::vector<std::int64_t>{256, 1024});
  CHECK(fused.parameters.at(1).shape == std::vector<std::int64_t>{256});
}

TEST_CASE("what does not divide is an error that names what does") {
  const auto error = [](const models::Model& model, const Plan& plan) {
    try {
      Splitting(plan).of(model);
    } catch (const Error& e) {
      return e;
    }
    FAIL("no error");
    return Error("");
  };
  Sizes sizes;
  sizes.hidden = 1280;
  sizes.heads = 20;
  const Error heads = error(decoder(sizes), tensor_plan(8));
  CHECK(heads.where() == "/plan/tensor");
  CHECK(std::string(heads.what()) == "20 attention heads do not divide by tensor 8");
  CHECK(heads.hint() == "one of 1, 2, 4, 5, 10, 20");

  models::Model odd = decoder({});
  for (models::Operator& op : odd.layers.at(1).operators) {
    if (op.name == "h.0.mlp.c_fc") std::get<GemmShape>(op.shape).n = 4097;
  }
  CHECK(error(odd, tensor_plan(8)).where() == "/plan/tensor");

  sizes.sequence = 510;
  CHECK(error(decoder(sizes), tensor_plan(4, true)).where() == "/plan/sequence_parallel");
  CHECK(error(decoder(sizes), tensor_plan(1, true)).where() == "/plan/sequence_parallel");
  CHECK_NOTHROW(Splitting(tensor_plan(4)).of(decoder(sizes)));

  const Error convnet = error(zoo_model("resnet50", 2), tensor_plan(2));
  CHECK(convnet.where() == "/plan/tensor");
  CHECK(convnet.hint().find("transformers") == 0);

  sizes.heads = 24;
  sizes.hidden = 1536;
  sizes.key_value_heads = 6;
  CHECK(std::string(error(decoder(sizes), tensor_plan(4)).what()) == "6 key-value heads do not divide by tensor 4");
}

}  // namespace
}  // namespace foretrain::sim::strategies
