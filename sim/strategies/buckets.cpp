#include "sim/strategies/buckets.h"

#include <cmath>

#include "models/precision.h"
#include "sim/strategies/local_model.h"
#include "sim/tables.h"

namespace foretrain::sim::strategies {

std::vector<ReadyGradient> ready_order(const models::Model& model, const Plan& plan) {
  const std::vector<const models::Operator*> operators = flat_operators(model);
  std::vector<ReadyGradient> gradients;
  for (std::size_t i = operators.size(); i-- > 0;) {
    if (spreads_tables(plan) && operators[i]->often_sharded) continue;
    const std::vector<models::ParameterTensor>& tensors = operators[i]->parameters;
    for (std::size_t k = tensors.size(); k-- > 0;) {
      const std::vector<std::int64_t>& shape = tensors[k].shape;
      gradients.push_back(
          {static_cast<double>(tensors[k].elements()), i, shape.empty() ? 1.0 : static_cast<double>(shape.front())});
    }
  }
  return gradients;
}

void Bucket::add(const ReadyGradient& gradient) {
  elements += gradient.elements;
  ready_after = gradient.made_by;
  tensors.push_back(gradient);
}

std::vector<Bucket> assign_buckets(const std::vector<ReadyGradient>& gradients, Bytes first_limit, Bytes limit) {
  std::vector<Bucket> buckets;
  Bucket open;
  for (const ReadyGradient& gradient : gradients) {
    open.add(gradient);
    const double bytes = open.elements * models::activation_bytes(models::Precision::fp32);
    if (bytes >= (buckets.empty() ? first_limit : limit).value) {
      buckets.push_back(open);
      open = Bucket{};
    }
  }
  if (!open.tensors.empty()) buckets.push_back(open);
  return buckets;
}

std::vector<bool> put_off(const std::vector<double>& bytes, double overlap) {
  std::vector<bool> waits;
  double so_far = 0, waiting = 0;
  for (const double item : bytes) {
    so_far += item;
    const double wanted = (1 - overlap) * so_far;
    waits.push_back(std::abs(waiting + item - wanted) < std::abs(waiting - wanted));
    if (waits.back()) waiting += item;
  }
  return waits;
}

}  // namespace foretrain::sim::strategies
