// The nodes of a graph: what they were made with, and what updates have given them since.
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

/// Those of a graph that cudag did not make are read from CUDA when something asks for them: all functions that show
/// records do.
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
    /// The index of CUDA's node, if it is one of this graph that is known; else NodeIndices::none.
    [[nodiscard]] std::uint32_t find_native(cudaGraphNode_t node) { return table_.find(node); }

    /// The parameters of a node as they are in this graph; its record has those that it was made with.
    [[nodiscard]] const NodeParams& params(std::uint32_t index) const {
        const UpdatedNode* const changed = updated_.find(index);
        return changed != nullptr ? changed->params.view() : nodes()[index].params;
    }
    [[nodiscard]] UpdatedNode& updated(std::uint32_t index);
    [[nodiscard]] const UpdatedNodes& updated() const noexcept { return updated_; }
    /// What nodes say that they do to memory, beside what those of `updated()` say now: see declarations.hpp.
    [[nodiscard]] const DeclaredAccesses& declared_as_made() const noexcept { return accesses_; }
    [[nodiscard]] DeclaredAccesses& declared_as_made() noexcept { return accesses_; }
    /// Where parameters stand.
    [[nodiscard]] ParameterMemory& memory() noexcept { return memory_; }

    GraphRecords& operator=(const GraphRecords&) = delete;

  protected:
    GraphRecords() : table_(64) {}
    /// Of a `graph` whose nodes are still to be read.
    GraphRecords(std::unique_ptr<Unread> unread, GraphState& graph) : unread_(std::move(unread)) {
        unread_->set_graph(graph);
    }
    /// Of a clone: what is in force in `origin`, which has been read, is what its nodes are made with. Blocks are those
    /// of `origin`, but a clone of many clones has copies of them.
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
