// Device: what one GPU does, as measured rates with their spread.
//
// Times follow the order of trust of the design: a calibrated point, interpolation between points in
// the operator's own terms, or a roofline with a fitted efficiency; which one it was is kept. All
// numbers come from calibrate/devices/*.json, each with its source.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/parameter.h"
#include "base/units.h"
#include "models/precision.h"

namespace foretrain::calibrate {

// An efficiency (share of peak) by size of the problem: ascending `work`, interpolated in log space.
struct EfficiencyCurve {
  std::string name;            // "gemm fp16 of A100-SXM4-80GB"
  std::vector<double> work;    // size axis, as `axis` says
  std::vector<double> share;   // of peak, 0..1
  std::string axis;            // "flops", "elements"
  double relative_spread = 0;
  Provenance provenance = Provenance::assumed;
  std::string source;
};

struct Device {
  std::string name;        // "A100-SXM4-80GB"
  std::string generation;  // "volta", "turing", "ampere", "hopper"
  Bytes memory;
  BytesPerSecond memory_bandwidth;
  std::map<models::Precision, FlopsPerSecond> peak;  // by matrix precision; missing = not supported
  std::map<std::string, EfficiencyCurve> efficiency; // "gemm/fp16", "convolution/fp32", "attention/fp16", "memory"
  Seconds kernel_floor;          // shortest kernel that any launch costs on the device
  Seconds recurrent_step_floor;  // one dependent step of a cuDNN recurrent layer
  double host_factor = 1.0;      // host time per launch relative to an A100-generation host
  double power_watts = 0;        // board power under load
  double idle_watts = 0;
  std::string datasheet_source;
};

}  // namespace foretrain::calibrate
