// Verification: the result of verify(), with the first node that differs.
#pragma once

#include <cudag/access.hpp>
#include <cudag/config.hpp>
#include <cudag/source_location.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudag {

/// The reason for a difference between a graph and its reference.
enum class VerifyCause {
    none,     ///< there is no difference
    order,    ///< the graph's own nodes, one after another, give the expected result: an edge is missing
    recorded, ///< one after another, they do not, either: the function does other work than was recorded
    unknown,  ///< the graph has nodes that cannot run one by one, or the search was switched off
};

/// Returns the name of the enumerator.
[[nodiscard]] CUDAG_EXPORT std::string_view to_string(VerifyCause cause) noexcept;

/// Memory that a node reads, before it runs.
struct VerifiedInput {
    MemoryArgument argument;
    std::uintptr_t begin; ///< the address of the first byte
    std::size_t bytes;
    std::string values; ///< the first elements: "1 (0x3f800000), 2 (0x40000000), ..."
};

/// Elements written by one node, with other values after the launch of the graph.
struct VerifiedDifference {
    std::string node{};  ///< description of the writer; empty for memory given by the user that no known node writes
    std::string label{}; ///< of the writer; may be empty
    SourceLocation location{};   ///< of the writer
    MemoryArgument argument = 0; ///< the argument of the writer
    std::uintptr_t address = 0;  ///< of the first differing element
    std::size_t element = 0;     ///< its index in the memory of that argument
    std::size_t elements = 0;    ///< number of differing elements
    std::string expected{};      ///< the element's value in the reference: "3 (0x40400000)"
    std::string actual{};        ///< its value after the launch of the graph
    std::vector<VerifiedInput>
        inputs{}; ///< of the writer, in the reference. Only of the first difference, if it was located
};

/// The result of `verify`.
///
///     cudag::Verification result = cudag::verify(graph, stream);
///     if (!result.ok()) std::puts(result.to_string().c_str());
struct CUDAG_EXPORT Verification {
    /// The differences, by writer, in program order: the first one is the first node with another output. If the cause
    /// is `order`, they are those after the shortest prefix of the graph with a difference.
    std::vector<VerifiedDifference> differences{};
    VerifyCause cause = VerifyCause::none;
    /// The last node of that prefix, if it is another node than the first with a difference: nothing orders it with the
    /// nodes that it disturbs. Empty otherwise.
    std::string disturbed_by{};
    /// What another capture of the function records otherwise, as by `diff`: arguments that change from call to call.
    std::vector<std::string> changes{};
    /// Nodes with unknown writes, which were not compared, with the reason and the remedy.
    std::vector<std::string> unverified{};
    std::size_t bytes = 0; ///< number of compared bytes
    unsigned launches = 0; ///< number of compared launches of the whole graph

    /// Returns whether no difference was found.
    [[nodiscard]] bool equal() const noexcept { return differences.empty(); }
    /// Returns whether no difference was found, and all writes were compared.
    [[nodiscard]] bool ok() const noexcept { return equal() && unverified.empty(); }
    /// Describes the result, in some lines.
    [[nodiscard]] std::string to_string() const;
};

} // namespace cudag
