// InlinedGraph: the nodes of a graph, written again into another graph.
#pragma once

#include <cudag/captured_node.hpp>
#include <cudag/config.hpp>
#include <cudag/detail/passkey.hpp>
#include <cudag/node.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace cudag {

namespace detail {

struct InlinedNodes;

} // namespace detail

/// The handle of the nodes written by `GraphBuilder::inline_graph`.
///
///     auto fill_x = b.kernel(config, fill, x, 1.0f, n);
///     auto part = b.inline_graph(graph).after(fill_x);
///     b.memcpy(host, y).after(part.tails());
///     auto scaling = part.counterpart(graph.find_one(scale)); // a KernelNode<float*, float, int>
///
/// Its nodes are nodes of the outer graph like all others. A cheap value that owns no node; calls throw GraphError on
/// an empty handle, and once the outer graph no longer exists. Threads: as for Node.
class CUDAG_EXPORT InlinedGraph {
  public:
    InlinedGraph() noexcept = default;
    InlinedGraph(detail::Passkey, std::shared_ptr<const detail::InlinedNodes> nodes) noexcept
        : nodes_(std::move(nodes)) {}

    /// Returns the nodes, in the order of the original graph; one empty node for a graph without nodes.
    [[nodiscard]] std::vector<Node> nodes() const;
    /// Returns the nodes without a predecessor among them.
    [[nodiscard]] std::vector<Node> roots() const;
    /// Returns the nodes without a successor among them: other nodes are ordered `.after(part.tails())`.
    [[nodiscard]] std::vector<Node> tails() const;

    /// Returns the node written for `original`, a node of the graph given to `inline_graph` or of a child in it. Throws
    /// GraphError for other handles, and once the original graph no longer exists.
    template <detail::AnyNode Handle>
    [[nodiscard]] Handle counterpart(const Handle& original) const { // cudag: counterpart(node) takes a handle
        if constexpr (std::same_as<Handle, Node>)
            return counterpart_of(original);
        else
            return Handle(detail::Passkey(), counterpart_of(original));
    }

    /// Adds edges: the nodes start when all of `nodes` (handles, ranges of handles, regions) have finished. Throws
    /// GraphError as `after` of a node does.
    template <class... Handle>
    InlinedGraph after(const Handle&... nodes) const { // cudag: after(a, b, ...) takes nodes, or a range of them
        static_assert(sizeof...(Handle) > 0, "cudag: after() needs at least one node");
        static_assert((detail::NodeSource<Handle> && ...),
                      "cudag: after() of an inlined graph takes node handles, ranges of node handles or regions");
        if constexpr ((detail::NodeSource<Handle> && ...)) {
            const auto from = detail::list_nodes(nodes...);
            for (const Node& root : roots())
                detail::add_edges(root, from.data(), from.size());
        }
        return *this;
    }

  private:
    [[nodiscard]] Node counterpart_of(const Node& original) const;
    [[nodiscard]] const detail::InlinedNodes& list() const;

    std::shared_ptr<const detail::InlinedNodes> nodes_;
};

} // namespace cudag
