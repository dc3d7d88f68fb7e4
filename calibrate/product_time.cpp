#include "calibrate/product_time.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace foretrain::calibrate {
namespace {

double real(std::int64_t count) { return static_cast<double>(count); }

// Whichever of the two is slower decides; near the balance both are felt.
Seconds soft_maximum(Seconds a, Seconds b) {
  return Seconds(std::pow(std::pow(a.value, 4) + std::pow(b.value, 4), 0.25));
}

constexpr double bytes_of_a_partial_sum = 8;  // written and read once in fp32

// The fastest choice of tile and split; `rate` multiplies the tiles' share of peak.
Seconds tile_time(const ProductMachine& machine, const ProductSize& size, double rate, double memory_share) {
  const ProductProfile& profile = machine.profile;
  const double unit_flops = machine.peak.value / machine.multiprocessors * rate * profile.sustained;
  const double results = size.batch * size.rows * size.columns;
  const Seconds merge = profile.split_time +
                        Bytes(bytes_of_a_partial_sum * results) / (machine.memory_bandwidth * memory_share);
  Seconds best(std::numeric_limits<double>::infinity());
  for (const Tile& tile : profile.tiles) {
    for (const auto& [rows, columns] : {std::pair(tile.rows, tile.columns), std::pair(tile.columns, tile.rows)}) {
      const double tiles = size.batch * std::ceil(size.rows / rows) * std::ceil(size.columns / columns);
      for (int splits = 1; splits <= profile.most_splits; splits *= 2) {
        const double waves = std::ceil(tiles * splits / machine.multiprocessors);
        const double flops = 2 * rows * columns * (size.depth / splits + profile.depth_overhead);
        const Seconds busy(waves * flops / (unit_flops * tile.share));
        best = std::min(best, splits > 1 ? busy + merge : busy);
      }
    }
  }
  return size.aligned ? best : best * profile.unaligned_factor;
}

// Channels that tensor cores cannot take as they are get padded.
double padded(double channels, int multiple) {
  constexpr double natural = 8;
  if (multiple == 1 || std::fmod(channels, natural) == 0) return channels;
  return std::ceil(channels / multiple) * multiple;
}

struct Images {  // elements of a convolution's tensors
  double input, output, weight;
};

Images images(const models::ConvolutionShape& s) {
  const double weight =
      real(s.out_channels) * real(s.in_channels) / real(s.groups) * real(s.kernel_height) * real(s.kernel_width);
  return {real(s.batch) * real(s.in_channels) * real(s.height) * real(s.width),
          real(s.batch) * real(s.out_channels) * real(s.out_height) * real(s.out_width), weight};
}

bool is_strided(const models::ConvolutionShape& s) { return s.stride_height > 1 || s.stride_width > 1; }

ProductSize implicit_product(const ConvolutionProfile& profile, const models::ConvolutionShape& s,
                             ConvolutionPass pass) {
  const double in = padded(real(s.in_channels) / real(s.groups), profile.channel_multiple);
  const double out = padded(real(s.out_channels) / real(s.groups), profile.channel_multiple);
  const double window = real(s.kernel_height) * real(s.kernel_width);
  const double outputs = real(s.batch) * real(s.out_height) * real(s.out_width);
  const double groups = real(s.groups);
  switch (pass) {
    case ConvolutionPass::forward: return {groups, outputs, out, in * window};
    case ConvolutionPass::input_gradient: {
      // With a stride each position of the output meets its window once, in as many phases as strides.
      const double positions = is_strided(s) ? outputs : real(s.batch) * real(s.height) * real(s.width);
      return {groups, positions, in, out * window};
    }
    case ConvolutionPass::weight_gradient: return {groups, out, in * window, outputs};
  }
  return {};
}

double relative_rate(const ConvolutionProfile& profile, const models::ConvolutionShape& s, ConvolutionPass pass) {
  switch (pass) {
    case ConvolutionPass::forward: return profile.forward;
    case ConvolutionPass::input_gradient:
      return profile.input_gradient * (is_strided(s) ? profile.strided_input_gradient : 1.0);
    case ConvolutionPass::weight_gradient: return profile.weight_gradient;
  }
  return 1;
}

KernelTime direct_time(const ProductMachine& machine, const ConvolutionProfile& profile,
                       const models::ConvolutionShape& s, ConvolutionPass pass) {
  const Images elements = images(s);
  KernelTime time;
  time.compute = tile_time(machine, implicit_product(profile, s, pass), relative_rate(profile, s, pass),
                           profile.memory_share);
  time.memory = Bytes((elements.input + elements.output + elements.weight) * machine.element_bytes) /
                (machine.memory_bandwidth * profile.memory_share);
  time.fixed = profile.launch;
  time.total = soft_maximum(time.compute, time.memory) + time.fixed;
  return time;
}

// F(4×4, 3×3): 6×6 points of each 4×4 block of outputs; a product per point. Transforms read an image and write
// it 36/16 as large, those of weights 36/9.
KernelTime winograd_time(const ProductMachine& machine, const ConvolutionProfile& profile,
                         const models::ConvolutionShape& s, ConvolutionPass pass) {
  constexpr double points = 36, block = 4, image_traffic = 1 + 36.0 / 16, weight_traffic = 1 + 36.0 / 9;
  const bool back = pass == ConvolutionPass::input_gradient;
  const double blocks = real(s.batch) * std::ceil(real(back ? s.height : s.out_height) / block) *
                        std::ceil(real(back ? s.width : s.out_width) / block);
  const double in = real(s.in_channels), out = real(s.out_channels);
  ProductSize size{points, blocks, out, in};
  if (back) size = {points, blocks, in, out};
  if (pass == ConvolutionPass::weight_gradient) size = {points, out, in, blocks};
  const Images elements = images(s);
  KernelTime time;
  time.compute = tile_time(machine, size, 1.0, profile.memory_share);
  time.memory = Bytes((image_traffic * (elements.input + elements.output) + weight_traffic * elements.weight) *
                      machine.element_bytes) /
                (machine.memory_bandwidth * profile.memory_share);
  time.fixed = *profile.winograd_launch;
  time.total = time.compute + time.memory + time.fixed;  // separate kernels
  return time;
}

bool winograd_applies(const ConvolutionProfile& profile, const models::ConvolutionShape& s) {
  constexpr std::int64_t fewest_channels = 16;  // below, no Winograd kernel is chosen in the measured tables
  return profile.winograd_launch && s.kernel_height == 3 && s.kernel_width == 3 && !is_strided(s) && s.groups == 1 &&
         std::min(s.in_channels, s.out_channels) >= fewest_channels;
}

}  // namespace

