// Device: what one GPU does, as measured rates with their spread.
//
// Products (GEMM, convolution, recurrent layers) follow a tile-and-wave model whose few numbers are fitted to
// measured tables; so does fused attention by blocks of queries; passes over memory follow an efficiency curve by
// size. All numbers come from calibrate/devices/*.json, each group with its spread, provenance and source (docs/data.md).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/parameter.h"
#include "base/units.h"
#include "models/precision.h"

namespace foretrain::calibrate {

// How well a group of numbers is known.
struct Evidence {
  double relative_spread = 0;  // of time
  Provenance provenance = Provenance::assumed;
  std::string source;
};

// An efficiency (share of peak) by size of the problem, interpolated in log space, held beyond the ends.
struct EfficiencyCurve {
  std::vector<double> work;   // ascending, > 0; in `axis`
  std::vector<double> share;  // of peak, in (0, 1]; rises no faster than `work`, so that time never falls
  std::string axis;           // "bytes"
  Evidence evidence;
  // The share at `work`; `outside` becomes true when that is beyond the curve's ends.
  [[nodiscard]] double at(double work_done, bool& outside) const;
};

// A block of the result that one multiprocessor computes at a time.
struct Tile {
  double rows = 0, columns = 0;
  double share = 0;  // of a multiprocessor's peak while it works
};

// Products in one precision: tiles dealt to multiprocessors in waves (calibrate/product_time.h).
struct ProductProfile {
  std::vector<Tile> tiles;      // either way up; the fastest is taken, as cuBLAS' heuristics do
  double depth_overhead = 0;    // elements of the inner dimension that starting and ending a tile is worth
  int most_splits = 1;          // ways the inner dimension may be split, a power of two
  Seconds split_time;           // what the extra reduction costs on top of its memory traffic
  double memory_share = 1;      // of memory bandwidth that operands and result move at
  Seconds launch;               // device time of a kernel with nothing to do
  double unaligned_factor = 1;  // of tile time when an inner or column count is no multiple of eight
  double sustained = 1;         // share of the micro-benchmarks' rate kept in long runs (power and clock limits)
  double most_flops = 0;        // ten times the largest problem it was fitted to; beyond is extrapolation
  Evidence evidence;
};

// Convolutions as products, with the tiles of the same precision.
struct ConvolutionProfile {
  // Rate relative to a product's.
  double forward = 1, input_gradient = 1, strided_input_gradient = 1, weight_gradient = 1;
  double memory_share = 1;
  Seconds launch;
  int channel_multiple = 1;                // channels that are no multiple of 8 are padded to one of this
  std::optional<Seconds> winograd_launch;  // absent: no Winograd kernels in this precision
  double most_flops = 0;
  Evidence evidence;
};

// Recurrent layers (cuDNN): dependent steps, each a product of batch × gates·hidden × hidden on top of a fixed time.
struct RecurrentProfile {
  Seconds forward_step, backward_step;
  Evidence evidence;
};

// One direction of a fused attention kernel (calibrate/attention_time.h).
struct AttentionPass {
  double share = 0;     // of peak, of wide heads, long rows and many of them
  double width = 0;     // elements of a head that the exponentials of a score are worth
  double diagonal = 0;  // keys that masking costs a causal row
  double fill = 0;      // blocks per multiprocessor that starting and ending are worth
};

struct AttentionProfile {
  AttentionPass forward, backward;
  Evidence evidence;
};

// Attention without a fused kernel: passes over the score matrix beside the two batched products.
struct UnfusedAttention {
  double forward_passes = 0, backward_passes = 0;  // elements read plus written, per score
  Evidence evidence;
};

struct Device {
  std::string name;        // "A100-SXM4-80GB"
  std::string chip;        // "A100": boards of one chip err alike, so they share their parameters
  std::string generation;  // "kepler", "maxwell", "pascal", "volta", "turing", "ampere", "ada", "hopper", "blackwell"
  Bytes memory;
  BytesPerSecond memory_bandwidth;
  int multiprocessors = 1;
  std::map<models::Precision, FlopsPerSecond> peak;  // by matrix precision; missing = not supported
  std::map<models::Precision, ProductProfile> products;  // bf16 uses fp16's where it has none of its own
  std::map<models::Precision, ConvolutionProfile> convolutions;
  RecurrentProfile recurrent;
  // Fused kernels by generation: 1 FlashAttention (2022, also its Triton version), 2 FlashAttention-2, 3 those written for
  // the device's own instructions (FlashAttention-3 and later, cuDNN 9); empty = none.
  std::map<int, AttentionProfile> attention;
  UnfusedAttention unfused_attention;
  EfficiencyCurve memory_curve;                      // element-wise kernels, by bytes
  std::map<std::string, double> memory_kind_share;   // by OperatorKind, relative to memory_curve; missing = 1
  Seconds kernel_floor;          // shortest kernel that any launch costs on the device
  Seconds dependent_step;        // one dependent step inside a kernel (a CTC loss over time)
  Evidence floors;               // of the two above
  double host_factor = 1.0;      // host time per launch relative to an A100-generation host
  double power_watts = 0;        // board power under load
  double idle_watts = 0;
  std::string datasheet_source;
};

// The profile of the latest generation of fused kernels up to `generation`, else of the earliest; null when the device
// has none.
[[nodiscard]] const AttentionProfile* attention_profile(const Device& device, int generation);

}  // namespace foretrain::calibrate
