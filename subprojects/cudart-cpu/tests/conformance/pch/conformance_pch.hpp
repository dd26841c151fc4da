// Compiled once for all conformance tests: most of the time of each goes into these headers.
#include "../test.hpp"
