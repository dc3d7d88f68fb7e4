// Fit: how much of the page one column of a table may take.
#pragma once

#include <cstddef>

#include "base/table.h"

namespace foretrain::reports {

// Columns left for `column` when every other one is as wide as its widest cell, with `indent` before the
// first; at least 12.
[[nodiscard]] std::size_t room_for_column(const Table& table, std::size_t column, std::size_t indent = 0);

// Shortens the cells of `column` in the middle so that the table fits the page.
void fit_column(Table& table, std::size_t column, std::size_t indent = 0);

}  // namespace foretrain::reports
