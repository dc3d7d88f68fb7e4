#include "models/model.h"

#include <fmt/format.h>

#include "base/error.h"
#include "models/huggingface.h"
#include "models/operator_list.h"
#include "models/totals.h"
#include "models/zoo.h"

namespace foretrain::models {
namespace {

void check(const BatchShape& batch) {
  constexpr std::int64_t most_samples = 1 << 24, longest_sequence = 1 << 24;
  if (batch.micro_batch < 1 || batch.micro_batch > most_samples) {
    throw Error(fmt::format("expected a micro-batch of 1 to {} samples, found {}", most_samples, batch.micro_batch),
                "training.micro_batch");
  }
  if (batch.sequence < 0 || batch.sequence > longest_sequence) {
    throw Error(fmt::format("expected a sequence of 1 to {} tokens, found {}", longest_sequence, batch.sequence),
                "training.sequence");
  }
}

// Sums quantity(op) over all operators.
template <class Quantity>
double sum(const Model& model, Quantity quantity) {
  double total = 0;
  for (const Layer& layer : model.layers) {
    for (const Operator& op : layer.operators) total += quantity(op);
  }
  return total;
}

}  // namespace

Model build_model(const ModelSource& source, const BatchShape& batch, const DataStore& data) {
  check(batch);
  switch (source.kind) {
    case ModelSource::Kind::operators: return build_operator_list(source.operators_text, source.name, batch);
    case ModelSource::Kind::totals: return build_totals_model(source.totals, source.where, batch);
    case ModelSource::Kind::huggingface: return build_huggingface_model(source, batch);
    case ModelSource::Kind::zoo: break;
  }
  return build_zoo_model(source.name, source.overrides, source.where, batch, data);
}

double parameter_count(const Model& model) {
  return sum(model, [](const Operator& op) { return static_cast<double>(parameter_count(op)); });
}

double frozen_parameter_count(const Model& model) {
  return sum(model, [](const Operator& op) { return static_cast<double>(frozen_parameter_count(op)); });
}

Flops forward_flops(const Model& model) {
  return Flops(sum(model, [](const Operator& op) { return forward_flops(op).value; }));
}

Flops training_flops(const Model& model) {
  return forward_flops(model) + Flops(sum(model, [](const Operator& op) { return backward_flops(op).value; }));
}

double saved_elements(const Model& model) {
  return sum(model, [](const Operator& op) { return op.saved_elements; });
}

double unfused_saved_elements(const Model& model) {
  return sum(model, [](const Operator& op) {
    const auto* attention = std::get_if<AttentionShape>(&op.shape);
    return attention ? unfused_saved_elements(*attention) : 0.0;
  });
}

}  // namespace foretrain::models
