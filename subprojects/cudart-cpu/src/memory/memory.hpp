// Live allocations, and checked copies and fills between them and host memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace cudart_cpu::detail {

/// One live allocation.
struct Range {
    char* base;
    std::size_t bytes;
    cudaMemoryType type;
    int device = 0;
};

/// Returns the live allocation with `pointer` inside.
std::optional<Range> find_allocation(const void* pointer);

/// Throws Failure as the driver would; performs nothing. An empty copy or fill is valid.
void validate_copy(const cudaMemcpy3DParms& copy);
void validate_set(const cudaMemsetParams& set);
/// Validates a fill without its memory.
void validate_set_shape(const cudaMemsetParams& set);
/// Returns an error text for the memory of a fill with a valid shape; empty if there is no error.
std::string refuse_set_range(const cudaMemsetParams& set);

/// Performs a valid copy or fill on this thread.
void perform_copy(const cudaMemcpy3DParms& copy);
void perform_set(const cudaMemsetParams& set);

bool is_empty(const cudaMemcpy3DParms& copy) noexcept;
/// Returns the bytes of one row of the copied box.
std::size_t row_bytes(const cudaMemcpy3DParms& copy);
/// Returns the memory type of a side. Memory outside of allocations is the host's pageable memory; arrays are the
/// device's.
cudaMemoryType source_type(const cudaMemcpy3DParms& copy);
cudaMemoryType destination_type(const cudaMemcpy3DParms& copy);

/// The least size of unstaged copies from pageable to device memory: the driver copies while the call waits (driver 580
/// on an H100: 1 MiB is staged, 16 MiB are not).
inline constexpr std::size_t least_unstaged_bytes = std::size_t{16} << 20;

/// A valid copy with its source replaced by a buffer: a snapshot of the source's present content.
struct PackedSource {
    explicit PackedSource(const cudaMemcpy3DParms& original);

    std::shared_ptr<std::byte[]> memory;
    cudaMemcpy3DParms copy;
};

cudaMemcpy3DParms copy_1d(void* dst, const void* src, std::size_t bytes, cudaMemcpyKind kind);
cudaMemcpy3DParms copy_2d(void* dst, std::size_t dst_pitch, const void* src, std::size_t src_pitch, std::size_t width,
                          std::size_t height, cudaMemcpyKind kind);

/// Returns the bytes in device and managed allocations, and in the runtime's own.
std::size_t device_memory_in_use();

/// Device memory taken by the runtime itself; less than `bytes` if not enough is free.
class OwnDeviceMemory {
  public:
    explicit OwnDeviceMemory(std::size_t bytes);
    OwnDeviceMemory(const OwnDeviceMemory&) = delete;
    OwnDeviceMemory& operator=(const OwnDeviceMemory&) = delete;
    ~OwnDeviceMemory();

  private:
    std::size_t bytes_;
};

} // namespace cudart_cpu::detail
