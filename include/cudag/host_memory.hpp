// HostMemory: the host memory of a graph's copies.
#pragma once

#include <cudag/access.hpp>
#include <cudag/config.hpp>
#include <cudag/node.hpp>

#include <cstddef>
#include <string>

namespace cudag {

/// Host memory read or written by a copy node at each launch. The memory must exist then: the graph borrows it, unless
/// an owner was passed with it. One row represents a copy of several dimensions.
///
///     for (const cudag::HostMemory& memory : graph.host_memory())
///         if (memory.is_pageable) std::puts(to_string(memory).c_str());
struct HostMemory {
    Node node;
    MemoryArgument argument; ///< 0: the destination, 1: the source
    const void* data;        ///< the first byte
    std::size_t bytes;       ///< the size of the copy; of one row in several dimensions
    bool is_pageable;        ///< not page-locked: a local array, a vector, memory of malloc
    friend bool operator==(const HostMemory&, const HostMemory&) = default;
};

/// Describes the memory: "memcpy \"upload\" at a.cpp:12: the source, 40 bytes of pageable host memory at
/// 0x7ffd12345678"
[[nodiscard]] CUDAG_EXPORT std::string to_string(const HostMemory& memory);

} // namespace cudag
