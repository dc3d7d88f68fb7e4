// Face recognition as InsightFace trains it: a backbone, an embedding, and a classifier of all identities with an
// angular margin (Deng et al. 2018, arXiv:1801.07698), of which partial FC samples a part (An et al. 2020,
// arXiv:2010.05222).
//
// The classifier's weights are marked as often sharded. Sharded over n ranks, each rank multiplies the features of
// all ranks by its n-th of the identities: as many FLOPs as its own features by all identities, as built here.
#pragma once

#include "models/model.h"
#include "models/sizes.h"

namespace foretrain::models {

// ResNet with PReLU, norms first in a block, without a stem that shrinks the image ("iresnet"). Sizes: image,
// channels, width, blocks_per_stage (list), embedding, identities, sample_percent (of the identities in a step;
// 100 = all).
void build_face_resnet(Model& model, const Sizes& sizes);

// MobileFaceNet (Chen et al. 2018, arXiv:1804.07573). Sizes: image, channels, stem_channels, lists with one number
// per stage (block_channels, blocks_per_stage, expansion, block_kernel, stage_stride), head_channels, embedding,
// identities, sample_percent.
void build_mobile_facenet(Model& model, const Sizes& sizes);

}  // namespace foretrain::models
