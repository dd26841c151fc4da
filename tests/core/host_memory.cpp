// Which sides of copies are host memory, by the direction of the copy and by what CUDA says of the address.
#include "handles/host_memory.hpp"

#include "catch.hpp"
#include "empty_graph.hpp"

#include <cudag/buffer.hpp>

#include <string>
#include <vector>

using cudag::NodeKind;
using cudag::detail::CopyParams;
using cudag::detail::NodeParams;

namespace {

/// "d" and "s" for the sides of a copy that are listed, "p" behind one that is pageable.
std::string sides(const NodeParams& params) {
    const auto graph = empty_graph();
    add_node(*graph, {NodeKind::memcpy, params, {}, {}});
    std::string text;
    for (const cudag::HostMemory& memory : cudag::detail::all_host_memory_of(*graph)) {
        CHECK(memory.node == graph->identity().handle(0));
        text += memory.argument == 0 ? "d" : "s";
        if (memory.is_pageable) text += "p";
    }
    return text;
}

struct Memory {
    cudag::PinnedBuffer<int> pinned{4};
    cudag::DeviceBuffer<int> on_device{4};
    std::vector<int> pageable = std::vector<int>(4);
};

std::string sides_of_row(void* to, const void* from, cudaMemcpyKind kind) {
    const CopyParams copy{to, from, 4, 4, sizeof(int), kind};
    return sides(&copy);
}

} // namespace

TEST_CASE("a copy's direction tells which sides may be the host's", "[graph][host_memory]") {
    Memory own;
    int* const pinned = own.pinned.data();
    CHECK(sides_of_row(pinned, pinned, cudaMemcpyHostToHost) == "ds");
    CHECK(sides_of_row(pinned, pinned, cudaMemcpyDefault) == "ds");
    CHECK(sides_of_row(pinned, pinned, cudaMemcpyHostToDevice) == "s");
    CHECK(sides_of_row(pinned, pinned, cudaMemcpyDeviceToHost) == "d");
    CHECK(sides_of_row(pinned, pinned, cudaMemcpyDeviceToDevice).empty());
}

TEST_CASE("of a copy whose direction does not tell, CUDA tells which sides are the host's", "[graph][host_memory]") {
    Memory own;
    int* const on_device = own.on_device.data();
    CHECK(sides_of_row(own.pageable.data(), on_device, cudaMemcpyDefault) == "dp");
    CHECK(sides_of_row(on_device, own.pageable.data(), cudaMemcpyDefault) == "sp");
    CHECK(sides_of_row(own.pinned.data(), own.pageable.data(), cudaMemcpyDefault) == "dsp");
    CHECK(sides_of_row(on_device, on_device, cudaMemcpyDefault).empty());
}

TEST_CASE("of a copy of a box the sides are listed that are no arrays", "[graph][host_memory]") {
    Memory own;
    cudaMemcpy3DParms copy{};
    copy.dstPtr.ptr = copy.srcPtr.ptr = own.pinned.data();
    copy.extent = {4, 1, 1};
    const auto sides_as = [&](cudaMemcpyKind kind) {
        copy.kind = kind;
        return sides(&copy);
    };
    CHECK(sides_as(cudaMemcpyHostToHost) == "ds");
    CHECK(sides_as(cudaMemcpyDefault) == "ds");
    CHECK(sides_as(cudaMemcpyHostToDevice) == "s");
    CHECK(sides_as(cudaMemcpyDeviceToHost) == "d");
    CHECK(sides_as(cudaMemcpyDeviceToDevice).empty());
    int object = 0; // only whether there is an array counts
    copy.srcPtr = {};
    copy.srcArray = reinterpret_cast<cudaArray_t>(&object);
    CHECK(sides_as(cudaMemcpyDefault) == "d");
    copy.dstPtr = {};
    copy.dstArray = copy.srcArray;
    CHECK(sides_as(cudaMemcpyDefault).empty());
}
