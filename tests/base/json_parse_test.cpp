#include <string>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "tests/base/thrown.h"
#include "tests/catch.h"

using namespace foretrain;
using namespace std::string_literals;

namespace {

std::string parse_message(std::string_view text) {
  return test::message([&] { (void)parse_json(text, "s.json"); });
}

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

}  // namespace

TEST_CASE("JSON with comments is read, keys in file order") {
  const Json value = parse_json(R"(// what we run today
{ "model": {"zoo": "crnn"},  /* any
                                name */ "sizes": [1, -2, 3.5, 1e3], "on": true, "text": "a // b \u00b5" } // end)",
                                "s.json");
  CHECK(value.dump() == R"({"model":{"zoo":"crnn"},"sizes":[1,-2,3.5,1000.0],"on":true,"text":"a // b µ"})");
}

TEST_CASE("a byte order mark and Windows line ends are no error") {
  CHECK(parse_json("\xef\xbb\xbf{\"a\":\r\n1}", "s.json").dump() == R"({"a":1})");
}

TEST_CASE("the kinds of number survive") {
  const Json value = parse_json("[0, -0.0, 18446744073709551615, -9223372036854775808, 1e-300, 0.0e-999]", "s.json");
  CHECK(value[2].is_number_unsigned());
  CHECK(value[3].is_number_integer());
  CHECK(value[4].get<double>() == 1e-300);
  CHECK(value[5].get<double>() == 0.0);
}

TEST_CASE("duplicate keys are refused, in the same object only") {
  CHECK_NOTHROW(parse_json(R"([{"a": 1}, {"a": {"a": 2}}])", "s.json"));
  CHECK(parse_message("{\"a\": 1,\n \"b\": 2, \"a\": 3}") ==
        R"(s.json:2:10: the key "a" occurs twice in the same object (keep one of the two))");
  // the same key spelt with an escape
  CHECK(parse_message(R"({"a\"": 1, "\u0061\"": 3})") ==
        R"(s.json:1:12: the key "a"" occurs twice in the same object (keep one of the two))");
}

TEST_CASE("null is refused") {
  CHECK(parse_message(R"({"a": null})") == "s.json:1:7: null is not allowed (leave the key out to get its default)");
  CHECK(parse_message("null") == "s.json:1:1: null is not allowed (leave the key out to get its default)");
}

TEST_CASE("numbers that a double cannot hold are refused") {
  CHECK(parse_message(R"({"a": 1e400})") == "s.json:1:7: the number 1e400 is too large for a double");
  CHECK(parse_message("[-1e999]") == "s.json:1:2: the number -1e999 is too large for a double");
  CHECK(parse_message(R"({"a": 1e-310})") ==
        "s.json:1:7: the number 1e-310 is too small for a double (write 0 if that is meant)");
  CHECK(parse_message("[1, 4e-999]") ==
        "s.json:1:5: the number 4e-999 is too small for a double (write 0 if that is meant)");
  CHECK(parse_message("-1e-320") ==
        "s.json:1:1: the number -1e-320 is too small for a double (write 0 if that is meant)");
}

