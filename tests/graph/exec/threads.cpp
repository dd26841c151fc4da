// Threads: one that has made no CUDA call yet, and several at once, each with graphs of its own.
#include <future>
#include <optional>
#include <utility>

#include "scenario.hpp"

using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::Stream;

namespace {

/// Calls `call` in a thread of its own, whose first CUDA call is in there.
void in_fresh_thread(CallRef<> call) {
    std::async(std::launch::async, [=] { call(); }).get();
}

} // namespace

TEST_CASE("every step of a graph's life may be a fresh thread's first CUDA call", "[exec][threads]") {
    const auto cell = device({0}), other = device({0});
    const Stream stream;
    GraphBuilder b;
    cudag::KernelNode<int*, int> node;
    in_fresh_thread([&] { node = b.kernel({}, store, cell, 1); });
    std::optional<Graph> graph;
    in_fresh_thread([&] { graph = std::move(b).build(); });
    std::optional<Exec> exec;
    in_fresh_thread([&] { exec = graph->instantiate(); });
    in_fresh_thread([&] { exec->launch(stream); });
    in_fresh_thread([&] { stream.synchronize(); });
    CHECK(read(cell) == std::vector{1});
    in_fresh_thread([&] { exec->update(node, cudag::arg<1>(2)); });
    const cudag::BufferParam<int> param = graph->parameter(cell);
    in_fresh_thread([&] { CHECK(exec->bind(param, other) == 1); });
    in_fresh_thread([&] { CHECK(exec->bind(param, cell) == 1); });
    in_fresh_thread([&] { exec->upload(stream); });
    in_fresh_thread([&] { run(*exec, stream); });
    CHECK(read(cell) == std::vector{2});
    in_fresh_thread([&] { exec->disable(node); });
    in_fresh_thread([&] { CHECK(graph->find(store).size() == 1); });
    in_fresh_thread([&] { CHECK(graph->clone().node_count() == 1); });
    in_fresh_thread([&] { exec.reset(); });
    in_fresh_thread([&] { graph.reset(); });
}

TEST_CASE("plain stream work may be a fresh thread's first CUDA call", "[stream][threads]") {
    const auto cells = device({0, 0, 0});
    const auto source = device({3});
    const Stream stream;
    in_fresh_thread([&] { cudag::launch(stream, {}, store, cells, 1); });
    in_fresh_thread([&] { cudag::memset_async(stream, cells.span().subspan(1, 1), 2); });
    in_fresh_thread([&] { cudag::memcpy_async(stream, cells.span().subspan(2, 1), source); });
    stream.synchronize();
    CHECK(read(cells) == std::vector{1, 2, 3});
}

TEST_CASE("an adopted graph may be a fresh thread's first CUDA call", "[graph][threads]") {
    const cudag::DeviceBuffer<int> cell(1);
    GraphBuilder b;
    b.kernel({}, store, cell, 1);
    const Graph graph = std::move(b).build();
    cudaGraph_t copy = nullptr;
    cudag::check(cudaGraphClone(&copy, graph.native()));
    in_fresh_thread([&] { CHECK(Graph::adopt(copy).find(store).size() == 1); });
}

TEST_CASE("threads build, capture, update and run graphs of their own at the same time", "[exec][threads]") {
    static constexpr Version draft{1, true};
    static constexpr Version final_version{2, false};
    // Assertions of Catch2 belong to one thread: the others only say what they saw.
    const auto is_right = [](const Dag& dag) {
        for (const Way way : {Way::built, Way::captured, Way::region, Way::captured, Way::built}) {
            const Scenario scenario(dag, way);
            const Graph graph = scenario.make(draft).clone();
            Exec exec = graph.instantiate();
            if (scenario.run(exec) != expected(dag, draft)) return false;
            scenario.update(exec, graph, final_version);
            if (scenario.run(exec) != expected(dag, final_version)) return false;
        }
        return true;
    };
    std::vector<std::future<bool>> threads;
    for (std::uint32_t seed = 301; seed <= 304; ++seed)
        threads.push_back(std::async(std::launch::async, is_right, random_dag(seed, 30)));
    for (std::future<bool>& thread : threads)
        CHECK(thread.get());
}
