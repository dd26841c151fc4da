// The main() of the test programs where Catch2 is version 2.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
