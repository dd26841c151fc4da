// CapturedNode: a captured region, stream code as a part of a graph built by a GraphBuilder.
#pragma once

#include <cudag/config.hpp>
#include <cudag/detail/private_access.hpp>
#include <cudag/node.hpp>
#include <cudag/source_location.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

namespace cudag {

namespace detail {

template <class Source>
concept NodeSource = AnyNode<Source> || NodeRange<Source> || is_captured_node<Source>;

} // namespace detail

/// A handle to the nodes recorded by one `GraphBuilder::capture`, as a unit.
///
///     cudag::CapturedNode region = b.capture(stream, [&](cudaStream_t s) { library_call(s, x.data(), n); });
///     region.label("library").writes(x).after(b.kernel(config, fill, x, 1.0f, n));
///     b.kernel(config, step, x, n).after(region);
///
/// `region.after(a)` orders the first nodes of the region (the roots) after `a`; `b.after(region)` orders b after its
/// last nodes (the tails). A region without recorded nodes is one empty node, so it still orders its predecessors and
/// successors. The handle owns nothing; calls on an empty handle, or after the end of its graph, throw GraphError.
/// Threads: as for Node.
class CUDAG_EXPORT CapturedNode {
  public:
    CapturedNode() noexcept = default;

    /// Returns all nodes of the region, in the order of their recording.
    [[nodiscard]] std::vector<Node> nodes() const;
    /// Returns the nodes without a predecessor in the region.
    [[nodiscard]] std::vector<Node> roots() const;
    /// Returns the nodes without a successor in the region.
    [[nodiscard]] std::vector<Node> tails() const;
    /// Returns the source location of the capture.
    [[nodiscard]] SourceLocation location() const;

    /// Names the nodes that have no label yet from a step, a mark or an earlier call.
    CapturedNode label(std::string_view text) const; // cudag: label(text) takes a string

    /// Declares that the region reads `memory`, as Node::reads does, for its nodes of unknown effect: kernels and host
    /// functions of libraries, and kernels with raw pointers. The order of these nodes among each other remains the
    /// order of the capture.
    template <class... Memory>
    CapturedNode
    reads(const Memory&... memory) const { // cudag: reads(memory, ...) takes buffers, spans and host ranges
        return declare(detail::declared_accesses<detail::AccessMode::read>(memory...));
    }
    /// Declares that the region writes, and may read, `memory`; otherwise as `reads`.
    template <class... Memory>
    CapturedNode
    writes(const Memory&... memory) const { // cudag: writes(memory, ...) takes buffers, spans and host ranges
        return declare(detail::declared_accesses<detail::AccessMode::write>(memory...));
    }

    /// Adds edges: the region starts when all of `nodes` (handles, ranges of handles, regions) have finished. A
    /// repeated edge counts once. Throws GraphError, and adds nothing, if a handle is of another graph or of this
    /// region, or the graph is already built.
    template <class... Handle>
    CapturedNode
    after(const Handle&... nodes) const { // cudag: after(a, b, ...) takes the nodes one by one, or a range of them
        static_assert(sizeof...(Handle) > 0, "cudag: after() needs at least one node");
        static_assert((detail::NodeSource<Handle> && ...),
                      "cudag: after() of a region takes node handles, ranges of node handles or other regions");
        if constexpr ((detail::NodeSource<Handle> && ...)) {
            const auto from = detail::list_nodes(nodes...);
            add_edges(from.data(), from.size());
        }
        return *this;
    }

    /// Compares identity: same region of the same graph.
    friend bool operator==(const CapturedNode&, const CapturedNode&) = default;

  private:
    friend struct detail::Access;
    CapturedNode(const Node& first, const detail::RegionNodes& region) noexcept : first_(first), region_(&region) {}

    void add_edges(const Node* from, std::size_t count) const;
    CapturedNode declare(std::vector<detail::ArgumentAccess>&& accesses) const;

    Node first_;
    const detail::RegionNodes* region_ = nullptr; ///< in the graph's memory: alive if the node's graph is
};

inline const Node& detail::Access::first_node(const CapturedNode& region) noexcept {
    return region.first_;
}
inline const detail::RegionNodes* detail::Access::nodes(const CapturedNode& region) noexcept {
    return region.region_;
}
inline CapturedNode detail::Access::region_of(const Node& first, const RegionNodes& nodes) noexcept {
    return {first, nodes};
}

namespace detail {

/// Appends all nodes of `source` to `list`: a handle, the nodes of a region, or the nodes of a range of handles or
/// regions.
template <class Handle>
void append_all_nodes(std::vector<Node>& list, const Handle& source) {
    if constexpr (AnyNode<Handle>) {
        list.push_back(source);
    } else if constexpr (is_captured_node<Handle>) {
        const std::vector<Node> nodes = source.nodes();
        list.insert(list.end(), nodes.begin(), nodes.end());
    } else {
        for (const auto& each : source)
            append_all_nodes(list, each);
    }
}

} // namespace detail

/// A region together with the value returned by the captured function; the graph does not keep that value.
///
///     auto [region, result] = b.capture(stream, [&](cudaStream_t s) { return library_call(s, x.data(), n); });
///     b.kernel(config, step, x, n).after(region);
template <class Output>
struct CapturedRegion {
    CapturedNode node;
    Output output;
};

} // namespace cudag
