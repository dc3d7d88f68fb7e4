// Node: the machine a published curve ran on, and the network between such machines.
#pragma once

#include <cstdint>
#include <string>

#include "calibrate/catalogue.h"
#include "scenarios/corpus/tables.h"
#include "sim/scenario.h"

namespace foretrain::scenarios {

struct Node {
  sim::ClusterChoice cluster;  // without its number of GPUs
  const calibrate::Device* device = nullptr;
  std::int64_t gpus = 1;        // of one node
  std::int64_t vcpus = 0;       // of one node; 0 = not known
  bool network_known = false;   // the catalogue or the row has a rate
  bool network_stated = false;  // the row says what the network is
  std::string network;          // of the catalogue
};

// `texts` has the columns and "device"; `most_gpus` is the curve's largest count.
[[nodiscard]] Node find_node(const Texts& texts, std::int64_t most_gpus, const calibrate::Catalogue& catalogue,
                             const CorpusTables& tables);
// The same where the machine is decided already; `is_known`: the row says which one it is, and it is not only usual.
[[nodiscard]] Node node_of(const MachineFact& machine, bool is_known, const Texts& texts, std::int64_t most_gpus,
                           const calibrate::Catalogue& catalogue, const CorpusTables& tables);

}  // namespace foretrain::scenarios
