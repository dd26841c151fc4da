// Graphs made with CUDA's own functions.
#include <array>

#include "native.hpp"
#include "native_nodes.hpp"

using cudag::DeviceBuffer;
using cudag::Edge;
using cudag::Graph;
using cudag::GraphError;
using cudag::Node;
using cudag::NodeKind;
using cudag::PinnedBuffer;

namespace {

void CUDART_CB set_to_5(void* cell) {
    *static_cast<int*>(cell) = 5;
}

/// memset(cells, 1) -> store(cells, 20) -> copy cells to host -> empty -> host function on `called`.
struct Raw {
    cudaGraph_t graph = nullptr;
    std::array<cudaGraphNode_t, 5> nodes{};

    Raw(const DeviceBuffer<int>& cells, const PinnedBuffer<int>& host, int& called) {
        cudag::check(cudaGraphCreate(&graph, 0));

        cudaMemsetParams set{};
        set.dst = cells.data();
        set.value = 1;
        set.elementSize = sizeof(int);
        set.width = cells.size();
        set.height = 1;
        nodes[0] = add_native_memset(graph, {}, set);

        int* cell = cells.data();
        int value = 20;
        std::array<void*, 2> arguments{&cell, &value};
        cudaKernelNodeParams launch{};
        launch.func = const_cast<void*>(cudag::detail::kernel_symbol(store));
        launch.gridDim = dim3(1);
        launch.blockDim = dim3(1);
        launch.kernelParams = arguments.data();
        nodes[1] = add_native_kernel(graph, {nodes[0]}, launch);

        nodes[2] =
            add_native_memcpy(graph, {nodes[1]}, host.data(), cells.data(), cells.size_bytes(), cudaMemcpyDeviceToHost);
        nodes[3] = add_native_empty(graph, {nodes[2]});

        const cudaHostNodeParams function{set_to_5, &called};
        nodes[4] = add_native_host(graph, {nodes[3]}, function);
    }
};

struct Adopted {
    DeviceBuffer<int> cells{3};
    PinnedBuffer<int> host{3};
    int called = 0;
    Raw raw{cells, host, called};
    Graph graph = Graph::adopt(raw.graph);
    cudag::Stream stream;

    std::vector<int> result() const { return {host.begin(), host.end()}; }
};

} // namespace

TEST_CASE("an adopted graph has the kinds, order and edges that CUDA has", "[graph][adopt]") {
    const Adopted adopted;
    static_cast<void>(adopted.graph.instantiate({.plan = cudag::Plan::as_written()}));
    const std::vector<Node> nodes = adopted.graph.nodes();
    REQUIRE(nodes.size() == 5);
    const std::array kinds{NodeKind::memset, NodeKind::kernel, NodeKind::memcpy, NodeKind::empty, NodeKind::host};
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        CHECK(nodes[i].kind() == kinds[i]);
        CHECK(nodes[i].native() == adopted.raw.nodes[i]);
        CHECK(nodes[i].label() == "");
        CHECK(nodes[i].location().line == 0);
    }
    CHECK(adopted.graph.edges() ==
          std::vector<Edge>{{nodes[0], nodes[1]}, {nodes[1], nodes[2]}, {nodes[2], nodes[3]}, {nodes[3], nodes[4]}});
    CHECK(adopted.graph.native() == adopted.raw.graph);
    CHECK(native_edges(adopted.graph.native()).size() == 4);
}

TEST_CASE("an adopted graph runs", "[graph][adopt]") {
    Adopted adopted;
    cudag::Exec exec = adopted.graph.instantiate();
    run(exec, adopted.stream);
    CHECK(adopted.result() == std::vector{20, 1, 1});
    CHECK(adopted.called == 5);
}

