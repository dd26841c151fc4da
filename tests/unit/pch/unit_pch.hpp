// Compiled once for all unit tests: most of the time of each goes into these headers.
#include <catch.hpp>
#include <cudag/cudag.hpp>
