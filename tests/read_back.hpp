// Graphs read back from CUDA's own graph: each equals the graph that cudag wrote.
#pragma once

#include <cudag/cudag.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

/// What CUDA's graph told of a graph.
struct ReadBack {
    std::vector<std::string> differences; ///< from the graph that was written
    std::vector<std::string> opaque;      ///< conditionals without kind and bodies: CUDA tells them from 13.2 on
    std::vector<std::string> unreported;  ///< differences in fields that CUDA does not report
    bool is_clone = false;                ///< whether CUDA could clone it; else it was viewed in place
};

namespace read_back_detail {

inline void list_opaque(const cudag::Graph& graph, std::vector<std::string>& found) {
    for (const cudag::Node& node : graph.nodes()) {
        const std::size_t inside = cudag::detail::count_inside(node);
        if (node.kind() == cudag::NodeKind::conditional && inside == 0) found.push_back(to_string(node));
        for (std::size_t i = 0; i < inside; ++i)
            list_opaque(cudag::detail::graph_inside(node, i), found);
    }
}

/// Whether CUDA does not report the field: the declaration of waits, an attribute, and whether a copy of one row was
/// given as a range or as a region.
inline bool is_unreported(const cudag::Difference& difference) {
    return difference.field == "waits_for_previous" || difference.field == "nvlink_util_centric_scheduling" ||
           (difference.field == "operands" && difference.old_value == "regions" && difference.new_value == "ranges");
}

inline bool has_memory_nodes(const cudag::Graph& graph) {
    for (const cudag::Node& node : graph.nodes()) {
        if (node.kind() == cudag::NodeKind::alloc || node.kind() == cudag::NodeKind::free) return true;
        for (std::size_t i = 0; i < cudag::detail::count_inside(node); ++i)
            if (has_memory_nodes(cudag::detail::graph_inside(node, i))) return true;
    }
    return false;
}

} // namespace read_back_detail

/// Reads CUDA's graph as a graph made by other code, a clone of it where CUDA makes one. `as_written`: it has the edges
/// as written, see Plan::as_written, unless memory nodes have kept redundant ones from CUDA; otherwise those of a plan,
/// and maybe kernels of it, which are no difference.
inline ReadBack read_back(const cudag::Graph& graph, bool as_written) {
    const bool with_edges = as_written && !read_back_detail::has_memory_nodes(graph);
    ReadBack result;
    cudaGraph_t clone = nullptr;
    result.is_clone = cudaGraphClone(&clone, graph.native()) == cudaSuccess;
    if (!result.is_clone) static_cast<void>(cudaGetLastError());
    const cudag::Graph read = result.is_clone ? cudag::Graph::adopt(clone) : cudag::Graph::view(graph.native());
    read_back_detail::list_opaque(read, result.opaque);
    for (const cudag::Difference& difference : diff(graph, read)) {
        const bool is_of_plan = difference.kind == cudag::DifferenceKind::edge || difference.before == cudag::Node();
        if (read_back_detail::is_unreported(difference))
            result.unreported.push_back(to_string(difference));
        else if (with_edges || !is_of_plan)
            result.differences.push_back(to_string(difference));
    }
    return result;
}
