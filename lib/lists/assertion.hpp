// Assertions of preconditions, on together with the assertions of the standard library.
#pragma once

/// Ends the program if the condition is false; evaluates nothing without _GLIBCXX_ASSERTIONS.
#ifdef _GLIBCXX_ASSERTIONS
#define CUDAG_ASSERT(...) __glibcxx_assert((__VA_ARGS__))
#else
#define CUDAG_ASSERT(...) static_cast<void>(0)
#endif
