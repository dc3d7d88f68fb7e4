#include <fmt/format.h>

#include "models/box_loss.h"
#include "models/convolution_blocks.h"
#include "models/detector.h"
#include "models/feature_pyramid.h"
#include "models/resnet_stages.h"

namespace foretrain::models {
namespace {

double real(std::int64_t count) { return static_cast<double>(count); }

struct MaskRcnnSizes {
  std::int64_t height, width, channels, classes, frozen_stages, anchors, proposals, objects;
  std::int64_t box_regions, mask_regions, box_pool, mask_pool, box_width, mask_convolutions;
  ResNetShape backbone;
  PyramidShape pyramid;

  explicit MaskRcnnSizes(const Sizes& sizes)
      : height(sizes.integer("image_height", 128, largest_image)),
        width(sizes.integer("image_width", 128, largest_image)),
        channels(sizes.integer("channels", 1, most_channels)),
        classes(sizes.integer("classes", 2, most_classes)),
        frozen_stages(sizes.integer("frozen_stages", 0, 5)),
        anchors(sizes.integer("anchors", 1, 64)),
        proposals(sizes.integer("proposals", 1, 1 << 20)),
        objects(sizes.integer("objects", 1, 1000)),
        box_regions(sizes.integer("box_regions", 1, 1 << 16)),
        mask_regions(sizes.integer("mask_regions", 1, 1 << 16)),
        box_pool(sizes.integer("box_pool", 1, 256)),
        mask_pool(sizes.integer("mask_pool", 1, 256)),
        box_width(sizes.integer("box_width", 1, most_channels)),
        mask_convolutions(sizes.integer("mask_convolutions", 0, 64)),
        backbone(ResNetShape::of(sizes)) {
    std::vector<std::string> keys = ResNetShape::keys();
    keys.insert(keys.end(), {"image_height", "image_width", "channels", "classes", "frozen_stages", "frozen_norms",
                             "pyramid_channels", "anchors", "proposals", "objects", "box_regions", "mask_regions",
                             "box_pool", "mask_pool", "box_width", "mask_convolutions"});
    sizes.allow_only(keys);
    backbone.frozen_norms = sizes.flag("frozen_norms");
    pyramid = {sizes.integer("pyramid_channels", 1, most_channels), false, "backbone.fpn"};
    if (backbone.blocks_per_stage.size() != 4) sizes.fail({"blocks_per_stage"}, "expected 4 stages");
  }
};

class MaskRcnnBuilder {
 public:
  MaskRcnnBuilder(ModelWriter& writer, const MaskRcnnSizes& sizes) : writer_(writer), sizes_(sizes) {}

  void build(const Image& image) {
    std::vector<Image> maps =
        ResNetStages(writer_, sizes_.backbone, "backbone.body.").maps(image, sizes_.frozen_stages);
    std::vector<Image> pyramid = write_pyramid(writer_, maps, sizes_.pyramid);
    regions_from_ = pyramid.size();
    for (const Image& map : pyramid) pyramid_elements_ += map.data.elements;
    pyramid.push_back(writer_.max_pool("backbone.fpn.pool", pyramid.back(), square_window(1, 2, 0)));
    region_proposals(pyramid);
    box_head();
    mask_head();
  }

 private:
  void region_proposals(std::vector<Image>& pyramid) {
    write_shared_head(writer_, "rpn.head", pyramid, false, [this](Image& map, const std::string& suffix) {
      Image x = convolution_relu(writer_, "rpn.head.conv" + suffix, "rpn.head.relu" + suffix, map, map.channels,
                                 square_window(3, 1, 1));
      const Window one = square_window(1, 1, 0);
      const Image scores = writer_.convolution("rpn.head.cls_logits" + suffix, x, sizes_.anchors, one, true);
      const Image boxes = writer_.convolution("rpn.head.bbox_pred" + suffix, x, 4 * sizes_.anchors, one, true);
      writer_.copy("rpn.head.permute" + suffix, {scores.data.elements + boxes.data.elements, false});
      writer_.last_operator().kernels_forward = writer_.last_operator().kernels_backward = 2;
    });
    writer_.begin_layer("rpn.proposals");
    const std::int64_t anchors = places(pyramid) * sizes_.anchors, maps = std::ssize(pyramid);
    proposals(anchors, maps);
    write_matching(writer_, "rpn.matching", anchors, sizes_.objects);
    // Of all anchors some are sampled: the labels are read, the gradient stands among zeros.
    const double n = images() * real(anchors);
    Operator& loss = writer_.pass("rpn.loss", OperatorKind::loss, n, n, 2 * n, 1);
    loss.kernels_forward = loss.kernels_backward = 10;
  }

