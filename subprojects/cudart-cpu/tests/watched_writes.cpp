// What a node was said to write is all that it may write: cudart_cpu/watch.hpp.
#include "check.hpp"

#include <cudart_cpu/watch.hpp>

#include <cuda_runtime_api.h>

#include <cstring>
#include <vector>

namespace {

struct Task {
    char* at;
    char value;
};

void store(void* task) {
    *static_cast<Task*>(task)->at = static_cast<Task*>(task)->value;
}

cudart_cpu::NodeRegion region(char* begin, std::size_t bytes, bool is_written) {
    return {reinterpret_cast<std::uintptr_t>(begin), bytes, 1, 0, 1, 0, is_written};
}

/// A graph of one host node that stores a byte in device memory, which is host memory here.
struct Store {
    explicit Store(char* at) : task{at, 7} {
        cudaHostNodeParams params{store, &task};
        CHECK(cudaGraphCreate(&graph, 0) == cudaSuccess);
        CHECK(cudaGraphAddHostNode(&node, graph, nullptr, 0, &params) == cudaSuccess);
        CHECK(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess);
    }
    ~Store() {
        cudaGraphExecDestroy(exec);
        cudaGraphDestroy(graph);
    }
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;

    [[nodiscard]] cudaError_t run() const {
        CHECK(cudaGraphLaunch(exec, nullptr) == cudaSuccess);
        return cudaStreamSynchronize(nullptr);
    }

    Task task;
    cudaGraph_t graph = nullptr;
    cudaGraphNode_t node = nullptr;
    cudaGraphExec_t exec = nullptr;
};

/// A graph of one conditional node whose body fills `bytes` of device memory.
struct ConditionalFill {
    ConditionalFill(char* at, std::size_t bytes) {
        CHECK(cudaGraphCreate(&graph, 0) == cudaSuccess);
        cudaGraphNodeParams params{};
        params.type = cudaGraphNodeTypeConditional;
        CHECK(cudaGraphConditionalHandleCreate(&params.conditional.handle, graph, 1, cudaGraphCondAssignDefault) ==
              cudaSuccess);
        params.conditional.type = cudaGraphCondTypeIf;
        params.conditional.size = 1;
#if CUDART_VERSION >= 13000
        CHECK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params) == cudaSuccess);
#else
        CHECK(cudaGraphAddNode(&node, graph, nullptr, 0, &params) == cudaSuccess);
#endif
        cudaMemsetParams fill{};
        fill.dst = at;
        fill.value = 9;
        fill.elementSize = 1;
        fill.width = bytes;
        fill.height = 1;
        CHECK(cudaGraphAddMemsetNode(&inside, params.conditional.phGraph_out[0], nullptr, 0, &fill) == cudaSuccess);
        CHECK(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess);
    }
    ~ConditionalFill() {
        cudaGraphExecDestroy(exec);
        cudaGraphDestroy(graph);
    }
    ConditionalFill(const ConditionalFill&) = delete;
    ConditionalFill& operator=(const ConditionalFill&) = delete;

    [[nodiscard]] cudaError_t run() const {
        CHECK(cudaGraphLaunch(exec, nullptr) == cudaSuccess);
        return cudaStreamSynchronize(nullptr);
    }

    cudaGraph_t graph = nullptr;
    cudaGraphNode_t node = nullptr, inside = nullptr;
    cudaGraphExec_t exec = nullptr;
};

} // namespace

int main() {
    CHECK(!cudart_cpu_watches_writes());
    char* memory = nullptr;
    CHECK(cudaMalloc(reinterpret_cast<void**>(&memory), 64) == cudaSuccess);
    std::memset(memory, 0, 64);

    const Store tells(memory + 3), hides(memory + 40);
    const auto declare = [](const Store& node, const std::vector<cudart_cpu::NodeRegion>& regions) {
        cudart_cpu_declare_node(node.exec, node.node, "the node", regions.data(), regions.size());
    };
    const cudart_cpu::NodeRegion tile{reinterpret_cast<std::uintptr_t>(memory + 1), 3, 4, 16, 1, 0, true};
    declare(tells, {tile, region(memory, 64, false)});
    declare(hides, {tile, region(memory, 64, false)});
    CHECK(hides.run() == cudaSuccess); // nobody looks yet

    cudart_cpu_watch_writes(true);
    CHECK(cudart_cpu_watches_writes());
    CHECK(tells.run() == cudaSuccess); // in the first row
    const Store later(memory + 35);    // in the third
    declare(later, {tile, region(memory, 64, false)});
    CHECK(later.run() == cudaSuccess);
    const Store silent(memory + 40);
    memory[40] = 0;
    CHECK(silent.run() == cudaSuccess); // says nothing
    const Store elsewhere(memory + 50);
    declare(elsewhere, {region(memory, 8, true)});
    CHECK(elsewhere.run() == cudaSuccess); // nobody said that it uses that
    const ConditionalFill fill(memory + 20, 4);
    const auto declare_inside = [&](std::size_t bytes) {
        const cudart_cpu::NodeRegion regions[] = {region(memory + 20, bytes, true), region(memory, 64, false)};
        cudart_cpu_declare_node(fill.exec, fill.inside, "the fill", regions, 2);
    };
    const cudart_cpu::NodeRegion condition = region(memory, 64, false);
    cudart_cpu_declare_node(fill.exec, fill.node, "the conditional node", &condition, 1);
    CHECK(fill.run() == cudaSuccess); // its bodies' nodes answer for themselves: this one has not declared anything
    declare_inside(4);
    memory[20] = 0;
    CHECK(fill.run() == cudaSuccess);
    declare(Store(memory), {region(memory, 8, true), region(nullptr, 8, true), region(memory, 0, true)});
    cudart_cpu_declare_node(nullptr, nullptr, "no node", nullptr, 0);
    cudaGetLastError();

    memory[40] = 0; // in a hole between the third row and the fourth
    CHECK(hides.run() == cudaErrorLaunchFailure);
    return 0;
}
