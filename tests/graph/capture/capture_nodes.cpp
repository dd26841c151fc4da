// What captured calls become: typed nodes, which are found, updated and refused as built ones are.
#include <array>
#include <span>

#include "attributes.hpp"
#include "memory_nodes.hpp"
#include "symbols.hpp"

using cudag::AllocNode;
using cudag::arg;
using cudag::capture;
using cudag::check;
using cudag::DeviceBuffer;
using cudag::DeviceSpan;
using cudag::Error;
using cudag::Event;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphError;
using cudag::launch;
using cudag::LaunchConfig;
using cudag::MemcpyNode;
using cudag::MemsetNode;
using cudag::Node;
using cudag::NodeKind;
using cudag::PinnedBuffer;
using cudag::Stream;
using cudag::StreamCapture;
using cudag::UpdateError;

namespace {

/// A graph of the one node that `record` records, which is of `kind`.
template <class Record>
Graph captured_node(NodeKind kind, Record&& record) {
    Graph graph = capture(Stream(), [&](cudaStream_t s) { record(s); });
    REQUIRE(graph.node_count() == 1);
    CHECK(graph.nodes().front().kind() == kind);
    CHECK(graph.edge_count() == 0);
    return graph;
}

/// A launch that is not cudag's, with an attribute.
template <class... P>
void launch_raw(cudaStream_t stream, cudaLaunchAttribute attribute, void (*kernel)(P...), P... arguments) {
    std::array<void*, sizeof...(P)> values{&arguments...};
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(2);
    config.blockDim = dim3(32);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    check(cudaLaunchKernelExC(&config, cudag::detail::kernel_symbol(kernel), values.data()));
}

/// Counts the threads that the one kernel of a graph, count_threads, runs.
struct Counter {
    DeviceBuffer<unsigned> cells = device({0U, 0U});
    unsigned* count = cells.data();
    unsigned* sum = cells.data() + 1;

    std::vector<unsigned> result(Exec& exec) const {
        write(cells.span(), {0U, 0U});
        run(exec, Stream());
        return read(cells);
    }
};

} // namespace

TEST_CASE("a captured launch is a kernel node with its shape", "[capture][nodes]") {
    const Counter counter;
    const Graph graph = captured_node(NodeKind::kernel, [&](cudaStream_t s) {
        launch(s, {.grid = {2, 3}, .block = {4, 5}, .shared_bytes = 64}, count_threads, counter.count, counter.sum, 7U);
    });
    const cudaKernelNodeParams params = kernel_params(graph.nodes()[0]);
    CHECK((params.gridDim.x == 2 && params.gridDim.y == 3 && params.gridDim.z == 1));
    CHECK((params.blockDim.x == 4 && params.blockDim.y == 5 && params.blockDim.z == 1));
    CHECK(params.sharedMemBytes == 64);
    Exec exec = graph.instantiate();
    CHECK(counter.result(exec) == std::vector{120U, 42U});

    const auto node = graph.find(count_threads).at(0);
    exec.update(node, arg<2>(1U));
    CHECK(counter.result(exec) == std::vector{120U, 6U});
    exec.update(node, LaunchConfig{.grid = 3, .block = 32});
    CHECK(counter.result(exec) == std::vector{96U, 3U});
    exec.update(node, LaunchConfig{.grid = 1, .block = 8}, counter.sum, counter.count, 5U);
    CHECK(counter.result(exec) == std::vector{5U, 8U});
    exec.disable(node);
    CHECK(counter.result(exec) == std::vector{0U, 0U});
}

TEST_CASE("a captured kernel is typed by its function only", "[capture][nodes]") {
    const auto cell = device({0});
    const Graph graph = captured_node(NodeKind::kernel, [&](cudaStream_t s) { launch(s, {}, store, cell.data(), 1); });
    const Node node = graph.nodes()[0];
    CHECK(node.as(store) == graph.find(store).at(0));
    CHECK(graph.find(add).empty());
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(node.as(add)); }).what(),
               ContainsSubstring("kernel store") && ContainsSubstring("add"));
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(node.as<MemcpyNode>()); }).what(),
               ContainsSubstring("kernel"));
}

