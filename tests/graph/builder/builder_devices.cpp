// Views of a builder for one device.
#include <stdexcept>

#include "native.hpp"

using cudag::DeviceBuffer;
using cudag::GraphBuilder;
using cudag::GraphError;

namespace {

int current_device() {
    int device = -1;
    cudag::check(cudaGetDevice(&device));
    return device;
}

int device_count() {
    int count = 0;
    cudag::check(cudaGetDeviceCount(&count));
    return count;
}

bool skipped() {
    if (device_count() >= 2) return false;
    WARN("skipped: it needs two devices, and there is one");
    return true;
}

/// Memory of `device`.
template <class T>
DeviceBuffer<T> memory_on(int device, std::size_t count) {
    const int before = current_device();
    cudag::check(cudaSetDevice(device));
    DeviceBuffer<T> memory(count);
    cudag::check(cudaMemset(memory.data(), 0, memory.size_bytes()));
    cudag::check(cudaDeviceSynchronize());
    cudag::check(cudaSetDevice(before));
    return memory;
}

} // namespace

TEST_CASE("a view adds nodes of every kind to its builder's graph", "[builder][device]") {
    const auto cells = device({0, 0, 0});
    std::vector<int> result(3, 9);
    int called = 0;
    GraphBuilder b;
    GraphBuilder view = b.on(0);
    const auto fill = view.memset(cells, 1);
    const auto set = b.kernel({}, store, cells, 20).after(fill);
    const auto host = view.host([&called] { ++called; }).after(set);
    const auto all = view.join(fill, set, host);
    b.on(0).memcpy(result, cells).after(all);
    const cudag::Graph graph = std::move(b).build();
    CHECK(graph.node_count() == 5);
    CHECK(graph.edge_count() == 6);
    cudag::Exec exec = graph.instantiate();
    run(exec, cudag::Stream());
    CHECK(result == std::vector{20, 1, 1});
    CHECK(called == 1);
}

TEST_CASE("a node of a view is said to be on its device", "[builder][device]") {
    const auto cells = device({0});
    GraphBuilder b;
    const auto node = b.on(0).memset(cells, 1).label("clear");
    const auto other = b.memset(cells, 2).label("fill").after(node);
    const cudag::Graph graph = std::move(b).build();
    const auto text = [](const cudag::Node& of) {
        return std::string(refused<GraphError>([&] { static_cast<void>(of.as<cudag::HostNode>()); }).what());
    };
    CHECK_THAT(text(node), ContainsSubstring("memset \"clear\" on device 0 at "));
    CHECK_THAT(text(other), ContainsSubstring("memset \"fill\" at "));
}

TEST_CASE("a view of a view has its own device", "[builder][device]") {
    const auto cells = device({0});
    GraphBuilder b;
    GraphBuilder last = b.on(device_count() - 1);
    last.on(0).memset(cells, 5);
    run(std::move(b));
    CHECK(read(cells) == std::vector{5});
}

TEST_CASE("a device that does not exist is refused", "[builder][device]") {
    GraphBuilder b;
    for (const int device : {-1, device_count(), 1000}) {
        const auto error = refused<GraphError>([&] { static_cast<void>(b.on(device)); });
        CHECK(error.code() == cuda_code(cudaErrorInvalidDevice));
        CHECK_THAT(error.what(), ContainsSubstring("on: there is no device " + std::to_string(device)) &&
                                     ContainsSubstring("CUDA sees " + std::to_string(device_count()) + " device"));
    }
    CHECK(std::move(b).build().node_count() == 0);
}

TEST_CASE("a view is not built", "[builder][device]") {
    GraphBuilder b;
    GraphBuilder view = b.on(0);
    view.host([] {});
    const auto error = refused<GraphError>([&] { static_cast<void>(std::move(view).build()); });
    CHECK_THAT(error.what(), ContainsSubstring("build: this builder adds to a graph that another one builds"));
    view.host([] {});
    view.check();
    CHECK(std::move(b).build().node_count() == 2);
}

TEST_CASE("a view of a built graph takes no nodes", "[builder][device]") {
    const auto cells = device({0});
    GraphBuilder b;
    GraphBuilder view = b.on(0);
    const cudag::Graph graph = std::move(b).build();
    const auto error = refused<GraphError>([&] { view.memset(cells, 1); });
    CHECK_THAT(error.what(), ContainsSubstring("its Graph is built"));
    CHECK(graph.node_count() == 0);
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(b.on(0)); }).what(),
               ContainsSubstring("used after it was built, at "));
}

TEST_CASE("a view checks its builder's graph", "[builder][device]") {
    GraphBuilder b;
    const auto first = b.host([] {});
    const auto second = b.host([] {}).after(first);
    first.after(second);
    CHECK_THAT(refused<GraphError>([&] { b.on(0).check(); }).what(), ContainsSubstring("close a cycle"));
}

TEST_CASE("a refused node of a view leaves the graph and the device as they were", "[builder][device]") {
    const DeviceBuffer<int> cells(1);
    GraphBuilder b;
    GraphBuilder last = b.on(device_count() - 1);
    CHECK_THROWS_AS(last.kernel({.grid = 0}, store, cells, 1), GraphError);
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    CHECK(current_device() == 0);
    const auto node = b.memset(cells, 1).label("after");
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(node.as<cudag::HostNode>()); }).what(),
               !ContainsSubstring("on device"));
    CHECK(std::move(b).build().node_count() == 1);
}

