// HostMemory: what copies of a graph use of the host's memory.
#pragma once

#include <cudag/access.hpp>
#include <cudag/config.hpp>
#include <cudag/node.hpp>

#include <cstddef>
#include <string>

namespace cudag {

/// Host memory that a copy node reads or writes at each launch, so that it must be there then: borrowed, unless an
/// owner was given with it. A row of a copy of several dimensions stands for all.
struct HostMemory {
    Node node;
    MemoryArgument argument; ///< 0: the destination, 1: the source
    const void* data;        ///< the first byte
    std::size_t bytes;       ///< of the copy; of one row if it has several
    bool is_pageable;        ///< not page-locked: a local array or vector, or from malloc
    friend bool operator==(const HostMemory&, const HostMemory&) = default;
};

/// "memcpy \"upload\" at a.cpp:12: the source, 40 bytes of pageable host memory at 0x7ffd12345678"
[[nodiscard]] CUDAG_EXPORT std::string to_string(const HostMemory& memory);

} // namespace cudag
