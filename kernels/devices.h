// What CUDA says about this machine: the versions of its software and the data of its devices, as JSON lines.
#pragma once

#include <string>

namespace foretrain::kernels {

struct DeviceCount {
  int devices = 0;
  std::string problem;  // why there are none, in one sentence with the next step; empty when there are some
};

// Asks the driver; never throws.
[[nodiscard]] DeviceCount count_devices();

// {"record": "software", "cuda_runtime": "13.0", "cuda_driver": "13.0", "cublaslt": "13.1.0", "nccl": "2.28.9"}
// Throws std::runtime_error when a library does not answer.
[[nodiscard]] std::string software_line();

// {"record": "device", "index": 0, "name": ..., "compute_capability": "9.0", "memory_bytes": ...,
//  "multiprocessors": ..., "clock_hertz": ..., "pci_bus_id": "0000:0f:00.0",
//  "memory_clock_hertz": ..., "memory_bus_bits": ..., "memory_gbytes_per_s": ...}
// The last three only where the driver knows them: the rate is two transfers per memory clock over the whole bus, the
// datasheet's figure, not a measured one. Throws std::runtime_error when the driver does not answer.
[[nodiscard]] std::string device_line(int index);

}  // namespace foretrain::kernels
