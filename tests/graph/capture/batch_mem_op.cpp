// Captured batch memory operations, which the driver has, and the runtime does not know.
#include "driver_functions.hpp"
#include "test.hpp"

#include <cuda.h>

#include <algorithm>
#include <vector>

using cudag::Exec;
using cudag::Graph;
using cudag::NodeKind;
using cudag::Stream;

namespace {

using Write = decltype(&cuStreamWriteValue32);

Write write_value() {
    void* const address = driver_function("cuStreamWriteValue32", 12040);
    REQUIRE(address != nullptr);
    return reinterpret_cast<Write>(address);
}

/// Stores 1 in the first cell, writes `value` to the second, and adds both in the third.
Graph captured(const cudag::DeviceBuffer<int>& cells, int value) {
    const Write write = write_value();
    return cudag::capture(Stream(), [&](cudaStream_t s) {
        cudag::launch(s, {}, store, cells.data(), 1);
        const auto place = reinterpret_cast<CUdeviceptr>(cells.data() + 1);
        CHECK(write(s, place, static_cast<cuuint32_t>(value), 0) == CUDA_SUCCESS);
        cudag::launch(s, {}, add, cells.data() + 2, cells.data() + 1, 1);
    });
}
Graph without(const cudag::DeviceBuffer<int>& cells) {
    return cudag::capture(Stream(), [&](cudaStream_t s) {
        cudag::launch(s, {}, store, cells.data(), 1);
        cudag::launch(s, {}, store, cells.data() + 1, 5);
        cudag::launch(s, {}, add, cells.data() + 2, cells.data() + 1, 1);
    });
}

std::vector<int> result(Exec& exec, const cudag::DeviceBuffer<int>& cells) {
    const Stream stream;
    exec.launch(stream);
    stream.synchronize();
    return read(cells);
}

} // namespace

TEST_CASE("a captured batch memory operation is updated with its graph, or instantiated anew", "[capture][update]") {
    const auto cells = device({0, 0, 0});
    Exec exec = captured(cells, 40).instantiate();
    CHECK(result(exec, cells) == std::vector{1, 40, 41});
    CHECK(exec.update_or_instantiate(captured(cells, 70)).updated());
    CHECK(result(exec, cells) == std::vector{1, 70, 71});
    const auto report = exec.update_or_instantiate(without(cells));
    CHECK_FALSE(report.updated());
    CHECK_THAT(report.to_string(), ContainsSubstring("batch_mem_op -> kernel"));
    CHECK(exec.update_counts().instantiated == 1);
    CHECK(result(exec, cells) == std::vector{1, 5, 6});
    static_cast<void>(exec.update_or_instantiate(captured(cells, 80), {.match = cudag::Match::structure}));
    CHECK(result(exec, cells) == std::vector{1, 80, 81});
    CHECK(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("a captured batch memory operation is described, cloned, and updated in a child", "[capture]") {
    const auto cells = device({0, 0, 0});
    const Graph graph = captured(cells, 40);
    REQUIRE(graph.nodes().size() == 3);
    CHECK(graph.nodes()[1].kind() == NodeKind::batch_mem_op);
    CHECK_THAT(to_string(graph.nodes()[1]), ContainsSubstring("batch_mem_op"));
    const auto node = graph.nodes()[1].as<cudag::MemoryOperationNode>();
    const auto* place = reinterpret_cast<const unsigned*>(cells.data() + 1);
    CHECK(node.operations() == std::vector{cudag::MemoryOperation::write(const_cast<unsigned*>(place), 40)});
    CHECK(diff(graph, captured(cells, 40)).empty());
    CHECK_THAT(to_string(diff(graph, captured(cells, 41)).at(0)), ContainsSubstring("value: 40 -> 41"));
    CHECK_THAT(graph.dot(), ContainsSubstring("write_value 40"));
    CHECK_THAT(to_string(cudag::diff(graph, without(cells)).at(0)), ContainsSubstring("batch_mem_op -> kernel"));
    Exec clone = graph.clone().instantiate();
    CHECK(result(clone, cells) == std::vector{1, 40, 41});
    cudag::GraphBuilder b;
    const auto child = b.child(graph);
    Exec exec = std::move(b).build().instantiate();
    exec.update(child, captured(cells, 50));
    CHECK(result(exec, cells) == std::vector{1, 50, 51});
}

TEST_CASE("relax leaves a batch memory operation where it is", "[capture][relax]") {
    const auto cells = device({0, 0, 0});
    Graph graph = captured(cells, 40);
    const cudag::RelaxReport report = cudag::relax(graph);
    const auto stays = [&](const cudag::StayingNode& staying) {
        return staying.node.kind() == NodeKind::batch_mem_op && staying.reason == cudag::StayReason::outside;
    };
    CHECK(std::ranges::count_if(report.staying, stays) == 1);
}
