#include "base/text.h"

#include <limits>

#include "base/utf8.h"
#include "tests/catch.h"

using namespace foretrain;
using namespace std::string_literals;

TEST_CASE("printable leaves text alone and spells out what a terminal would obey") {
  CHECK(printable("ResNet-50 größer 训练") == "ResNet-50 größer 训练");
  CHECK(printable("a\x1b[31mred\n") == "a\\x1B[31mred\\x0A");
  CHECK(printable("zero\0byte"s) == "zero\\x00byte");
  CHECK(printable("\x7f") == "\\x7F");
  // U+009B is the one-character form of ESC [
  CHECK(printable("\xc2\x9b") == "\\xC2\\x9B");
  // U+202E turns the reading direction round
  CHECK(printable("a\xe2\x80\xae"
                  "b") == "a\\xE2\\x80\\xAEb");
}

TEST_CASE("printable spells out bytes that are not UTF-8") {
  CHECK(printable("\xff\xfe") == "\\xFF\\xFE");
  CHECK(printable("\xc3") == "\\xC3");                    // cut off in the middle
  CHECK(printable("\xc0\xaf") == "\\xC0\\xAF");           // overlong "/"
  CHECK(printable("\xed\xa0\x80") == "\\xED\\xA0\\x80");  // a surrogate
}

TEST_CASE("printable cuts long text between characters") {
  CHECK(printable("abcdef", 6) == "abcdef");
  CHECK(printable("abcdefg", 6) == "abcdef…");
  // "é" takes two bytes: it is not cut in half
  CHECK(printable("abcdeéf", 6) == "abcde…");
  CHECK(printable(std::string(1000, 'x')) == std::string(200, 'x') + "…");
}

TEST_CASE("quoted is found before std::quoted whatever the kind of text") {
  std::string changeable = "a\tb";
  const std::string fixed = "a\tb";
  CHECK(quoted(changeable) == "\"a\\x09b\"");
  CHECK(quoted(fixed) == "\"a\\x09b\"");
  CHECK(quoted("a\tb") == "\"a\\x09b\"");
  CHECK(quoted(std::string_view("a\tb")) == "\"a\\x09b\"");
}

TEST_CASE("display width counts characters, not bytes") {
  CHECK(display_width("") == 0);
  CHECK(display_width("5.2 µs") == 6);
  CHECK(display_width("naïve…") == 6);
}

TEST_CASE("UTF-8 is decoded strictly") {
  CHECK(utf8::decode("A").value == U'A');
  CHECK(utf8::decode("µs").value == U'µ');
  CHECK(utf8::decode("µs").length == 2);
  CHECK(utf8::decode("\xf0\x9f\x98\x80").value == 0x1F600);
  CHECK_FALSE(utf8::decode("\xf4\x90\x80\x80").valid);  // beyond U+10FFFF
  CHECK_FALSE(utf8::decode("\x80").valid);
  CHECK(utf8::first_invalid("größe") == std::string_view::npos);
  CHECK(utf8::first_invalid("gr\xf6sse") == 2);  // Latin-1
}

TEST_CASE("the nearest name is a plausible misspelling or nothing") {
  const std::vector<std::string> names = {"resnet50", "vgg16", "bert-base", "bert-large", "gpt2"};
  CHECK(nearest("resnet5", names) == "resnet50");
  CHECK(nearest("ResNet50", names) == "resnet50");  // case
  CHECK(nearest("ersnet50", names) == "resnet50");  // two neighbours swapped
  CHECK(nearest("bert_large", names) == "bert-large");
  CHECK(nearest("bertlarge", names) == "bert-large");
  CHECK_FALSE(nearest("inception", names).has_value());
  CHECK_FALSE(nearest("", names).has_value());
  CHECK_FALSE(nearest("x", names).has_value());
  CHECK_FALSE(nearest("resnet50", {}).has_value());
  CHECK_FALSE(nearest(std::string(100000, 'r'), names).has_value());
}

