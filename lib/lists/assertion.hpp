// Assertions of preconditions, on together with those of the standard library in builds without optimisation.
#pragma once

/// Ends the program if the condition is false. Evaluates nothing without _GLIBCXX_ASSERTIONS, or in optimised builds:
/// newer Mesons define that macro there, too.
#if defined(_GLIBCXX_ASSERTIONS) && !defined(__OPTIMIZE__)
#define CUDAG_ASSERT(...) __glibcxx_assert((__VA_ARGS__))
#else
#define CUDAG_ASSERT(...) static_cast<void>(0)
#endif
