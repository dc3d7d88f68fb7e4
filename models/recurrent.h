// Recurrent networks: the convolutional recurrent network for text lines (CRNN), translation by LSTMs (GNMT), speech
// recognition by a transducer (RNN-T).
//
// After Shi, Bai and Yao 2015, "An End-to-End Trainable Neural Network for Image-based Sequence
// Recognition" (arXiv:1507.05717): convolutions and poolings until the height is 1, the width read as
// time steps, bidirectional LSTMs, a linear layer over symbols and a blank, CTC loss.
#pragma once

#include "models/model.h"
#include "models/sizes.h"

namespace foretrain::models {

// Sizes: image_height, image_width, image_channels; lists with one number per convolution:
// convolution_channels, convolution_kernel (3 = 3×3 padded by 1, 2 = 2×2 unpadded), batch_norm (0/1),
// pool_height and pool_width (1×1 = no pooling); lstm_layers, lstm_hidden, bidirectional (0/1),
// symbols (without the blank), target_length (symbols per line, for the CTC loss).
void build_crnn(Model& model, const Sizes& sizes);

// GNMT after Wu et al. 2016 (arXiv:1609.08144) as MLPerf trains it: as many encoder as decoder layers, the
// encoder's first in both directions, attention after the decoder's first, one table for both. Sizes: layers,
// hidden, vocabulary, sequence (tokens of source and of target), dropout (0/1), label_smoothing (0/1).
void build_gnmt(Model& model, const Sizes& sizes);

// RNN-T after Graves 2012 (arXiv:1211.3711) as MLPerf trains it: LSTMs over the sound and over the tokens so far, and
// for every pair of their steps scores of all tokens. Sizes: frames (of an utterance), features (of a frame), tokens
// (of an utterance), vocabulary (with the blank), encoder_hidden, encoder_layers_before and encoder_layers_after (the
// steps are stacked), stacked (steps in one), prediction_hidden, prediction_layers, joint_hidden, dropout (0/1).
void build_rnn_transducer(Model& model, const Sizes& sizes);

}  // namespace foretrain::models
