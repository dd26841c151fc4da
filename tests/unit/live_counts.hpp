// What the CPU runtime counts as alive, for tests that must leave nothing behind.
#pragma once

#include <cudag/buffer.hpp>

#include <catch.hpp>
#include <cuda_runtime_api.h>
#include <cudart_cpu/control.hpp>

#include <chrono>
#include <string>
#include <thread>

namespace Catch {

template <>
struct StringMaker<cudart_cpu::LiveCounts> {
    static std::string convert(const cudart_cpu::LiveCounts& counts) {
        const auto item = [](const char* name, std::size_t count) { return name + std::to_string(count); };
        return item("streams ", counts.streams) + item(", events ", counts.events) +
               item(", device allocations ", counts.device_allocations) +
               item(", host allocations ", counts.host_allocations) + item(", graphs ", counts.graphs) +
               item(", execs ", counts.graph_execs) + item(", user objects ", counts.user_objects) +
               item(", external semaphores ", counts.external_semaphores);
    }
};

} // namespace Catch

/// Checks, when it is destroyed, that as much is alive as when it was made. What launches have finished with is freed a
/// moment after they end, by the next cudag call that allocates: both ends wait for that.
class NothingLeft {
  public:
    /// Events do not count if faults come in the place of their destruction.
    enum class Events { count, may_stay };
    explicit NothingLeft(Events events = Events::count) : start_(cudart_cpu::live()), events_(events) {
        static_cast<void>(cudaDeviceSynchronize());
        for (;;) {
            free_what_ended();
            const cudart_cpu::LiveCounts now = cudart_cpu::live();
            if (now == start_) return;
            start_ = now;
        }
    }
    NothingLeft(const NothingLeft&) = delete;
    NothingLeft& operator=(const NothingLeft&) = delete;
    ~NothingLeft() {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        while (counted() != start_ && std::chrono::steady_clock::now() < deadline)
            free_what_ended();
        CHECK(counted() == start_);
    }

  private:
    [[nodiscard]] cudart_cpu::LiveCounts counted() const {
        cudart_cpu::LiveCounts now = cudart_cpu::live();
        if (events_ == Events::may_stay) now.events = start_.events;
        return now;
    }
    static void free_what_ended() {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        const cudag::DeviceBuffer<char> reclaims(1);
    }

    cudart_cpu::LiveCounts start_;
    Events events_;
};
