#include "sim/strategies/local_model.h"

namespace foretrain::sim::strategies {

std::vector<const LocalOperator*> flat_operators(const LocalModel& model) {
  std::vector<const LocalOperator*> operators;
  for (const LocalLayer& layer : model.layers) {
    for (const LocalOperator& op : layer.operators) operators.push_back(&op);
  }
  return operators;
}

std::vector<const models::Operator*> flat_operators(const models::Model& model) {
  std::vector<const models::Operator*> operators;
  for (const models::Layer& layer : model.layers) {
    for (const models::Operator& op : layer.operators) operators.push_back(&op);
  }
  return operators;
}

double parameter_count(const LocalModel& model) {
  double count = 0;
  for (const LocalOperator* op : flat_operators(model)) count += static_cast<double>(models::parameter_count(op->op));
  return count;
}

}  // namespace foretrain::sim::strategies
