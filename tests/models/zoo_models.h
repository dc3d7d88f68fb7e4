// Models of the built-in zoo, by name, for tests.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include "models/model.h"

namespace foretrain::test {

inline models::Model zoo_model(const std::string& name, std::int64_t micro_batch = 1, std::int64_t sequence = 0,
                               std::map<std::string, double> overrides = {}) {
  models::ModelSource source;
  source.name = name;
  source.overrides = std::move(overrides);
  source.where = "scenario.json: /model";
  return models::build_model(source, {micro_batch, sequence}, DataStore());
}

inline models::Model operator_list(const std::string& text, std::int64_t micro_batch = 1, std::int64_t sequence = 0) {
  models::ModelSource source;
  source.kind = models::ModelSource::Kind::operators;
  source.name = "my.json";
  source.operators_text = text;
  return models::build_model(source, {micro_batch, sequence}, DataStore());
}

inline models::Model totals_model(const models::Totals& totals, std::int64_t micro_batch = 1) {
  models::ModelSource source;
  source.kind = models::ModelSource::Kind::totals;
  source.totals = totals;
  source.where = "scenario.json: /model";
  return models::build_model(source, {micro_batch, 0}, DataStore());
}

// The operator `name`; its absence is a failure of the test.
inline const models::Operator& find_operator(const models::Model& model, const std::string& name) {
  for (const models::Layer& layer : model.layers) {
    for (const models::Operator& op : layer.operators) {
      if (op.name == name) return op;
    }
  }
  throw std::runtime_error("the model has no operator " + name);
}

}  // namespace foretrain::test
