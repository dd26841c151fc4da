// The version that a program sees is the project's.
#include <cudag/config.hpp>

#include <catch.hpp>

#include <string>

TEST_CASE("the version macros are the version of the project", "[version]") {
    const std::string stated = std::to_string(CUDAG_VERSION_MAJOR) + '.' + std::to_string(CUDAG_VERSION_MINOR) + '.' +
                               std::to_string(CUDAG_VERSION_PATCH);
    REQUIRE(stated == CUDAG_PROJECT_VERSION);
    REQUIRE(CUDAG_VERSION == 10000 * CUDAG_VERSION_MAJOR + 100 * CUDAG_VERSION_MINOR + CUDAG_VERSION_PATCH);
}
