#include "models/inception.h"

#include <utility>

#include "models/convolution_blocks.h"

namespace foretrain::models {
namespace {

class InceptionBuilder {
 public:
  InceptionBuilder(ModelWriter& writer, std::int64_t classes, bool auxiliary, bool dropout)
      : writer_(writer), classes_(classes), auxiliary_(auxiliary), dropout_(dropout) {}

  void build(Image x) {
    x = stem(x);
    for (const auto& [name, pool_channels] : {std::pair{"Mixed_5b", 32}, {"Mixed_5c", 64}, {"Mixed_5d", 64}}) {
      x = block_a(name, x, pool_channels);
    }
    x = reduction_b("Mixed_6a", x);
    for (const auto& [name, inner] :
         {std::pair{"Mixed_6b", 128}, {"Mixed_6c", 160}, {"Mixed_6d", 160}, {"Mixed_6e", 192}}) {
      x = block_c(name, x, inner);
    }
    if (auxiliary_) auxiliary_classifier(x);
    x = reduction_d("Mixed_7a", x);
    for (const char* name : {"Mixed_7b", "Mixed_7c"}) x = block_e(name, x);
    write_image_classifier(writer_, "fc", x, classes_, dropout_);
  }

 private:
  Image convolution(const std::string& name, Image& x, std::int64_t channels, const Window& window) {
    return convolution_norm_relu(writer_, name + ".conv", name + ".bn", name + ".relu", x, channels, window);
  }
  Image pointwise(const std::string& name, Image& x, std::int64_t channels) {
    return convolution(name, x, channels, square_window(1, 1, 0));
  }
  // 1×k or k×1, keeping the extent.
  Image row(const std::string& name, Image& x, std::int64_t channels, std::int64_t kernel) {
    return convolution(name, x, channels, {1, kernel, 1, 1, 0, kernel / 2});
  }
  Image column(const std::string& name, Image& x, std::int64_t channels, std::int64_t kernel) {
    return convolution(name, x, channels, {kernel, 1, 1, 1, kernel / 2, 0});
  }

  Image stem(Image x) {
    writer_.begin_layer("stem");
    x = convolution("Conv2d_1a_3x3", x, 32, square_window(3, 2, 0));
    x = convolution("Conv2d_2a_3x3", x, 32, square_window(3, 1, 0));
    x = convolution("Conv2d_2b_3x3", x, 64, square_window(3, 1, 1));
    x = writer_.max_pool("maxpool1", x, square_window(3, 2, 0));
    x = convolution("Conv2d_3b_1x1", x, 80, square_window(1, 1, 0));
    x = convolution("Conv2d_4a_3x3", x, 192, square_window(3, 1, 0));
    return writer_.max_pool("maxpool2", x, square_window(3, 2, 0));
  }

  Image pooled(const std::string& name, Image& x, std::int64_t channels) {
    Image pool = writer_.average_pool(name + ".pool", x, x.height, x.width);  // 3×3 in steps of one
    return pointwise(name + ".branch_pool", pool, channels);
  }

  Image block_a(const std::string& name, Image& x, std::int64_t pool_channels) {
    writer_.begin_layer(name);
    const Image one = pointwise(name + ".branch1x1", x, 64);
    Image five = pointwise(name + ".branch5x5_1", x, 48);
    five = convolution(name + ".branch5x5_2", five, 64, square_window(5, 1, 2));
    Image three = pointwise(name + ".branch3x3dbl_1", x, 64);
    three = convolution(name + ".branch3x3dbl_2", three, 96, square_window(3, 1, 1));
    three = convolution(name + ".branch3x3dbl_3", three, 96, square_window(3, 1, 1));
    return writer_.concatenate(name + ".cat", {one, five, three, pooled(name, x, pool_channels)});
  }

  Image reduction_b(const std::string& name, Image& x) {
    writer_.begin_layer(name);
    const Image three = convolution(name + ".branch3x3", x, 384, square_window(3, 2, 0));
    Image twice = pointwise(name + ".branch3x3dbl_1", x, 64);
    twice = convolution(name + ".branch3x3dbl_2", twice, 96, square_window(3, 1, 1));
    twice = convolution(name + ".branch3x3dbl_3", twice, 96, square_window(3, 2, 0));
    return writer_.concatenate(name + ".cat",
                               {three, twice, writer_.max_pool(name + ".pool", x, square_window(3, 2, 0))});
  }