TEST_CASE("captured kernels are found in the order in which they were recorded", "[capture][nodes]") {
    const auto cells = device({0, 0, 0});
    const Stream stream;
    const Graph graph = capture(stream, [&](cudaStream_t s) {
        launch(s, {}, store, cells.data(), 1);
        launch(s, {}, add, cells.data() + 1, cells.data(), 10);
        launch(s, {}, store, cells.data() + 2, 3);
    });
    const auto stores = graph.find(store);
    REQUIRE(stores.size() == 2);
    CHECK(stores[0] == graph.nodes()[0]);
    CHECK(stores[1] == graph.nodes()[2]);
    Exec exec = graph.instantiate();
    exec.update(stores[0], arg<1>(5));
    exec.update(stores[1], arg<1>(6));
    run(exec, stream);
    CHECK(read(cells) == std::vector{5, 15, 6});
}

TEST_CASE("a launch with <<<>>>'s own call is the same kernel node", "[capture][nodes]") {
    const auto cell = device({0});
    int* address = cell.data();
    int value = 4;
    std::array<void*, 2> arguments{&address, &value};
    const Graph graph = captured_node(NodeKind::kernel, [&](cudaStream_t s) {
        check(cudaLaunchKernel(cudag::detail::kernel_symbol(store), dim3(1), dim3(1), arguments.data(), 0, s));
    });
    value = 5; // it was copied
    Exec exec = graph.instantiate();
    run(exec, Stream());
    CHECK(read(cell) == std::vector{4});
    exec.update(graph.find(store).at(0), arg<1>(6));
    run(exec, Stream());
    CHECK(read(cell) == std::vector{6});
}

TEST_CASE("a captured cooperative launch of the Runtime API's is cooperative", "[capture][nodes][attributes]") {
    const Counter counter;
    cudaLaunchAttribute cooperative{};
    cooperative.id = cudaLaunchAttributeCooperative;
    cooperative.val.cooperative = 1;
    const Graph graph = captured_node(NodeKind::kernel, [&](cudaStream_t s) {
        launch_raw(s, cooperative, count_threads, counter.count, counter.sum, 1U);
    });
    const auto node = graph.find(count_threads).at(0);
    CHECK(is_cooperative(node));
    Exec exec = graph.instantiate();
    const auto error =
        refused<UpdateError>([&] { exec.update(node, LaunchConfig{.priority = PriorityRange().greatest}); });
    CHECK_THAT(error.what(), ContainsSubstring("attributes are fixed when the node is made"));
    exec.update(node, LaunchConfig{.grid = 4, .block = 8, .cooperative = true});
    CHECK(counter.result(exec) == std::vector{32U, 4U});
}

TEST_CASE("captured copies are updated in their direction", "[capture][nodes][memcpy]") {
    const auto ones = device({1, 2});
    const auto others = device({3, 4});
    const DeviceBuffer<int> back(2);
    const PinnedBuffer<int> host(2);
    const Stream stream;
    SECTION("from device to device") {
        const Graph graph = captured_node(NodeKind::memcpy, [&](cudaStream_t s) { memcpy_async(s, back, ones); });
        Exec exec = graph.instantiate();
        exec.update(graph.nodes()[0].as<MemcpyNode>(), back, others);
        run(exec, stream);
        CHECK(read(back) == std::vector{3, 4});
    }
    SECTION("from host to device, less of it") {
        const Graph graph = captured_node(NodeKind::memcpy, [&](cudaStream_t s) { memcpy_async(s, back, host); });
        Exec exec = graph.instantiate();
        write(back.span(), {7, 7});
        *host.begin() = 5;
        exec.update(graph.nodes()[0].as<MemcpyNode>(), DeviceSpan<int>(back.data(), 1), std::span(host.data(), 1));
        run(exec, stream);
        CHECK(read(back) == std::vector{5, 7});
    }
}

TEST_CASE("a captured copy of pageable memory reads and writes it at each launch", "[capture][nodes][memcpy]") {
    const DeviceBuffer<int> cells(2);
    std::vector<int> from{1, 2};
    std::vector<int> to(2);
    const Stream stream;
    const Graph graph = capture(stream, [&](cudaStream_t s) {
        memcpy_async(s, cells, from);
        memcpy_async(s, to, cells);
    });
    Exec exec = graph.instantiate();
    from = {3, 4};
    run(exec, stream);
    CHECK(to == std::vector{3, 4});
    const std::vector<int> other{5, 6};
    exec.update(graph.nodes()[0].as<MemcpyNode>(), cells, other);
    run(exec, stream);
    CHECK(to == other);
}

