// Nodes that allocate graph memory and free it.
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "memory_nodes.hpp"
#include "native.hpp"

using cudag::AllocNode;
using cudag::DeviceBuffer;
using cudag::DeviceSpan;
using cudag::Exec;
using cudag::FreeNode;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::NodeKind;
using cudag::Stream;

TEST_CASE("memory is allocated, used and freed in one launch", "[memory][nodes]") {
    const auto result = device({0, 0, 0, 0});
    GraphBuilder b;
    const auto alloc = b.alloc<int>(4).label("temporary");
    const auto fill = b.memset(alloc.span(), 7).after(alloc);
    const auto copy = b.memcpy(result, alloc.span()).after(fill);
    const auto free = b.free(alloc).after(copy);
    const Graph graph = std::move(b).build();
    CHECK(alloc.kind() == NodeKind::alloc);
    CHECK(free.kind() == NodeKind::free);
    CHECK(native_type(alloc) == cudaGraphNodeTypeMemAlloc);
    CHECK(native_type(free) == cudaGraphNodeTypeMemFree);
    CHECK(graph.node_count() == 4);
    CHECK(graph.edge_count() == 3);
    Exec exec = graph.instantiate();
    const Stream stream;
    for (int round = 0; round < 3; ++round) {
        write(result.span(), {0, 0, 0, 0});
        run(exec, stream);
        CHECK(read(result) == std::vector{7, 7, 7, 7});
    }
}

TEST_CASE("an alloc node tells its memory at once", "[memory][nodes]") {
    GraphBuilder b;
    const AllocNode<double> alloc = b.alloc<double>(100);
    const DeviceSpan<double> memory = alloc.span();
    CHECK(memory.data() != nullptr);
    CHECK(memory.size() == 100);
    const cudaMemAllocNodeParams native = alloc_params(alloc);
    CHECK(native.dptr == memory.data());
    CHECK(native.bytesize == 800);
    CHECK(native.poolProps.allocType == cudaMemAllocationTypePinned);
    CHECK(native.poolProps.handleTypes == cudaMemHandleTypeNone);
    CHECK(native.poolProps.location.type == cudaMemLocationTypeDevice);
    CHECK(native.poolProps.location.id == 0);
    CHECK(native.accessDescCount == 0);
    const Graph graph = std::move(b).build();
    CHECK(alloc.span().data() == memory.data());
}

TEST_CASE("the device of the memory may be named", "[memory][nodes]") {
    GraphBuilder b;
    const auto alloc = b.alloc<int>(1, {.device = 0});
    CHECK(alloc_params(alloc).poolProps.location.id == 0);
    CHECK(alloc_params(b.alloc<int>(1, {.peers = {0}})).accessDescCount == 0); // it has access anyway
}

TEST_CASE("the size that the pool of graph memory may grow to reaches CUDA", "[memory][nodes]") {
    constexpr std::size_t most = std::size_t{64} << 20U;
    GraphBuilder b;
    CHECK(alloc_params(b.alloc<int>(1, {.max_pool_bytes = most})).poolProps.maxSize == most);
    CHECK(alloc_params(b.alloc<int>(1)).poolProps.maxSize == 0);
}

TEST_CASE("the other devices that may access graph memory reach CUDA", "[memory][nodes][device]") {
    int devices = 0;
    cudag::check(cudaGetDeviceCount(&devices));
    int can = 0;
    if (devices >= 2) cudag::check(cudaDeviceCanAccessPeer(&can, 1, 0));
    if (can == 0) {
        WARN("skipped: it needs a second device that can access the memory of the first");
        return;
    }
    GraphBuilder b;
    const auto alloc = b.alloc<int>(1, {.device = 0, .peers = {0, 1}});
    const cudaMemAllocNodeParams params = alloc_params(alloc);
    REQUIRE(params.accessDescCount == 1);
    CHECK(params.accessDescs[0].location.type == cudaMemLocationTypeDevice);
    CHECK(params.accessDescs[0].location.id == 1);
    CHECK(params.accessDescs[0].flags == cudaMemAccessFlagsProtReadWrite);
}

