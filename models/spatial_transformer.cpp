#include "models/spatial_transformer.h"

namespace foretrain::models {
namespace {

class SpatialTransformer {
 public:
  SpatialTransformer(ModelWriter& writer, const std::string& name, const Image& image, std::int64_t head_dimension)
      : writer_(writer),
        block_(name + ".transformer_blocks.0."),
        width_(image.channels),
        head_dimension_(head_dimension),
        tokens_(image.height * image.width),
        rows_(writer.micro_batch() * tokens_) {}

  Activation linear(const std::string& name, Activation& x, std::int64_t in, std::int64_t out, bool bias) {
    return writer_.linear(name, x, rows_, in, out, bias);
  }

  Activation self_attention(Activation x) {
    const std::string name = block_ + "attn1.";
    Activation normed = writer_.layer_norm(block_ + "norm1", x, width_, true);
    Activation query = linear(name + "to_q", normed, width_, width_, false);
    Activation key = linear(name + "to_k", normed, width_, width_, false);
    Activation value = linear(name + "to_v", normed, width_, width_, false);
    return attended(name, query, key, value, tokens_);
  }

  Activation text_attention(Activation x, TextCondition& text) {
    const std::string name = block_ + "attn2.";
    Activation normed = writer_.layer_norm(block_ + "norm2", x, width_, true);
    const std::int64_t text_rows = writer_.micro_batch() * text.tokens;
    Activation query = linear(name + "to_q", normed, width_, width_, false);
    Activation key = writer_.linear(name + "to_k", text.vectors, text_rows, text.width, width_, false);
    Activation value = writer_.linear(name + "to_v", text.vectors, text_rows, text.width, width_, false);
    return attended(name, query, key, value, text.tokens);
  }

  // One product makes both the values and what gates them.
  Activation feed_forward(Activation x) {
    const std::string name = block_ + "ff.net.";
    constexpr std::int64_t expansion = 4;
    Activation normed = writer_.layer_norm(block_ + "norm3", x, width_, true);
    const Activation both = linear(name + "0.proj", normed, width_, 2 * expansion * width_, true);
    Activation value{both.elements / 2, false}, gate{both.elements / 2, false};
    Activation active = writer_.swiglu(name + "0.geglu", gate, value);
    const Activation y = linear(name + "2", active, expansion * width_, width_, true);
    return writer_.residual(block_ + "ff.add", y);
  }

 private:
  Activation attended(const std::string& name, Activation& query, Activation& key, Activation& value,
                      std::int64_t key_tokens) {
    AttentionShape shape;
    shape.batch = writer_.micro_batch();
    shape.heads = width_ / head_dimension_;
    shape.query_length = tokens_;
    shape.key_length = key_tokens;
    shape.head_dimension = head_dimension_;
    Activation mixed = writer_.attention(name + "core", {&query, &key, &value}, shape);
    return writer_.residual(name + "add", linear(name + "to_out.0", mixed, width_, width_, true));
  }

  ModelWriter& writer_;
  std::string block_;
  std::int64_t width_, head_dimension_, tokens_, rows_;
};

}  // namespace

Image write_spatial_transformer(ModelWriter& writer, const std::string& name, Image& input, std::int64_t head_dimension,
                                TextCondition& text) {
  SpatialTransformer transformer(writer, name, input, head_dimension);
  Activation x = writer.group_norm(name + ".norm", input.data, input.channels);
  x = writer.copy(name + ".to_tokens", x);
  x = transformer.linear(name + ".proj_in", x, input.channels, input.channels, true);
  x = transformer.feed_forward(transformer.text_attention(transformer.self_attention(x), text));
  x = transformer.linear(name + ".proj_out", x, input.channels, input.channels, true);
  return {input.channels, input.height, input.width, writer.residual(name + ".add", x)};
}

}  // namespace foretrain::models
