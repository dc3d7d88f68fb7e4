#include "scenarios/corpus/families.h"

#include "base/error.h"
#include "scenarios/corpus/csv_table.h"
#include "scenarios/corpus/family_draft.h"
#include "scenarios/corpus/family_row.h"

namespace foretrain::scenarios {
namespace {

// A row whose sizes no model can have (an image of one pixel) is declined like a class; the others are still read.
Reason mapped(FamilyDraft& draft) {
  try {
    return draft.map();
  } catch (const Error& error) {
    return unsupported(error.what());
  }
}

}  // namespace

sim::FamilyCorpus read_families(const std::string& csv, const std::string& where,
                                         const calibrate::Catalogue& catalogue) {
  const std::vector<FamilyRow> rows = read_family_rows(CsvTable(csv, where));
  const MappingTargets targets(catalogue);
  sim::FamilyCorpus corpus;
  for (const FamilyRow& row : rows) {
    FamilyDraft draft(row, targets);
    if (const Reason reason = mapped(draft)) {
      corpus.declined.push_back({row.id, row.group, draft.kind(), *reason});
    } else {
      corpus.families.push_back(draft.family());
    }
  }
  return corpus;
}

}  // namespace foretrain::scenarios