TEST_CASE("a captured copy of a device variable is a copy at its address", "[capture][nodes][memcpy]") {
    const std::vector<int> ones(6, 1);
    const std::vector<int> twos(6, 2);
    int sum = 0;
    const Stream stream;
    const Graph graph = capture(stream, [&](cudaStream_t s) {
        memcpy_async(s, table_symbol(), ones);
        launch(s, {}, add_table);
        memcpy_async(s, std::span(&sum, 1), total_symbol());
    });
    Exec exec = graph.instantiate();
    run(exec, stream);
    CHECK(sum == 6);
    exec.update(graph.nodes()[0].as<MemcpyNode>(), table_symbol(), twos);
    run(exec, stream);
    CHECK(sum == 12);
}

TEST_CASE("captured memsets have elements of 1, 2 and 4 bytes", "[capture][nodes][memset]") {
    const auto check_elements = [](auto value, auto updated) {
        using T = decltype(value);
        const auto cells = device(std::vector<T>(4, T{9}));
        const DeviceSpan<T> middle(cells.data() + 1, 2);
        const Graph graph = captured_node(NodeKind::memset, [&](cudaStream_t s) { memset_async(s, middle, value); });
        CHECK(memset_params(graph.nodes()[0]).elementSize == sizeof(T));
        const auto node = graph.nodes()[0].as<MemsetNode>();
        Exec exec = graph.instantiate();
        run(exec, Stream());
        CHECK(read(cells) == std::vector<T>{9, value, value, 9});
        exec.update(node, DeviceSpan<T>(cells.data(), 1), updated);
        run(exec, Stream());
        CHECK(read(cells) == std::vector<T>{updated, value, value, 9});
    };
    check_elements(static_cast<unsigned char>(0xab), static_cast<unsigned char>(1));
    check_elements(static_cast<unsigned short>(0xabcd), static_cast<unsigned short>(2));
    check_elements(0xabcdef01U, 3U);
    check_elements(1.5F, -2.5F);
}

TEST_CASE("a captured memset of the Runtime API's sets bytes", "[capture][nodes][memset]") {
    const auto cells = device({9U, 9U});
    const Graph graph = captured_node(
        NodeKind::memset, [&](cudaStream_t s) { check(cudaMemsetAsync(cells.data(), 0x1ab, cells.size_bytes(), s)); });
    Exec exec = graph.instantiate();
    run(exec, Stream());
    CHECK(read(cells) == std::vector{0xababababU, 0xababababU});
    exec.update(graph.nodes()[0].as<MemsetNode>(), cells, 7U); // as elements of four bytes
    run(exec, Stream());
    CHECK(read(cells) == std::vector{7U, 7U});
}

TEST_CASE("captured allocations and frees are alloc and free nodes", "[capture][nodes][memory]") {
    const DeviceBuffer<int> result(4);
    const Stream stream;
    void* memory = nullptr;
    const Graph graph = capture(stream, [&](cudaStream_t s) {
        check(cudaMallocAsync(&memory, 16, s));
        const DeviceSpan<int> cells(static_cast<int*>(memory), 4);
        memset_async(s, cells, 3);
        memcpy_async(s, result, cells);
        check(cudaFreeAsync(memory, s));
    });
    const auto nodes = graph.nodes();
    REQUIRE(nodes.size() == 4);
    const auto alloc = nodes[0].as<AllocNode<int>>();
    CHECK(alloc.span().data() == memory);
    CHECK(alloc.span().size() == 4);
    CHECK(nodes[3].as<cudag::FreeNode>() == nodes[3]);
    CHECK(freed_address(nodes[3]) == memory);
    CHECK(graph.edges() == std::vector<cudag::Edge>{{nodes[0], nodes[1]}, {nodes[1], nodes[2]}, {nodes[2], nodes[3]}});

    Exec exec = graph.instantiate();
    CHECK_THAT(refused<cudag::InstantiateError>([&] { static_cast<void>(graph.instantiate()); }).what(),
               ContainsSubstring("one Exec at a time"));
    run(exec, stream);
    CHECK(read(result) == std::vector{3, 3, 3, 3});
    exec.update(nodes[1].as<MemsetNode>(), alloc.span(), 4);
    run(exec, stream);
    CHECK(read(result) == std::vector{4, 4, 4, 4});
    CHECK(alloc_params(graph.clone().nodes().at(0)).dptr != memory);
}

