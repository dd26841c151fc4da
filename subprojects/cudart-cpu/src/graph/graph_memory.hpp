// The memory of alloc nodes: an address that a node fixes, and what is allocated there while launches and frees say so.
#pragma once

#include "stream/completion.hpp"

#include <cstddef>
#include <memory>
#include <set>
#include <vector>

namespace cudart_cpu::detail {

/// Memory at one address, which the allocations of one graph use one after the other.
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

    /// Whether it is allocated, in the order of the host's calls.
    [[nodiscard]] bool is_allocated() const;
    void begin_allocation();
    void end_allocation();

    /// When a launch comes to it: fresh memory, and freed memory.
    void fill(unsigned char byte) const noexcept;

  private:
    const int device_;
    const std::size_t bytes_;
    void* const address_;
};

using GraphMemoryPointer = std::shared_ptr<GraphMemory>;

/// What one alloc node allocates.
struct GraphAllocation {
    GraphMemoryPointer memory;
    std::weak_ptr<const void> graph; // to which the alloc node belongs
    bool is_freed_by_graph = false;  // a node of that graph frees it: nobody else can
    bool may_be_freed_by_graph = true;
    std::vector<std::weak_ptr<const void>> freed_by; // other graphs
    std::set<const void*> execs;                     // that allocate it
};

using GraphAllocationPointer = std::shared_ptr<GraphAllocation>;

/// The latest allocation of its address from now on.
void register_allocation(const GraphAllocationPointer& allocation);
/// The latest that an alloc node has at `address`; null if there is none.
GraphAllocationPointer find_graph_allocation(const void* address);
/// Whether an operand that points there is refused by updates.
bool is_freed_by_its_graph(const void* pointer);

/// The accounts that cudaDeviceGetGraphMemAttribute tells: a launch or upload needs `all` of its memory until then.
void use_graph_memory(const std::vector<GraphMemoryPointer>& all, const CompletionPtr& until);
void forget_graph_memory(const GraphMemory& memory) noexcept;

} // namespace cudart_cpu::detail
