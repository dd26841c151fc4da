// Nesting of graphs: a graph is a root, or inside a node of another graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace cudag::detail {

class GraphState;
class Renumbering;

/// The place of a graph: by itself, as a child graph, or as a body of a conditional.
enum class Place : std::uint8_t { root, child, body };

/// The place of a graph, and the graphs inside its nodes.
class GraphTree {
  public:
    /// Constructs the place of the root `self`, which this object must be a part of.
    explicit GraphTree(GraphState& self) noexcept : self_(self) {}
    GraphTree(const GraphTree&) = delete;
    GraphTree& operator=(const GraphTree&) = delete;

    /// Returns the graph around this one, which is inside its node `parent_node()`; null for a root.
    [[nodiscard]] GraphState* parent() noexcept { return parent_ == nullptr ? nullptr : &parent_->self_; }
    [[nodiscard]] const GraphState* parent() const noexcept { return parent_ == nullptr ? nullptr : &parent_->self_; }
    [[nodiscard]] GraphState& root() noexcept { return parent_ == nullptr ? self_ : parent_->root(); }
    [[nodiscard]] const GraphState& root() const noexcept { return parent_ == nullptr ? self_ : parent_->root(); }
    [[nodiscard]] Place place() const noexcept { return place_; }
    /// The index of the node around this graph.
    [[nodiscard]] std::uint32_t parent_node() const noexcept { return parent_node_; }
    /// The rank of this graph in that node, and in all `nested()` of the graph around it.
    [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
    [[nodiscard]] std::uint32_t position() const noexcept { return position_; }
    /// The device of all nodes of a body.
    [[nodiscard]] int device() const noexcept { return device_; }
    /// Whether this graph is a body of a conditional, or inside one.
    [[nodiscard]] bool is_in_body() const noexcept {
        return place_ == Place::body || (parent_ != nullptr && parent_->is_in_body());
    }

    /// Numbers in the root: node i of a graph has `first_number() + i`; the root has `node_total()`.
    [[nodiscard]] std::uint32_t first_number() const noexcept { return first_number_; }
    [[nodiscard]] std::uint32_t node_total() const noexcept { return *node_total_; }

    /// The graphs inside nodes of this one, in order of the nodes.
    [[nodiscard]] const std::vector<std::shared_ptr<GraphState>>& nested() const noexcept { return nested_; }
    [[nodiscard]] std::span<const std::shared_ptr<GraphState>> nested_in(std::uint32_t node) const;
    /// Makes room for `more` graphs inside nodes.
    void reserve(std::size_t more);
    /// Adds a graph inside `node`, with its nodes on `device` if it is a body. Call `reserve` first. A node's graphs
    /// are added in the order of its bodies.
    void add(std::shared_ptr<GraphState>&& graph, std::uint32_t node, Place place, int device) noexcept;
    /// Takes out the last graph inside a node from `first` on, which becomes a root; null if there is none.
    [[nodiscard]] std::shared_ptr<GraphState> take_last(std::uint32_t first) noexcept;
    void leave() noexcept { parent_ = nullptr; }
    /// Counts the graphs inside nodes that go. `renumber` moves them to `gone`, which has room: they become
    /// roots.
    [[nodiscard]] std::size_t count_gone_graphs(const Renumbering& next) const noexcept;
    void renumber(const Renumbering& next, std::vector<std::shared_ptr<GraphState>>& gone) noexcept;

    /// Numbers the nodes of this root and of all graphs inside it, once.
    void number_all() noexcept {
        if (!node_total_) node_total_ = number_from(0);
    }

  private:
    std::uint32_t number_from(std::uint32_t first) noexcept;

    GraphState& self_;
    GraphTree* parent_ = nullptr;
    std::vector<std::shared_ptr<GraphState>> nested_;
    std::uint32_t parent_node_ = 0;
    std::uint32_t number_ = 0;
    std::uint32_t position_ = 0;
    std::uint32_t first_number_ = 0;
    std::optional<std::uint32_t> node_total_; ///< none until all are numbered
    int device_ = 0;
    Place place_ = Place::root;
};

[[nodiscard]] const GraphTree& tree_of(const GraphState& graph) noexcept;
[[nodiscard]] const GraphState& root_of(const GraphState& graph) noexcept;
[[nodiscard]] GraphState& root_of(GraphState& graph) noexcept;
/// Return the graphs inside nodes of `graph`, in order: all of them, or those inside node `index`. Reads a captured
/// graph.
[[nodiscard]] const std::vector<std::shared_ptr<GraphState>>& nested_of(const GraphState& graph);
[[nodiscard]] std::span<const std::shared_ptr<GraphState>> nested_in(const GraphState& graph, std::uint32_t index);
/// Returns the graph of this `number` inside the node; null if there is none.
[[nodiscard]] const std::shared_ptr<GraphState>* find_nested(const GraphState& graph, std::uint32_t index,
                                                             std::size_t number);
/// Throws GraphError, naming `action`, if `graph` is inside a node.
void require_root(const GraphState& graph, std::string_view action);

} // namespace cudag::detail
