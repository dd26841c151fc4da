// The memory of alloc nodes: its address, fixed by a node, and its allocation by launches and frees.
#pragma once

#include "stream/completion.hpp"

#include <cstddef>
#include <memory>
#include <set>
#include <vector>

namespace cudart_cpu::detail {

/// Memory at one address, used by allocations of one graph one after the other.
class GraphMemory : public std::enable_shared_from_this<GraphMemory> {
  public:
    /// Throws cudaErrorMemoryAllocation.
    GraphMemory(int device, std::size_t bytes);
    GraphMemory(const GraphMemory&) = delete;
    GraphMemory& operator=(const GraphMemory&) = delete;
    ~GraphMemory();

    [[nodiscard]] int device() const noexcept { return device_; }
    [[nodiscard]] void* address() const noexcept { return address_; }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

    /// Whether the memory is allocated, in the order of the host's calls.
    [[nodiscard]] bool is_allocated() const;
    void begin_allocation();
    void end_allocation();

    /// Fills the memory when a launch reaches its alloc node or a free node.
    void fill(unsigned char byte) const noexcept;

  private:
    const int device_;
    const std::size_t bytes_;
    void* const address_;
};

using GraphMemoryPointer = std::shared_ptr<GraphMemory>;

/// The allocation of one alloc node.
struct GraphAllocation {
    GraphMemoryPointer memory;
    std::weak_ptr<const void> graph; // the alloc node's graph
    bool is_freed_by_graph = false;  // a node of this graph frees it: nothing else can
    bool may_be_freed_by_graph = true;
    std::vector<std::weak_ptr<const void>> freed_by; // other graphs with a free node for it
    std::set<const void*> execs;                     // the execs with its alloc node
};

using GraphAllocationPointer = std::shared_ptr<GraphAllocation>;

/// Makes `allocation` the latest one of its address.
void register_allocation(const GraphAllocationPointer& allocation);
/// Returns the latest allocation of an alloc node at `address`; null if there is none.
GraphAllocationPointer find_graph_allocation(const void* address);
/// Whether updates refuse an operand with this address.
bool is_freed_by_its_graph(const void* pointer);

/// Keeps the accounts for cudaDeviceGetGraphMemAttribute: a launch or upload needs `all` of its memory until `until`.
void use_graph_memory(const std::vector<GraphMemoryPointer>& all, const CompletionPtr& until);
void forget_graph_memory(const GraphMemory& memory) noexcept;

} // namespace cudart_cpu::detail
