#include "sim/strategies/tensor_part.h"

#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "sim/strategies/pass_scaling.h"

namespace foretrain::sim::strategies {
namespace {

using models::AttentionShape;
using models::GemmShape;
using models::MemoryShape;
using models::Operator;
using models::ParameterTensor;
using models::TensorSplit;

double ratio(std::int64_t part, std::int64_t whole) { return static_cast<double>(part) / static_cast<double>(whole); }

std::string divisors(std::int64_t number) {
  constexpr std::int64_t most_ranks = 1024;
  std::vector<std::string> found;
  for (std::int64_t d = 1; d <= number && d <= most_ranks; ++d) {
    if (number % d == 0) found.push_back(std::to_string(d));
  }
  return joined(found);
}

[[noreturn]] void fail(const std::string& what, std::int64_t number, std::int64_t ranks) {
  throw Error(fmt::format("{} do not divide by tensor {}", what, ranks), "/plan/tensor",
              fmt::format("one of {}", divisors(number)));
}

std::int64_t even_part(std::int64_t whole, std::int64_t ranks, const Operator& op, const char* of_what) {
  if (whole % ranks != 0) fail(fmt::format("the {} {} of {}", whole, of_what, printable(op.name)), whole, ranks);
  return whole / ranks;
}

struct HeadPart {
  std::int64_t heads = 0, key_value_heads = 0;
};

HeadPart head_part(const AttentionShape& core, std::int64_t ranks) {
  if (core.heads % ranks != 0) fail(fmt::format("{} attention heads", core.heads), core.heads, ranks);
  const std::int64_t grouped = key_value_heads(core);
  if (grouped % ranks == 0) return {core.heads / ranks, grouped / ranks};
  if (ranks % grouped != 0) fail(fmt::format("{} key-value heads", grouped), grouped, ranks);
  return {core.heads / ranks, 1};
}

// Outputs of a product with `n` of them. Only copied key-value heads make the parts of more than the whole.
std::int64_t output_part(const Operator& op, std::int64_t n, std::int64_t ranks, const AttentionShape* core) {
  if (core != nullptr) {
    const HeadPart part = head_part(*core, ranks);
    const std::int64_t grouped = key_value_heads(*core), width = core->head_dimension;
    if (grouped % ranks != 0 && n == grouped * width) return part.key_value_heads * width;
    if (grouped % ranks != 0 && n == (core->heads + 2 * grouped) * width) {
      return (part.heads + 2 * part.key_value_heads) * width;
    }
  }
  return even_part(n, ranks, op, "outputs");
}

template <class Change>
void change_tensors(Operator& op, Change change) {
  for (auto* tensors : {&op.parameters, &op.frozen_parameters, &op.tied_parameters}) {
    for (ParameterTensor& tensor : *tensors) change(tensor.shape);
  }
}

void cut_outputs(Operator& op, std::int64_t part) {
  auto& product = std::get<GemmShape>(op.shape);
  const std::int64_t whole = product.n;
  change_tensors(op, [&](std::vector<std::int64_t>& shape) {  // weights {out, in}, biases {out}
    if (!shape.empty() && shape.front() == whole) shape.front() = part;
  });
  op.output_elements *= ratio(part, whole);
  product.n = part;
}

void cut_columns(Operator& op, TensorRanks ranks, const AttentionShape* core) {
  cut_outputs(op, output_part(op, std::get<GemmShape>(op.shape).n, ranks.count, core));
  if (ranks.sequence_parallel) op.saved_elements *= ratio(1, ranks.count);
}

// The bias is added to the sum, by every rank to its tokens or to all.
void cut_rows(Operator& op, TensorRanks ranks) {
  auto& product = std::get<GemmShape>(op.shape);
  const std::int64_t part = even_part(product.k, ranks.count, op, "inputs");
  change_tensors(op, [&](std::vector<std::int64_t>& shape) {
    if (shape.size() == 2 && shape.back() == product.k) shape.back() = part;
  });
  product.k = part;
  op.saved_elements *= ratio(1, ranks.count);
  if (ranks.sequence_parallel) op.output_elements *= ratio(1, ranks.count);
}

double core_inputs(const AttentionShape& core) {  // query, key and value
  return static_cast<double>(core.batch * core.head_dimension) *
         (static_cast<double>(core.heads) * static_cast<double>(core.query_length) +
          2 * static_cast<double>(key_value_heads(core)) * static_cast<double>(core.key_length));
}

void cut_core(Operator& op, std::int64_t ranks) {
  auto& core = std::get<AttentionShape>(op.shape);
  const double whole = core_inputs(core);
  const HeadPart part = head_part(core, ranks);
  op.output_elements *= ratio(part.heads, core.heads);
  core.heads = part.heads;
  if (core.key_value_heads > 0) core.key_value_heads = part.key_value_heads;
  op.saved_elements *= core_inputs(core) / whole;
}

// Passes over queries and keys (rotary positions, biases of each head), products of each head apart.
void cut_heads(Operator& op, std::int64_t ranks, const AttentionShape* core) {
  if (std::holds_alternative<AttentionShape>(op.shape)) return cut_core(op, ranks);
  if (auto* product = std::get_if<GemmShape>(&op.shape)) {
    product->batch = even_part(product->batch, ranks, op, "products");
    op.saved_elements *= ratio(1, ranks);
    op.output_elements *= ratio(1, ranks);
    return;
  }
  if (core == nullptr) return scale_pass(op, ratio(1, ranks));
  const HeadPart part = head_part(*core, ranks);
  change_tensors(op, [&](std::vector<std::int64_t>& shape) {  // {heads, features of a head}
    if (!shape.empty() && shape.front() == core->heads) shape.front() = part.heads;
  });
  scale_pass(op, ratio(part.heads + part.key_value_heads, core->heads + key_value_heads(*core)));
}

void cut_vocabulary(Operator& op, TensorRanks ranks) {
  const double share = ratio(1, ranks.count);
  if (auto* product = std::get_if<GemmShape>(&op.shape)) {
    const std::int64_t whole = product->n;
    change_tensors(op, [&](std::vector<std::int64_t>& shape) {  // a table of some of the words has rows of its own
      if (!shape.empty() && shape.front() != whole) shape.front() = even_part(shape.front(), ranks.count, op, "words");
    });
    return cut_columns(op, ranks, nullptr);
  }
  if (op.kind != models::OperatorKind::embedding) return scale_pass(op, share);
  change_tensors(op, [&](std::vector<std::int64_t>& shape) {
    shape.front() = even_part(shape.front(), ranks.count, op, "words");
  });
  scale_lookup(op, share, 1);  // every rank looks all tokens up, those of others give zeros
  if (ranks.sequence_parallel) op.output_elements *= share;
}

// A rank's part of the tokens; what has no tokens that could be dealt out (a convolution that makes them) stays.
void cut_tokens(Operator& op, std::int64_t ranks) {
  const double share = ratio(1, ranks);
  if (auto* product = std::get_if<GemmShape>(&op.shape)) {
    product->m = (product->m + ranks - 1) / ranks;
    op.saved_elements *= share;
    op.output_elements *= share;
  } else if (op.kind == models::OperatorKind::embedding) {
    scale_lookup(op, 1, share);
  } else if (std::holds_alternative<MemoryShape>(op.shape)) {
    scale_pass(op, share);
  }
}

}  // namespace

std::int64_t key_value_heads(const AttentionShape& core) {
  return core.key_value_heads > 0 ? core.key_value_heads : core.heads;
}

Operator tensor_part(const Operator& op, TensorRanks ranks, const AttentionShape* core) {
  Operator part = op;
  if (ranks.count == 1) return part;
  switch (op.tensor_split) {
    case TensorSplit::none:
      if (ranks.sequence_parallel) cut_tokens(part, ranks.count);
      break;
    case TensorSplit::columns: cut_columns(part, ranks, core); break;
    case TensorSplit::rows: cut_rows(part, ranks); break;
    case TensorSplit::heads: cut_heads(part, ranks.count, core); break;
    case TensorSplit::features: scale_pass(part, ratio(1, ranks.count)); break;
    case TensorSplit::vocabulary: cut_vocabulary(part, ranks); break;
  }
  return part;
}

}  // namespace foretrain::sim::strategies
