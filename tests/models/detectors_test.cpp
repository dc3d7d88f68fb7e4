// RetinaNet and Mask R-CNN: parameters and FLOPs, and what is frozen in them.
#include "models/model.h"
#include "tests/catch.h"
#include "tests/models/zoo_models.h"

using namespace foretrain;
using namespace foretrain::models;
using test::find_operator;
using test::zoo_model;

namespace {

// Factors and addends of the norms of ResNet-50: 2·64 of the stem; of a stage with width w and b blocks
// b·2·(w + w + 4w) and 2·4w of the branch beside the first: 128 + 2,816 + 7,168 + 20,480 + 22,528.
constexpr double norms_of_resnet50 = 53'120;

double all_parameters(const Model& model) { return parameter_count(model) + frozen_parameter_count(model); }
double forward(const Model& model) { return forward_flops(model).value; }

}  // namespace

TEST_CASE("RetinaNet has the published parameters, to which fixed norms add none") {
  // torchvision/models/detection/retinanet.py: 34,014,999 (91 classes). Fixed norms are buffers there.
  CHECK(all_parameters(zoo_model("retinanet-resnet50")) == 34'014'999 + norms_of_resnet50);
  // detectron2, tests/test_model_analysis.py: 37,915,572 (80 classes; the first coarser map from the backbone).
  const Model other = zoo_model("retinanet-resnet50", 1, 0, {{"classes", 80}, {"coarser_from_backbone", 1}});
  CHECK(all_parameters(other) == 37'915'572 + norms_of_resnet50);
}

TEST_CASE("Mask R-CNN has torchvision's parameters with its 91 classes") {
  // torchvision/models/detection/mask_rcnn.py: 44,401,393.
  CHECK(all_parameters(zoo_model("mask-rcnn-resnet50", 1, 0, {{"classes", 91}})) == 44'401'393 + norms_of_resnet50);
}

TEST_CASE("SSD320 by hand") {
  // ResNet-50 without classifier 25,557,032 − 2,049,000. Projections 256·(512 + 1024 + 2048) + 3·256; four 3×3
  // convolutions with norms (two smooth, two halve) 4·(9·256² + 2·256); two towers of four convolutions whose norms are
  // those of each of five maps; 6 anchors of 4 coordinates and 91 classes.
  const double pyramid = 256. * 3584 + 768 + 4 * (9. * 256 * 256 + 512);
  const double heads = 2 * 4 * (9. * 256 * 256 + 5 * 512) + 6. * (4 + 91) * (9 * 256 + 1);
  const Model model = zoo_model("ssd320-resnet50-fpn");
  CHECK(parameter_count(model) == 25'557'032. - 2'049'000 + pyramid + heads);
  CHECK(frozen_parameter_count(model) == 0);
  // 40², 20², 10², 5² and 3² places.
  CHECK(find_operator(model, "loss.matching").output_elements == 8. * 6 * (1600 + 400 + 100 + 25 + 9));
}

TEST_CASE("RetinaNet of MLPerf by hand") {
  // ResNeXt-50 without classifier 25,028,904 − 2,049,000. Pyramid: three 1×1 and three 3×3 convolutions; two coarser
  // maps; heads of 4 convolutions; 9 anchors of 264 classes and 4 coordinates.
  const double backbone = 25'028'904. - 2'049'000, square = 9. * 256 * 256 + 256;
  const double pyramid = 256. * 3584 + 768 + 3 * square + 2 * square;
  const double heads = 8 * square + 9. * (264 + 4) * (9 * 256 + 1);
  const Model model = zoo_model("retinanet-resnext50-openimages");
  CHECK(all_parameters(model) == backbone + pyramid + heads);
  // Not trained: the stem 7²·3·64; the first stage, 128 wide inside in 32 groups, 64·128 + 9·128·4 + 128·256 and
  // 64·256 beside it, then twice 256·128 + 9·128·4 + 128·256; all norms: 2·64, per block 2·(2·inner + outer) with
  // inner 128·2^i, outer 256·2^i, and 2·outer beside each first block.
  const double stem_and_stage = 49. * 3 * 64 + 64 * 128 + 4608 + 128 * 256 + 64 * 256 + 2. * (2 * 256 * 128 + 4608);
  const double blocks[] = {3, 4, 6, 3};
  double norms = 128;
  for (int i = 0; i < 4; ++i) norms += blocks[i] * 2 * 512 * (1 << i) + 512 * (1 << i);
  CHECK(frozen_parameter_count(model) == stem_and_stage + norms);

  // FLOPs of the heads: on 100², 50², 25², 13² and 7² places, 8 convolutions and the two last ones.
  const double places = 10'000 + 2'500 + 625 + 169 + 49;
  double in_heads = 0;
  for (const Layer& layer : model.layers) {
    for (const Operator& op : layer.operators) {
      if (op.name.rfind("head.", 0) == 0) in_heads += forward_flops(op).value;
    }
  }
  CHECK(in_heads == Approx(2 * places * (8 * 9. * 256 * 256 + 9. * 256 * 9 * 268)).epsilon(1e-12));
}