  // Per image and map: the best by sorting, their boxes decoded and clipped, overlaps of all pairs as bits,
  // suppression; then the sample of regions.
  void proposals(std::int64_t anchors, std::int64_t maps) {
    constexpr double sorting_passes = 8, box_passes = 20, pairs_per_element = 32, kernels_per_map = 15;
    const double kept = images() * real(maps) * real(sizes_.proposals);
    const double pairs = kept * real(sizes_.proposals) / pairs_per_element;
    const double half = sorting_passes * images() * real(anchors) + box_passes * kept + pairs;
    Operator& op = writer_.pass("rpn.proposals", OperatorKind::elementwise, half, half, 0, 4 * kept);
    op.kernels_forward = kernels_per_map * images() * real(maps);
    op.kernels_backward = 0;
    op.forward_only = true;
  }

  // Regions cut out of the map of their size: two by two points in every place, each between four elements. Back, the
  // gradients of all maps are set to zero, added to, and added to those of others.
  Activation pool(const std::string& name, std::int64_t regions, std::int64_t extent) {
    constexpr double points = 4, kernels_per_map = 5;
    const double n = images() * real(regions * sizes_.pyramid.channels * extent * extent);
    Operator& op =
        writer_.pass(name, OperatorKind::pooling, points * n, n, n + 2 * points * n + 4 * pyramid_elements_, n);
    op.kernels_forward = op.kernels_backward = kernels_per_map * static_cast<double>(regions_from_);
    return {n, false};
  }

  void box_head() {
    writer_.begin_layer("roi_heads.box");
    const std::int64_t rows = writer_.micro_batch() * sizes_.box_regions, width = sizes_.box_width;
    const std::string name = "roi_heads.box_head.";
    Activation x = pool("roi_heads.box_roi_pool", sizes_.box_regions, sizes_.box_pool);
    x = writer_.linear(name + "fc6", x, rows, sizes_.pyramid.channels * sizes_.box_pool * sizes_.box_pool, width, true);
    x = writer_.relu(name + "relu6", x);
    x = writer_.linear(name + "fc7", x, rows, width, width, true);
    x = writer_.relu(name + "relu7", x);
    const std::string predictor = "roi_heads.box_predictor.";
    const Activation logits = writer_.linear(predictor + "cls_score", x, rows, width, sizes_.classes, true);
    writer_.linear(predictor + "bbox_pred", x, rows, width, 4 * sizes_.classes, true);
    writer_.cross_entropy("loss.classes", logits, rows);
    write_box_distance(writer_, "loss.boxes", real(rows));
  }

  void mask_head() {
    writer_.begin_layer("roi_heads.mask");
    const std::int64_t extent = sizes_.mask_pool, channels = sizes_.pyramid.channels;
    Activation x = pool("roi_heads.mask_roi_pool", sizes_.mask_regions, extent);
    for (std::int64_t i = 0; i < sizes_.mask_convolutions; ++i) {
      const std::string name = fmt::format("roi_heads.mask_head.mask_fcn{}", i + 1);
      x = writer_.convolution(name, x, over_regions(channels, channels, extent, 3), {channels, channels, 3, 3}, true);
      x = writer_.relu(fmt::format("roi_heads.mask_head.relu{}", i + 1), x);
    }
    const std::string predictor = "roi_heads.mask_predictor.";
    ConvolutionShape back = over_regions(channels, channels, 2 * extent, 2);
    back.stride_height = back.stride_width = 2;
    back.out_height = back.out_width = extent;
    x = writer_.transposed_convolution(predictor + "conv5_mask", x, back, {channels, channels, 2, 2}, true);
    x = writer_.relu(predictor + "relu", x);
    const std::int64_t classes = sizes_.classes;
    const Activation masks =
        writer_.convolution(predictor + "mask_fcn_logits", x, over_regions(channels, classes, 2 * extent, 1),
                            {classes, channels, 1, 1}, true);
    // Of each region the mask of its own class: selected (its gradient among zeros), cross entropy.
    const double n = masks.elements / real(classes);
    Operator& loss = writer_.pass("loss.masks", OperatorKind::loss, 4 * n, 2 * n, masks.elements + 4 * n, 1);
    loss.saved_elements = 2 * n;
    loss.kernels_forward = loss.kernels_backward = 3;
  }

  [[nodiscard]] double images() const { return real(writer_.micro_batch()); }

  // A convolution that keeps the extent of the regions with masks.
  [[nodiscard]] ConvolutionShape over_regions(std::int64_t in, std::int64_t out, std::int64_t extent,
                                              std::int64_t kernel) const {
    ConvolutionShape shape;
    shape.batch = writer_.micro_batch() * sizes_.mask_regions;
    shape.in_channels = in;
    shape.height = shape.width = shape.out_height = shape.out_width = extent;
    shape.out_channels = out;
    shape.kernel_height = shape.kernel_width = kernel;
    return shape;
  }

  ModelWriter& writer_;
  const MaskRcnnSizes& sizes_;
  std::size_t regions_from_ = 0;  // maps
  double pyramid_elements_ = 0;
};

}  // namespace

void build_mask_rcnn(Model& model, const Sizes& sizes) {
  const MaskRcnnSizes checked(sizes);
  const Image image = input_images(model, checked.channels, checked.height, checked.width);
  ModelWriter writer(model);
  MaskRcnnBuilder(writer, checked).build(image);
}

}  // namespace foretrain::models
