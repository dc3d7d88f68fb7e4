// parse_json: nlohmann's event parser (SAX) with a handler of our own, because its ready-made one keeps the last
// of two equal keys, turns 1e-400 into 0 and has no limit on depth.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "base/utf8.h"

namespace foretrain {

namespace {

constexpr std::size_t deepest = 64;

// An iterator over the text that tells how far the parser has read: SAX events carry no position.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(std::string_view text, std::size_t at, std::size_t* consumed)
      : text_(text), at_(at), consumed_(consumed) {}
  const char& operator*() const { return text_[at_]; }
  CountingIterator& operator++() {
    *consumed_ = ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  std::string_view text_;
  std::size_t at_;
  std::size_t* consumed_;
};

bool in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '+' || c == '-' || c == '.' || c == '_';
}

// The text being parsed, its name, and how far the parser has come.
struct Source {
  std::string_view text;
  const std::string& name;
  std::size_t consumed = 0;

  // "scenario.json:3:14"; columns count characters, as editors do.
  [[nodiscard]] std::string where(std::size_t offset) const {
    const std::string_view before = text.substr(0, offset);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 = 0 on the first line
    return fmt::format("{}:{}:{}", printable(name), line, display_width(before.substr(line_start)) + 1);
  }

  [[noreturn]] void fail(const std::string& what, std::size_t offset, const std::string& hint = "") const {
    throw Error(what, where(offset), hint);
  }

  // Where the token begins that ends before `end`: an opening quote, or the start of a number or word.
  [[nodiscard]] std::size_t token_start(std::size_t end) const {
    if (end == 0) return 0;
    std::size_t at = end - 1;
    if (text[at] == '"') {
      while (at > 0) {
        --at;
        if (text[at] != '"') continue;
        std::size_t backslashes = 0;
        while (backslashes < at && text[at - 1 - backslashes] == '\\') ++backslashes;
        if (backslashes % 2 == 0) return at;
      }
      return 0;
    }
    while (at > 0 && in_word(text[at - 1])) --at;
    return at;
  }

  // The same for the token just reported. The parser has read one character past the end of a number.
  [[nodiscard]] std::size_t last_token() const {
    const bool read_ahead = consumed > 0 && text[consumed - 1] != '"' && !in_word(text[consumed - 1]);
    return token_start(read_ahead ? consumed - 1 : consumed);
  }

  [[nodiscard]] std::string word_around(std::size_t offset) const {
    std::size_t begin = offset;
    while (begin > 0 && in_word(text[begin - 1])) --begin;
    std::size_t end = offset;
    while (end < text.size() && in_word(text[end])) ++end;
    return std::string(text.substr(begin, end - begin));
  }
};

// Builds the document event by event. open_ holds the containers that are not closed yet: their addresses stay
// valid because only the innermost one grows.
class Handler {
 public:
  using number_integer_t = Json::number_integer_t;
  using number_unsigned_t = Json::number_unsigned_t;
  using number_float_t = Json::number_float_t;
  using string_t = Json::string_t;
  using binary_t = Json::binary_t;

  explicit Handler(const Source& source) : source_(source) {}

  Json take() { return std::move(root_); }

