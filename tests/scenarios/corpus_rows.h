// Rows of a family table, written by tests: a plain row with some columns changed.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "calibrate/catalogue.h"
#include "sim/family.h"

namespace foretrain::scenarios {

using Columns = std::map<std::string, std::string>;

// A curve of ResNet-50 on 1, 8 and 16 GPUs of two DGX A100, weak scaling, 64 images per GPU, with `changes`.
[[nodiscard]] Columns plain_row(const Columns& changes = {});
// A table of these rows with all columns that are read, and one that is not.
[[nodiscard]] std::string table_of(const std::vector<Columns>& rows);

// A field as CSV quotes it.
[[nodiscard]] std::string in_quotes(const std::string& text);

[[nodiscard]] const calibrate::Catalogue& shared_catalogue();
// The one family that the plain row with `changes` becomes; fails the test where it is declined.
[[nodiscard]] sim::Family family_of(const Columns& changes);
// The reason for which it is declined; empty where it is not.
[[nodiscard]] std::string reason_of(const Columns& changes);

// The published curves, and what they become.
[[nodiscard]] std::string truth_text();
[[nodiscard]] const sim::FamilyCorpus& truth();
[[nodiscard]] const sim::Family& truth_family(const std::string& id);

}  // namespace foretrain::scenarios
