// Devices that cannot access each other's memory.
#include "thrown.hpp"

#include <catch.hpp>
#include <cudag/cudag.hpp>
#include <cudart_cpu/control.hpp>

#include <utility>

namespace {

/// Two devices, of which the second cannot access the memory of the first.
struct OneWay {
    OneWay() {
        cudart_cpu::set_devices(2);
        cudart_cpu::set_peer_access(1, 0, false);
    }
    OneWay(const OneWay&) = delete;
    OneWay& operator=(const OneWay&) = delete;
    ~OneWay() {
        cudart_cpu::set_peer_access(1, 0, true);
        cudart_cpu::set_devices(0);
    }
};

} // namespace

TEST_CASE("graph memory is refused for a peer that cannot access it", "[unit][memory][device]") {
    const OneWay devices;
    cudag::GraphBuilder builder;
    builder.host([] {});
    const auto error = thrown<cudag::GraphError>([&] { builder.alloc<int>(1, {.device = 0, .peers = {1}}); });
    CHECK(error.code() == std::error_code(cudaErrorPeerAccessUnsupported, cudag::cuda_category()));
    CHECK_THAT(error.what(), ContainsSubstring("device 1 cannot access memory of device 0; leave it out of the peers"));
    const auto other_way = builder.alloc<int>(1, {.device = 1, .peers = {0}});
    builder.free(other_way).after(other_way);
    CHECK(std::move(builder).build().node_count() == 3);
}
