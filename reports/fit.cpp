#include "reports/fit.h"

#include <algorithm>

#include "base/text.h"
#include "reports/style.h"

namespace foretrain::reports {

std::size_t room_for_column(const Table& table, std::size_t column, std::size_t indent) {
  constexpr std::size_t least = 12;
  constexpr std::size_t gap = 2;  // as Table::text leaves
  std::size_t others = indent;
  for (std::size_t other = 0; other < table.header.size(); ++other) {
    if (other > 0) others += gap;
    if (other == column) continue;
    std::size_t width = display_width(table.header[other]);
    for (const auto& row : table.rows) width = std::max(width, display_width(row[other]));
    others += width;
  }
  return page_width > others + least ? page_width - others : least;
}

void fit_column(Table& table, std::size_t column, std::size_t indent) {
  const std::size_t room = room_for_column(table, column, indent);
  for (auto& row : table.rows) row[column] = elided(printable(row[column]), room);
}

}  // namespace foretrain::reports
