// Family: one published scaling curve as questions: an anchor whose step was measured, and larger counts.
//
// All points are of the same model, software and batch rule. What was measured beside the anchor is only ever
// compared with; nothing that predicts may read it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/scenario.h"

namespace foretrain::sim {

struct FamilyPoint {
  Scenario scenario;          // of this number of GPUs; its `measured` is the anchor's
  double samples = 0;         // trained per step: fewer than micro-batch × GPUs where a global batch does not divide
  std::int64_t gpus = 1;      // as published (GPUs beyond the global batch stand idle in the scenario)
  double measured_speedup = 0;  // over the anchor, by throughput
};

struct Family {
  std::string id;
  std::string group;  // the source: `file` without its ending
  std::string kind;   // "single node", "InfiniBand or RoCE", "Ethernet", "network not stated", "parameter server"
  FamilyPoint anchor;  // the smallest count; its scenario carries the one measured step
  std::vector<FamilyPoint> points;  // the others, ascending
};

// A published curve that is not predicted, with the reason, which holds for a class of curves.
struct DeclinedFamily {
  std::string id, group, kind, reason;
};

struct FamilyCorpus {
  std::vector<Family> families;
  std::vector<DeclinedFamily> declined;
};

}  // namespace foretrain::sim
