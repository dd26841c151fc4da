// Compiled once for all graph tests: two thirds of the time of each go into these headers.
#include "../test.hpp"

#include <memory>
