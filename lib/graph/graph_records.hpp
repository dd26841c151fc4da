// The nodes of a graph: their first and their effective parameters.
#pragma once

#include "changes.hpp"
#include "declared_accesses.hpp"
#include "node_table.hpp"
#include "parameter_memory.hpp"
#include "unread.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace cudag::detail {

class GraphState;

/// The records of a graph's nodes. If cudag did not make the graph, they are read from CUDA on demand: by every
/// function that returns records.
class GraphRecords {
  public:
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

    GraphRecords& operator=(const GraphRecords&) = delete;

  protected:
    GraphRecords() : table_(64) {}
    /// Constructs the records of a `graph` still to be read.
    GraphRecords(std::unique_ptr<Unread> unread, GraphState& graph) : unread_(std::move(unread)) {
        unread_->set_graph(graph);
    }
    /// Constructs the records of a clone. The effective parameters of `origin`, already read, become the first ones of
    /// the clone. Blocks are shared with `origin`; a clone of many clones copies them.
    GraphRecords(const GraphRecords& origin);
    ~GraphRecords() = default;

    [[nodiscard]] NodeTable& table() noexcept { return table_; }

  private:
    void copy_blocks();

    std::unique_ptr<Unread> unread_; ///< null for a graph that was never unread
    ParameterMemory memory_;
    NodeTable table_;
    DeclaredAccesses accesses_;
    UpdatedNodes updated_;
};

} // namespace cudag::detail