TEST_CASE("NaN, Infinity and other words are no values") {
  const std::string hint =
      " (a value is an object, an array, a string in double quotes, a finite number, true or false)";
  CHECK(parse_message(R"({"a": NaN})") == R"(s.json:1:7: invalid JSON: not a value: "NaN")" + hint);
  CHECK(parse_message("[Infinity]") == R"(s.json:1:2: invalid JSON: not a value: "Infinity")" + hint);
  CHECK(parse_message("{\"a\":\n  True}") == R"(s.json:2:3: invalid JSON: not a value: "True")" + hint);
  CHECK(parse_message("[tru") == R"(s.json:1:2: invalid JSON: not a value: "tru")" + hint);
  CHECK(parse_message("['a']") == R"(s.json:1:2: invalid JSON: not a value: "'")" + hint);
}

TEST_CASE("syntax errors say where") {
  CHECK(parse_message("{\"a\": 1,\n\"b\": }") ==
        "s.json:2:6: invalid JSON: unexpected '}'; expected '[', '{', or a literal");
  CHECK(parse_message("{\"a\": 1,\n}") ==
        "s.json:2:1: invalid JSON: unexpected '}'; expected string literal (remove the comma before it)");
  CHECK(parse_message("[1, 2, ]") ==
        "s.json:1:8: invalid JSON: unexpected ']'; expected '[', '{', or a literal (remove the comma before it)");
  CHECK(parse_message("{\"a\": 1 \"b\": 2}") == "s.json:1:9: invalid JSON: unexpected string literal; expected '}'");
  CHECK(parse_message("[1 22]") == "s.json:1:4: invalid JSON: unexpected number literal; expected ']'");
  CHECK(parse_message("{} {}") == "s.json:1:4: invalid JSON: unexpected '{'; expected end of input");
  CHECK(parse_message("{\"größe\": ,}") ==
        "s.json:1:11: invalid JSON: unexpected ','; expected '[', '{', or a literal");  // columns count characters
}

TEST_CASE("text that ends too early is called cut off") {
  CHECK(parse_message("{\"a\": [1, 2") ==
        "s.json:1:12: invalid JSON: unexpected end of input; expected ']' (the text looks cut off)");
  CHECK(parse_message("{\"a\"\n") ==
        "s.json:2:1: invalid JSON: unexpected end of input; expected ':' (the text looks cut off)");
  CHECK(parse_message("{\"a") ==
        "s.json:1:4: invalid JSON: invalid string: missing closing quote (the text looks cut off)");
  CHECK(parse_message("[1] /* note") ==
        "s.json:1:12: invalid JSON: invalid comment; missing closing '*/' (the text looks cut off)");
}

TEST_CASE("every truncation of a document is an error with a place, or a smaller document") {
  const std::string text = R"({"a": [1, {"b": "x\u00b5\n"}], "c": true /* d */, "e": -1.5e-3})";
  for (std::size_t length = 0; length < text.size(); ++length) {
    CAPTURE(length);
    CHECK(parse_message(text.substr(0, length)).rfind("s.json:1:", 0) == 0);
  }
}

TEST_CASE("empty, binary and badly encoded text is named as that") {
  CHECK(parse_message("") == "s.json:1:1: is empty; JSON is expected");
  CHECK(parse_message(" \n\t") == "s.json:1:1: is empty; JSON is expected");
  CHECK(parse_message("{\"a\0\": 1}"s) == "s.json:1:4: is not text: it has a zero byte; JSON is expected");
  CHECK(
      parse_message("\x1f\x8b\x08") ==
      R"(s.json:1:2: is not UTF-8 text: the byte \x8B is not valid here (JSON is UTF-8; save the file in that encoding))");
  CHECK(
      parse_message("{\"gr\xf6\": 1}") ==
      R"(s.json:1:5: is not UTF-8 text: the byte \xF6 is not valid here (JSON is UTF-8; save the file in that encoding))");
}

TEST_CASE("nesting is limited") {
  CHECK_NOTHROW(parse_json(nested(64), "s.json"));
  CHECK(parse_message(nested(65)) == "s.json:1:65: nested deeper than 64 levels");
  CHECK(parse_message(std::string(1000000, '[')) == "s.json:1:65: nested deeper than 64 levels");
}

TEST_CASE("an object of a hundred thousand keys is read in linear time") {
  std::string text = "{";
  for (int i = 0; i < 100000; ++i) text += (i > 0 ? ",\"k" : "\"k") + std::to_string(i) + "\":1";
  CHECK(parse_json(text + "}", "s.json").size() == 100000);
}

TEST_CASE("the name of the source is made printable too") {
  CHECK(test::message([] { (void)parse_json("", "\x1b.json"); }) == R"(\x1B.json:1:1: is empty; JSON is expected)");
}
