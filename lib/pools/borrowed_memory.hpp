// Memory that the nodes of graphs borrow: whether it still exists.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace cudag::detail {

class ExecState;
class GraphState;
class PoolState;
struct NodePlace;

/// The allocations behind the addresses in graphs, by CUDA's numbers of allocations, which are never used again, and
/// by the numbers of blocks in CapturePools. Not thread-safe.
class BorrowedMemory {
  public:
    /// The memory of these pools may pass from buffer to buffer: a graph keeps it.
    void except(std::vector<const PoolState*> pools) { kept_ = std::move(pools); }
    /// Notes the memory of all nodes of a graph.
    void note(const GraphState& graph);
    /// Throws Error if a node of `exec` uses memory that has been freed since it was noted. Notes memory of updates.
    void check(const ExecState& exec);

  private:
    /// Returns the number of the allocation at `address`; 0 if there is none, or it need not be checked.
    [[nodiscard]] std::uint64_t number_at(std::uintptr_t address) const noexcept;
    void check(const ExecState& exec, const NodePlace& node);

    std::vector<const PoolState*> kept_;
    std::unordered_map<std::uintptr_t, std::uint64_t> numbers_; ///< by address
};

} // namespace cudag::detail