KernelTime& KernelTime::operator+=(const KernelTime& next) {
  total += next.total;
  compute += next.compute;
  memory += next.memory;
  fixed += next.fixed;
  steps += next.steps;
  return *this;
}

KernelTime operator*(double times, KernelTime time) {
  time.total *= times;
  time.compute *= times;
  time.memory *= times;
  time.fixed *= times;
  time.steps *= times;
  return time;
}

KernelTime product_time(const ProductMachine& machine, const ProductSize& size) {
  const ProductProfile& profile = machine.profile;
  const double elements = size.batch * (size.rows * size.depth + size.depth * size.columns + size.rows * size.columns);
  KernelTime time;
  time.compute = tile_time(machine, size, 1.0, profile.memory_share);
  time.memory = Bytes(elements * machine.element_bytes) / (machine.memory_bandwidth * profile.memory_share);
  time.fixed = profile.launch;
  time.total = soft_maximum(time.compute, time.memory) + time.fixed;
  return time;
}

KernelTime convolution_time(const ProductMachine& machine, const ConvolutionProfile& profile,
                            const models::ConvolutionShape& shape, ConvolutionPass pass) {
  const KernelTime direct = direct_time(machine, profile, shape, pass);
  if (!winograd_applies(profile, shape)) return direct;
  const KernelTime winograd = winograd_time(machine, profile, shape, pass);
  return winograd.total < direct.total ? winograd : direct;
}

}  // namespace foretrain::calibrate
