// A classifier of many identities by the angle between embedding and weight, with a margin.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/model_writer.h"
#include "models/sizes.h"

namespace foretrain::models {

struct MarginClassifier {
  std::int64_t embedding, identities, sample_percent;

  explicit MarginClassifier(const Sizes& sizes);
  [[nodiscard]] static std::vector<std::string> keys() { return {"embedding", "identities", "sample_percent"}; }
  // Over a micro-batch of embeddings.
  void write(ModelWriter& writer, const Activation& embeddings) const;

 private:
  [[nodiscard]] std::int64_t sampled() const { return (identities * sample_percent + 99) / 100; }
};

}  // namespace foretrain::models
