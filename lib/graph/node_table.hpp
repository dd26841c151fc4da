// The nodes of a graph, by index.
#pragma once

#include "lists/growth.hpp"
#include "lists/renumbering.hpp"
#include "node_indices.hpp"
#include "node_record.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace cudag::detail {

/// The records of nodes, and apart from them the native nodes, for loops that need nothing else.
class NodeTable {
  public:
    static constexpr std::size_t few = 15; ///< nodes of a small graph: malloc is quick for up to 1 KiB

    NodeTable() = default;
    explicit NodeTable(std::size_t room) {
        records_.reserve(room);
        natives_.reserve(room);
    }

    [[nodiscard]] std::size_t size() const noexcept { return records_.size(); }
    [[nodiscard]] const std::vector<NodeRecord>& records() const noexcept { return records_; }
    [[nodiscard]] std::vector<NodeRecord>& records() noexcept { return records_; }
    [[nodiscard]] const std::vector<cudaGraphNode_t>& natives() const noexcept { return natives_; }

    /// Makes room for `more` nodes: adding them then cannot fail.
    void reserve(std::size_t more) {
        reserve_more(records_, more, many);
        reserve_more(natives_, more, many);
    }
    NodeRecord& add(cudaGraphNode_t native, NodeRecord&& record) {
        natives_.push_back(native);
        return records_.emplace_back(std::move(record));
    }
    void add(std::vector<cudaGraphNode_t>&& natives, std::vector<NodeRecord>&& records) {
        if (records_.empty()) {
            records_ = std::move(records);
            natives_ = std::move(natives);
            return;
        }
        records_.insert(records_.end(), std::make_move_iterator(records.begin()),
                        std::make_move_iterator(records.end()));
        natives_.insert(natives_.end(), natives.begin(), natives.end());
    }
    /// Forgets nodes from `first` on.
    void forget_from(std::uint32_t first) noexcept {
        records_.erase(records_.begin() + first, records_.end());
        natives_.resize(first);
        if (indices_.count() > first) indices_.clear();
    }
    void renumber(const Renumbering& next) noexcept {
        next.close_up(records_);
        next.close_up(natives_);
        indices_.clear();
    }
    /// Replaces all native nodes by their counterparts in a clone of CUDA's graph.
    void replace_natives(std::vector<cudaGraphNode_t>& natives) noexcept {
        natives_.swap(natives);
        indices_.clear();
    }

    /// Returns the index of a native node; none for any other. Indexes nodes added since the last call.
    [[nodiscard]] std::uint32_t find(cudaGraphNode_t node) {
        indices_.extend(natives_);
        return indices_.find(natives_, node);
    }

  private:
    static constexpr std::size_t many = 64;

    std::vector<NodeRecord> records_;
    std::vector<cudaGraphNode_t> natives_;
    NodeIndices indices_; ///< of a leading part of `natives_`
};

} // namespace cudag::detail
