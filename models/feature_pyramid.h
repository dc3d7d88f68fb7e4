// Feature pyramids (Lin et al. 2016, arXiv:1612.03144): the maps of a backbone brought to one width from the coarsest
// down, and the heads that detectors run over all of them with the same weights.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/model_writer.h"

namespace foretrain::models {

struct PyramidShape {
  std::int64_t channels = 0;
  bool norms = false;  // TensorFlow's form: norm and ReLU after a 3×3 convolution, which the coarsest map lacks
  std::string name;    // before every name ("backbone.fpn")
};

// `maps` finest first; returns as many.
std::vector<Image> write_pyramid(ModelWriter& writer, std::vector<Image>& maps, const PyramidShape& shape);

// `further` coarser maps appended to `pyramid`, each a 3×3 convolution that halves the one before; the first of
// them halves `source`, where that is not null, in place of the pyramid's coarsest.
void write_coarser_maps(ModelWriter& writer, std::vector<Image>& pyramid, Image* source, std::int64_t further,
                        const PyramidShape& shape);

// Runs `head` on every map in a layer of its own, its last operator a pass over memory. `head` gets the map, what
// to put behind the names of its operators ("" for the first map, which has the weights), and appends to the layer.
void write_shared_head(ModelWriter& writer, const std::string& name, std::vector<Image>& maps, bool own_norms,
                       const std::function<void(Image& map, const std::string& suffix)>& head);

// Places of all maps together, for one sample.
[[nodiscard]] std::int64_t places(const std::vector<Image>& maps);

}  // namespace foretrain::models
