#include "scenarios/corpus/llm_runs.h"

#include "base/error.h"
#include "scenarios/corpus/csv_table.h"
#include "scenarios/corpus/llm_draft.h"

namespace foretrain::scenarios {
namespace {

// A row whose sizes no model can have is declined like a class; the others are still read.
Reason mapped(LlmDraft& draft) {
  try {
    return draft.map();
  } catch (const Error& error) {
    return unsupported(error.what());
  }
}

}  // namespace

sim::RunCorpus read_llm_runs(const std::string& csv, const std::string& where,
                             const calibrate::Catalogue& catalogue) {
  const std::vector<LlmRow> rows = read_llm_rows(CsvTable(csv, where));
  const LlmTargets targets(catalogue);
  sim::RunCorpus corpus;
  for (const LlmRow& row : rows) {
    LlmDraft draft(row, targets);
    if (const Reason reason = mapped(draft)) {
      corpus.declined.push_back({draft.label(), *reason});
    } else {
      corpus.runs.push_back(draft.run());
    }
  }
  return corpus;
}

}  // namespace foretrain::scenarios
