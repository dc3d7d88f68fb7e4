// LLM draft: what is known of a published training run while it is mapped, one subject after the other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "calibrate/catalogue.h"
#include "scenarios/corpus/family_draft.h"
#include "scenarios/corpus/llm_row.h"
#include "scenarios/corpus/llm_tables.h"
#include "scenarios/corpus/node.h"
#include "sim/llm_run.h"

namespace foretrain::scenarios {

// What runs are mapped to: the catalogue with its names, the tables of both kinds of files.
struct LlmTargets {
  explicit LlmTargets(const calibrate::Catalogue& catalogue);

  MappingTargets shared;
  LlmTables tables;
};

class LlmDraft {
 public:
  LlmDraft(const LlmRow& row, const LlmTargets& targets);

  // Maps everything, or says why the row's class is declined.
  [[nodiscard]] Reason map();
  [[nodiscard]] sim::RunLabel label() const;
  // Of a row that was mapped.
  [[nodiscard]] sim::LlmRun run() const;

 private:
  // In this order: each needs those before it.
  [[nodiscard]] Reason check_class() const;
  [[nodiscard]] Reason check_stated() const;
  [[nodiscard]] Reason check_degrees() const;
  Reason map_machine();
  Reason map_model();
  Reason map_vocabulary();
  Reason map_training();
  Reason map_plan();
  Reason map_software();

  // Notes that something is not stated, and how far the step may be off because of it.
  void assume(const std::string& what, const std::string& instead);
  void split_stages();
  void take_sizes();
  [[nodiscard]] bool has_encoder() const { return row_.layers.size() == 2; }
  [[nodiscard]] std::int64_t micro_batches() const;  // per step and pipeline
  [[nodiscard]] double ideal_step_seconds() const;
  [[nodiscard]] std::string joined_texts(const std::vector<std::string>& columns) const;

  const LlmRow& row_;
  const LlmTargets& targets_;
  const LlmTables& tables_;
  Texts texts_;             // the row's, and what the mapping has found out
  sim::Scenario scenario_;
  Node node_;
  std::vector<std::string> notes_;  // what was assumed
  double assumed_variance_ = 0;     // of the step, relative
};

}  // namespace foretrain::scenarios