  bool null() { source_.fail("null is not allowed", source_.last_token(), "leave the key out to get its default"); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(number_integer_t value) { return add(value); }
  bool number_unsigned(number_unsigned_t value) { return add(value); }
  bool number_float(number_float_t value, const string_t& text) {
    // "1e-400" reads as zero: only a zero that is written with zeros is one.
    const std::string mantissa = text.substr(0, text.find_first_of("eE"));
    const bool vanished = value == 0.0 && mantissa.find_first_of("123456789") != std::string::npos;
    if (vanished || (value != 0.0 && std::abs(value) < std::numeric_limits<double>::min())) {
      source_.fail(fmt::format("the number {} is too small for a double", printable(text)), source_.last_token(),
                   "write 0 if that is meant");
    }
    return add(value);
  }
  bool string(string_t& value) { return add(std::move(value)); }
  bool binary(binary_t&) { return false; }  // JSON text has none

  bool start_object(std::size_t) {
    open(Json::object());
    seen_.emplace_back();
    return true;
  }
  bool key(string_t& name) {
    if (!seen_.back().insert(name).second) {
      source_.fail("the key " + quoted(name) + " occurs twice in the same object", source_.last_token(),
                   "keep one of the two");
    }
    key_ = std::move(name);
    return true;
  }
  bool end_object() {
    seen_.pop_back();
    open_.pop_back();
    return true;
  }
  bool start_array(std::size_t) {
    open(Json::array());
    return true;
  }
  bool end_array() {
    open_.pop_back();
    return true;
  }

  bool parse_error(std::size_t position, const std::string& token, const Json::exception& error) {
    const std::size_t last = std::min(position, source_.text.size()) - (position <= source_.text.size() ? 1 : 0);
    constexpr int number_overflow = 406;
    if (error.id == number_overflow) {
      source_.fail(fmt::format("the number {} is too large for a double", printable(token)),
                   source_.token_start(last + 1));
    }
    fail_syntax(error.what(), last);
  }

 private:
  void open(Json container) {
    if (open_.size() == deepest) {
      source_.fail(fmt::format("nested deeper than {} levels", deepest), source_.consumed - 1);
    }
    open_.push_back(insert(std::move(container)));
  }

  bool add(Json value) {
    insert(std::move(value));
    return true;
  }

  Json* insert(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Json& parent = *open_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    // Not operator[]: it would search all keys of the object for each one; key() has shown that this one is new.
    auto& members = parent.get_ref<Json::object_t&>();
    members.emplace_back(std::move(key_), std::move(value));
    return &members.back().second;
  }

  // nlohmann's text reads "[json.exception…] parse error at line 1, column 2: syntax error while parsing value -
  // unexpected ','; expected …; last read: '…'": the middle is for people, the rest we say better.
  [[noreturn]] void fail_syntax(std::string message, std::size_t offset) const {
    const std::string_view text = source_.text;
    if (const auto dash = message.find(" - "); dash != std::string::npos) message.erase(0, dash + 3);
    if (const auto tail = message.find("; last read: '"); tail != std::string::npos) message.erase(tail);
    const bool unclosed = message.find("missing closing") != std::string::npos;
    if (unclosed || message.rfind("unexpected end of input", 0) == 0) {
      source_.fail("invalid JSON: " + message, text.size(), "the text looks cut off");
    }
    if (message == "invalid literal") {
      const std::size_t inside = std::min(offset, text.size() - 1);  // a literal may break off at the end
      const std::string word = source_.word_around(inside);
      source_.fail("invalid JSON: not a value: " + quoted(word.empty() ? text.substr(inside, 1) : word),
                   source_.token_start(inside + 1),
                   "a value is an object, an array, a string in double quotes, a finite number, true or false");
    }
    const bool whole_token = message.rfind("unexpected string", 0) == 0 || message.rfind("unexpected number", 0) == 0;
    const bool closing = message.rfind("unexpected '}'", 0) == 0 || message.rfind("unexpected ']'", 0) == 0;
    const std::size_t before = closing && offset > 0 ? text.find_last_not_of(" \t\r\n", offset - 1) : std::string::npos;
    const bool trailing_comma = before != std::string::npos && text[before] == ',';
    source_.fail("invalid JSON: " + message, whole_token ? source_.token_start(offset + 1) : offset,
                 trailing_comma ? "remove the comma before it" : "");
  }

  const Source& source_;
  Json root_;
  std::vector<Json*> open_;
  std::vector<std::unordered_set<std::string>> seen_;  // the keys of each open object
  std::string key_;
};

void check_text(const Source& source) {
  if (source.text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    source.fail("is empty; JSON is expected", 0);
  }
  if (const std::size_t zero = source.text.find('\0'); zero != std::string_view::npos) {
    source.fail("is not text: it has a zero byte; JSON is expected", zero);
  }
  if (const std::size_t bad = utf8::first_invalid(source.text); bad != std::string_view::npos) {
    source.fail("is not UTF-8 text: the byte " + printable(source.text.substr(bad, 1)) + " is not valid here", bad,
                "JSON is UTF-8; save the file in that encoding");
  }
}

}  // namespace

Json parse_json(std::string_view text, const std::string& source_name) {
  Source source{text, source_name};
  check_text(source);
  Handler handler(source);
  constexpr bool whole_text = true;
  constexpr bool skip_comments = true;
  const CountingIterator begin(text, 0, &source.consumed);
  const CountingIterator end(text, text.size(), &source.consumed);
  Json::sax_parse(begin, end, &handler, Json::input_format_t::json, whole_text, skip_comments);
  return handler.take();
}

}  // namespace foretrain
