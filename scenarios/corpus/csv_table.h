// CSV table: comma-separated text with a header (RFC 4180), read strictly.
//
// Fields may be quoted, with doubled quotes, commas and line ends inside; every row has as many fields as the header.
// Rows know their line, so that every message can say "file:line: column".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace foretrain::scenarios {

class CsvTable {
 public:
  struct Row {
    std::size_t line = 1;  // on which it begins, counted from 1
    std::vector<std::string> fields;
  };

  // `where` names the text in messages. Throws Error for an empty or too large text, a column named twice, a row with
  // too few or too many fields, a quote that is not closed, control characters or text that is not UTF-8.
  CsvTable(std::string_view text, std::string where);

  [[nodiscard]] const std::vector<std::string>& columns() const { return columns_; }
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
  [[nodiscard]] const std::string& where() const { return where_; }

  // The position of a column; throws Error, naming the nearest one, where there is none.
  [[nodiscard]] std::size_t column(std::string_view name) const;
  // "runs.csv:12: batch"
  [[nodiscard]] std::string place(const Row& row, std::string_view column) const;

 private:
  std::string where_;
  std::vector<std::string> columns_;
  std::vector<Row> rows_;
};

}  // namespace foretrain::scenarios
