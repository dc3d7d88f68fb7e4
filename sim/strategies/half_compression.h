// Half compression: gradients travel in two bytes (PyTorch's fp16_compress_hook and bf16_compress_hook, Horovod's
// Compression.fp16): a cast and a division before the all-reduce, a cast after it, and nothing kept between steps.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/strategies/compression.h"

namespace foretrain::sim::strategies {

class HalfCompression final : public Compressor {
 public:
  explicit HalfCompression(const CompressionPlace& place) : place_(place) {}
  void send(const Bucket& bucket, const std::string& what, ActivityIndex ready) override;
  [[nodiscard]] std::vector<ActivityIndex> receive() override;

 private:
  struct Sent {
    std::string what;
    double elements = 0;
    ActivityIndex averaged = 0;
  };
  CompressionPlace place_;
  std::vector<Sent> sent_;
};

}  // namespace foretrain::sim::strategies
