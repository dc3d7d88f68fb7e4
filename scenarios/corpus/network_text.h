// Network text: what the published words about a node's network cards say.
//
// "Storage: 2x ConnectX-6 IB HDR 200Gb/sec, Compute: 8x ConnectX-6 IB HDR 200Gb/Sec" is 8 cards of 200 Gb/s,
// InfiniBand. Published texts are often cut off; what is missing stays open.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "scenarios/corpus/tables.h"

namespace foretrain::scenarios {

struct NetworkWords {
  std::string kind;                   // of the catalogue's networks, or "ethernet"; empty = not said
  std::optional<double> gbits_per_s;  // of one card
  std::int64_t nics = 1;              // that gradients use; of no meaning without the rate
  bool nics_said = false;
  [[nodiscard]] bool says_something() const { return !kind.empty() || gbits_per_s; }
};

[[nodiscard]] NetworkWords read_network(const std::string& text, const CorpusTables& tables);

}  // namespace foretrain::scenarios
