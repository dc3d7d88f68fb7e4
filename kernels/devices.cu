#include "kernels/devices.h"

#include <array>
#include <stdexcept>

#include <cublasLt.h>
#include <cuda_runtime.h>
#include <nccl.h>

#include "kernels/json_line.h"

namespace foretrain::kernels {

namespace {

void check(cudaError_t status, const char* call) {
  if (status != cudaSuccess) throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(status));
}

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
  return value;
}

// CUDA codes 13.0 as 13000.
std::string cuda_version(int code) { return std::to_string(code / 1000) + "." + std::to_string(code % 1000 / 10); }

int cublaslt_property(libraryPropertyType which) {
  int value = 0;
  if (cublasLtGetProperty(which, &value) != CUBLAS_STATUS_SUCCESS) {
    throw std::runtime_error("cublasLtGetProperty failed");
  }
  return value;
}

std::string cublaslt_version() {
  return std::to_string(cublaslt_property(MAJOR_VERSION)) + "." + std::to_string(cublaslt_property(MINOR_VERSION)) +
         "." + std::to_string(cublaslt_property(PATCH_LEVEL));
}

std::string nccl_version() {
  int code = 0;
  const ncclResult_t status = ncclGetVersion(&code);
  if (status != ncclSuccess) throw std::runtime_error(std::string("ncclGetVersion: ") + ncclGetErrorString(status));
  // 2.28.9 is 22809; before 2.9 the major version stood one digit lower (2.8.4 is 2804).
  const int major_unit = code < 10000 ? 1000 : 10000;
  return std::to_string(code / major_unit) + "." + std::to_string(code % major_unit / 100) + "." +
         std::to_string(code % 100);
}

}  // namespace

DeviceCount count_devices() {
  DeviceCount result;
  const cudaError_t status = cudaGetDeviceCount(&result.devices);
  if (status == cudaSuccess && result.devices > 0) return result;

  int driver = 0;
  const bool has_driver = cudaDriverGetVersion(&driver) == cudaSuccess && driver > 0;
  std::string reason = "the driver lists none";
  if (!has_driver) {
    reason = "no NVIDIA driver is loaded";
  } else if (status != cudaSuccess) {
    reason = cudaGetErrorString(status);
  }
  result.devices = 0;
  result.problem = "there is no GPU that can be used (" + reason +
                   "); run it on a machine with an NVIDIA GPU and a driver for CUDA " + cuda_version(CUDART_VERSION) +
                   " or newer, where nvidia-smi lists the GPU.";
  return result;
}

std::string software_line() {
  int runtime = 0;
  int driver = 0;
  check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  return JsonLine()
      .text("record", "software")
      .text("cuda_runtime", cuda_version(runtime))
      .text("cuda_driver", cuda_version(driver))
      .text("cublaslt", cublaslt_version())
      .text("nccl", nccl_version())
      .line();
}

std::string device_line(int index) {
  cudaDeviceProp properties = {};
  check(cudaGetDeviceProperties(&properties, index), "cudaGetDeviceProperties");
  std::array<char, 32> pci_bus_id = {};
  check(cudaDeviceGetPCIBusId(pci_bus_id.data(), static_cast<int>(pci_bus_id.size()), index), "cudaDeviceGetPCIBusId");
  constexpr double hertz_per_kilohertz = 1e3;

  JsonLine line;
  line.text("record", "device")
      .integer("index", index)
      .text("name", properties.name)
      .text("compute_capability", std::to_string(properties.major) + "." + std::to_string(properties.minor))
      .integer("memory_bytes", static_cast<long long>(properties.totalGlobalMem))
      .integer("multiprocessors", properties.multiProcessorCount)
      .number("clock_hertz", attribute(cudaDevAttrClockRate, index) * hertz_per_kilohertz)
      .text("pci_bus_id", pci_bus_id.data());
  const double memory_clock = attribute(cudaDevAttrMemoryClockRate, index) * hertz_per_kilohertz;
  const int bus_bits = attribute(cudaDevAttrGlobalMemoryBusWidth, index);
  if (memory_clock > 0.0 && bus_bits > 0) {
    constexpr double transfers_per_clock = 2.0;  // double data rate
    line.number("memory_clock_hertz", memory_clock)
        .integer("memory_bus_bits", bus_bits)
        .number("memory_gbytes_per_s", transfers_per_clock * memory_clock * bus_bits / 8.0 / 1e9);
  }
  return line.line();
}

}  // namespace foretrain::kernels
