// Shell values: the few things of a shell that launch scripts compute sizes with.
//
// Plain assignments, $NAME, ${NAME}, ${NAME:-default} and whole-number $((…)); nothing is executed. What cannot be
// known from the text alone has a problem instead of a value.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace foretrain::scenarios {

struct ShellValue {
  std::string text;
  std::string problem;  // "uses $TP, which is set nowhere in this file"; empty = `text` is the value
};

class ShellVariables {
 public:
  // `conditional`: inside an if, a case or a loop, which may not be gone through.
  void set(const std::string& name, ShellValue value, int line, bool conditional);
  // A variable that takes several values (a loop's).
  void vary(const std::string& name, int line);

  // The text with everything in it replaced.
  [[nodiscard]] ShellValue expanded(std::string_view text, int depth = 0) const;

 private:
  struct Variable {
    ShellValue value;
    bool conditional = false;
  };
  [[nodiscard]] ShellValue reference(std::string_view inside, int depth) const;  // of ${…}, or a name
  [[nodiscard]] ShellValue arithmetic(std::string_view expression, int depth) const;

  std::map<std::string, Variable> variables_;
};

// Bytes from the '$' at the start of `text` to the end of what it stands for; 1 for a '$' that means nothing.
[[nodiscard]] std::size_t reference_length(std::string_view text);

}  // namespace foretrain::scenarios
