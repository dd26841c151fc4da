// The memory that a device holds for the alloc nodes of graphs.
#pragma once

#include <cudag/config.hpp>

#include <cstddef>

namespace cudag {

/// Bytes of one device, over all graphs of this process. CUDA reserves memory for graphs in large pieces, and keeps it
/// for later launches until `trim_graph_memory`.
struct GraphMemory {
    std::size_t used;          ///< by graphs at the moment
    std::size_t used_high;     ///< the most since the process began, or since the last reset
    std::size_t reserved;      ///< at the moment, for graphs alone
    std::size_t reserved_high; ///< the most since the process began, or since the last reset
};

/// What `device` holds at the moment. Throws Error if there is no such device. Thread-safe; does not synchronise.
[[nodiscard]] CUDAG_EXPORT GraphMemory graph_memory(int device);

/// From now on, the `_high` values of `device` are the most since now.
CUDAG_EXPORT void reset_graph_memory_high(int device);

/// Gives the memory of `device` that no graph uses back to the system; the next launch that allocates takes longer.
CUDAG_EXPORT void trim_graph_memory(int device);

} // namespace cudag
