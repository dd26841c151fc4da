// The known accesses of a graph's nodes to memory that verify() can compare.
#pragma once

#include "compared_memory.hpp"

#include <cudag/access.hpp>
#include <cudag/detail/memory_block.hpp>
#include <cudag/graph.hpp>
#include <cudag/node.hpp>
#include <cudag/verify.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cudag::detail {

/// An access of a node, or of one inside it.
struct KnownAccess {
    std::uint32_t number; ///< of the node of the graph
    Node inside;          ///< the node with the access
    MemoryArgument argument;
    bool writes;
    std::size_t element_bytes;
    MemoryBlock block;
};

/// The accesses of a graph, without graph memory and CUDA arrays.
struct KnownAccesses {
    std::vector<KnownAccess> all;
    std::vector<std::string> unverified; ///< nodes with other writes
    std::vector<std::uint32_t> order;    ///< of the nodes, by insertion as far as edges allow

    /// Returns all written ranges, and those of `options`.
    [[nodiscard]] std::vector<ByteRange> written(const VerifyOptions& options) const;
};

[[nodiscard]] KnownAccesses known_accesses(const Graph& graph, const VerifyOptions& options);

/// The part of `ranges` written by the access, and the rest.
struct WrittenPart {
    std::vector<ByteRange> written;
    std::vector<ByteRange> rest;
};
[[nodiscard]] WrittenPart part_of(const std::vector<ByteRange>& ranges, const MemoryBlock& block);

} // namespace cudag::detail
