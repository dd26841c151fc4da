// A watch for races caused by changes of nodes.
#pragma once

#include "accesses/access_index.hpp"
#include "accesses/memory_order.hpp"
#include "graph/graph_edges.hpp"
#include "graph/graph_records.hpp"
#include "node_accesses.hpp"

#include <cudag/race.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace cudag::detail {

class GraphState;

/// The accesses of the nodes of a built graph or an exec. A change is compared only with overlapping accesses. Each
/// graph of the tree gets its record with the first change of one of its nodes, and a new one with the first change
/// after further declarations. A record costs as much as a search for races. Later changes in a graph whose nodes form
/// one line cost nothing.
///
/// Accesses that move by the same distance, such as those of nodes bound to the same memory, overlap each other as
/// before and are not compared. If changed accesses overlap very many others, all are searched instead.
class RaceWatch {
  public:
    /// `in_force` must outlive this.
    explicit RaceWatch(const InForce& in_force) : in_force_(in_force) {}

    /// Stages new `params` and `declared` accesses of a node; each node once, until `commit` or `roll_back`.
    void stage(const NodePlace& node, const NodeParams& params, std::span<const ArgumentAccess> declared);
    /// A race caused by the staged changes, if there is one.
    [[nodiscard]] std::optional<Race> find();
    void commit() noexcept;
    void roll_back() noexcept;

  private:
    enum class State : std::uint8_t {
        settled,
        leaves,  ///< until `commit`
        fresh,   ///< since `stage`
        waiting, ///< fresh, and not compared with other waiting entries: all have moved by one distance
    };
    struct Entry : NodeAccess {
        State state = State::settled;
    };
    using Index = AccessIndex<Entry>;
    using Places = std::vector<Index::Place>;
    /// The nodes of one graph among each other.
    struct Level {
        Level(const GraphState& g, std::uint64_t version)
            : graph(g), declared_version(version), order(records_of(g).nodes().size(), edges_of(g)) {}

        const GraphState& graph;
        std::uint64_t declared_version; ///< of the graph, at construction
        MemoryOrder order;
        Index index = {};
        std::map<std::pair<const GraphState*, std::uint32_t>, Places> of_node = {}; ///< of nodes inside it, too
        std::optional<std::uintptr_t> distance = {}; ///< the distance moved by the waiting entries
        bool was_searched = false;                   ///< whether `find_anywhere` was called since the last change
    };
    struct Staged {
        Level* level;
        Places* current;
        Places next; ///< includes the remaining entries of `current`
    };

    [[nodiscard]] Level& level_of(const GraphState& graph);
    void stage(Level& level, std::uint32_t node, const NodePlace& origin, const std::vector<ArgumentAccess>& next);
    [[nodiscard]] static Index::Place stage(Level& level, const Entry& entry, Index::Place* current);
    [[nodiscard]] std::optional<Race> find(Staged& staged, std::size_t& most_visits);
    [[nodiscard]] static std::optional<Race> find_anywhere(Level& level);
    void end() noexcept;

    const InForce& in_force_;
    ArrayAddresses arrays_;
    std::map<const GraphState*, Level> levels_;
    std::vector<Staged> staged_;
};

} // namespace cudag::detail
