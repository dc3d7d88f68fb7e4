// ModelWriter: appends operators to a model in forward order, as a framework would call them.
//
// A builder holds the tensors between operators as Activations; an operator that needs its input or its
// output for the backward pass keeps it, and a tensor that somebody keeps already is not counted again
// (the output of a ReLU is the input of the next convolution: one tensor). Parameters are named as
// PyTorch would: the operator's name, then ".weight" and ".bias".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "models/model.h"

namespace foretrain::models {

// A tensor between two operators.
struct Activation {
  double elements = 0;
  bool kept = false;      // counted in some operator's saved_elements
  bool constant = false;  // nothing in front of it is trained, so that nobody asks for its gradient
};

// A tensor of images, batch × channels × height × width.
struct Image {
  std::int64_t channels = 0, height = 0, width = 0;
  Activation data;
};

struct Window {  // of a convolution or a pooling
  std::int64_t kernel_height = 1, kernel_width = 1;
  std::int64_t stride_height = 1, stride_width = 1;
  std::int64_t padding_height = 0, padding_width = 0;
};
[[nodiscard]] Window square_window(std::int64_t kernel, std::int64_t stride, std::int64_t padding);

class ModelWriter {
 public:
  explicit ModelWriter(Model& model) : model_(model) {}

  void begin_layer(std::string name, bool is_block = false);

  // What a tensor-parallel rank has of the operators written last, `operators` of them, all in this layer.
  void deal_out(TensorSplit split, std::size_t operators = 1);

  // The layer written last uses the weights of `other`, which begins equally: its tensors stand there and are only
  // named here (tied_parameters), and adding its gradients to theirs is charged to its last pass over memory.
  // Gradients are thus ready when the first user's backward ends, which is the last. With `own_norms` the norms
  // keep their tensors.
  void use_weights_of(const std::string& other, bool own_norms = false);

  // Everything written so far runs forward only and is not trained; what it put out is constant from here on.
  void freeze_so_far();

  // Products. `rows` is the number of vectors of length `in` (batch · tokens).
  Activation linear(const std::string& name, Activation& input, std::int64_t rows, std::int64_t in, std::int64_t out,
                    bool bias);
  // The same with weights that stand elsewhere as `weight` (a tied embedding); `bias` may still be its own.
  Activation tied_linear(const std::string& name, Activation& input, std::int64_t rows, std::int64_t in,
                         std::int64_t out, bool bias, ParameterTensor weight);
  Image convolution(const std::string& name, Image& input, std::int64_t out_channels, const Window& window, bool bias,
                    std::int64_t groups = 1);
  // The same over `input` elements of any layout: its shape and its weight's extents are given (volumes, uneven
  // padding).
  Activation convolution(const std::string& name, Activation& input, const ConvolutionShape& shape,
                         std::vector<std::int64_t> weight, bool bias);
  // The input's gradient of a convolution as a forward pass: the extent grows by the stride, a kernel at its end.
  Image transposed_convolution(const std::string& name, Image& input, std::int64_t out_channels, const Window& window,
                               bool bias);
  // The same, given the shape of the convolution that leads back.
  Activation transposed_convolution(const std::string& name, Activation& input, const ConvolutionShape& back,
                                    std::vector<std::int64_t> weight, bool bias);
  // shape.batch separate products (m×k)·(k×n) of two activations; keeps both.
  Activation products(const std::string& name, Activation& left, Activation& right, const GemmShape& shape);
  // The attention core over query, key and value, each from its own tensor or all from one.
  Activation attention(const std::string& name, const std::vector<Activation*>& inputs, const AttentionShape& shape);
  // A recurrent layer over `steps` time steps, both directions if asked; hidden states are the output.
  Activation lstm(const std::string& name, Activation& input, const RecurrentShape& shape, int layer);

  // Passes over memory.
  Activation batch_norm(const std::string& name, Activation& input, std::int64_t channels);
  // With statistics and factors that stay as they are: a factor and an addend per channel, computed in every step.
  Activation frozen_batch_norm(const std::string& name, const Activation& input, std::int64_t channels);
  Activation group_norm(const std::string& name, Activation& input, std::int64_t channels);
  Activation layer_norm(const std::string& name, Activation& input, std::int64_t features, bool bias);
  Activation relu(const std::string& name, const Activation& input);
  Activation gelu(const std::string& name, Activation& input);
  Activation tanh(const std::string& name, const Activation& input);
  Activation silu(const std::string& name, Activation& input) { return gelu(name, input); }
  Activation sigmoid(const std::string& name, const Activation& input) { return relu(name, input); }
  Activation prelu(const std::string& name, Activation& input, std::int64_t channels);
  Activation swiglu(const std::string& name, Activation& gate, Activation& up);
  Activation dropout(const std::string& name, const Activation& input);
  // branch + skip; on the way back the gradients of both branches are added.
  Activation residual(const std::string& name, const Activation& branch);
  // image · scale, one factor per channel and sample.
  Image scale_channels(const std::string& name, Image& image, Activation& scale);
  // Tensors side by side in one, along the channels.
  Image concatenate(const std::string& name, const std::vector<Image>& images);
  Image max_pool(const std::string& name, Image& input, const Window& window);
  // Every element becomes a block of as many as the new extents ask for (nearest neighbour).
  Image upsample(const std::string& name, const Image& input, std::int64_t height, std::int64_t width);
  Image average_pool(const std::string& name, const Image& input, std::int64_t height, std::int64_t width);
  // A lookup of `rows` vectors in a table; `tied`: its gradient is added to that of the output layer.
  Activation embedding(const std::string& name, std::int64_t rows, std::int64_t table, std::int64_t features,
                       bool tied);
  // A copy in another layout.
  Activation copy(const std::string& name, const Activation& input);
  Activation log_softmax(const std::string& name, const Activation& logits);
  // Softmax over classes and its negative log-likelihood, over `rows` predictions.
  void cross_entropy(const std::string& name, const Activation& logits, std::int64_t rows);

  // A pass over memory that has no name above: elements read, written, read and written on the way back,
  // and of the output; one kernel each way, nothing kept, no parameters (the caller may add all that).
  Operator& pass(const std::string& name, OperatorKind kind, double read, double written, double backward,
                 double output);

  [[nodiscard]] Operator& last_operator() { return model_.layers.back().operators.back(); }
  [[nodiscard]] std::int64_t micro_batch() const { return model_.micro_batch; }

 private:
  Operator& add(Operator op);
  // A product with one weight, without saying where that stands.
  Operator& product(const std::string& name, Activation& input, const GemmShape& shape, bool bias);
  double keep(Activation& tensor);
  [[nodiscard]] bool is_first() const { return model_.layers.size() == 1 && model_.layers.back().operators.empty(); }

  Model& model_;
};

// The output extent of a window over `input`; 0 = the window does not fit.
[[nodiscard]] std::int64_t window_output(std::int64_t input, std::int64_t kernel, std::int64_t stride,
                                         std::int64_t padding);

}  // namespace foretrain::models
