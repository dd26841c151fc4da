// Plans of graphs whose nodes are on two devices.
#include "cuda_edges.hpp"
#include "kernels.hpp"

#include <catch.hpp>
#include <cudag/cudag.hpp>
#include <cudart_cpu/control.hpp>

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace {

/// Two devices for one test, device 0 being current.
class DevicePair {
  public:
    DevicePair() { cudart_cpu::set_devices(2); }
    ~DevicePair() {
        static_cast<void>(cudaSetDevice(0));
        cudart_cpu::set_devices(0);
    }
    DevicePair(const DevicePair&) = delete;
    DevicePair& operator=(const DevicePair&) = delete;
};

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

} // namespace

TEST_CASE("lanes of a graph of two devices lead from one to the other nowhere", "[unit][device][plan]") {
    const DevicePair devices;
    const cudag::DeviceBuffer<int> cells(8);
    cudag::GraphBuilder b;
    cudag::GraphBuilder second = b.on(1);
    std::map<cudaGraphNode_t, int> device_of;
    for (std::size_t i = 0; i < 4; ++i) {
        device_of[b.kernel({}, multiply_add, cells.data() + i, cells.data() + i, 1, 1).native()] = 0;
        device_of[second.memset(cells.span().subspan(4 + i, 1), 1).native()] = 1;
    }
    const cudag::Graph graph = std::move(b).build();
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
