#include "models/volume_blocks.h"

namespace foretrain::models {
namespace {

ConvolutionShape folded(std::int64_t batch, std::int64_t in, std::int64_t extent, std::int64_t out,
                        std::int64_t out_extent, std::int64_t kernel, std::int64_t stride) {
  ConvolutionShape shape;
  shape.batch = batch;
  shape.in_channels = in;
  shape.height = extent * extent;
  shape.width = extent;
  shape.out_channels = out;
  shape.out_height = out_extent * out_extent;
  shape.out_width = out_extent;
  shape.kernel_height = kernel * kernel;
  shape.kernel_width = kernel;
  shape.stride_height = stride * stride;
  shape.stride_width = stride;
  return shape;
}

}  // namespace

Volume convolve_volume(ModelWriter& writer, const std::string& name, Volume& input, std::int64_t channels,
                       std::int64_t kernel, std::int64_t stride, bool bias) {
  const std::int64_t extent = window_output(input.extent, kernel, stride, (kernel - 1) / 2);
  const ConvolutionShape shape =
      folded(writer.micro_batch(), input.channels, input.extent, channels, extent, kernel, stride);
  return {channels, extent,
          writer.convolution(name, input.data, shape, {channels, input.channels, kernel, kernel, kernel}, bias)};
}

Volume widen_volume(ModelWriter& writer, const std::string& name, Volume& input, std::int64_t channels,
                    std::int64_t stride, bool bias) {
  const std::int64_t extent = input.extent * stride;
  const ConvolutionShape back =
      folded(writer.micro_batch(), channels, extent, input.channels, input.extent, stride, stride);
  return {
      channels, extent,
      writer.transposed_convolution(name, input.data, back, {input.channels, channels, stride, stride, stride}, bias)};
}

}  // namespace foretrain::models