TEST_CASE("memory of another device needs a new instance, another size does not", "[memory][nodes][device]") {
    int devices = 0;
    cudag::check(cudaGetDeviceCount(&devices));
    const auto graph = [](std::size_t count, int device) {
        GraphBuilder b;
        b.alloc<int>(count, {.device = device});
        return std::move(b).build();
    };
    const auto sizes = diff(graph(1, 0), graph(2, 0));
    REQUIRE(sizes.size() == 1);
    CHECK_THAT(to_string(sizes[0]), ContainsSubstring("bytes: 4 -> 8"));
    CHECK_FALSE(sizes[0].needs_instantiate);
    if (devices < 2) {
        WARN("the rest is skipped: it needs two devices, and there is one");
        return;
    }
    const auto places = diff(graph(1, 0), graph(1, 1));
    REQUIRE(places.size() == 1);
    CHECK_THAT(to_string(places[0]), ContainsSubstring("device: 0 -> 1"));
    CHECK(places[0].needs_instantiate);
}

TEST_CASE("memory nodes are typed again", "[memory][nodes]") {
    GraphBuilder b;
    const auto alloc = b.alloc<float>(3).label("memory");
    const auto free = b.free(alloc).label("end").after(alloc);
    const Graph graph = std::move(b).build();
    CHECK(graph.find("memory").at(0).as<AllocNode<float>>().span().data() == alloc.span().data());
    CHECK(graph.find("memory").at(0).as<AllocNode<char>>().span().size() == 12);
    CHECK(graph.find("end").at(0).as<FreeNode>() == free);
    CHECK_THAT(graph.dot(), ContainsSubstring("memory\\nalloc 12 bytes") && ContainsSubstring("end\\nfree"));
}

TEST_CASE("kernels take graph memory", "[memory][nodes]") {
    const auto result = device({0, 0});
    GraphBuilder b;
    const auto alloc = b.alloc<int>(2);
    const auto one = b.kernel({}, store, alloc.span(), 4).after(alloc);
    const auto two = b.kernel({}, add, alloc.span().data() + 1, alloc.span().data(), 10).after(one);
    const auto copy = b.memcpy(result, alloc.span()).after(two);
    b.free(alloc).after(copy);
    run(std::move(b));
    CHECK(read(result) == std::vector{4, 14});
}

TEST_CASE("a span of an alloc node's memory names it", "[memory][nodes]") {
    GraphBuilder b;
    const auto alloc = b.alloc<int>(8);
    const auto free = b.free(DeviceSpan<const int>(alloc.span())).after(alloc);
    const Graph graph = std::move(b).build();
    CHECK(freed_address(free) == alloc.span().data());
}

TEST_CASE("an alloc node after a free node reuses its memory", "[memory][nodes]") {
    constexpr std::size_t bytes = std::size_t{4} << 20U;
    GraphBuilder b;
    const auto first = b.alloc<char>(bytes);
    const auto use = b.memset(first.span(), '\1').after(first);
    const auto freed = b.free(first).after(use);
    const auto second = b.alloc<char>(bytes, {.after = {freed}});
    CHECK(second.span().data() == first.span().data());
    const auto again = b.memset(second.span(), '\2').after(second);
    b.free(second).after(again);
    const Graph graph = std::move(b).build(); // both uses are where they should be
    CHECK(graph.edge_count() == 5);
    CHECK(native_edges(graph.native()).size() == 5);
    Exec exec = graph.instantiate();
    run(exec, Stream());
}

TEST_CASE("an alloc node comes after the nodes in its options", "[memory][nodes]") {
    GraphBuilder b;
    const auto first = b.host([] {});
    const auto second = b.host([] {}).after(first);
    const auto alloc = b.alloc<int>(1, {.after = {first, second, first}});
    const auto later = b.host([] {});
    alloc.after(later, second);
    b.free(alloc).after(alloc);
    const Graph graph = std::move(b).build();
    const std::vector<cudag::Edge> expected{
        {first, second}, {first, alloc}, {second, alloc}, {later, alloc}, {alloc, graph.nodes().back()}};
    CHECK(graph.edges() == expected);
    CHECK(native_edges(graph.native()).size() == expected.size());
}

