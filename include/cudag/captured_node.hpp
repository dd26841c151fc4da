// A captured region: stream code as a part of a graph that a builder writes.
#pragma once

#include <cudag/config.hpp>
#include <cudag/node.hpp>
#include <cudag/source_location.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

namespace cudag {

namespace detail {

class NewRegion;
struct RegionNodes;

template <class Source>
concept NodeSource = AnyNode<Source> || NodeRange<Source> || is_captured_node<Source>;

} // namespace detail

/// A handle to what `GraphBuilder::capture` has recorded: some nodes, together. `region.after(a)` puts those that come
/// first, the roots, after `a`; `b.after(region)` puts b after those that come last, the tails. A region in which
/// nothing was recorded is one empty node, so that it orders what stands before and after it. It owns nothing, and is
/// refused as a Node is when it is empty or its graph no longer exists. Threads: as a Node.
class CUDAG_EXPORT CapturedNode {
  public:
    CapturedNode() noexcept = default;

    /// All of them, in the order in which they were recorded.
    [[nodiscard]] std::vector<Node> nodes() const;
    /// Those that come after no other node of the region.
    [[nodiscard]] std::vector<Node> roots() const;
    /// Those that no other node of the region comes after.
    [[nodiscard]] std::vector<Node> tails() const;
    /// Where it was captured.
    [[nodiscard]] SourceLocation location() const;

    /// Names the nodes that have no label yet: no step, no mark and no earlier call has given them one.
    CapturedNode label(std::string_view text) const; // cudag: label(text) takes a string

    /// Says that the region reads `memory`, as Node::reads: those of its nodes of which cudag does not know what they
    /// do, libraries' kernels and host functions, and kernels with raw pointers. Their order among each other is that
    /// of the capture, whatever this says.
    template <class... Memory>
    CapturedNode
    reads(const Memory&... memory) const { // cudag: reads(memory, ...) takes buffers, spans and host ranges
        return declare(detail::declared_accesses<detail::AccessMode::read>(memory...));
    }
    /// The same for memory that they write, and may read.
    template <class... Memory>
    CapturedNode
    writes(const Memory&... memory) const { // cudag: writes(memory, ...) takes buffers, spans and host ranges
        return declare(detail::declared_accesses<detail::AccessMode::write>(memory...));
    }

    /// The region starts when all of `nodes` (handles, ranges of handles, regions) have finished. A repeated edge
    /// counts once. Throws GraphError, and adds nothing, if a handle is of another graph or of this region, or the
    /// graph is built already.
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

    /// Same region of the same graph.
    friend bool operator==(const CapturedNode&, const CapturedNode&) = default;

  private:
    friend class Graph;
    friend class detail::NewRegion;
    friend CUDAG_EXPORT void detail::append_tails(std::vector<Node>& list, const CapturedNode& region);
    CapturedNode(const Node& first, const detail::RegionNodes& region) noexcept : first_(first), region_(&region) {}

    void add_edges(const Node* from, std::size_t count) const;
    CapturedNode declare(std::vector<detail::ArgumentAccess>&& accesses) const;

    Node first_;
    const detail::RegionNodes* region_ = nullptr; ///< in the graph's memory: alive if the node's graph is
};

namespace detail {

/// Adds what `source` is to `list`: a handle, all nodes of a region, or those of a range of them.
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

/// A region, and what the captured function returned: not kept by the graph.
template <class Output>
struct CapturedRegion {
    CapturedNode node;
    Output output;
};

} // namespace cudag
