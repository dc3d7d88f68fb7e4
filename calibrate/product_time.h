// Product time: what a matrix product, and a convolution as a product, takes on one device.
//
// The result is cut into tiles, tiles go to multiprocessors in waves, and the library picks the tile and the
// split of the inner dimension that finish first:
//
//   tiles  = ⌈⌈m/a⌉·⌈n/b⌉·batch·split / multiprocessors⌉ · 2·a·b·(k/split + depth_overhead)
//            / (peak/multiprocessors · share)        the smallest over tiles a×b, b×a and splits 1, 2, 4 …
//   memory = operands and result once / (bandwidth · memory_share)
//   total  = (tiles⁴ + memory⁴)^¼ + launch
//
// The form follows from how such kernels work; fitted per device (docs/data.md) it reproduces tables of
// measured products within 6 to 11 % in the mean.
#pragma once

#include "base/units.h"
#include "calibrate/device.h"
#include "models/operator.h"

namespace foretrain::calibrate {

// Device time of one or more kernels run one after the other. The parts are what each would take alone.
struct KernelTime {
  Seconds total;
  Seconds compute, memory;
  Seconds fixed;  // launches on the device
  Seconds steps;  // waiting for dependent steps
  KernelTime& operator+=(const KernelTime& next);
};
[[nodiscard]] KernelTime operator*(double times, KernelTime time);

// `batch` independent products (rows×depth)·(depth×columns).
struct ProductSize {
  double batch = 1, rows = 0, columns = 0, depth = 0;
  bool aligned = true;  // feature dimensions are multiples of eight
};

// What a product runs on: a device in one precision.
struct ProductMachine {
  const ProductProfile& profile;
  FlopsPerSecond peak;
  int multiprocessors = 1;
  BytesPerSecond memory_bandwidth;
  double element_bytes = 0;
};

[[nodiscard]] KernelTime product_time(const ProductMachine& machine, const ProductSize& size);

// A convolution pass as an implicit product, or by Winograd's F(4×4, 3×3) where that is faster and the
// profile has it (3×3, stride 1, ungrouped). F(4×4, 3×3) needs a quarter of the multiplications.
enum class ConvolutionPass { forward, input_gradient, weight_gradient };
[[nodiscard]] KernelTime convolution_time(const ProductMachine& machine, const ConvolutionProfile& profile,
                                          const models::ConvolutionShape& shape, ConvolutionPass pass);

}  // namespace foretrain::calibrate
