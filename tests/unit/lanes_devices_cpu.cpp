// Plans of graphs whose nodes are on two devices.
#include "cuda_edges.hpp"
#include "kernels.hpp"
#include "several_devices.hpp"

#include <catch.hpp>
#include <cudag/cudag.hpp>
#include <cudart_cpu/control.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

/// CUDA's edges of a graph, as pairs of the numbers that `of_node` has.
std::vector<std::pair<int, int>> edges_of(cudaGraph_t graph, const std::map<cudaGraphNode_t, int>& of_node) {
    std::size_t count = 0;
    cudag::check(get_edges(graph, nullptr, nullptr, nullptr, &count));
    std::vector<cudaGraphNode_t> from(count), to(count);
    std::vector<cudaGraphEdgeData> data(count);
    cudag::check(get_edges(graph, from.data(), to.data(), data.data(), &count));
    std::vector<std::pair<int, int>> edges;
    for (std::size_t i = 0; i < count; ++i)
        edges.emplace_back(of_node.at(from[i]), of_node.at(to[i]));
    return edges;
}

/// Four kernels on device 0 and four fills on device 1, without edges; notes their devices.
cudag::Graph four_nodes_each(const cudag::DeviceBuffer<int>& cells, std::map<cudaGraphNode_t, int>& device_of) {
    cudag::GraphBuilder b;
    cudag::GraphBuilder second = b.on(1);
    for (std::size_t i = 0; i < 4; ++i) {
        device_of[b.kernel({}, multiply_add, cells.data() + i, cells.data() + i, 1, 1).native()] = 0;
        device_of[second.memset(cells.span().subspan(4 + i, 1), 1).native()] = 1;
    }
    return std::move(b).build();
}

} // namespace

TEST_CASE("lanes of a graph of two devices lead from one to the other nowhere", "[unit][device][plan]") {
    const SeveralDevices devices(2);
    const cudag::DeviceBuffer<int> cells(8);
    std::map<cudaGraphNode_t, int> device_of;
    const cudag::Graph graph = four_nodes_each(cells, device_of);
    const cudag::Exec exec = graph.instantiate({.plan = {.lanes = 2}});
    CHECK(exec.plan().lanes() == 2);
    const auto edges = edges_of(graph.native(), device_of);
    CHECK(edges.size() == 4);
    for (const auto& [from, to] : edges)
        CHECK(from == to);
    const cudag::Stream stream;
    cudag::Exec one_lane = graph.clone().instantiate({.plan = {.lanes = 1}});
    one_lane.launch(stream);
    stream.synchronize();
}

TEST_CASE("tune lays the lanes of its plans by device", "[unit][device][tune]") {
    const SeveralDevices devices(2);
    const cudag::DeviceBuffer<int> cells(8);
    std::map<cudaGraphNode_t, int> device_of;
    const cudag::Graph graph = four_nodes_each(cells, device_of);
    std::vector<std::size_t> edges;
    const cudag::Stream stream;
    for (const unsigned lanes : {1U, 2U, 3U}) {
        const cudag::Tuned tuned =
            cudag::tune(graph, stream, {.candidates = std::vector<cudag::Plan>{{.lanes = lanes}}, .repetitions = 1});
        CHECK(tuned.exec.plan().lanes() == lanes);
        for (const auto& [from, to] : edges_of(graph.native(), device_of))
            CHECK(from == to);
        edges.push_back(tuned.report.chosen().edges);
    }
    CHECK(edges == std::vector<std::size_t>{6, 4, 2});
    const cudag::Tuned tuned = cudag::tune(graph, stream, {.repetitions = 1});
    CHECK(tuned.report.rows().back().name == "default, 2 lanes"); // four nodes can run at once on each device
}

