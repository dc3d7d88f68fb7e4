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
  [[nodiscard]] std::string markdown() const;  // pipes and line breaks escaped
  // Quoted as in RFC 4180, lines end in \n; text that a spreadsheet would run as a formula gets a leading '.
  [[nodiscard]] std::string csv() const;
};

}  // namespace foretrain
