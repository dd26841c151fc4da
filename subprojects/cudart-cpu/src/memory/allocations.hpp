// Making and ending allocations.
#pragma once

#include "memory.hpp"
#include "runtime/device_model.hpp"

#include <memory>

namespace cudart_cpu::detail {

/// Bytes of fresh memory have this value, so that a missing upload shows.
inline constexpr unsigned char fresh_byte = 0xCD;
/// And freed memory this one, for as long as nobody reuses it.
inline constexpr unsigned char freed_byte = 0xDD;

class ManagedHints;
class MemoryPool;

struct AllocationKind {
    cudaMemoryType type;
    /// Of stream-ordered memory: where it comes from.
    std::shared_ptr<MemoryPool> pool = nullptr;
    /// Those of cudaHostAlloc.
    unsigned host_flags = 0;
    int device = current_device();
    /// Of managed memory.
    std::shared_ptr<ManagedHints> managed = nullptr;
};

/// Memory of its own for each call, so that address sanitizer sees overruns. Throws cudaErrorMemoryAllocation.
/// Null for zero bytes.
void* allocate(std::size_t bytes, const AllocationKind& kind);

/// The kind of the live allocation that `pointer` points into.
std::optional<AllocationKind> kind_of(const void* pointer);

/// The same as find_allocation(), but not of taken addresses where nothing is allocated.
std::optional<Range> find_live_allocation(const void* pointer);

/// An allocation that is no longer live, but whose memory is still there.
struct DeadAllocation {
    char* base;
    std::size_t bytes;
    std::shared_ptr<MemoryPool> pool;
    /// Of memory that a graph allocated: what keeps its address.
    std::shared_ptr<void> address;

    [[nodiscard]] bool stream_ordered() const noexcept { return pool != nullptr || address != nullptr; }
};

/// `host` is pinned host memory, `device` is device and managed memory.
enum class AllocatedOn { host, device };

/// An address that stays taken, also while nothing is allocated there: that of an alloc node. Device memory for all
/// who ask, but no live allocation. Throws cudaErrorMemoryAllocation.
void* take_address(std::size_t bytes, int device);
void give_up_address(void* address) noexcept;

/// Makes a live allocation of a taken address that has none; `keep` lives until it ends.
void begin_allocation(void* address, std::shared_ptr<void> keep);
/// Of a taken address.
[[nodiscard]] bool is_allocated(const void* address);

/// Ends the life of the allocation that begins at `pointer`. Throws cudaErrorInvalidValue if there is none on this
/// side.
DeadAllocation end_allocation(void* pointer, AllocatedOn side);

/// Ends and gives back all that were made while this device was current, but for the addresses of alloc nodes.
void end_allocations_of(int device);

/// The program's own memory becomes pinned host memory until it is unregistered. Throws Failure if part of it is pinned
/// already, or is a device's.
void register_memory(void* pointer, std::size_t bytes, unsigned flags);
/// Throws cudaErrorHostMemoryNotRegistered unless registered memory begins there.
void require_registered(const void* pointer);
void unregister_memory(void* pointer) noexcept;

/// Poisons the memory and gives it back.
void release(const DeadAllocation& dead) noexcept;

} // namespace cudart_cpu::detail
