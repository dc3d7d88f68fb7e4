#include "tests/calibrate/tables.h"

#include <cmath>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace foretrain::calibrate {
namespace {

std::vector<std::string> cells(const std::string& line) {  // the fixtures quote nothing
  std::vector<std::string> result;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, ',');) result.push_back(cell);
  return result;
}

}  // namespace

std::vector<TableRow> read_table(const std::string& name) {
  std::ifstream file(std::string(FORETRAIN_TEST_TABLES) + "/" + name + ".csv");
  std::string line;
  if (!std::getline(file, line)) throw std::runtime_error("no table " + name);
  const std::vector<std::string> header = cells(line);
  std::vector<TableRow> rows;
  while (std::getline(file, line)) {
    const std::vector<std::string> values = cells(line);
    if (values.size() != header.size()) throw std::runtime_error(name + ": " + line);
    TableRow row;
    for (std::size_t i = 0; i < header.size(); ++i) row[header[i]] = values[i];
    rows.push_back(std::move(row));
  }
  return rows;
}

double number(const TableRow& row, const std::string& column) { return std::stod(row.at(column)); }

void Errors::add(const std::string& group, double predicted, double measured) {
  errors_[group].push_back(std::abs(predicted / measured - 1));
}

double Errors::mean_absolute(const std::string& group) const {
  double sum = 0;
  for (const double error : errors_.at(group)) sum += error;
  return sum / static_cast<double>(errors_.at(group).size());
}

std::size_t Errors::count(const std::string& group) const { return errors_.at(group).size(); }

std::vector<std::string> Errors::groups() const {
  std::vector<std::string> names;
  for (const auto& [name, errors] : errors_) names.push_back(name);
  return names;
}

}  // namespace foretrain::calibrate
