// What encoders, decoders and vision transformers share: the sizes of their layers, sequences, positions.
#pragma once

#include <cstdint>
#include <string>

#include "models/sizes.h"
#include "models/transformer_block.h"

namespace foretrain::models {

inline constexpr std::int64_t most_layers = 4096;
inline constexpr std::int64_t longest_sequence = 1 << 24;
inline constexpr std::int64_t most_heads = 1 << 14;
inline constexpr std::int64_t largest_vocabulary = 1 << 24;
inline constexpr std::int64_t widest_hidden = 1 << 18;
inline constexpr std::int64_t widest_feed_forward = 1 << 21;

struct TransformerCore {
  std::int64_t layers, hidden, heads, feed_forward;
  bool dropout;

  explicit TransformerCore(const Sizes& sizes);
  // hidden / heads; throws an Error when that is not whole.
  [[nodiscard]] std::int64_t head_dimension(const Sizes& sizes) const;
  [[nodiscard]] BlockShape block(std::int64_t batch, std::int64_t tokens, std::int64_t dimension) const;
};

// Sets model.sequence to the size "sequence" unless the user chose one; throws an Error when it is longer
// than the `positions` of a learned table (0 = no table).
void resolve_sequence(Model& model, const Sizes& sizes, std::int64_t positions);

// Throws an Error when a masked language model is to predict more tokens than a sequence has.
void check_predictions(const Model& model, const Sizes& sizes, std::int64_t predictions_per_sequence);

// Adds a learned position to every token: a lookup of one sequence and an addition over the batch.
Activation add_positions(ModelWriter& writer, const std::string& name, const Activation& x, std::int64_t tokens,
                         std::int64_t positions, std::int64_t hidden);

// The mean over all classes that label smoothing adds to a cross entropy.
void write_label_smoothing(ModelWriter& writer, const Activation& logits);

}  // namespace foretrain::models
