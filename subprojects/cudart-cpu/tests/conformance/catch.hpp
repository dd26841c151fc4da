// One spelling of Catch2 for version 2 (a single header) and version 3.
#pragma once

#if __has_include(<catch2/catch_test_macros.hpp>)

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#else

#include <catch2/catch.hpp>

namespace Catch::Matchers {

/// Version 3's name of it.
inline StdString::ContainsMatcher ContainsSubstring(const std::string& text) {
    return Contains(text);
}

} // namespace Catch::Matchers

#endif

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
