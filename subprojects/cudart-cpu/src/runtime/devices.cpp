// The number of devices, and the current device of each thread.
#include "call.hpp"
#include "device_model.hpp"
#include "environment.hpp"
#include "text.hpp"

#include <cudart_cpu/control.hpp>

#include <algorithm>
#include <atomic>
#include <thread>

namespace cudart_cpu {

namespace {

unsigned allowed(std::uint64_t count) {
    return static_cast<unsigned>(std::clamp<std::uint64_t>(count, 1, detail::max_devices));
}

std::atomic<unsigned>& count() {
    static std::atomic<unsigned> devices{allowed(detail::number_from_environment("CUDART_CPU_DEVICES"))};
    return devices;
}

/// The device of threads without a choice.
std::atomic<int> preferred{0};

constexpr int none = -1;
thread_local int chosen_device = none;

} // namespace

void set_devices(unsigned number) {
    count() = allowed(number != 0 ? number : detail::number_from_environment("CUDART_CPU_DEVICES"));
}

namespace detail {

int multiprocessors() {
    // Fewer blocks of a persistent kernel mean fewer threads at each barrier; some programs need a few blocks.
    static constexpr std::uint64_t least = 16;
    static constexpr std::uint64_t most = 132; // an H100's
    static const int number = [] {
        const std::uint64_t named = number_from_environment("CUDART_CPU_MULTIPROCESSORS");
        const std::uint64_t cores = std::thread::hardware_concurrency();
        return static_cast<int>(named != 0 ? std::min<std::uint64_t>(named, 1024) : std::clamp(cores, least, most));
    }();
    return number;
}

std::size_t device_count() {
    return count();
}

void require_device(int device) {
    const auto devices = static_cast<int>(device_count());
    if (device < 0 || device >= devices) {
        fail(cudaErrorInvalidDevice,
             text("Invalid device number ", device, " provided, must be in the range of 0 to ", devices - 1));
    }
}

int current_device() noexcept {
    return chosen_device != none ? chosen_device : preferred.load(std::memory_order_relaxed);
}

void settle_current_device() noexcept {
    chosen_device = current_device();
}

void set_preferred_device(int device) {
    require_device(device);
    preferred.store(device, std::memory_order_relaxed);
}

void set_current_device(int device) {
    require_device(device);
    chosen_device = device;
}

} // namespace detail

} // namespace cudart_cpu
