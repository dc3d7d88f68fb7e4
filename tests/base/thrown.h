// thrown(): the Error that a call throws, so that a test can pin all of its parts.
#pragma once

#include <string>

#include "base/error.h"
#include "tests/catch.h"

namespace foretrain::test {

template <class Call>
[[nodiscard]] Error thrown(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  FAIL("an Error was expected, nothing was thrown");
  return Error("unreachable");
}

// The message as a user reads it: "where: what (hint)".
[[nodiscard]] inline std::string message_of(const Error& error) {
  std::string text = error.where().empty() ? std::string() : error.where() + ": ";
  text += error.what();
  return error.hint().empty() ? text : text + " (" + error.hint() + ")";
}

template <class Call>
[[nodiscard]] std::string message(Call&& call) {
  return message_of(thrown(call));
}

}  // namespace foretrain::test