TEST_CASE("an adopted kernel node is found by its kernel and updated", "[graph][adopt]") {
    Adopted adopted;
    const auto found = adopted.graph.find(store);
    REQUIRE(found.size() == 1);
    CHECK(found[0] == adopted.graph.nodes()[1]);
    cudag::Exec exec = adopted.graph.instantiate();

    SECTION("with all arguments") {
        exec.update(found[0], adopted.cells, 30);
        run(exec, adopted.stream);
        CHECK(adopted.result() == std::vector{30, 1, 1});
    }
    SECTION("with one argument, the other being read from CUDA") {
        exec.update(found[0], cudag::arg<1>(40));
        run(exec, adopted.stream);
        CHECK(adopted.result() == std::vector{40, 1, 1});
    }
    SECTION("with another configuration alone") {
        exec.update(found[0], cudag::LaunchConfig{.grid = 2});
        run(exec, adopted.stream);
        CHECK(adopted.result() == std::vector{20, 1, 1});
    }
}

TEST_CASE("adopted memcpy, memset and host nodes are updated", "[graph][adopt]") {
    Adopted adopted;
    const std::vector<Node> nodes = adopted.graph.nodes();
    const auto other = device({7, 8, 9});
    int calls = 0;
    cudag::Exec exec = adopted.graph.instantiate();
    exec.update(nodes[0].as<cudag::MemsetNode>(), adopted.cells, 2);
    exec.update(nodes[4].as<cudag::HostNode>(), [&calls] { ++calls; });
    run(exec, adopted.stream);
    CHECK(adopted.result() == std::vector{20, 2, 2});
    CHECK(adopted.called == 0);
    CHECK(calls == 1);

    exec.update(nodes[2].as<cudag::MemcpyNode>(), adopted.host, other);
    run(exec, adopted.stream);
    CHECK(adopted.result() == std::vector{7, 8, 9});
}

TEST_CASE("an adopted node is told by kind or kernel", "[graph][adopt]") {
    const Adopted adopted;
    const std::vector<Node> nodes = adopted.graph.nodes();
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(nodes[1].as(add)); }).what(),
               ContainsSubstring("kernel store"));
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(nodes[2].as<cudag::HostNode>()); }).what(),
               ContainsSubstring("memcpy node 2"));
}

TEST_CASE("adopted nodes may be labelled, found and cloned", "[graph][adopt]") {
    Adopted adopted;
    adopted.graph.nodes()[1].label("fill");
    const Graph clone = adopted.graph.clone();
    const auto fill = clone.find("fill");
    REQUIRE(fill.size() == 1);
    cudag::Exec exec = clone.instantiate();
    exec.update(fill[0].as(store), cudag::arg<1>(60));
    run(exec, adopted.stream);
    CHECK(adopted.result() == std::vector{60, 1, 1});
}

TEST_CASE("adopting no graph is refused", "[graph][adopt]") {
    const auto error = refused<GraphError>([] { static_cast<void>(Graph::adopt(nullptr)); });
    CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
    CHECK_THAT(error.what(), ContainsSubstring("adopt") && ContainsSubstring("null"));
}

TEST_CASE("an adopted empty graph is empty", "[graph][adopt]") {
    cudaGraph_t raw = nullptr;
    cudag::check(cudaGraphCreate(&raw, 0));
    const Graph graph = Graph::adopt(raw);
    CHECK(graph.node_count() == 0);
    CHECK(graph.edge_count() == 0);
}

TEST_CASE("an adopted kernel without parameters is found", "[graph][adopt]") {
    cudag::GraphBuilder b;
    b.kernel({.block = 32}, nothing);
    const Graph original = std::move(b).build();
    cudaGraph_t copy = nullptr;
    cudag::check(cudaGraphClone(&copy, original.native()));
    const Graph graph = Graph::adopt(copy);
    const auto found = graph.find(nothing);
    REQUIRE(found.size() == 1);
    cudag::Exec exec = graph.instantiate();
    exec.update(found[0], cudag::LaunchConfig{.block = 64});
    CHECK_NOTHROW(run(exec, cudag::Stream()));
    CHECK_THAT(graph.dot(), ContainsSubstring("nothing") && ContainsSubstring("(32, 1, 1)"));
}

