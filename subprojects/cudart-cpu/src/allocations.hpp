// Making and ending allocations.
#pragma once

#include "memory.hpp"

namespace cudart_cpu::detail {

/// Bytes of fresh memory have this value, so that a missing upload shows.
inline constexpr unsigned char fresh_byte = 0xCD;
/// And freed memory this one, for as long as nobody reuses it.
inline constexpr unsigned char freed_byte = 0xDD;

struct AllocationKind {
    cudaMemoryType type;
    /// Made by cudaMallocAsync.
    bool stream_ordered = false;
    /// Those of cudaHostAlloc.
    unsigned host_flags = 0;
};

/// Memory of its own for each call, so that address sanitizer sees overruns. Throws cudaErrorMemoryAllocation.
/// Null for zero bytes.
void* allocate(std::size_t bytes, const AllocationKind& kind);

/// The kind of the live allocation that `pointer` points into.
std::optional<AllocationKind> kind_of(const void* pointer);

/// An allocation that is no longer live, but whose memory is still there.
struct DeadAllocation {
    char* base;
    std::size_t bytes;
    bool stream_ordered;
};

/// `host` is pinned host memory, `device` is device and managed memory.
enum class AllocatedOn { host, device };

/// Ends the life of the allocation that begins at `pointer`. Throws cudaErrorInvalidValue if there is none on this
/// side.
DeadAllocation end_allocation(void* pointer, AllocatedOn side);

/// Poisons the memory and gives it back.
void release(const DeadAllocation& dead) noexcept;

} // namespace cudart_cpu::detail
