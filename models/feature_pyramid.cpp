#include "models/feature_pyramid.h"

#include <fmt/format.h>

#include "models/convolution_blocks.h"

namespace foretrain::models {
namespace {

Image smooth(ModelWriter& writer, const PyramidShape& shape, const std::string& name, Image& input,
             const Window& window) {
  if (!shape.norms) return writer.convolution(name, input, shape.channels, window, true);
  return convolution_norm_relu(writer, name, name + ".norm", name + ".relu", input, shape.channels, window);
}

}  // namespace

std::vector<Image> write_pyramid(ModelWriter& writer, std::vector<Image>& maps, const PyramidShape& shape) {
  writer.begin_layer(shape.name);
  std::vector<Image> pyramid(maps.size());
  Image above;
  for (std::size_t i = maps.size(); i-- > 0;) {
    const bool coarsest = i + 1 == maps.size();
    const auto part = [&](const char* kind) { return fmt::format("{}.{}.{}", shape.name, kind, i); };
    Image lateral = writer.convolution(part("inner_blocks"), maps[i], shape.channels, square_window(1, 1, 0), true);
    if (!coarsest) {
      const Image wide = writer.upsample(part("upsample"), above, lateral.height, lateral.width);
      lateral.data = writer.residual(part("add"), wide.data);
    }
    above = lateral;
    pyramid[i] = shape.norms && coarsest ? lateral
                                         : smooth(writer, shape, part("layer_blocks"), lateral, square_window(3, 1, 1));
  }
  return pyramid;
}

void write_coarser_maps(ModelWriter& writer, std::vector<Image>& pyramid, Image* source, std::int64_t further,
                        const PyramidShape& shape) {
  for (std::int64_t i = 0; i < further; ++i) {
    const std::string name = fmt::format("{}.extra_blocks.{}", shape.name, i);
    writer.begin_layer(name);
    Image& before = i == 0 && source != nullptr ? *source : pyramid.back();
    if (i == 0 || shape.norms) {
      pyramid.push_back(smooth(writer, shape, name, before, square_window(3, 2, 1)));
      continue;
    }
    Image active = before;
    active.data = writer.relu(name + ".relu", before.data);
    pyramid.push_back(smooth(writer, shape, name, active, square_window(3, 2, 1)));
  }
}

void write_shared_head(ModelWriter& writer, const std::string& name, std::vector<Image>& maps, bool own_norms,
                       const std::function<void(Image& map, const std::string& suffix)>& head) {
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const std::string suffix = i == 0 ? "" : fmt::format("/map {}", i + 1);
    writer.begin_layer(name + suffix);
    head(maps[i], suffix);
    if (i > 0) writer.use_weights_of(name, own_norms);
  }
}

std::int64_t places(const std::vector<Image>& maps) {
  std::int64_t sum = 0;
  for (const Image& map : maps) sum += map.height * map.width;
  return sum;
}

}  // namespace foretrain::models
