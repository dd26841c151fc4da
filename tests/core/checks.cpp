// Lists of checks, as in CUDAG_CHECK.
#include "cuda/checks.hpp"

#include "catch.hpp"

using cudag::detail::has_check;

TEST_CASE("a list of checks has the names between its commas") {
    for (const char* const list : {"recorder", "other,recorder", ",recorder,", "recorder,pools"})
        CHECK(has_check(list, "recorder"));
    for (const char* const list : {"", ",", "recorders", "other", "re,corder", " recorder"})
        CHECK_FALSE(has_check(list, "recorder"));
}
