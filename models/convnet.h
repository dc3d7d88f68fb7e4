// Convolutional networks for image classification, by their sizes.
//
// ResNet after He et al. 2015 (arXiv:1512.03385) with ResNeXt and Wide ResNet, VGG after Simonyan and
// Zisserman 2014 (arXiv:1409.1556), AlexNet after Krizhevsky 2014 (arXiv:1404.5997), EfficientNet after Tan and Le
// 2019 (arXiv:1905.11946); layers and parameter
// names as in torchvision.
#pragma once

#include "models/model.h"
#include "models/sizes.h"

namespace foretrain::models {

// Sizes: image, channels, classes, width (channels of the first stage), blocks_per_stage (list),
// bottleneck (0: two 3×3 convolutions per block; 1: 1×1, 3×3, 1×1 with four times the channels),
// stride_in_3x3 (1: v1.5, the 3×3 convolution of a bottleneck halves the image; 0: v1, the first 1×1),
// groups and group_width (of the 3×3 convolution of a bottleneck in the first stage).
void build_resnet(Model& model, const Sizes& sizes);

// Sizes: image, channels, classes, channels_per_stage and convolutions_per_stage (lists of equal length),
// classifier_pool (extent the images are pooled to), classifier_width, batch_norm (0/1), dropout (0/1).
void build_vgg(Model& model, const Sizes& sizes);

// Sizes: image, channels, classes; lists with one number per convolution: convolution_channels,
// convolution_kernel, convolution_stride, pool_after (0/1); classifier_pool, classifier_width.
void build_alexnet(Model& model, const Sizes& sizes);

// Sizes: image, channels, classes, stem_channels, head_channels; lists with one number per stage: block_channels,
// blocks_per_stage, expansion, block_kernel, stage_stride.
void build_efficientnet(Model& model, const Sizes& sizes);

}  // namespace foretrain::models