TEST_CASE("a captured allocation that is not freed is freed before the next launch where that is asked for",
          "[capture][nodes][memory]") {
    const DeviceBuffer<int> result(1);
    const Stream stream;
    const Graph graph = capture(stream, [&](cudaStream_t s) {
        void* memory = nullptr;
        check(cudaMallocAsync(&memory, sizeof(int), s));
        launch(s, {}, store, static_cast<int*>(memory), 8);
        memcpy_async(s, result, DeviceSpan<int>(static_cast<int*>(memory), 1));
    });
    Exec exec = graph.instantiate({.auto_free_on_launch = true});
    for (int turn = 0; turn < 3; ++turn)
        exec.launch(stream);
    stream.synchronize();
    CHECK(read(result) == std::vector{8});
}

TEST_CASE("captured external events are record and wait nodes", "[capture][nodes][event]") {
    const Stream stream;
    Event before;
    Event marked;
    Event other;
    Event awaited({.timing = false});
    awaited.record(stream);
    const Graph graph = capture(stream, [&](cudaStream_t s) {
        check(cudaStreamWaitEvent(s, awaited.get(), cudaEventWaitExternal));
        check(cudaEventRecordWithFlags(marked.get(), s, cudaEventRecordExternal));
    });
    const auto nodes = graph.nodes();
    REQUIRE(nodes.size() == 2);
    const auto wait = nodes[0].as<cudag::WaitNode>();
    const auto mark = nodes[1].as<cudag::RecordNode>();
    CHECK(graph.edges() == std::vector<cudag::Edge>{{nodes[0], nodes[1]}});

    before.record(stream);
    Exec exec = graph.instantiate();
    run(exec, stream);
    CHECK(marked.milliseconds_since(before) >= 0);
    CHECK_THROWS_AS(other.milliseconds_since(before), Error); // it marks nothing
    exec.update(mark, other);
    exec.update(wait, before);
    run(exec, stream);
    CHECK(other.milliseconds_since(before) >= 0);
}

TEST_CASE("events within a capture are edges, not nodes", "[capture][nodes][event]") {
    const Stream stream;
    const Event event({.timing = false});
    const Graph graph = capture(stream, [&](cudaStream_t s) {
        launch(s, {}, nothing);
        check(cudaEventRecord(event.get(), s));
        check(cudaStreamWaitEvent(s, event.get()));
        launch(s, {}, nothing);
    });
    CHECK(graph.node_count() == 2);
    CHECK(graph.edge_count() == 1);
}

TEST_CASE("captured calls that have nothing to do make no nodes", "[capture][nodes]") {
    const DeviceBuffer<int> cells(2);
    const Stream stream;
    const Graph graph =
        capture(stream,
                [&](cudaStream_t s) {
                    check(cudaMemcpyAsync(cells.data(), cells.data() + 1, 0, cudaMemcpyDeviceToDevice, s));
                    check(cudaMemsetAsync(cells.data(), 0, 0, s));
                    check(cudaFreeAsync(nullptr, s));
                },
                {.allow_empty = true});
    CHECK(graph.node_count() == 0);
}

TEST_CASE("refused stream work that CUDA does not see leaves the capture whole", "[capture][nodes][errors]") {
    const DeviceBuffer<int> cells(2);
    const PinnedBuffer<int> host(1);
    const Stream stream;
    const Graph graph = capture(stream, [&](cudaStream_t s) {
        CHECK_THROWS_AS(memcpy_async(s, cells, host), GraphError); // sizes
        CHECK_THROWS_AS(memset_async(s, DeviceSpan<int>(), 1), GraphError);
        CHECK_THROWS_AS(launch(s, {.device_updatable = true}, nothing), Error);
        launch(s, {}, nothing);
    });
    CHECK(graph.node_count() == 1);
}
