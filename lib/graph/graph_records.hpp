// The nodes of a graph: their first and their effective parameters.
#pragma once

#include "allocations.hpp"
#include "bindings.hpp"
#include "changes.hpp"
#include "declared_accesses.hpp"
#include "lists/assertion.hpp"
#include "lists/growth.hpp"
#include "node/rules.hpp"
#include "node_flags.hpp"
#include "node_table.hpp"
#include "parameter_memory.hpp"
#include "region_units.hpp"
#include "unread.hpp"

#include <cudag/detail/call_effects.hpp>

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace cudag::detail {

class GraphState;
struct ReadNodes;

/// The records of a graph's nodes, with everything else known of them by index. If cudag did not make the graph, they
/// are read from CUDA on demand: by every function that returns records.
class GraphRecords {
  public:
    /// Constructs the records of a new graph `self`, which this object must be a part of.
    explicit GraphRecords(GraphState& self) : self_(self), table_(NodeTable::few) {}
    /// Constructs the records of a graph still to be read.
    GraphRecords(GraphState& self, std::unique_ptr<Unread> unread);
    /// Constructs the records of a clone. The effective parameters of `origin`, already read, become the first ones of
    /// the clone. Blocks are shared with `origin`; a clone of many clones copies them.
    GraphRecords(GraphState& self, const GraphRecords& origin);
    ~GraphRecords() = default;
    GraphRecords(const GraphRecords&) = delete;
    GraphRecords& operator=(const GraphRecords&) = delete;

    void read_nodes() const {
        if (!has_known_nodes()) [[unlikely]]
            unread_->read_nodes();
    }
    void read_edges() const {
        if (unread_ && unread_->edges()) [[unlikely]]
            unread_->read_edges();
    }
    [[nodiscard]] bool has_known_nodes() const noexcept { return !unread_ || !unread_->nodes(); }
    [[nodiscard]] bool is_read() const noexcept { return !unread_ || (!unread_->nodes() && !unread_->edges()); }

    [[nodiscard]] const std::vector<NodeRecord>& nodes() const { return read_nodes(), table_.records(); }
    [[nodiscard]] const std::vector<cudaGraphNode_t>& natives() const { return read_nodes(), table_.natives(); }
    [[nodiscard]] NodeRecord& record(std::uint32_t index) noexcept { return table_.records()[index]; }
    [[nodiscard]] std::span<NodeRecord> records_from(std::uint32_t first) noexcept {
        return std::span(table_.records()).subspan(first);
    }
    [[nodiscard]] std::size_t known_nodes() const noexcept { return table_.size(); }
    /// Returns the index of a native node among the known nodes of this graph; none for any other.
    [[nodiscard]] std::uint32_t find_native(cudaGraphNode_t node) { return table_.find(node); }

    /// Returns the effective parameters of a node in this graph; its record has the first ones.
    [[nodiscard]] const NodeParams& params(std::uint32_t index) const {
        const UpdatedNode* const changed = updated_.find(index);
        return changed != nullptr ? changed->params.view() : nodes()[index].params;
    }
    [[nodiscard]] UpdatedNode& updated(std::uint32_t index);
    [[nodiscard]] const UpdatedNodes& updated() const noexcept { return updated_; }
    /// Accesses declared by nodes when they were added. `updated()` has those of updated nodes: see declarations.hpp.
    [[nodiscard]] const DeclaredAccesses& initial_accesses() const noexcept { return accesses_; }
    [[nodiscard]] DeclaredAccesses& initial_accesses() noexcept { return accesses_; }
    /// Memory for parameters.
    [[nodiscard]] ParameterMemory& memory() noexcept { return memory_; }

    /// The captured regions and their nodes.
    [[nodiscard]] const RegionUnits& units() const noexcept { return units_; }
    [[nodiscard]] RegionUnits& units() noexcept { return units_; }
    [[nodiscard]] const GraphAllocations& allocations() const { return read_nodes(), allocations_; }
    [[nodiscard]] GraphAllocations& allocations() { return read_nodes(), allocations_; }
    [[nodiscard]] const Bindings& bindings() const noexcept { return bindings_; }
    [[nodiscard]] Bindings& bindings() noexcept { return bindings_; }
    [[nodiscard]] const NodeFlags& special() const noexcept { return special_; }
    [[nodiscard]] NodeFlags& special() noexcept { return special_; }
    /// Number of declarations of accesses by nodes, here and inside, since this graph was made.
    [[nodiscard]] std::uint64_t declared_version() const noexcept {
        return declared_version_.load(std::memory_order_relaxed);
    }
    void count_declared() const noexcept { declared_version_.fetch_add(1, std::memory_order_relaxed); }

    /// Makes room for one more node with its `effects`: `append` then cannot fail.
    void reserve() { table_.reserve(1); }
    void reserve(const CallEffects& effects) {
        reserve();
        bindings_.reserve(effects.bindings);
        accesses_.reserve(static_cast<std::uint32_t>(table_.size()), effects.accesses.size());
    }
    /// Appends a node, and returns its index.
    std::uint32_t append(cudaGraphNode_t native, NodeRecord&& record, std::int32_t device) noexcept {
        CUDAG_ASSERT(has_room(table_.records()) && has_room(table_.natives()));
        const NodeKind kind = record.kind;
        table_.add(native, std::move(record)).device = device;
        if (kind != NodeKind::kernel) {
            special_.memory = special_.memory || is_graph_memory(kind);
            special_.joins = special_.joins || kind == NodeKind::empty;
            special_.accesses = special_.accesses || has_memory_operands(kind);
        }
        return static_cast<std::uint32_t>(table_.size() - 1);
    }
    /// Keeps the bindings and accesses of a new node.
    void add_effects(std::uint32_t index, const CallEffects& effects) noexcept;
    /// Appends nodes that CUDA already has.
    void append(ReadNodes&& nodes);
    /// Forgets the nodes from `first` on. `forget_last` leaves everything but the record to others.
    void forget_from(std::uint32_t first) noexcept;
    void forget_last() noexcept { table_.forget_from(static_cast<std::uint32_t>(table_.size() - 1)); }
    /// Follows a removal of nodes by CUDA.
    void renumber(const Renumbering& next) noexcept;
    void replace_natives(std::vector<cudaGraphNode_t>& natives) noexcept { table_.replace_natives(natives); }

  private:
    void copy_blocks();
    /// Updates `special().joins` after a removal, which may have left no empty node.
    void look_for_joins() noexcept;

    GraphState& self_;
    std::unique_ptr<Unread> unread_; ///< null for a graph that was never unread
    ParameterMemory memory_;
    NodeTable table_;
    DeclaredAccesses accesses_;
    UpdatedNodes updated_;
    GraphAllocations allocations_;
    Bindings bindings_;
    RegionUnits units_;
    NodeFlags special_;
    mutable std::atomic<std::uint64_t> declared_version_ = 0;
};

[[nodiscard]] const GraphRecords& records_of(const GraphState& graph) noexcept;
[[nodiscard]] GraphRecords& records_of(GraphState& graph) noexcept;
/// Reads everything still unread, in `graph` and in the graphs inside it.
void read_all(const GraphState& graph);

} // namespace cudag::detail
