// Measured tables as fixtures: CSV files of tests/calibrate/tables, rows by column name.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace foretrain::calibrate {

using TableRow = std::map<std::string, std::string>;

// The rows of tables/<name>.csv. Throws when the file is missing or a row has another number of cells.
std::vector<TableRow> read_table(const std::string& name);
double number(const TableRow& row, const std::string& column);

// Relative errors of predictions against measurements, by what they belong to.
class Errors {
 public:
  void add(const std::string& group, double predicted, double measured);
  [[nodiscard]] double mean_absolute(const std::string& group) const;
  [[nodiscard]] std::size_t count(const std::string& group) const;
  [[nodiscard]] std::vector<std::string> groups() const;

 private:
  std::map<std::string, std::vector<double>> errors_;
};

}  // namespace foretrain::calibrate
