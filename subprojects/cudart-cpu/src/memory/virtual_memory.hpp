// Reserved addresses, physical memory and mappings of one to the other: the driver's virtual memory management.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cudart_cpu::detail {

/// The unit of sizes, offsets and addresses.
inline constexpr std::size_t mapping_granularity = std::size_t{2} << 20;

/// The access of devices and host to mapped memory. The host's processors run the kernels, so there is only one.
enum class MappedAccess { none, read, read_write };

// These throw Failure: cudaErrorInvalidValue for wrong sizes, addresses and handles, cudaErrorMemoryAllocation if there
// is not enough memory.

/// Reserves addresses without memory; `wanted` is a hint.
void* reserve_addresses(std::size_t bytes, std::size_t alignment, void* wanted);
void give_back_addresses(void* base, std::size_t bytes);

/// Makes physical memory of a device, with one reference.
std::uintptr_t make_physical_memory(std::size_t bytes, int device);
void release_physical_memory(std::uintptr_t handle);
/// Adds a reference to the memory mapped at `address`, and returns its handle.
std::uintptr_t retain_physical_memory(const void* address);
[[nodiscard]] int device_of_physical_memory(std::uintptr_t handle);

/// Maps a whole physical memory to reserved addresses without memory. Nothing may be accessed yet.
void map_memory(void* base, std::size_t bytes, std::size_t offset, std::uintptr_t handle);
/// Unmaps whole mappings.
void unmap_memory(void* base, std::size_t bytes);
/// Sets the access to whole mappings.
void set_mapped_access(void* base, std::size_t bytes, MappedAccess access);
[[nodiscard]] MappedAccess mapped_access(const void* address);

} // namespace cudart_cpu::detail
