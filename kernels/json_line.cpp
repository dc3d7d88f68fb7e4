#include "kernels/json_line.h"

#include <array>
#include <cassert>
#include <cmath>
#include <cstdio>

namespace foretrain::kernels {

namespace {

std::string escaped(const std::string& value) {
  std::string result;
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (byte < 0x20) {
      std::array<char, 8> code = {};
      std::snprintf(code.data(), code.size(), "\\u%04x", byte);
      result += code.data();
    } else {
      result += byte < 0x7F ? c : '?';
    }
  }
  return result;
}

}  // namespace

void JsonLine::begin_member(const char* key) {
  if (!members_.empty()) members_ += ", ";
  members_ += '"';
  members_ += key;
  members_ += "\": ";
}

JsonLine& JsonLine::text(const char* key, const std::string& value) {
  begin_member(key);
  members_ += '"' + escaped(value) + '"';
  return *this;
}

JsonLine& JsonLine::integer(const char* key, long long value) {
  begin_member(key);
  members_ += std::to_string(value);
  return *this;
}

JsonLine& JsonLine::number(const char* key, double value) {
  assert(std::isfinite(value));
  begin_member(key);
  std::array<char, 32> digits = {};
  std::snprintf(digits.data(), digits.size(), "%.9g", value);
  members_ += digits.data();
  return *this;
}

std::string JsonLine::line() const { return '{' + members_ + "}\n"; }

}  // namespace foretrain::kernels
