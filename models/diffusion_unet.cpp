#include <utility>

#include <fmt/format.h>

#include "models/convolution_blocks.h"
#include "models/diffusion.h"
#include "models/spatial_transformer.h"

namespace foretrain::models {
namespace {

double real(std::int64_t count) { return static_cast<double>(count); }

struct DiffusionSizes {
  std::int64_t latent, latent_channels, width, blocks_per_level, attention_levels, head_dimension, text_tokens,
      text_width;
  std::vector<std::int64_t> level_factors;

  explicit DiffusionSizes(const Sizes& sizes)
      : latent(sizes.integer("latent", 1, 4096)),
        latent_channels(sizes.integer("latent_channels", 1, 4096)),
        width(sizes.integer("width", 1, 16384)),
        blocks_per_level(sizes.integer("blocks_per_level", 1, 64)),
        attention_levels(sizes.integer("attention_levels", 0, 16)),
        head_dimension(sizes.integer("head_dimension", 1, 16384)),
        text_tokens(sizes.integer("text_tokens", 1, 1 << 16)),
        text_width(sizes.integer("text_width", 1, 1 << 16)),
        level_factors(sizes.list("level_factors", 1, 64)) {
    sizes.allow_only({"latent", "latent_channels", "width", "level_factors", "blocks_per_level", "attention_levels",
                      "head_dimension", "text_tokens", "text_width"});
    constexpr std::size_t most_levels = 12;
    if (level_factors.size() > most_levels) {
      sizes.fail({"level_factors"}, fmt::format("expected at most {} levels", most_levels));
    }
    if (width % head_dimension != 0) {
      sizes.fail({"head_dimension", "width"},
                 fmt::format("{} channels do not divide into heads of {}", width, head_dimension));
    }
    const std::int64_t parts = std::int64_t{1} << (level_factors.size() - 1);
    if (latent % parts != 0) {
      sizes.fail({"latent"},
                 fmt::format("a latent image of {} does not halve {} times", latent, level_factors.size() - 1),
                 fmt::format("a multiple of {}", parts));
    }
  }

  [[nodiscard]] std::int64_t channels(std::size_t level) const { return width * level_factors[level]; }
  [[nodiscard]] bool attends(std::size_t level) const { return std::cmp_less(level, attention_levels); }
};

class DiffusionBuilder {
 public:
  DiffusionBuilder(ModelWriter& writer, const DiffusionSizes& sizes)
      : writer_(writer), sizes_(sizes), batch_(writer.micro_batch()) {
    text_ = {sizes.text_tokens, sizes.text_width, {real(batch_ * sizes.text_tokens * sizes.text_width), false, true}};
  }

  void build(Image latent) {
    add_noise(latent.data.elements);
    embed_time();
    latent.data = {latent.data.elements, false, true};
    Image x = up(middle(down(latent)));
    writer_.begin_layer("out");
    x.data = activated("out.0", "out.1", x.data, x.channels);
    const Image noise = writer_.convolution("out.2", x, sizes_.latent_channels, square_window(3, 1, 1), true);
    const double n = noise.data.elements;
    Operator& loss = writer_.pass("loss", OperatorKind::loss, 3 * n, n, 3 * n, 1);
    loss.saved_elements = n;
    loss.kernels_forward = loss.kernels_backward = 2;
  }

 private:
  // A latent is drawn from its moments, noise drawn and added by the sample's time: one kernel each for two draws and
  // for the arithmetic.
  void add_noise(double n) {
    writer_.begin_layer("noise");
    Operator& op = writer_.pass("add_noise", OperatorKind::elementwise, 12 * n, 10 * n, 0, n);
    op.kernels_forward = 12;
    op.kernels_backward = 0;
    op.forward_only = true;
    op.needs_input_gradient = false;
  }

  void embed_time() {
    writer_.begin_layer("time_embed");
    const std::int64_t width = sizes_.width;
    Activation waves{real(batch_ * width), false, true};
    Activation x = writer_.linear("time_embed.0", waves, batch_, width, time_width(), true);
    x = writer_.silu("time_embed.1", x);
    time_ = writer_.linear("time_embed.2", x, batch_, time_width(), time_width(), true);
  }

