// Listing: what the catalogue knows of one kind, for people and for programs.
#pragma once

#include <string>

#include "base/json.h"
#include "base/table.h"
#include "calibrate/catalogue.h"

namespace foretrain::cli {

// The text of `list KIND` (one of list_kinds()): a table of at most 100 columns and notes below it.
[[nodiscard]] std::string listing_text(const std::string& kind, const calibrate::Catalogue& catalogue);

// The same with every field: an array of flat objects with units in their keys; null is unknown.
[[nodiscard]] Json listing_json(const std::string& kind, const calibrate::Catalogue& catalogue);

// Such an array as a table, one column per key.
[[nodiscard]] Table listing_table(const Json& items);

}  // namespace foretrain::cli
