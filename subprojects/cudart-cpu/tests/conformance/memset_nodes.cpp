// Memset nodes: validated when they are added.
#include "nodes.hpp"

#include <cstddef>
#include <vector>

namespace {

cudaMemsetParams fill(void* to, unsigned element, std::size_t width, std::size_t height, std::size_t pitch,
                      unsigned value) {
    cudaMemsetParams params{};
    params.dst = to;
    params.elementSize = element;
    params.width = width;
    params.height = height;
    params.pitch = pitch;
    params.value = value;
    return params;
}

cudaError_t add_with(cudaGraph_t graph, const cudaMemsetParams& params) {
    auto node = untouched<cudaGraphNode_t>();
    const cudaError_t code = cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &params);
    REQUIRE((node == untouched<cudaGraphNode_t>()) == (code != cudaSuccess));
    return code;
}

} // namespace

TEST_CASE("a memset node sets elements of one, two and four bytes", "[graph][memset]") {
    Stream stream;
    Graph graph;
    DeviceInts device(5);
    add_memset(graph, fill(device.data(), 1, 4, 1, 0, 0x11));
    add_memset(graph, fill(device.data() + 1, 2, 2, 1, 0, 0x2233));
    add_memset(graph, fill(device.data() + 2, 4, 2, 1, 0, 0x44556677));
    const Exec exec(graph);
    exec.run(stream);
    REQUIRE(device.read() == std::vector{0x11111111, 0x22332233, 0x44556677, 0x44556677, poison});
}

TEST_CASE("a memset node skips the padding between rows", "[graph][memset]") {
    Stream stream;
    Graph graph;
    DeviceInts device(6);
    add_memset(graph, fill(device.data(), 4, 2, 2, 12, 5));
    const Exec exec(graph);
    exec.run(stream);
    REQUIRE(device.read() == std::vector{5, 5, poison, 5, 5, poison});
}

TEST_CASE("a memset node sets pinned memory", "[graph][memset]") {
    Stream stream;
    Graph graph;
    PinnedInts pinned(2);
    add_memset(graph, set_ints(pinned.data(), 1, 9));
    const Exec exec(graph);
    exec.run(stream);
    REQUIRE(pinned.read() == std::vector{9, poison});
}

TEST_CASE("a memset node gives its parameters back as they were given", "[graph][memset]") {
    Graph graph;
    DeviceInts device(16);
    const cudaGraphNode_t node = add_memset(graph, fill(device.data(), 1, 8, 2, 32, 0x1FF));
    cudaMemsetParams params{};
    REQUIRE_CUDA(cudaGraphMemsetNodeGetParams(node, &params));
    REQUIRE(params.dst == device.data());
    REQUIRE(params.elementSize == 1);
    REQUIRE((params.width == 8 && params.height == 2 && params.pitch == 32));
    REQUIRE(params.value == 0x1FF);
}

TEST_CASE("a memset node of one row does not look at its pitch", "[graph][memset]") {
    Graph graph;
    DeviceInts device(4);
    REQUIRE_CUDA(add_with(graph, fill(device.data(), 1, 16, 1, 3, 0)));
}

TEST_CASE("a memset node of a bad size, place or element is refused", "[graph][memset]") {
    Graph graph;
    DeviceInts device(64);
    std::vector<int> host(4);
    const auto refuse = [&](const cudaMemsetParams& params) {
        REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, add_with(graph, params));
    };
    char* const bytes = reinterpret_cast<char*>(device.data());
    refuse(fill(bytes, 1, 0, 1, 0, 0));
    refuse(fill(bytes, 1, 16, 0, 0, 0));
    refuse(fill(bytes, 0, 16, 1, 0, 0));
    refuse(fill(bytes, 3, 16, 1, 0, 0));
    refuse(fill(bytes, 8, 16, 1, 0, 0));
    refuse(fill(bytes + 1, 2, 16, 1, 0, 0));
    refuse(fill(bytes + 2, 4, 16, 1, 0, 0));
    refuse(fill(bytes, 1, 16, 4, 8, 0));
    refuse(fill(bytes, 4, 4, 4, 18, 0));
    refuse(fill(bytes, 1, 257, 1, 0, 0));
    refuse(fill(bytes, 1, 16, 100, 16, 0));
    refuse(fill(nullptr, 1, 16, 1, 0, 0));
    refuse(fill(host.data(), 1, 16, 1, 0, 0));
    REQUIRE(nodes_of(graph).empty());
}

TEST_CASE("a memset node of the graph gets any valid new parameters", "[graph][memset]") {
    Stream stream;
    Graph graph;
    DeviceInts device(4);
    const cudaGraphNode_t node = add_memset(graph, set_ints(device.data(), 4, 1));
    const auto set = [](cudaGraphNode_t which, const cudaMemsetParams& params) {
        return cudaGraphMemsetNodeSetParams(which, &params);
    };
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, set(node, fill(device.data(), 4, 0, 1, 0, 0)));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, set(add_empty(graph), set_ints(device.data(), 4, 1)));
    REQUIRE_CUDA(set(node, fill(device.data(), 4, 1, 2, 8, 5)));
    const Exec exec(graph);
    exec.run(stream);
    REQUIRE(device.read() == std::vector{5, poison, 5, poison});
}
