// Family mapper: one published row becomes a family of scenarios, or is declined with the reason of its class.
#pragma once

#include <set>
#include <string>
#include <variant>

#include "calibrate/catalogue.h"
#include "scenarios/corpus/family_row.h"
#include "scenarios/corpus/tables.h"
#include "sim/studies/family.h"

namespace foretrain::scenarios {

class FamilyMapper {
 public:
  explicit FamilyMapper(const calibrate::Catalogue& catalogue);
  [[nodiscard]] std::variant<sim::studies::Family, sim::studies::DeclinedFamily> map(const FamilyRow& row) const;

 private:
  const calibrate::Catalogue& catalogue_;
  CorpusTables tables_;
  std::set<std::string> zoo_, stacks_;  // the names there are
};

}  // namespace foretrain::scenarios
