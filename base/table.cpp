#include "base/table.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "base/markdown.h"
#include "base/text.h"
#include "base/utf8.h"

namespace foretrain {

namespace {

using Row = std::vector<std::string>;

constexpr std::size_t longest_cell = 2000;  // bytes; what is longer is no cell of a table

std::size_t column_count(const Table& table) {
  std::size_t count = table.header.size();
  for (const Row& row : table.rows) count = std::max(count, row.size());
  return count;
}

std::string cell_of(const Row& row, std::size_t column) {
  return column < row.size() ? printable(row[column], longest_cell) : std::string();
}

Table::Align align_of(const Table& table, std::size_t column) {
  return column < table.align.size() ? table.align[column] : Table::Align::left;
}

std::string padded(const std::string& cell, std::size_t width, Table::Align align) {
  const std::string space(width - std::min(width, display_width(cell)), ' ');
  return align == Table::Align::right ? space + cell : cell + space;
}

bool is_number(const std::string& cell) {
  char* end = nullptr;
  const double value = std::strtod(cell.c_str(), &end);
  return !cell.empty() && end == cell.c_str() + cell.size() && std::isfinite(value);
}

// printable(), but a reader of CSV takes tabs and the line breaks of quoted cells for what they are.
std::string csv_text(std::string_view cell) {
  std::string result;
  while (!cell.empty()) {
    const std::size_t plain = std::min(cell.find_first_of("\t\r\n"), cell.size());
    result += printable(cell.substr(0, plain), cell.size());
    cell.remove_prefix(plain);
    const std::size_t kept = std::min(cell.find_first_not_of("\t\r\n"), cell.size());
    result += cell.substr(0, kept);
    cell.remove_prefix(kept);
  }
  return result;
}

std::string csv_cell(const std::string& cell) {
  constexpr std::string_view formula_starts = "=+-@\t\r";
  std::string text = csv_text(cell);
  if (!cell.empty() && formula_starts.find(cell.front()) != std::string_view::npos && !is_number(cell)) {
    text.insert(0, 1, '\'');
  }
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + '"';
}

std::string csv_line(const Row& row, std::size_t columns) {
  std::string line;
  for (std::size_t column = 0; column < columns; ++column) {
    if (column > 0) line += ',';
    if (column < row.size()) line += csv_cell(row[column]);
  }
  return line + '\n';
}

std::string markdown_cell(const std::string& cell, Table::Cells cells) {
  if (cells == Table::Cells::text) return markdown_text(cell, longest_cell);
  std::string result;
  for (const char c : printable(cell, longest_cell)) {
    if (c == '|' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

// A line break in a cell ends a Markdown row: it becomes a space before printable() spells it out.
Row without_line_breaks(Row row) {
  for (std::string& cell : row) {
    for (char& c : cell) {
      if (c == '\n' || c == '\r') c = ' ';
    }
  }
  return row;
}

std::string markdown_line(const Row& row, std::size_t columns, Table::Cells cells) {
  const Row flat = without_line_breaks(row);
  std::string line = "|";
  for (std::size_t column = 0; column < columns; ++column) {
    line += ' ' + (column < flat.size() ? markdown_cell(flat[column], cells) : std::string()) + " |";
  }
  return line + '\n';
}

}  // namespace

std::string Table::text(int indent) const {
  const std::size_t columns = column_count(*this);
  std::vector<std::size_t> widths(columns, 0);
  const auto measure = [&](const Row& row) {
    for (std::size_t column = 0; column < columns; ++column) {
      widths[column] = std::max(widths[column], display_width(cell_of(row, column)));
    }
  };
  measure(header);
  for (const Row& row : rows) measure(row);

  std::string result;
  const auto write = [&](const Row& row) {
    std::string line(static_cast<std::size_t>(std::max(indent, 0)), ' ');
    for (std::size_t column = 0; column < columns; ++column) {
      if (column > 0) line += "  ";
      line += padded(cell_of(row, column), widths[column], align_of(*this, column));
    }
    line.erase(line.find_last_not_of(' ') + 1);
    result += line + '\n';
  };
  if (!header.empty()) write(header);
  for (const Row& row : rows) write(row);
  return result;
}

std::string Table::markdown(Cells cells) const {
  const std::size_t columns = column_count(*this);
  std::string result = markdown_line(header, columns, cells) + "|";
  for (std::size_t column = 0; column < columns; ++column) {
    result += align_of(*this, column) == Align::right ? " ---: |" : " --- |";
  }
  result += '\n';
  for (const Row& row : rows) result += markdown_line(row, columns, cells);
  return result;
}

std::string Table::csv() const {
  const std::size_t columns = column_count(*this);
  std::string result = csv_line(header, columns);
  for (const Row& row : rows) result += csv_line(row, columns);
  return result;
}

}  // namespace foretrain
