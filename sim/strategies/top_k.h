// Top-k: of every bucket each rank sends only the largest gradients (Aji and Heafield 2017, arXiv:1704.05021).
//
// Ranks choose different elements, so nothing is summed up on the way: values and indices of all ranks are gathered,
// and every rank adds them up. What arrives, and the work with it, grows with the ranks. What was not sent is kept and
// added to the next gradient (error feedback).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/strategies/compression.h"

namespace foretrain::sim::strategies {

// Elements that a rank sends of so many.
[[nodiscard]] double chosen_elements(double elements, double fraction);
inline constexpr double index_bytes = 4;  // 32-bit indices

class TopK final : public Compressor {
 public:
  explicit TopK(const CompressionPlace& place);
  void send(const Bucket& bucket, const std::string& what, ActivityIndex ready) override;
  [[nodiscard]] std::vector<ActivityIndex> receive() override;

 private:
  struct Sent {
    std::string what;
    double elements = 0, chosen = 0;
    ActivityIndex values = 0, indices = 0;  // gathered
  };
  CompressionPlace place_;
  double fraction_;
  std::vector<Sent> sent_;
};

}  // namespace foretrain::sim::strategies
