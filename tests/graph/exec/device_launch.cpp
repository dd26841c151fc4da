// Graphs that kernels launch: what they may consist of, and when there is a handle.
#include "cuda_version.hpp"

using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::InstantiateError;
using cudag::PinnedBuffer;
using cudag::Stream;

namespace {

Graph one_kernel() {
    GraphBuilder b;
    b.kernel({}, nothing).label("one");
    return std::move(b).build();
}

/// The text with which the graph is refused for launches by kernels; for launches by the host it is not.
std::string refusal(const Graph& graph, const std::string& label) {
    const auto error =
        refused<InstantiateError>([&] { static_cast<void>(graph.instantiate({.device_launch = true})); });
    CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
    CHECK(error.labels() == Labels{label});
    CHECK_THAT(error.what(), ContainsSubstring("device_launch") && ContainsSubstring("\"" + label + "\""));
    CHECK_NOTHROW(static_cast<void>(graph.instantiate()));
    return error.what();
}

std::string no_handle(const Exec& exec) {
    const auto error = refused<GraphError>([&] { static_cast<void>(exec.on_device()); });
    CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
    return error.what();
}

} // namespace

TEST_CASE("kernels launch graphs of kernels, copies and fills", "[exec][device]") {
    const DeviceBuffer<int> x(4);
    const DeviceBuffer<int> y(4);
    const PinnedBuffer<int> host(4);
    GraphBuilder b;
    const auto fill = b.memset(x, 1);
    const auto copy = b.memcpy(y, x).after(fill);
    const auto kernel = b.kernel({}, store, y, 5).after(copy);
    b.memcpy(host, y).after(kernel);
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate({.device_launch = true});
    const Stream stream;
    run(exec, stream);
    CHECK(host.data()[0] == 5);
    CHECK(host.data()[1] == 1);
}

TEST_CASE("a graph for kernels to launch may have all its work inside a child", "[exec][device]") {
    const DeviceBuffer<int> cell(1);
    GraphBuilder inner;
    inner.kernel({}, store, cell, 5);
    GraphBuilder b;
    add_child(b, std::move(inner).build());
    Exec exec = std::move(b).build().instantiate({.device_launch = true});
    const Stream stream;
    run(exec, stream);
    CHECK(read(cell) == std::vector{5});
}

TEST_CASE("a node that CUDA does not launch from kernels is refused by kind and label", "[exec][device]") {
    GraphBuilder host;
    host.kernel({}, nothing);
    host.host([] {}).label("callback");
    CHECK_THAT(refusal(std::move(host).build(), "callback"), ContainsSubstring("no host node"));

    GraphBuilder join;
    join.join(join.kernel({}, nothing)).label("barrier");
    CHECK_THAT(refusal(std::move(join).build(), "barrier"), ContainsSubstring("no empty node"));
}

TEST_CASE("a copy of pageable host memory is refused for launches by kernels", "[exec][device]") {
    const DeviceBuffer<int> x(4);
    std::vector<int> host(4);
    GraphBuilder up;
    up.memcpy(x, host).label("up");
    CHECK_THAT(refusal(std::move(up).build(), "up"), ContainsSubstring("PinnedBuffer"));
    GraphBuilder down;
    down.memcpy(host, x).label("down");
    CHECK_THAT(refusal(std::move(down).build(), "down"), ContainsSubstring("PinnedBuffer"));
}

TEST_CASE("a copy of an array is refused for launches by kernels", "[exec][device]") {
    const cudaChannelFormatDesc ints = cudaCreateChannelDesc<int>();
    cudaArray_t array = nullptr;
    cudag::check(cudaMallocArray(&array, &ints, 4, 2));
    {
        const DeviceBuffer<int> memory(8);
        GraphBuilder b;
        b.memcpy2d(cudag::ArraySpan<int>(array), cudag::DeviceSpan2D<int>(memory.data(), 4, 2)).label("into an array");
        CHECK_THAT(refusal(std::move(b).build(), "into an array"), ContainsSubstring("copies no arrays"));
    }
    cudag::check(cudaFreeArray(array));
}

