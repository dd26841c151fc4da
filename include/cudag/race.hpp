// Races: unordered nodes, one of which writes memory used by the other.
#pragma once

#include <cudag/access.hpp>
#include <cudag/config.hpp>
#include <cudag/node.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace cudag {

/// A Race is a pair of nodes in one graph that use the same bytes or the same condition, at least one of them by
/// writing, while no path of edges orders them. A node also stands for the nodes inside it. A kernel that takes a
/// condition counts as a writer of it, its conditional node as a reader.
///
///     for (const cudag::Race& race : graph.races())
///         std::puts(to_string(race).c_str());
struct Race {
    Node first;         ///< the node added earlier
    Node second;        ///< the node added later
    Node first_inside;  ///< the node with the access: `first`, or one inside it
    Node second_inside; ///< the node with the access: `second`, or one inside it
    MemoryArgument first_argument;
    MemoryArgument second_argument;
    bool first_writes;
    bool second_writes;
    std::uintptr_t begin;      ///< the address of the first byte used by both
    std::size_t bytes;         ///< number of bytes from the first used by both to the last
    std::size_t element;       ///< the index of the first element used by both in the argument of `first`, row by row,
                               ///< without padding
    std::size_t elements;      ///< number of elements from the first used by both to the last
    std::size_t row_elements;  ///< number of elements in each row of that argument; 0 if it has one dimension
    bool is_condition = false; ///< both use a condition: there are no bytes or elements
};

/// An argument of a kernel with an unknown extent of memory: a raw pointer, if the node has no `.reads` or `.writes`.
/// With `whole_node`, a node that may use any memory, such as a host node without declarations. `Graph::untracked`
/// lists them.
struct UntrackedArgument {
    Node node;
    MemoryArgument argument;
    friend bool operator==(const UntrackedArgument&, const UntrackedArgument&) = default;
};

/// Describes a race and its remedy: "nothing orders kernel \"a\" at a.cpp:12 (argument 1) and kernel \"b\" at a.cpp:13
/// (argument 0): both write elements 0 to 99 of ...". Throws GraphError if the graph is gone.
[[nodiscard]] CUDAG_EXPORT std::string to_string(const Race& race);
/// Describes an untracked argument, "kernel \"scale\" at a.cpp:12: argument 2 may be an address, ...", or a node, "host
/// \"log\" at a.cpp:14: its accesses to memory are unknown; ...", with the remedy. Throws GraphError if the graph is
/// gone.
[[nodiscard]] CUDAG_EXPORT std::string to_string(const UntrackedArgument& untracked);

} // namespace cudag
