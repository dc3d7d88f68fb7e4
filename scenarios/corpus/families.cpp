#include "scenarios/corpus/families.h"

#include <utility>
#include <variant>

#include "scenarios/corpus/csv_table.h"
#include "scenarios/corpus/family_mapper.h"
#include "scenarios/corpus/family_row.h"

namespace foretrain::scenarios {

sim::studies::FamilyCorpus read_families(const std::string& csv, const std::string& where,
                                         const calibrate::Catalogue& catalogue) {
  const std::vector<FamilyRow> rows = read_family_rows(CsvTable(csv, where));
  const FamilyMapper mapper(catalogue);
  sim::studies::FamilyCorpus corpus;
  for (const FamilyRow& row : rows) {
    auto mapped = mapper.map(row);
    if (auto* family = std::get_if<sim::studies::Family>(&mapped)) {
      corpus.families.push_back(std::move(*family));
    } else {
      corpus.declined.push_back(std::get<sim::studies::DeclinedFamily>(std::move(mapped)));
    }
  }
  return corpus;
}

}  // namespace foretrain::scenarios
