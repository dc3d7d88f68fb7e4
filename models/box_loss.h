// What detectors compare with the objects of an image: every anchor is matched with the boxes; classes and boxes have
// their losses.
#pragma once

#include <cstdint>
#include <string>

#include "models/model_writer.h"

namespace foretrain::models {

// The overlap of every anchor with each of `objects` boxes, image by image, and each anchor's best; no gradients.
void write_matching(ModelWriter& writer, const std::string& name, std::int64_t anchors_per_image, std::int64_t objects);

// The focal loss (Lin et al. 2017, arXiv:1708.02002) over sigmoids of all anchors' classes. Not `fused`: image by
// image, one kernel per arithmetic operation, as torchvision's.
void write_focal_loss(ModelWriter& writer, const std::string& name, Activation& logits, bool fused);

// The distance of `boxes` predicted boxes (of all samples) to theirs.
void write_box_distance(ModelWriter& writer, const std::string& name, double boxes);

}  // namespace foretrain::models
