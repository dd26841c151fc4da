// Memory that is no live allocation, as far as CUDART_CPU_CHECK asks for it.
#pragma once

#include <cstddef>
#include <optional>

namespace cudart_cpu::detail {

/// Memory that is no allocation any more, although what was launched before may still use it, until note_freed().
void note_ending(const void* memory, std::size_t bytes) noexcept;
/// Memory of the device that has been freed, as far back as it is kept.
void note_freed(const void* memory, std::size_t bytes) noexcept;

/// Memory that a kernel has of its own heap.
void note_kernel_memory(void* memory, std::size_t bytes);
void forget_kernel_memory(const void* memory);

/// Whether the bytes are of a kernel's heap, or of memory that is ending.
bool is_kept_memory(const void* memory, std::size_t bytes);

struct FreedMemory {
    const char* base;
    std::size_t bytes;
};

/// The memory that `pointer` pointed into when it was freed, the latest.
std::optional<FreedMemory> find_freed_memory(const void* pointer);

} // namespace cudart_cpu::detail
