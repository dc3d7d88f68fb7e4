#include "sim/strategies/tensor_split.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "sim/layout.h"
#include "sim/strategies/tensor_part.h"

namespace foretrain::sim::strategies {
namespace {

using calibrate::CollectiveKind;
using models::AttentionShape;
using models::GemmShape;
using models::Operator;
using models::TensorSplit;

const AttentionShape* core_of(const Operator& op) {
  return op.tensor_split == TensorSplit::heads ? std::get_if<AttentionShape>(&op.shape) : nullptr;
}

const GemmShape& product_of(const Operator& op) { return std::get<GemmShape>(op.shape); }

bool is_loss(const Operator& op) {
  return op.tensor_split == TensorSplit::vocabulary &&
         (op.kind == models::OperatorKind::softmax || op.kind == models::OperatorKind::loss);
}

class LayerSplitter {
 public:
  LayerSplitter(const models::Layer& layer, TensorRanks ranks, models::Precision precision)
      : operators_(layer.operators), ranks_(ranks), element_bytes_(models::activation_bytes(precision)) {
    local_.name = layer.name;
    local_.is_block = layer.is_block;
    for (std::size_t i = 0; i < operators_.size(); ++i) {
      LocalOperator local;
      local.op = tensor_part(operators_[i], ranks_, core_after(i));
      local_.operators.push_back(std::move(local));
    }
    if (!local_.operators.empty()) local_.output_elements = local_.operators.back().op.output_elements;
  }

  LocalLayer split() && {
    if (ranks_.count == 1) return std::move(local_);
    for (std::size_t i = 0; i < operators_.size(); ++i) {
      const Operator& op = operators_[i];
      const bool is_product = std::holds_alternative<GemmShape>(op.shape);
      if (op.tensor_split == TensorSplit::columns && starts_inputs(i)) {
        std::size_t last = i;
        while (last + 1 < operators_.size() && operators_[last + 1].tensor_split == TensorSplit::columns &&
               !starts_inputs(last + 1)) {
          ++last;
        }
        share_input(i, last);
      }
      if (op.tensor_split == TensorSplit::vocabulary && is_product) share_input(i, i);
      if (op.tensor_split == TensorSplit::vocabulary && op.kind == models::OperatorKind::embedding) {
        sum_up(i, op.output_elements);
      }
      if (op.tensor_split == TensorSplit::rows) {
        const GemmShape& product = product_of(op);
        sum_up(i, static_cast<double>(product.m) * static_cast<double>(product.n));
      }
      if (is_loss(op) && i > 0 && !is_loss(operators_[i - 1])) share_loss(i);
    }
    return std::move(local_);
  }

 private:
  // The attention core that operator `index` works for: the next one, unless a branch ends before it.
  const AttentionShape* core_after(std::size_t index) const {
    for (std::size_t i = index; i < operators_.size(); ++i) {
      if (const AttentionShape* core = core_of(operators_[i])) return core;
      if (operators_[i].tensor_split == TensorSplit::rows) return nullptr;
    }
    return nullptr;
  }

  // Whether a `columns` product is the first of those that share an input: neighbours of like inputs do (query, key and
  // value; gate and up), except that a layer's second attention has keys and values of an encoder's output.
  bool starts_inputs(std::size_t index) const {
    if (index == 0 || operators_[index - 1].tensor_split != TensorSplit::columns) return true;
    const GemmShape &before = product_of(operators_[index - 1]), &here = product_of(operators_[index]);
    if (before.m != here.m || before.k != here.k) return true;
    const auto begin = operators_.begin(), end = begin + static_cast<std::ptrdiff_t>(index);
    const bool second_attention = std::any_of(begin, end, [](const Operator& op) { return core_of(op) != nullptr; });
    const bool after_query = index == 1 || operators_[index - 2].tensor_split != TensorSplit::columns;
    return second_attention && after_query && core_after(index) != nullptr;
  }

  LayerCollective collective(CollectiveKind kind, double elements) const {
    return {tensor_communicator, kind, Bytes(elements * element_bytes_), false};
  }

