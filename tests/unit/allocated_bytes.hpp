// How much memory the program holds.
#pragma once

#include <cstddef>

/// The bytes that came from operator new, on any thread, and were not given back. Not counted: memory of more than the
/// usual alignment.
std::size_t allocated_bytes() noexcept;