TEST_CASE("what no device is known of is laid on the lanes of the device of what it comes after",
          "[unit][device][plan]") {
    const SeveralDevices devices(2);
    const cudag::DeviceBuffer<int> cells(8);
    cudag::GraphBuilder b;
    cudag::GraphBuilder second = b.on(1);
    std::map<cudaGraphNode_t, int> device_of;
    for (std::size_t i = 0; i < 4; ++i) {
        const auto kernel = b.kernel({}, multiply_add, cells.data() + i, cells.data() + i, 1, 1);
        const auto fill = second.memset(cells.span().subspan(4 + i, 1), 1);
        device_of[kernel.native()] = device_of[b.host([] {}).after(kernel).native()] = 0;
        device_of[fill.native()] = device_of[b.host([] {}).after(fill).native()] = 1;
    }
    const cudag::Graph graph = std::move(b).build();
    const cudag::Exec exec = graph.instantiate({.plan = {.lanes = 2}});
    CHECK(exec.plan().lanes() == 2);
    const auto edges = edges_of(graph.native(), device_of);
    CHECK(edges.size() == 8 + 4);
    for (const auto& [from, to] : edges)
        CHECK(from == to);
}

TEST_CASE("what comes after nothing is on the device of the others, where they are on one", "[unit][device][plan]") {
    const SeveralDevices devices(2);
    const cudag::DeviceBuffer<int> cells(2);
    cudag::GraphBuilder b;
    cudag::GraphBuilder second = b.on(1);
    std::map<cudaGraphNode_t, int> numbers;
    for (std::size_t i = 0; i < 2; ++i) {
        numbers[b.host([] {}).native()] = 0;
        numbers[second.memset(cells.span().subspan(i, 1), 1).native()] = 0;
    }
    const cudag::Graph graph = std::move(b).build();
    const cudag::Exec exec = graph.instantiate({.plan = {.lanes = 1}});
    CHECK(exec.plan().lanes() == 1);
    CHECK(edges_of(graph.native(), numbers).size() == 3);
}

TEST_CASE("a thread that has asked CUDA nothing yet adds the kernels of a plan", "[unit][plan]") {
    const cudag::DeviceBuffer<int> cells(40);
    const auto build = [&] {
        cudag::GraphBuilder b;
        std::vector<cudag::Node> first;
        for (std::size_t i = 0; i < 20; ++i)
            first.push_back(b.kernel({}, multiply_add, cells.data() + i, cells.data() + i, 1, 1));
        const auto join = b.join(first);
        for (std::size_t i = 20; i < 40; ++i)
            b.kernel({}, multiply_add, cells.data() + i, cells.data() + i, 1, 1).after(join);
        return std::move(b).build();
    };
    const cudag::Plan plan{.ends = false};
    CHECK(build().instantiate({.plan = plan}).plan().kernels() == 1); // all that is asked once is known from here on
    const cudag::Graph graph = build();
    std::size_t kernels = 0;
    std::string error;
    std::thread([&] {
        try {
            kernels = graph.instantiate({.plan = plan}).plan().kernels();
        } catch (const cudag::Error& thrown) {
            error = thrown.what();
        }
    }).join();
    CHECK(error == "");
    CHECK(kernels == 1);
}

TEST_CASE("a graph of two devices is refused for launches by kernels, with the node", "[unit][device]") {
    const SeveralDevices devices(2);
    const cudag::DeviceBuffer<int> cells(2);
    cudag::GraphBuilder b;
    cudag::GraphBuilder second = b.on(1);
    b.memset(cells.span().subspan(0, 1), 1).label("on the first");
    const auto node = second.memset(cells.span().subspan(1, 1), 1).label("on the second");
    const cudag::Graph graph = std::move(b).build();
    try {
        static_cast<void>(graph.instantiate({.device_launch = true}));
        FAIL("it was instantiated");
    } catch (const cudag::InstantiateError& error) {
        CHECK_THAT(error.what(), ContainsSubstring("memset \"on the second\"") &&
                                     ContainsSubstring("a device-launched graph runs on one device only"));
        CHECK(error.labels() == std::vector<std::string>{"on the second"});
        CHECK(error.location().line == node.location().line);
    }
    try {
        cudart_cpu::fail_call(1, cudaErrorMemoryAllocation);
        static_cast<void>(graph.instantiate());
        FAIL("it was instantiated");
    } catch (const cudag::InstantiateError& error) {
        cudart_cpu::fail_call(0, cudaSuccess);
        CHECK_THAT(error.what(), !ContainsSubstring(": :") && !ContainsSubstring("one device only"));
    }
}
