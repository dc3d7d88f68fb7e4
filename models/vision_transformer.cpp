#include "models/transformer.h"

#include <fmt/format.h>

#include "models/transformer_core.h"

namespace foretrain::models {
namespace {

double real(std::int64_t count) { return static_cast<double>(count); }

struct VisionSizes : TransformerCore {
  std::int64_t image, channels, patch, classes;
  bool class_token;

  explicit VisionSizes(const Sizes& sizes)
      : TransformerCore(sizes),
        image(sizes.integer("image", 1, 16384)),
        channels(sizes.integer("channels", 1, 4096)),
        patch(sizes.integer("patch", 1, 4096)),
        classes(sizes.integer("classes", 1, largest_vocabulary)),
        class_token(sizes.flag("class_token")) {
    sizes.allow_only({"layers", "hidden", "heads", "feed_forward", "dropout", "image", "channels", "patch", "classes",
                      "class_token"});
    if (image % patch != 0) {
      sizes.fail({"patch", "image"}, fmt::format("an image of {} does not divide into patches of {}", image, patch));
    }
  }

  [[nodiscard]] std::int64_t tokens() const { return (image / patch) * (image / patch) + (class_token ? 1 : 0); }
};

// Patches to tokens: a convolution with a stride of its own size, the class token in front, positions.
Activation patch_embedding(ModelWriter& writer, const VisionSizes& sizes, double sample_elements) {
  writer.begin_layer("embeddings");
  Image image{sizes.channels, sizes.image, sizes.image, {real(writer.micro_batch()) * sample_elements, false}};
  writer.convolution("conv_proj", image, sizes.hidden, square_window(sizes.patch, sizes.patch, 0), true);
  const double n = real(writer.micro_batch()) * real(sizes.tokens()) * real(sizes.hidden);
  // Channels last, with the class token: one copy each way.
  Operator& tokens = writer.pass("tokens", OperatorKind::elementwise, n, n, 2 * n, n);
  if (sizes.class_token) tokens.parameters.push_back({"class_token", {1, 1, sizes.hidden}});
  Operator& positions = writer.pass("encoder.add_positions", OperatorKind::elementwise, n, n, n, n);
  positions.parameters.push_back({"encoder.pos_embedding", {1, sizes.tokens(), sizes.hidden}});
  return {n, false};
}

void write_vision_transformer(Model& model, const VisionSizes& sizes, const BlockShape& block) {
  static const BlockNames names = {"self_attention.in_proj",
                                   "",
                                   "",
                                   "",
                                   "self_attention.core",
                                   "self_attention.out_proj",
                                   "ln_1",
                                   "mlp.0",
                                   "",
                                   "mlp.3",
                                   "ln_2"};
  ModelWriter writer(model);
  Activation x = patch_embedding(writer, sizes, model.sample_elements);
  if (sizes.dropout) x = writer.dropout("encoder.dropout", x);
  for (std::int64_t i = 0; i < sizes.layers; ++i) {
    x = write_block(writer, fmt::format("encoder.layers.encoder_layer_{}", i), x, block, names);
  }
  writer.begin_layer("head");
  x = writer.layer_norm("encoder.ln", x, sizes.hidden, true);
  Activation pooled{real(block.batch) * real(sizes.hidden), false};
  if (!sizes.class_token) {  // the mean over all tokens
    writer.pass("mean", OperatorKind::pooling, x.elements, pooled.elements, x.elements + pooled.elements,
                pooled.elements);
  }
  const Activation logits = writer.linear("heads.head", pooled, block.batch, sizes.hidden, sizes.classes, true);
  writer.cross_entropy("loss", logits, block.batch);
}

}  // namespace

void build_vision_transformer(Model& model, const Sizes& sizes) {
  const VisionSizes checked(sizes);
  model.sample_unit = "image";
  model.sample_elements = real(checked.channels) * real(checked.image) * real(checked.image);
  write_vision_transformer(model, checked,
                           checked.block(model.micro_batch, checked.tokens(), checked.head_dimension(sizes)));
}

}  // namespace foretrain::models
