// Memory outside of live allocations, recorded for CUDART_CPU_CHECK.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace cudart_cpu::detail {

/// Records memory that is no longer an allocation. Work launched before may still use it, until note_freed().
void note_ending(const void* memory, std::size_t bytes) noexcept;
/// Records freed device memory, as far back as the record is kept.
void note_freed(const void* memory, std::size_t bytes) noexcept;

/// Records memory on a kernel's own heap.
void note_kernel_memory(void* memory, std::size_t bytes);
void forget_kernel_memory(const void* memory);

/// Whether the bytes belong to a kernel's heap or to memory that is ending.
bool is_kept_memory(const void* memory, std::size_t bytes);

struct FreedMemory {
    const char* base;
    std::size_t bytes;
};

/// Returns the most recently freed memory with `pointer` inside.
std::optional<FreedMemory> find_freed_memory(const void* pointer);

/// Describes an address outside of allocations by the allocation next to it.
std::string surroundings_of(const void* address);

} // namespace cudart_cpu::detail
