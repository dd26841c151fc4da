// Races: nodes that nothing orders, one of which writes what the other uses.
#pragma once

#include <cudag/access.hpp>
#include <cudag/config.hpp>
#include <cudag/node.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace cudag {

/// Two nodes of a graph that use the same bytes, or the same condition, of which one writes them, and that no path of
/// edges orders. A node also stands for the nodes inside it. Kernels that take a condition count as writing it, and its
/// conditional as reading it.
struct Race {
    Node first; ///< added earlier
    Node second;
    Node first_inside; ///< the node that uses the memory: `first`, or one inside it
    Node second_inside;
    MemoryArgument first_argument;
    MemoryArgument second_argument;
    bool first_writes;
    bool second_writes;
    std::uintptr_t begin; ///< of the bytes that both use, from the first to the last
    std::size_t bytes;
    std::size_t element; ///< the first of these, counted in what `first` is given there, row by row, without padding
    std::size_t elements;
    std::size_t row_elements;  ///< of each row of that, if it has two or three dimensions; else 0
    bool is_condition = false; ///< both use a condition: there are no bytes, and no elements
};

/// Memory that a kernel is given and of which cudag does not know how much it uses: a raw pointer. With `whole_node` a
/// node that may use any memory, such as a host node that declares nothing.
struct UntrackedArgument {
    Node node;
    MemoryArgument argument;
    friend bool operator==(const UntrackedArgument&, const UntrackedArgument&) = default;
};

/// "nothing orders kernel \"a\" at a.cpp:12 (argument 1) and kernel \"b\" at a.cpp:13 (argument 0): both write elements
/// 0 to 99 of what the first is given there; ...", with what to do. Throws GraphError if the graph is gone.
[[nodiscard]] CUDAG_EXPORT std::string to_string(const Race& race);
/// "kernel \"scale\" at a.cpp:12: argument 2"; "host node \"log\" at a.cpp:14: nothing tells what it does to memory;
/// ..."
[[nodiscard]] CUDAG_EXPORT std::string to_string(const UntrackedArgument& untracked);

} // namespace cudag