TEST_CASE("a graph without work is refused for launches by kernels", "[exec][device]") {
    const Graph graph = GraphBuilder().build();
    const auto error =
        refused<InstantiateError>([&] { static_cast<void>(graph.instantiate({.device_launch = true})); });
    CHECK_THAT(error.what(), ContainsSubstring("at least one kernel, memcpy or memset node"));
}

TEST_CASE("an exec for launches by the host has no handle for kernels", "[exec][device]") {
    const Graph graph = one_kernel();
    Exec exec = graph.instantiate();
    exec.upload(Stream());
    CHECK_THAT(no_handle(exec), ContainsSubstring("{.device_launch = true}"));
}

TEST_CASE("an exec has a handle for kernels once it is uploaded", "[exec][device]") {
    const Graph graph = one_kernel();
    const Stream stream;
    Exec exec = graph.instantiate({.device_launch = true});
    CHECK_THAT(no_handle(exec), ContainsSubstring("upload()"));
    exec.upload(stream);
    CHECK(exec.on_device().native() == exec.native());
    stream.synchronize();
}

TEST_CASE("instantiation may upload, and so does a launch", "[exec][device]") {
    const Graph graph = one_kernel();
    const Stream stream;
    const Exec uploaded = graph.instantiate({.device_launch = true, .upload_stream = stream});
    CHECK(uploaded.on_device().native() == uploaded.native());
    stream.synchronize();
    Exec launched = graph.instantiate({.device_launch = true});
    run(launched, stream);
    CHECK(launched.on_device().native() == launched.native());
}

TEST_CASE("an updated exec must be uploaded again before kernels launch it", "[exec][device]") {
    const auto cell = device({0});
    GraphBuilder b;
    const auto node = b.kernel({}, store, cell, 1);
    const Graph graph = std::move(b).build();
    const Stream stream;
    Exec exec = graph.instantiate({.device_launch = true, .upload_stream = stream});
    exec.update(node, cudag::arg<1>(2));
    CHECK_THAT(no_handle(exec), ContainsSubstring("again after each update"));
    exec.upload(stream);
    CHECK(exec.on_device());
    exec.disable(node);
    CHECK_THAT(no_handle(exec), ContainsSubstring("again after each update"));
    run(exec, stream);
    CHECK(exec.on_device());
    CHECK(read(cell) == std::vector{0});
}

TEST_CASE("an exec is uploaded again after owners, binds and updates of the whole", "[exec][device]") {
    const auto cell = device({0}), other = device({0});
    cudag::KernelNode<int*, int> node;
    const auto build = [&](int value) {
        GraphBuilder b;
        node = b.kernel({}, store, cell, value);
        return std::move(b).build();
    };
    const Graph graph = build(1);
    const auto node_of_graph = node;
    const Stream stream;
    Exec exec = graph.instantiate({.device_launch = true});
    const auto check_changed = [&](int expected) {
        CHECK_THAT(no_handle(exec), ContainsSubstring("again after each update"));
        run(exec, stream);
        CHECK(exec.on_device());
        CHECK(read(other).front() == expected);
    };
    run(exec, stream);
    exec.update(node_of_graph, other, 2);
    check_changed(2);
    exec.bind(graph.parameter(cell), cell);
    check_changed(2);
    exec.bind(graph.parameter(cell), other);
    check_changed(2);
    REQUIRE(exec.update(build(3)).updated());
    check_changed(2);
    exec.bind(graph.parameter(cell), other);
    check_changed(3);
    REQUIRE(exec.update(build(4), {.match = cudag::Match::structure}).updated());
    check_changed(3);
    CHECK(read(cell).front() == 4);
}

TEST_CASE("a moved-from exec has no handle for kernels", "[exec][device]") {
    const Graph graph = one_kernel();
    Exec exec = graph.instantiate({.device_launch = true, .upload_stream = Stream()});
    const Exec other = std::move(exec);
    CHECK_THROWS_AS(exec.on_device(), GraphError); // NOLINT(bugprone-use-after-move)
    CHECK_NOTHROW(static_cast<void>(other.on_device()));
}
