// Compression: what is done to a bucket of gradients so that less of it travels, and what that costs.
//
// A compressor stands between a bucket of this rank's gradients and the same bucket of averages. It is called in two
// steps: send() when a bucket is full, receive() after backward for all that were sent. Kernels that have to wait for
// a collective are written in receive() only: a device that runs them during backward does not run backward's meanwhile
// (Agarwal et al. 2022, "On the utility of gradient compression in distributed training systems", MLSys; unverified).
// Kernels cost device time (passes over memory, matrix products) and the host their launches, by Python code.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/strategies/buckets.h"
#include "sim/strategies/exchange.h"
#include "sim/strategies/step_writer.h"

namespace foretrain::sim::strategies {

class Compressor {
 public:
  virtual ~Compressor() = default;
  // The bucket, called `what`, is full when `ready` is done.
  virtual void send(const Bucket& bucket, const std::string& what, ActivityIndex ready) = 0;
  // Of every bucket sent since the last call, in that order: what completes its averages.
  [[nodiscard]] virtual std::vector<ActivityIndex> receive() = 0;
  // Takes all gradients as one bucket after backward.
  [[nodiscard]] virtual bool wants_everything_at_once() const { return false; }

 protected:
  Compressor() = default;
  Compressor(const Compressor&) = default;
  Compressor& operator=(const Compressor&) = default;
};

// Where a compressor works: its collectives, and the streams of its kernels.
struct CompressionPlace {
  StepWriter& writer;
  Exchange& exchange;
  Lane lane;
  double bytes_per_element = 4;  // in the bucket
};

// By StackChoice::compression. Throws Error for an unknown name and for a training that it cannot serve.
[[nodiscard]] std::unique_ptr<Compressor> make_compressor(const std::string& name, const CompressionPlace& place);

// none, fp16, bf16, powersgd, top_k, onebit_adam.
[[nodiscard]] const std::vector<std::string>& compression_names();
// Throws Error with the known names for another one.
void require_known_compression(const std::string& name);

// `kernels` launches that pass over `moved` bytes of device memory.
ActivityIndex write_pass(const CompressionPlace& place, const std::string& name, Bytes moved, double kernels,
                         const std::vector<ActivityIndex>& waits);

}  // namespace foretrain::sim::strategies
