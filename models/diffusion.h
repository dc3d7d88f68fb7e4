// Latent diffusion (Rombach et al. 2021, arXiv:2112.10752): a U-Net that takes the noise out of a latent image, told by
// a text through cross attention. Only this network is trained and built: latents and text vectors stand
// as the data set's, computed beforehand.
#pragma once

#include "models/model.h"
#include "models/sizes.h"

namespace foretrain::models {

// Sizes: latent (extent), latent_channels, width (channels of the first level), level_factors (list: a level's channels
// are so many times the width), blocks_per_level, attention_levels (the first so many levels, and the middle, attend),
// head_dimension, text_tokens, text_width.
void build_diffusion_unet(Model& model, const Sizes& sizes);

}  // namespace foretrain::models
