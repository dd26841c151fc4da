// The main() of the suite where Catch2 is version 2.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