TEST_CASE("a hint names the nearest, else lists what there is") {
  CHECK(name_hint("adamm", {"sgd", "adam"}) == "did you mean \"adam\"?");
  CHECK(name_hint("lion", {"sgd", "adam"}) == "one of: sgd, adam");
  CHECK(name_hint("lion", {"sgd", "adam", "adamw", "lamb"}, 2) == "one of: sgd, adam and 2 more");
  CHECK(name_hint("lion", {}).empty());
}

TEST_CASE("joined puts the separator between parts only") {
  CHECK(joined({}).empty());
  CHECK(joined({"a"}) == "a");
  CHECK(joined({"a", "b", "c"}) == "a, b, c");
  CHECK(joined({"a", "b"}, "/") == "a/b");
}

TEST_CASE("significant digits") {
  CHECK(significant(0.0) == "0");
  CHECK(significant(3.14159) == "3.14");
  CHECK(significant(0.000123456) == "0.000123");
  CHECK(significant(9.996) == "10.0");  // rounding adds a digit before the point
  CHECK(significant(99.96) == "100");
  CHECK(significant(0.9996) == "1.00");
  CHECK(significant(12345.6) == "12346");
  CHECK(significant(-2.5, 2) == "-2.5");
  CHECK(significant(1.5e-9) == "1.50e-09");
  CHECK(significant(6.02214e23) == "6.02e+23");
  CHECK(significant(std::numeric_limits<double>::infinity()) == "inf");
}

TEST_CASE("times in the unit people use for that size") {
  CHECK(format_time(Seconds(0.0)) == "0 s");
  CHECK(format_time(Seconds(5e-9)) == "5.0 ns");
  CHECK(format_time(Seconds(5.2e-6)) == "5.2 µs");
  CHECK(format_time(Seconds(312e-6)) == "312 µs");
  CHECK(format_time(Seconds(5.2e-3)) == "5.20 ms");
  CHECK(format_time(Seconds(0.312)) == "312 ms");
  CHECK(format_time(Seconds(4.2)) == "4.20 s");
  CHECK(format_time(Seconds(100.0)) == "100 s");
  CHECK(format_time(Seconds(300.0)) == "5.0 min");
  CHECK(format_time(Seconds(11160.0)) == "3.1 h");
  CHECK(format_time(Seconds(864000.0)) == "10.0 days");
  CHECK(format_time(Seconds(-0.312)) == "-312 ms");
  // just below a unit: never "1000 ms" or "1000 µs"
  CHECK(format_time(Seconds(0.99999)) == "1.00 s");
  CHECK(format_time(Seconds(0.99999e-3)) == "1.00 ms");
  CHECK(format_time(Seconds(0.9999e-7)) == "0.1 µs");
}

TEST_CASE("sizes are binary, rates decimal") {
  CHECK(format_bytes(Bytes(0)) == "0 B");
  CHECK(format_bytes(Bytes(1000)) == "1000 B");
  CHECK(format_bytes(mebibytes(25)) == "25.0 MiB");
  CHECK(format_bytes(Bytes(80.0 * 1024 * 1024 * 1024)) == "80.0 GiB");
  CHECK(format_bytes(mebibytes(1023.99)) == "1.00 GiB");
  CHECK(format_rate(gbytes_per_s(12.5)) == "12.5 GB/s");
  CHECK(format_rate(gbytes_per_s(3350)) == "3.35 TB/s");
  CHECK(format_rate(BytesPerSecond(0)) == "0 B/s");
  CHECK(format_rate(gbits_per_s(1)) == "125 MB/s");
}

TEST_CASE("counts, money and shares") {
  CHECK(format_count(64) == "64");
  CHECK(format_count(5200) == "5.2 k");
  CHECK(format_count(9.04e6) == "9.04 M");
  CHECK(format_count(175e9) == "175 G");
  CHECK(format_count(999999) == "1 M");
  CHECK(format_count(0) == "0");
  CHECK(format_money(3.67) == "$3.67");
  CHECK(format_money(0.0) == "$0.00");
  CHECK(format_money(0.00123) == "$0.0012");
  CHECK(format_money(1234567.8) == "$1,234,568");
  CHECK(format_money(999.999) == "$1,000");
  CHECK(format_money(-12.5) == "-$12.50");
  CHECK(format_percent(0.93) == "93 %");
  CHECK(format_percent(0.0274, 1) == "2.7 %");
}
