// Object detectors on residual backbones: SSD (Liu et al. 2015, arXiv:1512.02325), RetinaNet (Lin et al. 2017,
// arXiv:1708.02002), Mask R-CNN (He et al. 2017, arXiv:1703.06870).
//
// Sizes of the last two's backbone: those of ResNetShape; frozen_stages (parts in front that are not trained: 1 = the
// stem, 2 = and the first stage, …), frozen_norms (0/1: statistics and factors of all its norms are fixed).
#pragma once

#include "models/model.h"
#include "models/sizes.h"

namespace foretrain::models {

// The backbone's first stages, the last of them without halving the image, then further feature maps, a 1×1 and a
// 3×3 convolution each; on every map a 3×3 convolution for boxes and one for classes. Sizes: image, channels,
// classes (with the background), width, blocks_per_stage (list), bottleneck; lists with one number per further map:
// extra_inner (channels of the 1×1), extra_channels, extra_halves (0/1); default_boxes (list, one per map).
void build_ssd(Model& model, const Sizes& sizes);

// A pyramid of maps from an eighth of the extent; on every map the same two heads of 3×3 convolutions. Sizes: image,
// channels, classes, pyramid_channels, pyramid_norms (0/1: norms and ReLUs in pyramid and heads, of each map its own,
// as TensorFlow has it), coarser_maps, coarser_from_backbone (0/1: the first of them from the backbone's last map, not
// from the pyramid's), head_convolutions, anchors (per place), objects (boxes of an image), fused_loss (0/1).
void build_retinanet(Model& model, const Sizes& sizes);

// A pyramid of maps from a quarter of the extent; a head that proposes boxes on all of them; per sampled box a
// classifier, per object a mask. Sizes: image_height, image_width, channels, classes (with the background),
// pyramid_channels, anchors (per place), proposals (kept per map before suppression), objects (of an image),
// box_regions and mask_regions (sampled per image), box_pool and mask_pool (extents that regions are pooled to),
// box_width, mask_convolutions.
void build_mask_rcnn(Model& model, const Sizes& sizes);

}  // namespace foretrain::models
