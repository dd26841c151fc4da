// One spelling of Catch2 for version 2 (a single header) and version 3.
#pragma once

#if __has_include(<catch2/catch_test_macros.hpp>)

#include <catch2/catch_approx.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_predicate.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <catch2/matchers/catch_matchers_vector.hpp>

using Catch::Approx;

#else

#include <catch2/catch.hpp>

#include <exception>
#include <string>
#include <utility>

// The names of version 3 that version 2 does not have.
namespace Catch::Matchers {

inline StdString::ContainsMatcher ContainsSubstring(const std::string& text,
                                                    CaseSensitive::Choice sensitivity = CaseSensitive::Yes) {
    return Contains(text, sensitivity);
}

template <class TextMatcher>
class ExceptionMessageMatchesMatcher : public Catch::MatcherBase<std::exception> {
  public:
    explicit ExceptionMessageMatchesMatcher(TextMatcher matcher) : matcher_(std::move(matcher)) {}

    bool match(const std::exception& error) const override { return matcher_.match(error.what()); }

    std::string describe() const override { return "matches " + matcher_.toString(); }

  private:
    TextMatcher matcher_;
};

template <class TextMatcher>
ExceptionMessageMatchesMatcher<TextMatcher> MessageMatches(TextMatcher matcher) {
    return ExceptionMessageMatchesMatcher<TextMatcher>(std::move(matcher));
}

} // namespace Catch::Matchers

#endif

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::Equals;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::StartsWith;
