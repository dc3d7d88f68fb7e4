#include <fmt/format.h>

#include "models/convolution_blocks.h"
#include "models/speech_synthesis.h"

namespace foretrain::models {
namespace {

struct WaveGlowSizes {
  std::int64_t segment, mels, hop, upsample_kernel, group, flows, early_every, early_size, layers, width, kernel;

  explicit WaveGlowSizes(const Sizes& sizes)
      : segment(sizes.integer("segment", 1, 1 << 24)),
        mels(sizes.integer("mels", 1, 4096)),
        hop(sizes.integer("hop", 1, 1 << 16)),
        upsample_kernel(sizes.integer("upsample_kernel", 1, 1 << 16)),
        group(sizes.integer("group", 2, 4096)),
        flows(sizes.integer("flows", 1, most_blocks)),
        early_every(sizes.integer("early_every", 1, most_blocks)),
        early_size(sizes.integer("early_size", 0, 4096)),
        layers(sizes.integer("layers", 1, most_blocks)),
        width(sizes.integer("width", 1, most_channels)),
        kernel(sizes.integer("kernel", 1, 99)) {
    sizes.allow_only({"segment", "mels", "hop", "upsample_kernel", "group", "flows", "early_every", "early_size",
                      "layers", "width", "kernel"});
    if (segment % group != 0 || group % 2 != 0) {
      sizes.fail({"segment", "group"}, fmt::format("{} sound samples in groups of {}", segment, group),
                 "an even group that divides the segment");
    }
    if (group - early_size * ((flows - 1) / early_every) < 2 || early_size % 2 != 0) {
      sizes.fail({"early_size", "flows"}, "the channels put out early leave none", "an even, smaller early_size");
    }
  }
};

class WaveGlowBuilder {
 public:
  WaveGlowBuilder(ModelWriter& writer, const WaveGlowSizes& sizes)
      : writer_(writer), sizes_(sizes), length_(sizes.segment / sizes.group) {}

  void build(Image spectrogram) {
    writer_.begin_layer("upsample");
    const Window window{1, sizes_.upsample_kernel, 1, sizes_.hop, 0, 0};
    writer_.transposed_convolution("upsample", spectrogram, sizes_.mels, window, true);
    const Image sound = tensor(sizes_.mels * sizes_.group);
    spectrogram = {sound.channels, 1, length_, writer_.copy("unfold", sound.data)};
    std::int64_t channels = sizes_.group;
    for (std::int64_t i = 0; i < sizes_.flows; ++i) {
      if (i > 0 && i % sizes_.early_every == 0) channels -= sizes_.early_size;
      flow(fmt::format("flow.{}", i), channels, spectrogram);
    }
    writer_.begin_layer("loss");
    const double n = tensor(sizes_.group).data.elements;
    writer_.pass("loss", OperatorKind::loss, 2 * n, 1, 2 * n, 1).saved_elements = n;
  }

 private:
  [[nodiscard]] Image tensor(std::int64_t channels) const {
    const double elements =
        static_cast<double>(writer_.micro_batch()) * static_cast<double>(channels) * static_cast<double>(length_);
    return {channels, 1, length_, {elements, false}};
  }

  // With weight norm: the weight is computed from its direction and length in every step, and kept. A dilated
  // convolution has the counts of one without, padded to keep its extent.
  Image normed(const std::string& name, Image& x, std::int64_t channels, std::int64_t kernel = 1) {
    const double w = static_cast<double>(x.channels) * static_cast<double>(channels) * static_cast<double>(kernel);
    writer_.pass(name + ".weight_norm", OperatorKind::normalization, 2 * w, w, 4 * w, w).saved_elements = w;
    const Image output = convolution(name, x, channels, kernel);
    writer_.last_operator().parameters.front().name = name + ".weight_v";
    writer_.last_operator().parameters.push_back({name + ".weight_g", {channels, 1, 1}});
    return output;
  }

  Image convolution(const std::string& name, Image& x, std::int64_t channels, std::int64_t kernel = 1,
                    bool bias = true) {
    return writer_.convolution(name, x, channels, {1, kernel, 1, 1, 0, (kernel - 1) / 2}, bias);
  }

  void flow(const std::string& name, std::int64_t channels, Image& spectrogram) {
    writer_.begin_layer(name);
    Image audio = tensor(channels);
    convolution(name + ".convinv", audio, channels, 1, false);
    const std::int64_t half = channels / 2;
    Image x = tensor(half);
    coupling(name + ".WN", x, spectrogram);
    // exp(s)·x + b on the other half, then both halves in one tensor.
    const double n = x.data.elements;
    Operator& affine = writer_.pass(name + ".affine", OperatorKind::elementwise, 5 * n, 4 * n, 8 * n, 2 * n);
    affine.saved_elements = 2 * n;
    affine.kernels_forward = affine.kernels_backward = 4;
  }

  void coupling(const std::string& name, Image& half, Image& spectrogram) {
    Image x = normed(name + ".start", half, sizes_.width);
    for (std::int64_t i = 0; i < sizes_.layers; ++i) {
      const bool last = i + 1 == sizes_.layers;
      const auto part = [&](const char* kind) { return fmt::format("{}.{}.{}", name, kind, i); };
      const Image in = normed(part("in_layers"), x, 2 * sizes_.width, sizes_.kernel);
      normed(part("cond_layers"), spectrogram, 2 * sizes_.width);
      // tanh of one half times the sigmoid of the other, of the sum, in one kernel; the sum's halves are kept.
      const double n = in.data.elements;
      writer_.pass(part("gate"), OperatorKind::elementwise, 2 * n, n / 2, 2.5 * n, n / 2).saved_elements = n;
      Image gated = tensor(sizes_.width);
      normed(part("res_skip_layers"), gated, last ? sizes_.width : 2 * sizes_.width);
      if (!last) x.data = writer_.residual(part("residual"), tensor(sizes_.width).data);
      if (i > 0) writer_.residual(part("skip"), tensor(sizes_.width).data);
    }
    Image skipped = tensor(sizes_.width);
    convolution(name + ".end", skipped, 2 * half.channels);
  }

  ModelWriter& writer_;
  const WaveGlowSizes& sizes_;
  std::int64_t length_;  // vectors of `group` sound samples
};

}  // namespace

void build_waveglow(Model& model, const Sizes& sizes) {
  const WaveGlowSizes checked(sizes);
  const std::int64_t frames = (checked.segment + checked.hop - 1) / checked.hop;
  const Image spectrogram = input_images(model, checked.mels, 1, frames);
  model.sample_unit = "segment";
  model.sample_elements += static_cast<double>(checked.segment);
  ModelWriter writer(model);
  WaveGlowBuilder(writer, checked).build(spectrogram);
}

}  // namespace foretrain::models
