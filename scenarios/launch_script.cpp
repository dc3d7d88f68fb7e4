#include "scenarios/launch_script.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "scenarios/shell_values.h"

namespace foretrain::scenarios {
namespace {

constexpr std::size_t longest_word = 10000;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// Words of a script with what a reader has to know of their place; quotes are dropped, and what is quoted is split.
class Reader {
 public:
  Reader(std::string_view text, const std::string& source, const std::set<std::string>& flags)
      : text_(text), flags_(flags), arguments_(source, false) {}

  ArgumentList read() {
    while (at_ < text_.size()) step();
    end_statement();
    return std::move(arguments_);
  }

 private:
  void step() {
    const char c = text_[at_];
    if (c == '\\' && at_ + 1 < text_.size()) return escape();
    if (c == '\n') {
      end_statement();
      ++line_;
      ++at_;
    } else if (is_blank(c)) {
      end_word();
      ++at_;
    } else if (c == '#' && word_.empty()) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == '(' || c == ')' || c == ';' || c == '&' || c == '|') {
      end_statement();
      ++at_;
    } else if (c == '"' || c == '\'') {
      ++at_;
    } else if (c == '$') {
      take(reference_length(text_.substr(at_)));
    } else if (c == '`') {
      const std::size_t end = text_.find('`', at_ + 1);
      word_ += "$(";  // the same in the newer way
      at_ += 1;
      take(end == std::string_view::npos ? 0 : end - at_);
      word_ += ')';
      at_ += end == std::string_view::npos ? 0 : 1;
    } else {
      take(1);
      if (c == '=') assignment();
    }
  }

  void escape() {
    const std::size_t next = text_[at_ + 1] == '\r' && at_ + 2 < text_.size() ? at_ + 2 : at_ + 1;
    if (text_[next] == '\n') {  // the line goes on
      end_word();
      ++line_;
      at_ = next + 1;
    } else {
      ++at_;
      take(1);
    }
  }

  void take(std::size_t length) {
    const std::string_view part = text_.substr(at_, length);
    if (word_.size() + part.size() <= longest_word) word_ += part;
    line_ += static_cast<int>(std::count(part.begin(), part.end(), '\n'));
    at_ += part.size();
  }

  // The word so far is "NAME=" or "NAME+=": what follows is the variable's value, and may hold arguments too.
  void assignment() {
    std::string name = word_.substr(0, word_.size() - 1);
    const bool appends = !name.empty() && name.back() == '+';
    if (appends) name.pop_back();
    const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
    const bool is_name = !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
                         std::all_of(name.begin(), name.end(), fits);
    if (!is_name || !pending_.empty()) return;
    word_.clear();
    first_ = false;
    if (appends) {
      variables_.vary(name, line_);
    } else if (at_ < text_.size() && text_[at_] == '(') {
      variables_.set(name, {"", fmt::format("uses ${}, which is a list", name)}, line_, false);
    } else {
      variables_.set(name, variables_.expanded(value_ahead()), line_, depth_ > 0);
    }
  }

  // The text of a value that begins here, without moving on.
  [[nodiscard]] std::string_view value_ahead() const {
    const std::string_view rest = text_.substr(at_, longest_word);
    if (rest.empty()) return rest;
    if (rest.front() == '"' || rest.front() == '\'') {
      const std::size_t end = rest.find(rest.front(), 1);
      return rest.substr(1, (end == std::string_view::npos ? rest.size() : end) - 1);
    }
    std::size_t end = 0;
    while (end < rest.size()) {
      const char c = rest[end];
      if (is_blank(c) || c == '\n' || c == ';' || c == '&' || c == '|' || c == ')') break;
      end += c == '$' ? reference_length(rest.substr(end)) : 1;
    }
    return rest.substr(0, end);
  }

  void end_statement() {
    end_word();
    end_argument("");
    first_ = true;
    loop_ = false;
  }

  void end_word() {
    if (word_.empty()) return;
    const std::string word = std::exchange(word_, std::string());
    if (word.size() > 2 && word.rfind("--", 0) == 0) return begin_argument(word.substr(2));
    if (!pending_.empty()) return end_argument(word);
    if (std::exchange(loop_, false)) variables_.vary(word, line_);
    if (first_) keyword(word);
    const bool command_follows = word == "then" || word == "do" || word == "else" || word == "{" || word == "export" ||
                                 word == "local" || word == "declare" || word == "readonly";
    first_ = first_ && command_follows;
  }

  void keyword(const std::string& word) {
    if (word == "if" || word == "case" || word == "for" || word == "while" || word == "until") ++depth_;
    if (word == "fi" || word == "esac" || word == "done") depth_ = std::max(0, depth_ - 1);
    loop_ = word == "for";
  }

  void begin_argument(std::string name) {
    end_argument("");
    const std::size_t equals = name.find('=');
    std::string value;
    if (equals != std::string::npos) {
      value = name.substr(equals + 1);
      name.resize(equals);
    }
    std::replace(name.begin(), name.end(), '-', '_');
    pending_ = name;
    pending_line_ = line_;
    if (equals != std::string::npos || flags_.count(name) > 0) end_argument(value);
  }

  // The argument that waited for a value has it, or none.
  void end_argument(const std::string& raw) {
    if (pending_.empty()) return;
    ShellValue value = variables_.expanded(raw);
    if (depth_ > 0 && value.problem.empty()) value.problem = "stands under a condition or in a loop";
    arguments_.add(std::exchange(pending_, std::string()), {value.text, pending_line_, value.problem});
  }

  std::string_view text_;
  const std::set<std::string>& flags_;
  ArgumentList arguments_;
  ShellVariables variables_;
  std::size_t at_ = 0;
  int line_ = 1;
  int depth_ = 0;      // of ifs, cases and loops
  bool first_ = true;  // the next word is a command's name
  bool loop_ = false;  // the next word is a loop's variable
  std::string word_, pending_;
  int pending_line_ = 0;
};

}  // namespace

ArgumentList read_launch_script(std::string_view text, const std::string& source, const std::set<std::string>& flags) {
  ArgumentList arguments = Reader(text, source, flags).read();
  if (arguments.size() == 0) {
    throw Error("has neither arguments (--num-layers 24) nor a log's block of arguments", printable(source),
                "a launch script of Megatron-LM, or the log of a run");
  }
  return arguments;
}

}  // namespace foretrain::scenarios
