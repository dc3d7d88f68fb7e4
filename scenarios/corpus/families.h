// Families: measured scaling curves as they are published (CSV), turned into scenarios.
//
// The columns are those of speedup_families.csv (docs/data.md). Free text – model, node, network, framework, batch –
// is mapped by the tables in scenarios/corpus/*.json, first match first; what they do not know is declined with a
// reason that names the class. Only the anchor's value becomes part of a scenario.
#pragma once

#include <string>

#include "calibrate/catalogue.h"
#include "sim/family.h"

namespace foretrain::scenarios {

// Throws Error for a text that is not such a table: a column missing, lists of unequal length, a number that is none.
[[nodiscard]] sim::FamilyCorpus read_families(const std::string& csv, const std::string& where,
                                                       const calibrate::Catalogue& catalogue);

}  // namespace foretrain::scenarios
