// The memory of alloc nodes.
#include "graph_memory.hpp"

#include "memory/allocations.hpp"

#include <cstring>
#include <mutex>
#include <unordered_map>

namespace cudart_cpu::detail {

namespace {

struct AccountRegistry {
    std::mutex mutex;
    std::unordered_map<const void*, std::weak_ptr<GraphAllocation>> latest;
};

/// Never destroyed: graphs may be destroyed after main().
AccountRegistry& account_registry() {
    static auto& all = *new AccountRegistry;
    return all;
}

} // namespace

GraphMemory::GraphMemory(int device, std::size_t bytes)
    : device_(device), bytes_(bytes), address_(take_address(bytes, device)) {}

GraphMemory::~GraphMemory() {
    forget_graph_memory(*this);
    {
        const std::lock_guard lock(account_registry().mutex);
        account_registry().latest.erase(address_);
    }
    give_up_address(address_);
}

bool GraphMemory::is_allocated() const {
    return detail::is_allocated(address_);
}

void GraphMemory::begin_allocation() {
    detail::begin_allocation(address_, shared_from_this());
}

void GraphMemory::end_allocation() {
    detail::end_allocation(address_, AllocatedOn::device);
}

void GraphMemory::fill(unsigned char byte) const noexcept {
    std::memset(address_, byte, bytes_);
}

void register_allocation(const GraphAllocationPointer& allocation) {
    const std::lock_guard lock(account_registry().mutex);
    account_registry().latest[allocation->memory->address()] = allocation;
}

GraphAllocationPointer find_graph_allocation(const void* address) {
    const std::lock_guard lock(account_registry().mutex);
    const auto found = account_registry().latest.find(address);
    return found == account_registry().latest.end() ? nullptr : found->second.lock();
}

bool is_freed_by_its_graph(const void* pointer) {
    const std::optional<Range> range = find_allocation(pointer);
    const GraphAllocationPointer allocation = range ? find_graph_allocation(range->base) : nullptr;
    return allocation && allocation->is_freed_by_graph;
}

} // namespace cudart_cpu::detail
