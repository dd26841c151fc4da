// Nodes of every kind: what handles answer, and that CUDA got what was asked for.
#include <string_view>

#include "native.hpp"

using cudag::DeviceBuffer;
using cudag::GraphBuilder;
using cudag::LaunchConfig;
using cudag::NodeKind;
using cudag::SourceLocation;

TEST_CASE("every builder call makes a node of its kind", "[builder]") {
    const DeviceBuffer<int> cell(1);
    std::vector<int> host(1);
    GraphBuilder b;
    const auto kernel = b.kernel({}, store, cell, 1);
    const auto memcpy = b.memcpy(host, cell);
    const auto memset = b.memset(cell, 0);
    const auto function = b.host([] {});
    const auto join = b.join(kernel, memcpy);

    CHECK(kernel.kind() == NodeKind::kernel);
    CHECK(memcpy.kind() == NodeKind::memcpy);
    CHECK(memset.kind() == NodeKind::memset);
    CHECK(function.kind() == NodeKind::host);
    CHECK(join.kind() == NodeKind::empty);

    CHECK(native_type(kernel) == cudaGraphNodeTypeKernel);
    CHECK(native_type(memcpy) == cudaGraphNodeTypeMemcpy);
    CHECK(native_type(memset) == cudaGraphNodeTypeMemset);
    CHECK(native_type(function) == cudaGraphNodeTypeHost);
    CHECK(native_type(join) == cudaGraphNodeTypeEmpty);
}

TEST_CASE("a node has no label until it is given one", "[builder]") {
    GraphBuilder b;
    CHECK(b.kernel({}, nothing).label() == "");
}

TEST_CASE("a label is copied, and a second one replaces it", "[builder]") {
    GraphBuilder b;
    std::string text = "first";
    const auto node = b.kernel({}, nothing).label(text);
    text = "other";
    CHECK(node.label() == "first");
    CHECK(node.label("second").label() == "second");
    CHECK(node.label() == "second");
}

TEST_CASE("label returns the typed handle of the same node", "[builder]") {
    const DeviceBuffer<int> cell(1);
    GraphBuilder b;
    const cudag::KernelNode<int*, int> node = b.kernel({}, store, cell, 1);
    const cudag::KernelNode<int*, int> labelled = node.label("store");
    CHECK(labelled == node);
}

TEST_CASE("a handle answers the same when its graph is built", "[builder]") {
    GraphBuilder b;
    const auto node = b.kernel({}, nothing).label("kept");
    const cudaGraphNode_t native = node.native();
    const cudag::Graph graph = std::move(b).build();
    CHECK(node.label() == "kept");
    CHECK(node.kind() == NodeKind::kernel);
    CHECK(node.native() == native);
    CHECK(graph.nodes().at(0) == node);
}

TEST_CASE("a handle stays valid when its builder moves", "[builder]") {
    GraphBuilder first;
    const auto node = first.kernel({}, nothing).label("moved along");
    GraphBuilder second = std::move(first);
    second.kernel({}, nothing).after(node);
    CHECK(node.label() == "moved along");
    CHECK(std::move(second).build().edge_count() == 1);
}

namespace {

/// Whether `node` says that it was made `lines_before` lines before the caller.
bool made_here(const cudag::Node& node, unsigned lines_before, SourceLocation here = SourceLocation::current()) {
    const SourceLocation where = node.location();
    return std::string_view(where.file) == here.file && std::string_view(where.function) == here.function &&
           where.line == here.line - lines_before;
}

} // namespace

TEST_CASE("a node knows the line of the call that made it", "[builder]") {
    const DeviceBuffer<int> cell(1);
    std::vector<int> host(1);
    GraphBuilder b;

    const auto braces = b.kernel({.grid = 1, .block = 32}, nothing);
    CHECK(made_here(braces, 1));
    const LaunchConfig config;
    const auto variable = b.kernel(config, nothing);
    CHECK(made_here(variable, 1));
    const auto grid = b.kernel(cudag::grid_1d(100, 32), nothing);
    CHECK(made_here(grid, 1));
    const auto memcpy = b.memcpy(host, cell);
    CHECK(made_here(memcpy, 1));
    const auto memset = b.memset(cell, 0);
    CHECK(made_here(memset, 1));
    const auto function = b.host([] {});
    CHECK(made_here(function, 1));
    const auto join = b.join(braces, variable);
    CHECK(made_here(join, 1));
}

TEST_CASE("CUDA gets the configuration and the arguments of a kernel node", "[builder]") {
    const DeviceBuffer<float> x(8);
    const DeviceBuffer<float> y(8);
    GraphBuilder b;
    const auto node = b.kernel({.grid = {2, 3, 4}, .block = {8, 4, 2}, .shared_bytes = 1024}, saxpy, 8, 2.5F, x, y);

    const cudaKernelNodeParams params = kernel_params(node);
    CHECK(params.gridDim.x == 2);
    CHECK(params.gridDim.y == 3);
    CHECK(params.gridDim.z == 4);
    CHECK(params.blockDim.x == 8);
    CHECK(params.blockDim.y == 4);
    CHECK(params.blockDim.z == 2);
    CHECK(params.sharedMemBytes == 1024);
    CHECK(kernel_argument<int>(node, 0) == 8);
    CHECK(kernel_argument<float>(node, 1) == 2.5F);
    CHECK(kernel_argument<const float*>(node, 2) == x.data());
    CHECK(kernel_argument<float*>(node, 3) == y.data());
}

TEST_CASE("a kernel's arguments are copied when the node is made", "[builder]") {
    const DeviceBuffer<int> cell(1);
    int value = 5;
    GraphBuilder b;
    const auto node = b.kernel({}, store, cell, value);
    value = 6;
    CHECK(kernel_argument<int>(node, 1) == 5);
}

TEST_CASE("a launch without a configuration is one thread", "[builder]") {
    GraphBuilder b;
    const cudaKernelNodeParams params = kernel_params(b.kernel({}, nothing));
    CHECK(params.gridDim.x * params.gridDim.y * params.gridDim.z == 1);
    CHECK(params.blockDim.x * params.blockDim.y * params.blockDim.z == 1);
    CHECK(params.sharedMemBytes == 0);
}

TEST_CASE("a kernel may be given by pointer", "[builder]") {
    const auto cell = device({0});
    void (*const kernel)(int*, int) = store;
    GraphBuilder b;
    b.kernel({}, kernel, cell, 9);
    run(std::move(b));
    CHECK(read(cell) == std::vector{9});
}

TEST_CASE("every thread of the grid runs", "[builder]") {
    const auto count = device({0U});
    const auto blocks = device({0U});
    GraphBuilder b;
    b.kernel({.grid = {3, 2, 2}, .block = {8, 2, 2}}, count_threads, count, blocks, 10);
    run(std::move(b));
    CHECK(read(count) == std::vector{384U});
    CHECK(read(blocks) == std::vector{120U});
}
