// Where the scratch memory of disabled memsets is, and that an exec's node gets it whatever device is current.
#include "cuda/device_guard.hpp"
#include "fake_driver.hpp"
#include "node/disabled_memset.hpp"
#include "several_devices.hpp"

#include <cudag/buffer.hpp>
#include <cudag/error.hpp>

#include <cudart_cpu/control.hpp>

#include "catch.hpp"

#include <cstdint>
#include <memory>
#include <vector>

using namespace cudag::detail;

namespace {

/// Every context is new to cudag; notes of which devices they were.
struct NewContexts : FakeDriver {
    NewContexts() {
        asked.clear();
        calls.ctx_get_id = [](CUcontext, unsigned long long* id) {
            int device = -1;
            static_cast<void>(cudaGetDevice(&device));
            asked.push_back(device);
            static unsigned long long last = std::uint64_t{1} << 40U;
            *id = ++last;
            return CUDA_SUCCESS;
        };
    }
    static inline std::vector<int> asked;
};

/// An exec of one memset.
struct OneMemset {
    explicit OneMemset(int* memory) : set{memory, 1, sizeof(int), 7} {
        cudag::check(cudaGraphCreate(&graph, 0));
        REQUIRE(add_native(node, graph, set).status == cudaSuccess);
        cudag::check(cudaGraphInstantiate(&exec, graph, 0));
    }
    ~OneMemset() {
        static_cast<void>(cudaGraphExecDestroy(exec));
        static_cast<void>(cudaGraphDestroy(graph));
    }
    OneMemset(const OneMemset&) = delete;
    OneMemset& operator=(const OneMemset&) = delete;

    [[nodiscard]] NativeResult disable() const { return park(exec, node, &set, cudag::detail::any_device); }
    [[nodiscard]] NativeResult enable() const { return unpark(exec, node, &set, cudag::detail::any_device); }

    SetParams set;
    cudaGraph_t graph = nullptr;
    cudaGraphNode_t node = nullptr;
    cudaGraphExec_t exec = nullptr;
};

/// How many allocations there are more afterwards.
struct Made {
    std::size_t on_device, on_host;
    bool operator==(const Made&) const = default;
};
template <class Call>
Made made_by(const Call& call) {
    const cudart_cpu::LiveCounts before = cudart_cpu::live();
    call();
    const cudart_cpu::LiveCounts after = cudart_cpu::live();
    return {after.device_allocations - before.device_allocations, after.host_allocations - before.host_allocations};
}

std::uint64_t calls_of(const OneMemset& memset) {
    const std::uint64_t before = cudart_cpu::call_count();
    CHECK(memset.disable().status == cudaSuccess);
    return cudart_cpu::call_count() - before;
}

constexpr Made one_on_device{1, 0}, one_on_host{0, 1};

} // namespace

TEST_CASE("a disabled memset of host memory is given such, any other its device's", "[core][disable]") {
    const SeveralDevices devices(2);
    const NewContexts contexts;
    const auto disable = [](const OneMemset& memset) {
        return made_by([&] { CHECK(memset.disable().status == cudaSuccess); });
    };
    const cudag::DeviceBuffer<int> first(1);
    const cudag::PinnedBuffer<int> pinned(1);
    cudag::check(cudaSetDevice(1));
    const cudag::DeviceBuffer<int> second(1);
    for (const int current : {0, 1}) {
        cudag::check(cudaSetDevice(current));
        contexts.asked.clear();
        CHECK(disable(OneMemset(first.data())) == one_on_device);
        CHECK(disable(OneMemset(second.data())) == one_on_device);
        CHECK(disable(OneMemset(pinned.data())) == one_on_host);
        CHECK(contexts.asked == std::vector{0, 1, 0}); // the pinned memory was made on device 0
    }
}

TEST_CASE("memory of which CUDA tells nothing counts as the current device's", "[core][disable]") {
    const SeveralDevices devices(2);
    const NewContexts contexts;
    const cudag::DeviceBuffer<int> cell(1);
    const OneMemset memset(cell.data());
    cudag::check(cudaSetDevice(1));
    CHECK(made_by([&] {
              cudart_cpu::fail_call(1, cudaErrorMemoryAllocation);
              CHECK(memset.disable().status == cudaSuccess);
          }) == one_on_device);
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(contexts.asked == std::vector{1});
}

TEST_CASE("a memset that an exec refuses to change is changed on its memory's device", "[core][disable]") {
    const SeveralDevices devices(2);
    const cudag::DeviceBuffer<int> cell(1);
    const OneMemset memset(cell.data());
    CHECK(memset.disable().status == cudaSuccess); // makes the scratch memory
    cudag::check(cudaSetDevice(1));
    const std::uint64_t usual = calls_of(memset); // of which the last one changes the node
    cudart_cpu::fail_call(usual, cudaErrorInvalidValue);
    CHECK(memset.disable().status == cudaSuccess);
    CHECK(cudaGetLastError() == cudaSuccess);
    int device = 0;
    cudag::check(cudaGetDevice(&device));
    CHECK(device == 1);

    cudag::check(cudaSetDevice(0)); // where it is tried once only
    const std::uint64_t own = calls_of(memset);
    cudart_cpu::fail_call(own, cudaErrorInvalidValue);
    CHECK(memset.disable().status == cudaErrorInvalidValue);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue); // the caller tells of it
    CHECK(memset.enable().status == cudaSuccess);
}
