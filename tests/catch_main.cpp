// The tests' main(): Catch's own, compiled once.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
