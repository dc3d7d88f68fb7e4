// Transformers: encoders (BERT, ALBERT, ELECTRA), decoders (GPT, Llama and their like), both (translation, T5) and
// vision transformers (ViT).
//
// BERT after Devlin et al. 2018 (arXiv:1810.04805), ALBERT after Lan et al. 2019 (arXiv:1909.11942), ELECTRA
// after Clark et al. 2020 (arXiv:2003.10555), GPT-2 after Radford et al. 2019, ViT after
// Dosovitskiy et al. 2020 (arXiv:2010.11929); layers and parameter names as in Hugging Face transformers
// (BERT, GPT-2) and torchvision (ViT). Common sizes: layers, hidden, heads, feed_forward, dropout (0/1),
// sequence (tokens unless the user asks for others), positions (rows of the learned position table).
#pragma once

#include "models/model.h"
#include "models/sizes.h"

namespace foretrain::models {

// Further sizes: vocabulary, token_types, embedding_width (of the tables, 0 = hidden), shared_layers (0/1: all
// layers have the weights of one), pooler (0/1), mlm_head (0/1: masked language model, tied to the
// embedding), predictions_per_sequence (masked tokens the head works on, 0 = every token), nsp_head
// (0/1: next sentence), classes (of a classifier on the pooled output, 0 = none). Without any head the
// loss reads the output as it is.
void build_encoder(Model& model, const Sizes& sizes);

// ELECTRA's pre-training: a small generator fills masked tokens, the discriminator, of the common sizes, tells
// which were replaced; both read the same tables. Further sizes: vocabulary, token_types,
// predictions_per_sequence, generator_hidden, generator_heads, generator_feed_forward.
void build_electra(Model& model, const Sizes& sizes);

// Further sizes: key_value_heads (fewer than heads: grouped queries; 0 = heads), head_dimension (0 = hidden / heads),
// vocabulary, gated_feed_forward, tied_embeddings, biases, query_key_value_biases, rms_norm,
// learned_positions, rotary_positions, and where not 0 relu (in place of GELU), embedding_norm (BLOOM's, on the
// embeddings), query_key_norms (Qwen 3's, on every head) (each 0/1).
void build_decoder(Model& model, const Sizes& sizes);

// Encoder and decoder for translation (Vaswani et al. 2017, arXiv:1706.03762): one table for source, target and
// output, sinusoidal positions. `layers` are the encoder's; a sample is a pair of sentences of `sequence` tokens
// each. Further sizes: decoder_layers, vocabulary, label_smoothing (0/1), and for BART (Lewis et al. 2019,
// arXiv:1910.13461) positions (rows of two learned tables, 0 = sinusoidal), embedding_norm, gelu (each 0/1).
void build_encoder_decoder(Model& model, const Sizes& sizes);

// T5 (Raffel et al. 2019, arXiv:1910.10683), as Hugging Face transformers has it: encoder and decoder with RMS norms,
// no biases, scores biased by distance. Further sizes: decoder_layers, head_dimension (d_kv), decoder_sequence (tokens
// of the target, 0 = as many as of the source), vocabulary, position_buckets, gated_feed_forward (0/1: v1.1's gated
// GELU; else ReLU), tied_embeddings (0/1: of the output layer; source and target always share theirs).
void build_t5(Model& model, const Sizes& sizes);

// Transformer-XL (Dai et al. 2019, arXiv:1901.02860): relative positions, a memory of earlier tokens, an adaptive
// softmax tied to the embeddings. Further sizes: memory (tokens), attention_dropout (0/1), vocabulary, cutoffs (list:
// words of the head, then the ends of the tails but the last), width_divisor (of the tables from cluster to
// cluster; 1 = all hidden wide), tail_tokens_per_thousand (list: share of the text in each tail).
void build_transformer_xl(Model& model, const Sizes& sizes);

// Further sizes: image, channels, patch, class_token (0/1), classes. The number of tokens follows from
// image and patch.
void build_vision_transformer(Model& model, const Sizes& sizes);

}  // namespace foretrain::models