TEST_CASE("frozen layers run forward only and the first trained ones need no gradient by their input") {
  const Model model = zoo_model("retinanet-resnext50-openimages", 4);
  const Operator& frozen = find_operator(model, "backbone.body.layer1.2.conv3");
  CHECK(frozen.forward_only);
  CHECK(frozen.parameters.empty());
  CHECK(frozen.frozen_parameters.front().name == "backbone.body.layer1.2.conv3.weight");
  CHECK(frozen.saved_elements == 0);
  CHECK(frozen.kernels_backward == 0);
  CHECK(forward_flops(frozen).value > 0);
  CHECK(backward_flops(frozen).value == 0);
  CHECK(backward_elements(find_operator(model, "backbone.body.layer1.2.relu_out")) == 0);

  // Both convolutions on the first stage's output (256 channels of 200×200) have a gradient by weight only; the first
  // keeps it.
  const Operator& first = find_operator(model, "backbone.body.layer2.0.conv1");
  const Operator& beside = find_operator(model, "backbone.body.layer2.0.downsample.0");
  for (const Operator* op : {&first, &beside}) {
    CHECK_FALSE(op->forward_only);
    CHECK(backward_flops(*op).value == forward_flops(*op).value);
  }
  CHECK(first.saved_elements == 4. * 256 * 200 * 200);
  CHECK(beside.saved_elements == 0);
  CHECK(backward_flops(find_operator(model, "backbone.body.layer2.0.conv2")).value ==
        2 * forward_flops(find_operator(model, "backbone.body.layer2.0.conv2")).value);

  // Fixed norms train nothing and keep nothing, but pass the gradient.
  const Operator& norm = find_operator(model, "backbone.body.layer3.1.bn2");
  CHECK(norm.parameters.empty());
  CHECK(norm.saved_elements == 0);
  CHECK(backward_elements(norm) > 0);
}

TEST_CASE("a pyramid's map of a frozen stage is kept once") {
  // Mask R-CNN's finest map is the frozen first stage's: 256 channels of 200×336.
  const Model model = zoo_model("mask-rcnn-resnet50");
  CHECK(find_operator(model, "backbone.body.layer2.0.conv1").saved_elements == 256. * 200 * 336);
  CHECK(find_operator(model, "backbone.fpn.inner_blocks.0").saved_elements == 0);
  CHECK_FALSE(find_operator(model, "backbone.fpn.inner_blocks.0").needs_input_gradient);
  CHECK(find_operator(model, "backbone.fpn.inner_blocks.1").needs_input_gradient);
}

TEST_CASE("Mask R-CNN's heads by hand") {
  const Model model = zoo_model("mask-rcnn-resnet50", 2);
  const auto flops = [&model](const std::string& name) { return forward_flops(find_operator(model, name)).value; };
  // 512 regions of 7×7·256 in each of two images; 128 regions of 14×14, then 28×28.
  CHECK(flops("roi_heads.box_head.fc6") == 2. * 2 * 512 * 12544 * 1024);
  CHECK(flops("roi_heads.mask_head.mask_fcn1") == 2. * 2 * 128 * 196 * 9 * 256 * 256);
  CHECK(flops("roi_heads.mask_predictor.conv5_mask") == 2. * 2 * 128 * 196 * 4 * 256 * 256);
  CHECK(flops("roi_heads.mask_predictor.mask_fcn_logits") == 2. * 2 * 128 * 784 * 256 * 81);
  // Anchors: 3 on each place of 200×336, 100×168, 50×84, 25×42 and 13×21.
  const double anchors = 3. * (67'200 + 16'800 + 4'200 + 1'050 + 273);
  CHECK(find_operator(model, "rpn.matching").output_elements == 2 * 8 * anchors);
  CHECK(find_operator(model, "rpn.proposals").forward_only);
}

TEST_CASE("heads shared by the maps stand with the finest, whose gradients are ready last") {
  const Model model = zoo_model("retinanet-resnet50");
  CHECK(find_operator(model, "head.classification_head.conv.0").parameters.size() == 2);
  CHECK(find_operator(model, "head.classification_head.conv.0/map 5").parameters.empty());
  // Norms of TensorFlow's heads are each map's own.
  const Model ssd = zoo_model("ssd320-resnet50-fpn");
  CHECK(find_operator(ssd, "head.classification_head.conv.0.norm/map 5").parameters.size() == 2);
  CHECK(find_operator(ssd, "head.classification_head.conv.0/map 5").parameters.empty());
  // An image twice as large: four times the convolutions of the backbone and, but for rounding, of all.
  const double small = forward(ssd);
  CHECK(forward(zoo_model("ssd320-resnet50-fpn", 1, 0, {{"image", 640}})) == Approx(4 * small).epsilon(0.01));
}
