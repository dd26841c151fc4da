// Graph memory: the memory held by a device for alloc nodes.
#pragma once

#include <cudag/config.hpp>

#include <cstddef>

namespace cudag {

/// The graph memory of one device in bytes, over all graphs of this process. CUDA reserves graph memory in large pieces
/// and keeps it for later launches until `trim_graph_memory`.
///
///     exec.launch(stream);
///     stream.synchronize();
///     const cudag::GraphMemory memory = cudag::graph_memory(0);
///     if (memory.reserved > 2 * memory.used) cudag::trim_graph_memory(0);
struct GraphMemory {
    std::size_t used;          ///< memory in use by graphs at the moment
    std::size_t used_high;     ///< the maximum of `used` since the process began, or since the last reset
    std::size_t reserved;      ///< memory set aside for graphs alone at the moment
    std::size_t reserved_high; ///< the maximum of `reserved` since the process began, or since the last reset
};

/// Returns the present graph memory of `device`. Throws Error if there is no such device. Thread-safe; does not
/// synchronise.
[[nodiscard]] CUDAG_EXPORT GraphMemory graph_memory(int device);

/// Resets the `_high` values of `device`: from now on, they report the maximum since this call. Throws Error if there
/// is no such device.
CUDAG_EXPORT void reset_graph_memory_high(int device);

/// Returns unused graph memory of `device` to the system; the next launch that allocates takes longer. Throws Error if
/// there is no such device.
CUDAG_EXPORT void trim_graph_memory(int device);

} // namespace cudag
