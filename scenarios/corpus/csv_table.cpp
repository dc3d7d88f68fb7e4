#include "scenarios/corpus/csv_table.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "base/utf8.h"

namespace foretrain::scenarios {
namespace {

constexpr std::size_t longest_text = std::size_t{16} << 20;
constexpr std::size_t longest_field = std::size_t{16} << 10;
constexpr std::size_t most_columns = 1000;

// Reads one row after the other.
class Reader {
 public:
  Reader(std::string_view text, const std::string& where) : text_(text), where_(where) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (text_.substr(0, byte_order_mark.size()) == byte_order_mark) at_ = byte_order_mark.size();
  }

  // The next row that is not an empty line; one without fields at the end.
  CsvTable::Row next() {
    while (at_ < text_.size() && is_line_end()) end_line();
    CsvTable::Row row;
    row.line = line_;
    if (at_ == text_.size()) return row;
    for (;;) {
      const bool is_quoted = at_ < text_.size() && text_[at_] == '"';
      row.fields.push_back(is_quoted ? quoted_field() : plain_field());
      if (row.fields.size() > most_columns) {
        fail(fmt::format("a row of more than {} fields", most_columns), "is this a table of curves?");
      }
      if (at_ == text_.size() || is_line_end()) break;
      ++at_;  // the comma
    }
    if (at_ < text_.size()) end_line();
    return row;
  }

 private:
  [[nodiscard]] bool is_line_end() const {
    return text_[at_] == '\n' || (text_[at_] == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n');
  }
  void end_line() {
    at_ += text_[at_] == '\r' ? 2 : 1;
    ++line_;
  }

  std::string plain_field() {
    std::string field;
    while (at_ < text_.size() && text_[at_] != ',' && !is_line_end()) {
      if (text_[at_] == '"') {
        fail("a quote inside a field that does not begin with one",
             "put the whole field in double quotes and double the quotes inside");
      }
      if (text_[at_] == '\r') {
        fail("a carriage return without a line feed ends no line", "save the table with line ends of Unix or Windows");
      }
      take(field);
    }
    return field;
  }

  std::string quoted_field() {
    const std::size_t begun = line_;
    std::string field;
    for (++at_;; take(field)) {
      if (at_ == text_.size()) {
        throw Error("a quoted field is never closed", fmt::format("{}:{}", where_, begun),
                    "end it with a double quote; quotes inside it are doubled");
      }
      if (text_[at_] != '"') continue;
      ++at_;
      if (at_ == text_.size() || text_[at_] != '"') break;
    }
    if (at_ < text_.size() && text_[at_] != ',' && !is_line_end()) {
      fail("text behind the closing quote of a field", "a comma ends a field; double the quotes inside it");
    }
    return field;
  }

  void take(std::string& field) {
    const auto c = static_cast<unsigned char>(text_[at_]);
    if (c == '\n') ++line_;
    const bool is_control = (c < 0x20 && c != '\n' && c != '\r' && c != '\t') || c == 0x7F;
    if (is_control) fail(fmt::format("the control character \\x{:02X}", c), "is this a CSV file?");
    if (field.size() == longest_field) {
      fail(fmt::format("a field of more than {} bytes", longest_field), "is a closing quote missing before it?");
    }
    field += text_[at_++];
  }

  [[noreturn]] void fail(const std::string& what, const std::string& hint = "") const {
    throw Error(what, fmt::format("{}:{}", where_, line_), hint);
  }

  std::string_view text_;
  const std::string& where_;
  std::size_t at_ = 0, line_ = 1;
};

void check_text(std::string_view text, const std::string& where) {
  if (text.size() > longest_text) {
    throw Error(fmt::format("a table of {}, more than {}", format_bytes(Bytes(static_cast<double>(text.size()))),
                            format_bytes(Bytes(static_cast<double>(longest_text)))),
                where, "split it into several files");
  }
  const std::size_t invalid = utf8::first_invalid(text);
  if (invalid == std::string_view::npos) return;
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(invalid), '\n');
  throw Error("the text is not UTF-8", fmt::format("{}:{}", where, line),
              "save the table as \"CSV UTF-8\", or convert it with iconv -t UTF-8");
}

void check_separator(const std::vector<std::string>& columns, const std::string& where) {
  if (columns.size() != 1) return;
  for (const auto& [separator, name] : {std::pair(';', "semicolons"), std::pair('\t', "tabs")}) {
    if (columns[0].find(separator) == std::string::npos) continue;
    throw Error(fmt::format("the columns are separated by {}", name), where + ":1",
                "separate them with commas, and write numbers with a decimal point");
  }
}

}  // namespace

CsvTable::CsvTable(std::string_view text, std::string where) : where_(printable(std::move(where))) {
  check_text(text, where_);
  Reader reader(text, where_);
  columns_ = reader.next().fields;
  if (columns_.empty()) throw Error("the table is empty", where_, "the first line names the columns");
  check_separator(columns_, where_);
  for (auto column = columns_.begin(); column != columns_.end(); ++column) {
    if (std::find(columns_.begin(), column, *column) == column) continue;
    throw Error("the column " + quoted(*column) + " is there twice", where_ + ":1", "give every column its own name");
  }
  for (Row row = reader.next(); !row.fields.empty(); row = reader.next()) {
    if (row.fields.size() != columns_.size()) {
      throw Error(fmt::format("{} fields, but the header has {}", row.fields.size(), columns_.size()),
                  fmt::format("{}:{}", where_, row.line), "fields with commas inside are written in double quotes");
    }
    rows_.push_back(std::move(row));
  }
}

std::size_t CsvTable::column(std::string_view name) const {
  const auto found = std::find(columns_.begin(), columns_.end(), name);
  if (found == columns_.end()) {
    throw Error("the column " + quoted(name) + " is missing", where_ + ":1",
                nearest(name, columns_) ? name_hint(name, columns_) : "");
  }
  return static_cast<std::size_t>(found - columns_.begin());
}

std::string CsvTable::place(const Row& row, std::string_view column) const {
  return fmt::format("{}:{}: {}", where_, row.line, column);
}

}  // namespace foretrain::scenarios
