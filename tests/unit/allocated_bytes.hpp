// How much memory the program holds, and what it does without.
#pragma once

#include <cstddef>

/// The bytes that came from operator new, on any thread, and were not given back. Not counted: memory of more than the
/// usual alignment.
std::size_t allocated_bytes() noexcept;

/// The n-th operator new from now (1 = the next) on this thread finds no memory; 0 disarms. Whether what was armed
/// before has not happened.
bool fail_allocation(std::size_t n) noexcept;
