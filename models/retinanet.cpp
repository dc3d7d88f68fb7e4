#include <fmt/format.h>

#include "models/box_loss.h"
#include "models/convolution_blocks.h"
#include "models/detector.h"
#include "models/feature_pyramid.h"
#include "models/resnet_stages.h"

namespace foretrain::models {
namespace {

struct RetinaNetSizes {
  std::int64_t image, channels, classes, frozen_stages, coarser_maps, head_convolutions, anchors, objects;
  ResNetShape backbone;
  PyramidShape pyramid;
  bool coarser_from_backbone, fused_loss;

  explicit RetinaNetSizes(const Sizes& sizes)
      : image(sizes.integer("image", 128, largest_image)),
        channels(sizes.integer("channels", 1, most_channels)),
        classes(sizes.integer("classes", 1, most_classes)),
        frozen_stages(sizes.integer("frozen_stages", 0, 5)),
        coarser_maps(sizes.integer("coarser_maps", 0, 2)),
        head_convolutions(sizes.integer("head_convolutions", 0, 16)),
        anchors(sizes.integer("anchors", 1, 64)),
        objects(sizes.integer("objects", 1, 1000)),
        backbone(ResNetShape::of(sizes)),
        coarser_from_backbone(sizes.flag("coarser_from_backbone")),
        fused_loss(sizes.flag("fused_loss")) {
    std::vector<std::string> keys = ResNetShape::keys();
    keys.insert(keys.end(),
                {"image", "channels", "classes", "frozen_stages", "frozen_norms", "pyramid_channels", "pyramid_norms",
                 "coarser_maps", "coarser_from_backbone", "head_convolutions", "anchors", "objects", "fused_loss"});
    sizes.allow_only(keys);
    backbone.frozen_norms = sizes.flag("frozen_norms");
    pyramid = {sizes.integer("pyramid_channels", 1, most_channels), sizes.flag("pyramid_norms"), "backbone.fpn"};
    if (backbone.blocks_per_stage.size() != 4) sizes.fail({"blocks_per_stage"}, "expected 4 stages");
  }
};

class RetinaNetBuilder {
 public:
  RetinaNetBuilder(ModelWriter& writer, const RetinaNetSizes& sizes) : writer_(writer), sizes_(sizes) {}

  void build(const Image& image) {
    std::vector<Image> maps =
        ResNetStages(writer_, sizes_.backbone, "backbone.body.").maps(image, sizes_.frozen_stages);
    maps.erase(maps.begin());  // the pyramid begins at an eighth of the extent
    std::vector<Image> pyramid = write_pyramid(writer_, maps, sizes_.pyramid);
    Image* source = sizes_.coarser_from_backbone ? &maps.back() : nullptr;
    write_coarser_maps(writer_, pyramid, source, sizes_.coarser_maps, sizes_.pyramid);
    const double logits = head("head.classification_head", "cls_logits", sizes_.anchors * sizes_.classes, pyramid);
    const double boxes = head("head.regression_head", "bbox_reg", sizes_.anchors * 4, pyramid);
    writer_.begin_layer("loss");
    write_matching(writer_, "loss.matching", places(pyramid) * sizes_.anchors, sizes_.objects);
    Activation all_logits = writer_.copy("head.classification_head.cat", {logits, false});
    write_focal_loss(writer_, "loss.classification", all_logits, sizes_.fused_loss);
    writer_.copy("head.regression_head.cat", {boxes, false});
    write_box_distance(writer_, "loss.bbox_regression", boxes / 4);
  }

 private:
  // Returns the elements that the head puts out on all maps.
  double head(const std::string& name, const std::string& last, std::int64_t outputs, std::vector<Image>& pyramid) {
    double elements = 0;
    write_shared_head(writer_, name, pyramid, sizes_.pyramid.norms, [&](Image& map, const std::string& suffix) {
      Image x = map;
      for (std::int64_t i = 0; i < sizes_.head_convolutions; ++i) {
        const std::string part = fmt::format("{}.conv.{}", name, i);
        Image& input = i == 0 ? map : x;
        x = sizes_.pyramid.norms
                ? convolution_norm_relu(writer_, part + suffix, part + ".norm" + suffix, part + ".relu" + suffix, input,
                                        map.channels, square_window(3, 1, 1))
                : convolution_relu(writer_, part + suffix, part + ".relu" + suffix, input, map.channels,
                                   square_window(3, 1, 1));
      }
      Image& input = sizes_.head_convolutions == 0 ? map : x;
      const Image y = writer_.convolution(name + "." + last + suffix, input, outputs, square_window(3, 1, 1), true);
      elements += writer_.copy(name + ".permute" + suffix, y.data).elements;
    });
    return elements;
  }

  ModelWriter& writer_;
  const RetinaNetSizes& sizes_;
};

}  // namespace

void build_retinanet(Model& model, const Sizes& sizes) {
  const RetinaNetSizes checked(sizes);
  const Image image = input_images(model, checked.channels, checked.image, checked.image);
  ModelWriter writer(model);
  RetinaNetBuilder(writer, checked).build(image);
}

}  // namespace foretrain::models