TEST_CASE("a view's kernel runs on its device, and the caller's stays current", "[builder][device]") {
    if (skipped()) return;
    const auto here = memory_on<int>(0, 1);
    const auto there = memory_on<int>(1, 1);
    GraphBuilder b;
    GraphBuilder second = b.on(1);
    const auto one = b.kernel({}, store, here, 1);
    const auto two = second.kernel({}, store, there, 2).after(one);
    CHECK(current_device() == 0);
    second.memset(there.span(), 3).after(two);
    CHECK(current_device() == 0);
    cudag::check(cudaSetDevice(1));
    b.on(0).memset(here.span(), 4).after(one);
    CHECK(current_device() == 1);
    cudag::check(cudaSetDevice(0));
    run(std::move(b));
    CHECK(read(here) == std::vector{4});
    CHECK(read(there) == std::vector{3});
}

TEST_CASE("nodes that are written again stay on their devices", "[builder][device]") {
    if (skipped()) return;
    const auto here = memory_on<int>(0, 1);
    const auto there = memory_on<int>(1, 1);
    GraphBuilder b;
    b.kernel({}, store, here, 1);
    GraphBuilder second = b.on(1);
    const auto fill = second.kernel({}, store, there, 2);
    second.if_(second.condition(1), [&](GraphBuilder& body) { body.kernel({}, add, there, there, 1); }).after(fill);
    const cudag::Graph graph = std::move(b).build();
    const cudag::Graph clone = graph.clone();
    CHECK(diff(graph, clone).empty());
    cudag::Exec exec = clone.instantiate();
    run(exec, cudag::Stream());
    CHECK(read(here) == std::vector{1});
    CHECK(read(there) == std::vector{3});
}

TEST_CASE("kernels made while another device was current stay there when they are written again", "[builder][device]") {
    if (skipped()) return;
    const auto there = memory_on<int>(1, 1);
    GraphBuilder b;
    cudag::check(cudaSetDevice(1));
    b.kernel({}, store, there, 2);
    cudag::check(cudaSetDevice(0));
    const cudag::Graph graph = std::move(b).build();
    GraphBuilder c;
    const auto part = c.inline_graph(graph);
    CHECK(part.nodes()[0].device().value_or(-1) == 1);
    CHECK(current_device() == 0);
    run(std::move(c));
    CHECK(read(there) == std::vector{2});
}

TEST_CASE("a kernel is found on whichever device its node is", "[builder][device]") {
    if (skipped()) return;
    const auto there = memory_on<int>(1, 1);
    GraphBuilder b;
    GraphBuilder second = b.on(1);
    const auto node = second.kernel({}, store, there, 1);
    second.kernel({}, nothing);
    const cudag::Graph graph = std::move(b).build();
    CHECK(graph.find(store) == std::vector{node});
    CHECK(cudag::Node(node).as(store) == node);
    CHECK_THROWS_AS(cudag::Node(node).as(nothing), GraphError);

    cudaGraph_t copy = nullptr;
    cudag::check(cudaGraphClone(&copy, graph.native()));
    const cudag::Graph adopted = cudag::Graph::adopt(copy); // of which only CUDA knows the kernels
    REQUIRE(adopted.find(store).size() == 1);
    CHECK(adopted.find(store)[0] == adopted.nodes()[0]);
    CHECK(adopted.find(nothing).size() == 1);
    CHECK(adopted.find(add).empty());
}

TEST_CASE("a copy between device spans of two devices needs nothing more", "[builder][memcpy][device]") {
    if (skipped()) return;
    const auto here = memory_on<int>(0, 4);
    const auto there = memory_on<int>(1, 4);
    const std::vector values{1, 2, 3, 4};
    std::vector<int> back(4, 0);
    GraphBuilder b;
    const auto up = b.memcpy(here, values);
    const auto across = b.memcpy(there, here).after(up);
    b.on(1).memcpy(back, there).after(across);
    const cudag::Graph graph = std::move(b).build();
    cudag::Exec exec = graph.instantiate();
    const cudag::Stream stream;
    run(exec, stream);
    CHECK(read(there) == values);
    CHECK(back == values);

    exec.update(across, there.span().subspan(2, 2), here.span().subspan(0, 2));
    run(exec, stream);
    CHECK(back == std::vector{1, 2, 1, 2});
}

TEST_CASE("the bodies of a view's conditional are on its device", "[builder][device][conditional]") {
    const auto cells = device({0});
    cudag::MemsetNode inside;
    GraphBuilder b;
    const auto condition = b.condition(1);
    b.on(0).if_(condition, [&](GraphBuilder& then) { inside = then.memset(cells, 7).label("inside"); });
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(inside.as<cudag::HostNode>()); }).what(),
               ContainsSubstring("memset \"inside\" inside if node 0") && ContainsSubstring("on device 0 at "));
    run(std::move(b));
    CHECK(read(cells) == std::vector{7});
}

TEST_CASE("a 2D copy between device spans of two devices needs nothing more", "[builder][memcpy][device]") {
    if (skipped()) return;
    const auto here = memory_on<int>(0, 4);
    const auto there = memory_on<int>(1, 8);
    write(here.span(), {1, 2, 3, 4});
    GraphBuilder b;
    b.memcpy2d(cudag::DeviceSpan2D<int>(there, 2, 2, 16), cudag::DeviceSpan2D<int>(here, 2, 2));
    run(std::move(b));
    CHECK(read(there) == std::vector{1, 2, 0, 0, 3, 4, 0, 0});
}
