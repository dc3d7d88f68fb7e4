// Speech synthesis: Tacotron 2 (Shen et al. 2017, arXiv:1712.05884) and FastPitch (Łańcucki 2020, arXiv:2006.06873),
// text to spectrograms, and WaveGlow (Prenger et al. 2018, arXiv:1811.00002), spectrograms to sound.
#pragma once

#include "models/model.h"
#include "models/sizes.h"

namespace foretrain::models {

// Convolutions and a bidirectional LSTM over the text; a decoder that the framework runs frame by frame, each frame
// some forty kernels; convolutions over the result. Sizes: text (symbols of a sentence), frames (of its
// spectrogram), symbols (of the alphabet), mels, embedding (of the text), encoder_convolutions, kernel, prenet,
// attention_hidden and decoder_hidden (of the two LSTMs), attention (width), location_filters, location_kernel,
// postnet_width, postnet_convolutions.
void build_tacotron2(Model& model, const Sizes& sizes);

// Transformers whose feed-forward networks are convolutions, one over the text and one over the frames; between them
// predictors of duration, pitch and energy. Sizes: text, frames, symbols, mels, layers (of each transformer), hidden,
// heads, head_dimension, feed_forward, kernel, predictor_width, predictor_layers, energy (0/1), aligner (0/1: durations
// are learnt along with it, as from version 1.1), dropout (0/1).
void build_fastpitch(Model& model, const Sizes& sizes);

// Steps of flow, each an invertible 1×1 convolution and a coupling layer: a network of dilated convolutions over
// half the channels, conditioned on the spectrogram. Sizes: segment (sound samples per training sample), mels,
// hop (sound samples per frame), upsample_kernel, group (sound samples per vector), flows, early_every and
// early_size (channels put out every few flows), layers, width and kernel (of the network).
void build_waveglow(Model& model, const Sizes& sizes);

}  // namespace foretrain::models
