// Table: rows of text, written for people (aligned), Markdown, or CSV (pure data).
#pragma once

#include <string>
#include <vector>

namespace foretrain {

struct Table {
  enum class Align { left, right };
  std::vector<std::string> header;
  std::vector<Align> align;  // one per column; missing = left
  std::vector<std::vector<std::string>> rows;

  // Aligned columns, two spaces apart, each line indented by `indent`; cells are made printable().
  [[nodiscard]] std::string text(int indent = 0) const;
  // Cells are text, of which no markup comes (markdown_text()), or Markdown already, where pipes are escaped.
  enum class Cells { text, markdown };
  [[nodiscard]] std::string markdown(Cells cells = Cells::text) const;
  // Quoted as in RFC 4180, lines end in \n; text that a spreadsheet would run as a formula gets a leading '. Control
  // characters are spelt out as in printable(), tabs and line breaks stay.
  [[nodiscard]] std::string csv() const;
};

}  // namespace foretrain