  Image block_c(const std::string& name, Image& x, std::int64_t inner) {
    writer_.begin_layer(name);
    const Image one = pointwise(name + ".branch1x1", x, 192);
    Image seven = pointwise(name + ".branch7x7_1", x, inner);
    seven = row(name + ".branch7x7_2", seven, inner, 7);
    seven = column(name + ".branch7x7_3", seven, 192, 7);
    Image twice = pointwise(name + ".branch7x7dbl_1", x, inner);
    twice = column(name + ".branch7x7dbl_2", twice, inner, 7);
    twice = row(name + ".branch7x7dbl_3", twice, inner, 7);
    twice = column(name + ".branch7x7dbl_4", twice, inner, 7);
    twice = row(name + ".branch7x7dbl_5", twice, 192, 7);
    return writer_.concatenate(name + ".cat", {one, seven, twice, pooled(name, x, 192)});
  }

  Image reduction_d(const std::string& name, Image& x) {
    writer_.begin_layer(name);
    Image three = pointwise(name + ".branch3x3_1", x, 192);
    three = convolution(name + ".branch3x3_2", three, 320, square_window(3, 2, 0));
    Image seven = pointwise(name + ".branch7x7x3_1", x, 192);
    seven = row(name + ".branch7x7x3_2", seven, 192, 7);
    seven = column(name + ".branch7x7x3_3", seven, 192, 7);
    seven = convolution(name + ".branch7x7x3_4", seven, 192, square_window(3, 2, 0));
    return writer_.concatenate(name + ".cat",
                               {three, seven, writer_.max_pool(name + ".pool", x, square_window(3, 2, 0))});
  }

  Image block_e(const std::string& name, Image& x) {
    writer_.begin_layer(name);
    const Image one = pointwise(name + ".branch1x1", x, 320);
    Image three = pointwise(name + ".branch3x3_1", x, 384);
    const Image three_row = row(name + ".branch3x3_2a", three, 384, 3);
    const Image three_column = column(name + ".branch3x3_2b", three, 384, 3);
    Image twice = pointwise(name + ".branch3x3dbl_1", x, 448);
    twice = convolution(name + ".branch3x3dbl_2", twice, 384, square_window(3, 1, 1));
    const Image twice_row = row(name + ".branch3x3dbl_3a", twice, 384, 3);
    const Image twice_column = column(name + ".branch3x3dbl_3b", twice, 384, 3);
    return writer_.concatenate(name + ".cat",
                               {one, three_row, three_column, twice_row, twice_column, pooled(name, x, 192)});
  }

  void auxiliary_classifier(Image& x) {
    writer_.begin_layer("AuxLogits");
    const std::int64_t extent = window_output(x.height, 5, 3, 0);
    Image y = writer_.average_pool("AuxLogits.pool", x, extent, extent);
    y = pointwise("AuxLogits.conv0", y, 128);
    y = convolution("AuxLogits.conv1", y, 768, square_window(5, 1, 0));
    y = writer_.average_pool("AuxLogits.avgpool", y, 1, 1);
    const std::int64_t rows = writer_.micro_batch();
    const Activation logits = writer_.linear("AuxLogits.fc", y.data, rows, y.channels, classes_, true);
    writer_.cross_entropy("AuxLogits.loss", logits, rows);
  }

  ModelWriter& writer_;
  std::int64_t classes_;
  bool auxiliary_, dropout_;
};

}  // namespace

void build_inception_v3(Model& model, const Sizes& sizes) {
  sizes.allow_only({"image", "channels", "classes", "auxiliary", "dropout"});
  const bool auxiliary = sizes.flag("auxiliary");
  constexpr std::int64_t smallest = 75, smallest_with_auxiliary = 299;  // the auxiliary convolution needs 5×5
  const std::int64_t extent = sizes.integer("image", auxiliary ? smallest_with_auxiliary : smallest, largest_image);
  const std::int64_t channels = sizes.integer("channels", 1, most_channels);
  const std::int64_t classes = sizes.integer("classes", 1, most_classes);
  ModelWriter writer(model);
  InceptionBuilder(writer, classes, auxiliary, sizes.flag("dropout"))
      .build(input_images(model, channels, extent, extent));
}

}  // namespace foretrain::models
