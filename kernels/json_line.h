// JsonLine: one JSON object on one line, written member by member without a JSON library.
#pragma once

#include <string>

namespace foretrain::kernels {

class JsonLine {
 public:
  // Keys are ours and need no escaping. Bytes of a value outside ASCII become "?": device names have none.
  JsonLine& text(const char* key, const std::string& value);
  JsonLine& integer(const char* key, long long value);
  JsonLine& number(const char* key, double value);  // finite, 9 significant digits

  // "{...}\n"
  [[nodiscard]] std::string line() const;

 private:
  void begin_member(const char* key);

  std::string members_;
};

}  // namespace foretrain::kernels
