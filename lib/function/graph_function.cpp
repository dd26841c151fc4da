// Checks of a GraphFunction: the directions of its memory.
#include <cudag/graph_function.hpp>

#include "cuda/failure.hpp"
#include "graph/graph_locks.hpp"
#include "graph/graph_records.hpp"
#include "graph/graph_tree.hpp"
#include "graph/in_force.hpp"
#include "order/node_accesses.hpp"

#include <fmt/format.h>

#include <span>
#include <string>

namespace cudag::detail {

namespace {

/// "GraphFunction: parameter 1 ("count")"
std::string parameter_text(std::size_t parameter, std::string_view name) {
    return fmt::format("GraphFunction: parameter {}{}", parameter, name.empty() ? "" : fmt::format(" (\"{}\")", name));
}

bool overlaps(const MemoryBlock& block, const FunctionMemory& memory) noexcept {
    return block.begin < memory.begin + memory.bytes && memory.begin < block.end();
}

} // namespace

void check_directions(const Graph& graph, const FunctionMemory* memory, std::size_t count) {
    const bool is_all_known = graph.untracked().empty();
    const GraphState& state = Access::state(graph);
    const auto lock = lock_of(state);
    ArrayAddresses arrays;
    const auto accesses = accesses_of(state, graph_in_force, arrays);
    for (const FunctionMemory& each : std::span(memory, count)) {
        bool is_written = false;
        for (const NodeAccess& access : accesses) {
            if (access.mode == AccessMode::read || !overlaps(access.block, each)) continue;
            is_written = true;
            if (each.direction == MemoryDirection::in)
                refuse(fmt::format(
                    "{} is an In, and {} writes its memory; let the kernel take a pointer to const, declare "
                    "the argument by cudag::in, or make the parameter an InOut",
                    parameter_text(each.parameter, each.name), access.place.describe()));
        }
        if (each.direction != MemoryDirection::in && !is_written && is_all_known)
            refuse(fmt::format("{} is an {}, and no node writes its memory; make it an In",
                               parameter_text(each.parameter, each.name),
                               each.direction == MemoryDirection::out ? "Out" : "InOut"));
    }
}

void refuse_no_execs() {
    refuse("GraphFunctionOptions: execs is 0; a GraphFunction needs one or more");
}

void refuse_moved_function() {
    refuse("GraphFunction: it was moved from, so it has no graph to launch");
}

void refuse_unused_parameter(std::size_t parameter, std::string_view name) {
    refuse(fmt::format(
        "{} is used by no node in a way that calls can replace; give it to a node, as an argument and not inside "
        "an object, or leave it out of the signature",
        parameter_text(parameter, name)));
}

} // namespace cudag::detail
