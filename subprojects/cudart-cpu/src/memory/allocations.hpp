// The creation and the end of allocations.
#pragma once

#include "memory.hpp"
#include "runtime/device_model.hpp"

#include <memory>

namespace cudart_cpu::detail {

/// The value of fresh memory's bytes, so that a missing upload shows.
inline constexpr unsigned char fresh_byte = 0xCD;
/// The value of freed memory's bytes, until somebody reuses it.
inline constexpr unsigned char freed_byte = 0xDD;

/// Returns the value of the bytes of fresh memory of this type: fresh_byte, or 0 by CUDART_CPU_ZERO.
unsigned char fresh_byte_of(cudaMemoryType type);

class ManagedHints;
class MemoryPool;

struct AllocationKind {
    cudaMemoryType type;
    /// The origin of stream-ordered memory.
    std::shared_ptr<MemoryPool> pool = nullptr;
    /// The flags of cudaHostAlloc.
    unsigned host_flags = 0;
    int device = current_device();
    /// The hints for managed memory.
    std::shared_ptr<ManagedHints> managed = nullptr;
};

/// Allocates separate memory for each call, so that address sanitizer sees overruns. Throws cudaErrorMemoryAllocation.
/// Null for zero bytes.
void* allocate(std::size_t bytes, const AllocationKind& kind);

/// Returns the kind of the live allocation with `pointer` inside.
std::optional<AllocationKind> kind_of(const void* pointer);

/// Returns the live allocation with `pointer` inside, as find_allocation(), but ignores taken addresses without an
/// allocation.
std::optional<Range> find_live_allocation(const void* pointer);

/// An allocation that is no longer live, with memory not yet released.
struct DeadAllocation {
    char* base;
    std::size_t bytes;
    std::shared_ptr<MemoryPool> pool;
    /// For memory allocated by a graph: the owner of its address.
    std::shared_ptr<void> address;

    [[nodiscard]] bool stream_ordered() const noexcept { return pool != nullptr || address != nullptr; }
};

/// The side of an allocation: `host` is pinned host memory, `device` is device and managed memory.
enum class AllocatedOn { host, device };

/// Takes an address for an alloc node; it stays taken while nothing is allocated there. Queries report it as device
/// memory, but it is no live allocation. Throws cudaErrorMemoryAllocation.
void* take_address(std::size_t bytes, int device);
void give_up_address(void* address) noexcept;

/// Makes a live allocation at a taken address without one; `keep` lives until it ends.
void begin_allocation(void* address, std::shared_ptr<void> keep);
/// Whether a taken address is allocated.
[[nodiscard]] bool is_allocated(const void* address);

/// Ends the life of the allocation that begins at `pointer`. Throws cudaErrorInvalidValue if there is none on this
/// side.
DeadAllocation end_allocation(void* pointer, AllocatedOn side);

/// Ends and releases all allocations made while this device was current, except the addresses of alloc nodes.
void end_allocations_of(int device);

/// Makes mapped memory an allocation of a device until it leaves; nobody can free it.
void enter_mapped(void* pointer, std::size_t bytes, int device);
void leave_mapped(void* pointer) noexcept;

/// Makes the program's own memory pinned host memory until it is unregistered. Throws Failure if part of it is pinned
/// already, or is a device's.
void register_memory(void* pointer, std::size_t bytes, unsigned flags);
/// Throws cudaErrorHostMemoryNotRegistered unless registered memory begins there.
void require_registered(const void* pointer);
void unregister_memory(void* pointer) noexcept;

/// Poisons the memory and releases it.
void release(const DeadAllocation& dead) noexcept;

} // namespace cudart_cpu::detail
