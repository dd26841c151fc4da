// What a CPU runtime that watches writes is told of a node's memory.
#pragma once

#include <cudag/detail/memory_region.hpp>

namespace cudag::detail {

/// The layout of cudart_cpu::NodeRegion, which stands in another product: cudag finds its functions by name in
/// whichever runtime a program has. `tests/core/watched_region_cpu.cpp` holds both and compares them.
struct WatchedRegion {
    MemoryRegion region;
    bool is_written;
};

} // namespace cudag::detail
