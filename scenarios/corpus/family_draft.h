// Family draft: what is known of a published row while it is mapped, one subject after the other.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "calibrate/catalogue.h"
#include "scenarios/corpus/batch_plan.h"
#include "scenarios/corpus/family_row.h"
#include "scenarios/corpus/node.h"
#include "scenarios/corpus/tables.h"
#include "sim/scenario.h"
#include "sim/family.h"

namespace foretrain::scenarios {

// Why a row's class is declined; nothing = go on.
using Reason = std::optional<std::string>;
[[nodiscard]] Reason unsupported(const std::string& what);

// What rows are mapped to: the catalogue, the tables, and the names there are.
struct MappingTargets {
  explicit MappingTargets(const calibrate::Catalogue& catalogue);

  const calibrate::Catalogue& catalogue;
  CorpusTables tables;
  std::set<std::string> zoo, stacks;
};

class FamilyDraft {
 public:
  FamilyDraft(const FamilyRow& row, const MappingTargets& targets);

  // Maps everything, or says why the row's class is declined.
  [[nodiscard]] Reason map();
  // How the curve's GPUs are joined, as far as it is known.
  [[nodiscard]] const std::string& kind() const { return kind_; }
  // Of a row that was mapped.
  [[nodiscard]] sim::Family family() const;

 private:
  // In this order: each needs those before it.
  Reason map_node();
  Reason map_model();
  Reason map_units();
  Reason map_stack();
  Reason map_precision();
  Reason map_batches();
  Reason map_input();

  void read_sequence_or_image(const std::string& text);
  [[nodiscard]] std::int64_t batch_in_samples() const;
  [[nodiscard]] double anchor_step_seconds() const;
  [[nodiscard]] double anchor_samples_per_second() const;
  [[nodiscard]] GpuMemory gpu_memory() const;
  [[nodiscard]] bool carries_over(const StepBatch& step) const;
  [[nodiscard]] sim::FamilyPoint point(std::size_t at) const;

  const FamilyRow& row_;
  const calibrate::Catalogue& catalogue_;
  const CorpusTables& tables_;
  const MappingTargets& targets_;
  Texts texts_;             // the row's, and what the mapping has found out
  sim::Scenario scenario_;  // what all points have in common
  UnitFact units_;
  Node node_;
  std::vector<StepBatch> steps_;
  std::vector<std::string> notes_;  // what was assumed
  std::string kind_;
};

}  // namespace foretrain::scenarios
