// Changes: values that --set or one option puts in place of the file's.
//
// What belongs to a name goes with the name: another machine starts from its catalogue entry without the
// fields that described the old one, another model without the old one's sizes, another stack without the
// old one's options. Of two keys that say the same in different ways (input rates), the changed one stays.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "calibrate/catalogue.h"
#include "scenarios/document.h"

namespace foretrain::scenarios {

struct Change {
  std::string path;  // dotted, of a settable row of the field table
  JsonView value;    // its source and pointer are where the user wrote it
};

// Text from a command line as a JSON value may hold it: valid UTF-8, all of it (a row's own limit is checked later).
[[nodiscard]] std::string typed_text(const std::string& text);

// Throws Error at `view` when `key` cannot be set (unknown, or not a single value); `view` is the value.
void check_settable(const std::string& key, const JsonView& view);

void apply(Document& document, const std::vector<Change>& changes, const calibrate::Catalogue& catalogue);

// Every combination of every entry of `options`, in order; the last list of an entry varies fastest. Throws
// Error for entries that change nothing and for more than 10,000 alternatives in all.
[[nodiscard]] std::vector<std::vector<Change>> expand_options(const JsonView& options);

}  // namespace foretrain::scenarios