  Image down(Image& latent) {
    writer_.begin_layer("input_blocks.0");
    skipped_.push_back(writer_.convolution("input_blocks.0.0", latent, sizes_.width, square_window(3, 1, 1), true));
    int index = 1;
    for (std::size_t level = 0; level < sizes_.level_factors.size(); ++level) {
      for (std::int64_t i = 0; i < sizes_.blocks_per_level; ++i) {
        const std::string name = fmt::format("input_blocks.{}", index++);
        writer_.begin_layer(name);
        skipped_.push_back(block(name, skipped_.back(), sizes_.channels(level), sizes_.attends(level)));
      }
      if (level + 1 == sizes_.level_factors.size()) break;
      const std::string name = fmt::format("input_blocks.{}", index++);
      writer_.begin_layer(name);
      Image& before = skipped_.back();
      skipped_.push_back(writer_.convolution(name + ".0.op", before, before.channels, square_window(3, 2, 1), true));
    }
    return skipped_.back();
  }

  Image middle(Image x) {
    writer_.begin_layer("middle_block");
    x = residual("middle_block.0", x, x.channels);
    if (sizes_.attention_levels > 0) {
      x = write_spatial_transformer(writer_, "middle_block.1", x, sizes_.head_dimension, text_);
    }
    return residual("middle_block.2", x, x.channels);
  }

  Image up(Image x) {
    int index = 0;
    for (std::size_t level = sizes_.level_factors.size(); level-- > 0;) {
      for (std::int64_t i = 0; i <= sizes_.blocks_per_level; ++i) {
        const std::string name = fmt::format("output_blocks.{}", index++);
        writer_.begin_layer(name);
        Image both = writer_.concatenate(name + ".cat", {x, skipped_.back()});
        skipped_.pop_back();
        x = block(name, both, sizes_.channels(level), sizes_.attends(level));
        if (level == 0 || i < sizes_.blocks_per_level) continue;
        Image wide = writer_.upsample(name + ".upsample", x, 2 * x.height, 2 * x.width);
        x = writer_.convolution(name + ".upsample.conv", wide, x.channels, square_window(3, 1, 1), true);
      }
    }
    return x;
  }

  Image block(const std::string& name, Image& input, std::int64_t channels, bool attends) {
    Image x = residual(name + ".0", input, channels);
    if (attends) x = write_spatial_transformer(writer_, name + ".1", x, sizes_.head_dimension, text_);
    return x;
  }

  // Norm, SiLU, convolution, twice; between them the time's vector is added to every place. The input is added, by
  // way of a 1×1 convolution where the channels differ.
  Image residual(const std::string& name, Image& input, std::int64_t channels) {
    Image x = input;
    x.data = activated(name + ".in_layers.0", name + ".in_layers.1", input.data, input.channels);
    x = writer_.convolution(name + ".in_layers.2", x, channels, square_window(3, 1, 1), true);
    Activation time = writer_.silu(name + ".emb_layers.0", time_);
    time = writer_.linear(name + ".emb_layers.1", time, batch_, time_width(), channels, true);
    const double n = x.data.elements;
    writer_.pass(name + ".add_time", OperatorKind::elementwise, n + time.elements, n, n + time.elements, n);
    x.data = {n, false};
    x.data = activated(name + ".out_layers.0", name + ".out_layers.1", x.data, channels);
    x = writer_.convolution(name + ".out_layers.3", x, channels, square_window(3, 1, 1), true);
    if (input.channels != channels) {
      writer_.convolution(name + ".skip_connection", input, channels, square_window(1, 1, 0), true);
    }
    x.data = writer_.residual(name + ".add", x.data);
    return x;
  }

  Activation activated(const std::string& norm, const std::string& silu, Activation& x, std::int64_t channels) {
    Activation normed = writer_.group_norm(norm, x, channels);
    return writer_.silu(silu, normed);
  }

  [[nodiscard]] std::int64_t time_width() const { return 4 * sizes_.width; }

  ModelWriter& writer_;
  const DiffusionSizes& sizes_;
  std::int64_t batch_;
  TextCondition text_;
  Activation time_;
  std::vector<Image> skipped_;
};

}  // namespace

void build_diffusion_unet(Model& model, const Sizes& sizes) {
  const DiffusionSizes checked(sizes);
  const Image latent = input_images(model, checked.latent_channels, checked.latent, checked.latent);
  // The moments (mean and spread) of each latent, and the text's vectors.
  model.sample_elements = 2 * model.sample_elements + real(checked.text_tokens) * real(checked.text_width);
  ModelWriter writer(model);
  DiffusionBuilder(writer, checked).build(latent);
}

}  // namespace foretrain::models
