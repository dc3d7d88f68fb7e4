#include "scenarios/shell_values.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace foretrain::scenarios {
namespace {

constexpr int deepest = 20;
constexpr std::size_t longest_value = 10000;
constexpr double largest_number = 1e15;

bool is_name_part(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::size_t name_length(std::string_view text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text.front())) != 0) return 0;
  std::size_t length = 0;
  while (length < text.size() && is_name_part(text[length])) ++length;
  return length;
}

// To the bracket that closes the one `text` begins with; npos when none does near by.
std::size_t closing(std::string_view text, char open, char close) {
  int depth = 0;
  text = text.substr(0, longest_value);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == open && ++depth > deepest) return std::string_view::npos;
    if (text[i] == close && --depth == 0) return i;
  }
  return std::string_view::npos;
}

// Sums, products, quotients and brackets of whole numbers.
class Sum {
 public:
  explicit Sum(std::string_view text) : rest_(text) {}

  std::optional<double> value() {
    const auto all = sum(0);
    blanks();
    return rest_.empty() ? all : std::nullopt;
  }

 private:
  void blanks() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front())) != 0) rest_.remove_prefix(1);
  }

  char operation(std::string_view any) {
    blanks();
    if (rest_.empty() || any.find(rest_.front()) == std::string_view::npos) return 0;
    const char found = rest_.front();
    rest_.remove_prefix(1);
    return found;
  }

  std::optional<double> sum(int depth) {
    auto left = product(depth);
    while (left) {
      const char sign = operation("+-");
      if (sign == 0) return left;
      const auto right = product(depth);
      if (!right) return std::nullopt;
      left = *left + (sign == '+' ? *right : -*right);
    }
    return left;
  }

  std::optional<double> product(int depth) {
    auto left = factor(depth);
    while (left) {
      const char sign = operation("*/%");
      if (sign == 0) return left;
      const auto right = factor(depth);
      if (!right || (sign != '*' && *right == 0)) return std::nullopt;
      left = sign == '*' ? *left * *right : sign == '/' ? std::trunc(*left / *right) : std::fmod(*left, *right);
      if (std::abs(*left) > largest_number) return std::nullopt;
    }
    return left;
  }

  std::optional<double> factor(int depth) {
    if (depth > deepest) return std::nullopt;
    if (operation("(") != 0) {
      const auto inner = sum(depth + 1);
      return operation(")") != 0 ? inner : std::nullopt;
    }
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    if (error != std::errc() || std::abs(static_cast<double>(number)) > largest_number) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return static_cast<double>(number);
  }

  std::string_view rest_;
};

}  // namespace

std::size_t reference_length(std::string_view text) {
  constexpr std::string_view one_character = "@*#?$!-0123456789";
  if (text.size() < 2) return 1;
  if (text[1] == '(' || text[1] == '{') {
    const char open = text[1], close = open == '(' ? ')' : '}';
    const std::size_t end = closing(text.substr(1), open, close);
    return end == std::string_view::npos ? 1 : end + 2;
  }
  if (one_character.find(text[1]) != std::string_view::npos) return 2;
  return 1 + name_length(text.substr(1));
}

void ShellVariables::set(const std::string& name, ShellValue value, int line, bool conditional) {
  const auto known = variables_.find(name);
  if (conditional && known != variables_.end() && known->second.value.problem.empty() &&
      known->second.value.text == value.text) {
    return;
  }
  if (conditional && value.problem.empty()) {
    value.problem = fmt::format("uses ${}, which is set on line {} under a condition", name, line);
  }
  variables_[name] = {std::move(value), conditional};
}

void ShellVariables::vary(const std::string& name, int line) {
  variables_[name] = {{"", fmt::format("uses ${}, which takes several values on line {}", name, line)}, true};
}

ShellValue ShellVariables::reference(std::string_view inside, int depth) const {
  const std::size_t length = name_length(inside);
  const std::string name(inside.substr(0, length));
  const std::string_view rest = inside.substr(length);
  if (name.empty()) return {"", fmt::format("uses ${}, which only the caller knows", printable(inside))};
  const auto known = variables_.find(name);
  if (rest.empty()) {
    if (known != variables_.end()) return known->second.value;
    return {"", fmt::format("uses ${}, which is set nowhere before it in this file", name)};
  }
  for (const std::string_view way : {":-", ":=", "-", "="}) {
    if (rest.substr(0, way.size()) != way) continue;
    const bool is_set = known != variables_.end() && (way.size() == 1 || !known->second.value.text.empty() ||
                                                      !known->second.value.problem.empty());
    return is_set ? known->second.value : expanded(rest.substr(way.size()), depth + 1);
  }
  return {"", fmt::format("uses ${{{}}}, which has no plain value", printable(inside, 60))};
}

ShellValue ShellVariables::arithmetic(std::string_view expression, int depth) const {
  std::string numbers;
  for (std::size_t i = 0; i < expression.size();) {  // names may stand without a '$' here
    const std::size_t length = name_length(expression.substr(i));
    const bool after_dollar = i > 0 && (expression[i - 1] == '$' || expression[i - 1] == '{');
    if (length > 0 && !after_dollar) numbers += '$';
    numbers += expression.substr(i, std::max<std::size_t>(1, length));
    i += std::max<std::size_t>(1, length);
  }
  ShellValue value = expanded(numbers, depth + 1);
  if (!value.problem.empty()) return value;
  const auto sum = Sum(value.text).value();
  if (!sum) return {"", fmt::format("uses $(({})), which has no plain value", printable(expression, 60))};
  return {fmt::format("{:.0f}", *sum), ""};
}

ShellValue ShellVariables::expanded(std::string_view text, int depth) const {
  ShellValue all;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] != '$') {
      if (text[i] != '"' && text[i] != '\'') all.text += text[i];
      ++i;
      continue;
    }
    const std::string_view found = text.substr(i, reference_length(text.substr(i)));
    i += found.size();
    if (found.size() == 1) {
      all.text += found;
      continue;
    }
    ShellValue part;
    if (depth > deepest) {
      part.problem = "is nested too deeply";
    } else if (found.substr(0, 3) == "$((" && found.size() >= 5) {
      part = arithmetic(found.substr(3, found.size() - 5), depth);
    } else if (found[1] == '(') {
      part.problem = fmt::format("uses {}, which only a shell can compute", printable(found, 60));
    } else {
      part = reference(found[1] == '{' ? found.substr(2, found.size() - 3) : found.substr(1), depth);
    }
    if (!part.problem.empty()) return part;
    all.text += part.text;
    if (all.text.size() > longest_value) return {"", "is too long"};
  }
  return all;
}

}  // namespace foretrain::scenarios
