// The parts of BERT-like encoders: embeddings, layers, the masked language model. BERT, ALBERT and ELECTRA
// put them together.
#pragma once

#include <cstdint>
#include <string>

#include "models/transformer_core.h"

namespace foretrain::models {

struct EncoderShape {
  BlockShape block;
  std::int64_t layers = 0, vocabulary = 0, positions = 0, token_types = 0;
  std::int64_t embedding_width = 0;  // of the tables; another than the hidden size is mapped to it
  bool shared_layers = false;        // one layer's weights serve all (ALBERT)
};

class EncoderParts {
 public:
  // `prefix` stands before every name ("generator.").
  EncoderParts(ModelWriter& writer, const EncoderShape& shape, std::string prefix = "");

  // Lookups, their sum, norm, dropout, and the mapping to the hidden size; `tied`: an output layer uses the table.
  Activation embeddings(bool tied);
  // The same with the tables of the encoder whose prefix is `other`, which stand there.
  Activation embeddings_of(const std::string& other);
  Activation layers(Activation x);
  // On `predictions` tokens of each sequence (0 = on all).
  void masked_language_model(Activation& x, std::int64_t predictions);

 private:
  [[nodiscard]] std::int64_t rows() const { return shape_.block.rows(); }
  Activation sum_of_tables(bool tied);
  Activation mapped(Activation x);

  ModelWriter& writer_;
  EncoderShape shape_;
  std::string prefix_;
};

}  // namespace foretrain::models
