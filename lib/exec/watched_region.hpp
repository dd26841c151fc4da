// Memory of a node as declared to a CPU runtime that watches writes.
#pragma once

#include <cudag/detail/memory_block.hpp>

namespace cudag::detail {

/// The layout of cudart_cpu::NodeRegion, part of another product: cudag finds its functions by name in the program's
/// runtime. `tests/core/watched_region_cpu.cpp` compares the two.
struct WatchedRegion {
    MemoryBlock region;
    bool is_written;
};

} // namespace cudag::detail
