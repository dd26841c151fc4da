// A graph of nodes that do to memory what they declare, and whose changes are looked at for races.
#pragma once

#include "order/race_watch.hpp"

#include "empty_graph.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

/// Nodes of a tree of graphs, which do what they declare.
class DeclaredNodes : public cudag::detail::InForce {
  public:
    using NodePlace = cudag::detail::NodePlace;
    using Key = std::pair<const cudag::detail::GraphState*, std::uint32_t>;

    [[nodiscard]] const cudag::detail::NodeParams& params(const NodePlace&) const override { return none_; }
    void for_each_declared(const NodePlace& node, const cudag::detail::AccessVisitor& visit) const override {
        if (const auto found = accesses.find({node.graph, node.index}); found != accesses.end())
            for (const cudag::detail::ArgumentAccess& access : found->second)
                visit(access);
    }
    [[nodiscard]] std::uint32_t region(const NodePlace& node) const override {
        const auto found = regions.find({node.graph, node.index});
        return found == regions.end() ? 0 : found->second;
    }
    [[nodiscard]] std::uint64_t declared_version(const cudag::detail::GraphState&) const override { return 0; }

    std::map<Key, std::vector<cudag::detail::ArgumentAccess>> accesses;
    std::map<Key, std::uint32_t> regions; ///< those that nodes are parts of

  private:
    cudag::detail::NodeParams none_;
};

/// A graph whose nodes are watched.
class WatchedNodes {
  public:
    using Ends = std::optional<std::pair<std::uint32_t, std::uint32_t>>;

    explicit WatchedNodes(std::uint32_t nodes, const std::vector<cudag::detail::EdgeRecord>& edges = {}) {
        for (std::uint32_t i = 0; i < nodes; ++i)
            add_node(*graph);
        for (const cudag::detail::EdgeRecord& edge : edges)
            graph->edge_lists().logical().add(edge);
    }
    std::vector<cudag::detail::ArgumentAccess>& operator[](std::uint32_t node) {
        return in_force.accesses[{graph.get(), node}];
    }
    void stage(std::uint32_t node, const std::vector<cudag::detail::ArgumentAccess>& next) {
        watch.stage({graph.get(), node}, {}, next);
    }
    /// The nodes of the race that is found.
    [[nodiscard]] Ends find() {
        const std::optional<cudag::Race> race = watch.find();
        if (!race) return std::nullopt;
        return std::pair(cudag::detail::GraphIdentity::index_unchecked(race->first),
                         cudag::detail::GraphIdentity::index_unchecked(race->second));
    }

    std::shared_ptr<cudag::detail::GraphState> graph = empty_graph();
    DeclaredNodes in_force;
    cudag::detail::RaceWatch watch{in_force};
};
