// The devices, all alike: limits of a GPU of compute capability 9.0, with the size of the host's memory.
#pragma once

#include <cstddef>

namespace cudart_cpu::detail {

inline constexpr unsigned max_threads_per_block = 1024;
inline constexpr unsigned max_block[3] = {1024, 1024, 64};
inline constexpr unsigned max_grid[3] = {2147483647, 65535, 65535};
inline constexpr int static_shared_limit = 48 * 1024;
inline constexpr int optin_shared_limit = 227 * 1024;
inline constexpr int shared_per_multiprocessor = 228 * 1024;
inline constexpr int reserved_shared_per_block = 1024;
inline constexpr int threads_per_multiprocessor = 2048;
inline constexpr int blocks_per_multiprocessor = 32;
inline constexpr std::size_t max_pitch = 2147483647;
inline constexpr std::size_t pitch_alignment = 512;
inline constexpr int warp_size = 32;
inline constexpr int compute_major = 9;
inline constexpr int compute_minor = 0;
inline constexpr unsigned max_portable_cluster_blocks = 8;
inline constexpr unsigned max_cluster_blocks = 16;
inline constexpr std::size_t max_access_policy_window = 128 * 1024 * 1024;
inline constexpr int mem_sync_domains = 4;
inline constexpr int l2_cache_bytes = 50 * 1024 * 1024;
inline constexpr std::size_t max_persisting_cache = l2_cache_bytes / 8 * 5;
inline constexpr std::size_t default_persisting_cache = std::size_t{l2_cache_bytes} / 40 * 9;

// An H100's figures, for programs that compute the attainable performance.
inline constexpr int clock_khz = 1980000;
inline constexpr int memory_clock_khz = 2619000;
inline constexpr int memory_bus_bits = 5120;
inline constexpr int single_to_double_ratio = 2;

inline constexpr std::size_t texture_alignment = 512;
inline constexpr std::size_t texture_pitch_alignment = 32;
inline constexpr std::size_t max_linear_texels = std::size_t{1} << 28;
inline constexpr std::size_t max_pitched_texture_width = 131072;
inline constexpr std::size_t max_pitched_texture_height = 65000;
inline constexpr std::size_t max_pitched_texture_pitch = 2097120;

inline constexpr int least_stream_priority = 0;
inline constexpr int greatest_stream_priority = -5;

/// The number of multiprocessors: CUDART_CPU_MULTIPROCESSORS, or what persistent kernels need to keep this machine's
/// processors busy.
int multiprocessors();

/// Bytes of the host's physical memory.
std::size_t device_memory_bytes();

inline constexpr std::size_t max_devices = 8;

/// Each device has a bus of its own, as device 0 of domain 0; bus 0 is empty.
constexpr int pci_bus_of(int device) noexcept {
    return device + 1;
}

std::size_t device_count();
/// Throws cudaErrorInvalidDevice unless there is such a device.
void require_device(int device);
/// The thread's device; the preferred one if it has chosen none.
int current_device() noexcept;
/// Makes the current device this thread's choice, from now on.
void settle_current_device() noexcept;
/// Throws cudaErrorInvalidDevice unless there is such a device.
void set_preferred_device(int device);
/// Throws cudaErrorInvalidDevice unless there is such a device.
void set_current_device(int device);

/// Makes a device current for a time.
class OnDevice {
  public:
    explicit OnDevice(int device) : outer_(current_device()) {
        if (device != outer_) set_current_device(device);
    }
    OnDevice(const OnDevice&) = delete;
    OnDevice& operator=(const OnDevice&) = delete;
    ~OnDevice() {
        if (current_device() != outer_) set_current_device(outer_);
    }
    [[nodiscard]] int outer() const noexcept { return outer_; }

  private:
    int outer_;
};

} // namespace cudart_cpu::detail