  // Products `first` to `last` of one input, of which backward sums up the ranks' gradients. With sequence parallelism
  // every rank has and keeps its part of it: gathered for the products, and again for the weights' gradients.
  void share_input(std::size_t first, std::size_t last) {
    const GemmShape& product = product_of(operators_[first]);
    const double elements = static_cast<double>(product.m) * static_cast<double>(product.k);
    const auto begin = operators_.begin() + static_cast<std::ptrdiff_t>(first),
               end = operators_.begin() + static_cast<std::ptrdiff_t>(last) + 1;
    const bool trained =
        std::any_of(begin, end, [](const Operator& op) { return !op.forward_only && op.frozen_parameters.empty(); });
    const bool passes_on =
        std::any_of(begin, end, [](const Operator& op) { return !op.forward_only && op.needs_input_gradient; });
    LocalOperator &one = local_.operators[first], &other = local_.operators[last];
    if (ranks_.sequence_parallel) {
      one.before_forward.push_back(collective(CollectiveKind::all_gather, elements));
      if (trained) {
        other.before_backward.push_back(collective(CollectiveKind::all_gather, elements));
        other.before_backward.back().repeats_forward = true;
      }
    }
    if (!passes_on) return;
    const auto kind = ranks_.sequence_parallel ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
    one.after_backward.push_back(collective(kind, elements));
  }

  // The ranks' results, of `elements` each, add up; with sequence parallelism every rank gets its part of the sum.
  void sum_up(std::size_t index, double elements) {
    LocalOperator& local = local_.operators[index];
    const auto kind = ranks_.sequence_parallel ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
    local.after_forward.push_back(collective(kind, elements));
    if (ranks_.sequence_parallel && !local.op.forward_only) {
      local.before_backward.push_back(collective(CollectiveKind::all_gather, elements));
    }
  }

  // Of every token the largest logit, then the sum of exponentials and the logit of the label, in four bytes
  // (Megatron-LM's vocab_parallel_cross_entropy).
  void share_loss(std::size_t index) {
    const auto before = operators_.rend() - static_cast<std::ptrdiff_t>(index);
    const auto product = std::find_if(before, operators_.rend(), [](const Operator& op) {
      return op.tensor_split == TensorSplit::vocabulary && std::holds_alternative<GemmShape>(op.shape);
    });
    if (product == operators_.rend()) return;
    const auto tokens = static_cast<double>(product_of(*product).m);
    const LayerCollective of_tokens{tensor_communicator, CollectiveKind::all_reduce,
                                    Bytes(tokens * models::activation_bytes(models::Precision::fp32))};
    LocalOperator& local = local_.operators[index];
    local.before_forward.push_back(of_tokens);
    local.after_forward.insert(local.after_forward.end(), 2, of_tokens);
  }

  const std::vector<Operator>& operators_;
  TensorRanks ranks_;
  double element_bytes_;
  LocalLayer local_;
};

void require_marks(const models::Model& model, const Plan& plan) {
  for (const models::Layer& layer : model.layers) {
    for (const Operator& op : layer.operators) {
      if (op.tensor_split != TensorSplit::none && op.tensor_split != TensorSplit::vocabulary) return;
    }
  }
  throw Error(
      fmt::format("{} ({}) has no layers that tensor {} can split", printable(model.name), model.family, plan.tensor),
      "/plan/tensor", "transformers (decoders, encoders, encoder-decoders, vision transformers) have; here use 1");
}

void require_tokens(const models::Model& model, const Plan& plan) {
  for (const models::Layer& layer : model.layers) {
    for (const Operator& op : layer.operators) {
      const AttentionShape* core = core_of(op);
      if (core == nullptr) continue;
      for (const std::int64_t tokens : {core->query_length, core->key_length}) {
        if (tokens % plan.tensor == 0) continue;
        throw Error(fmt::format("a sequence of {} tokens does not divide into {} parts", tokens, plan.tensor),
                    "/plan/sequence_parallel",
                    fmt::format("choose a sequence that is a multiple of tensor {}, or leave it out", plan.tensor));
      }
    }
  }
}

}  // namespace

LocalModel tensor_split(const models::Model& model, const Plan& plan, models::Precision precision) {
  if (plan.sequence_parallel && plan.tensor == 1) {
    throw Error("sequence parallelism needs tensor-parallel ranks to share the tokens", "/plan/sequence_parallel",
                "set plan.tensor above 1, or leave it out");
  }
  if (plan.tensor > 1) require_marks(model, plan);
  if (plan.sequence_parallel) require_tokens(model, plan);
  LocalModel local{model.name, {}, {}};
  for (const models::Layer& layer : model.layers) {
    local.layers.push_back(LayerSplitter(layer, {plan.tensor, plan.sequence_parallel}, precision).split());
  }
  return local;
}

}  // namespace foretrain::sim::strategies