TEST_CASE("repeated edges before an alloc node are merged first", "[memory][nodes]") {
    GraphBuilder b;
    const auto first = b.host([] {});
    const auto second = b.host([] {}).after(first, first).after(first);
    const auto alloc = b.alloc<int>(1, {.after = {second}});
    second.after(first);
    CHECK(b.alloc<int>(1, {.after = {alloc, second}}).kind() == NodeKind::alloc);
    const Graph graph = std::move(b).build();
    CHECK(graph.edge_count() == 4);
    CHECK(native_edges(graph.native()).size() == 4);
}

TEST_CASE("a cycle before an alloc node is refused by name", "[memory][nodes]") {
    GraphBuilder b;
    const auto first = b.host([] {}).label("first");
    const auto second = b.host([] {}).label("second").after(first);
    first.after(second);
    const auto error = refused<GraphError>([&] { b.alloc<int>(1, {.after = {second}}); });
    CHECK_THAT(error.what(), ContainsSubstring("alloc: the edges close a cycle: ") && ContainsSubstring("\"first\"") &&
                                 ContainsSubstring("\"second\""));
    CHECK(error.labels() == Labels{"first", "second"});
    CHECK(native_type(b.alloc<int>(1)) == cudaGraphNodeTypeMemAlloc); // nothing before it: CUDA sees no edge
}

TEST_CASE("an allocation of nothing is refused", "[memory][nodes]") {
    const auto error = refused_in_builder([](GraphBuilder& b) { b.alloc<int>(0); });
    CHECK_THAT(error.what(), ContainsSubstring("alloc at ") && ContainsSubstring("0 elements"));
}

TEST_CASE("a size that no address can reach is refused", "[memory][nodes]") {
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
    const auto error = refused_in_builder([](GraphBuilder& b) { b.alloc<int>(most / 4 + 1); });
    CHECK_THAT(error.what(), ContainsSubstring("4611686018427387904 elements of 4 bytes"));
    CHECK(error.operation().empty());
}

TEST_CASE("an allocation that CUDA cannot make is refused with its size and its device", "[memory][nodes]") {
    GraphBuilder b;
    const auto error = refused<GraphError>([&] { b.alloc<int>(std::size_t{1} << 48U); });
    CHECK(error.code() == cuda_code(cudaErrorMemoryAllocation));
    CHECK(error.operation() == "cuGraphAddNode");
    CHECK_THAT(error.what(),
               ContainsSubstring("memory_nodes.cpp:") && ContainsSubstring(": 1125899906842624 bytes on device 0"));
}

TEST_CASE("memory on a device that does not exist is refused", "[memory][nodes]") {
    const auto own =
        refused_in_builder([](GraphBuilder& b) { b.alloc<int>(1, {.device = 99}); }, cudaErrorInvalidDevice);
    CHECK_THAT(own.what(), ContainsSubstring("the device is 99; there are "));
    const auto negative =
        refused_in_builder([](GraphBuilder& b) { b.alloc<int>(1, {.device = -1}); }, cudaErrorInvalidDevice);
    CHECK_THAT(negative.what(), ContainsSubstring("the device is -1; there are "));
    const auto peer =
        refused_in_builder([](GraphBuilder& b) { b.alloc<int>(1, {.peers = {99}}); }, cudaErrorInvalidDevice);
    CHECK_THAT(peer.what(), ContainsSubstring("the peer device is 99; there are "));
}

TEST_CASE("a node of another graph cannot come before an alloc node", "[memory][nodes]") {
    GraphBuilder other;
    const auto foreign = other.host([] {}).label("foreign");
    const auto error = refused_in_builder([&](GraphBuilder& b) { b.alloc<int>(1, {.after = {foreign}}); });
    CHECK_THAT(error.what(),
               ContainsSubstring("alloc: ") && ContainsSubstring("\"foreign\"") && ContainsSubstring("another graph"));
}

TEST_CASE("the handle of an alloc node whose graph is gone has no memory", "[memory][nodes]") {
    std::optional<GraphBuilder> b(std::in_place);
    const auto alloc = b->alloc<int>(1);
    b.reset();
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(alloc.span()); }).what(),
               ContainsSubstring("no longer exists"));
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(AllocNode<int>().span()); }).what(),
               ContainsSubstring("empty node handle"));
}
