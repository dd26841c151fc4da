// The numbers of allocations.
#pragma once

#include <cstdint>

namespace cudart_cpu::detail {

/// Returns the number of the allocation with `pointer` inside, which no other one ever has; 0 if there is none.
std::uint64_t number_of_allocation(const void* pointer);

} // namespace cudart_cpu::detail