TEST_CASE("a two-dimensional memset is adopted as it is", "[graph][adopt]") {
    const auto cells = device(std::vector<unsigned char>(64, 1));
    cudaGraph_t raw = nullptr;
    cudag::check(cudaGraphCreate(&raw, 0));
    cudaMemsetParams set{};
    set.dst = cells.data();
    set.pitch = 16;
    set.value = 7;
    set.elementSize = 1;
    set.width = 8;
    set.height = 4;
    add_native_memset(raw, {}, set);
    const Graph graph = Graph::adopt(raw);
    CHECK(graph.nodes().at(0).kind() == NodeKind::memset);
    cudag::Exec exec = graph.instantiate();
    run(exec, cudag::Stream());
    const std::vector<unsigned char> bytes = read(cells);
    for (std::size_t i = 0; i < bytes.size(); ++i)
        CHECK(bytes[i] == (i % 16 < 8 ? 7 : 1));
}

TEST_CASE("joins of an adopted graph are planned", "[graph][adopt][plan]") {
    cudaGraph_t native = nullptr;
    cudag::check(cudaGraphCreate(&native, 0));
    const auto row = [&](const std::vector<cudaGraphNode_t>& after) {
        std::vector<cudaGraphNode_t> nodes(3);
        for (cudaGraphNode_t& node : nodes) {
            cudaKernelNodeParams launch{};
            launch.func = const_cast<void*>(cudag::detail::kernel_symbol(nothing));
            launch.gridDim = launch.blockDim = dim3(1);
            node = add_native_kernel(native, after, launch);
        }
        return nodes;
    };
    const std::vector<cudaGraphNode_t> first = row({});
    const cudaGraphNode_t join = add_native_empty(native, first);
    row({join});
    const Graph graph = Graph::adopt(native);
    cudag::Exec exec = graph.instantiate();
    REQUIRE(exec.plan().joins().size() == 1);
    CHECK(exec.plan().joins()[0].node == graph.nodes().at(3));
    CHECK(exec.plan().joins()[0].form == cudag::JoinForm::edges);
    run(exec, cudag::Stream());
}

namespace {

/// A graph that allocates four cells, and another one that frees them.
struct AllocatedAndFreed {
    AllocatedAndFreed() {
        cudag::check(cudaGraphCreate(&allocating, 0));
        cudag::check(cudaGraphCreate(&freeing, 0));
        cudaMemAllocNodeParams params{};
        params.poolProps.allocType = cudaMemAllocationTypePinned;
        params.poolProps.location = {cudaMemLocationTypeDevice, 0};
        params.bytesize = 4 * sizeof(int);
        add_native_alloc(allocating, {}, params);
        add_native_free(freeing, {}, params.dptr);
        cells = static_cast<const int*>(params.dptr);
    }
    cudaGraph_t allocating = nullptr, freeing = nullptr; ///< the caller's
    const int* cells = nullptr;
};

} // namespace

TEST_CASE("a graph that frees what another one allocates is adopted, and runs", "[graph][adopt]") {
    const AllocatedAndFreed native;
    const Graph first = Graph::adopt(native.allocating), second = Graph::adopt(native.freeing);
    CHECK(second.nodes().at(0).kind() == NodeKind::free);
    cudag::Exec allocates = first.instantiate(), frees = second.instantiate();
    const cudag::Stream stream;
    for (int i = 0; i < 2; ++i) {
        allocates.launch(stream);
        frees.launch(stream);
    }
    stream.synchronize();
}

TEST_CASE("the end of memory that another graph allocates races with its uses", "[graph][adopt][races]") {
    const AllocatedAndFreed native;
    int called = 0;
    const cudaHostNodeParams function{set_to_5, &called};
    add_native_host(native.freeing, {}, function);
    const Graph first = Graph::adopt(native.allocating), second = Graph::adopt(native.freeing);
    second.nodes().at(1).reads(cudag::DeviceSpan<const int>(native.cells, 4));
    CHECK(first.races().empty());
    REQUIRE(second.races().size() == 1);
    CHECK(second.races()[0].first.kind() == NodeKind::free);
    CHECK(second.races()[0].second.kind() == NodeKind::host);
}
