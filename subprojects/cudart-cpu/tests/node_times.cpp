// The runtime records when each node of an exec runs: cudart_cpu/times.hpp.
#include "check.hpp"

#include <cudart_cpu/times.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <vector>

namespace {

using Times = std::vector<cudart_cpu::NodeTime>;

void take(void* context, const cudart_cpu::NodeTime* times, std::size_t count) {
    static_cast<Times*>(context)->assign(times, times + count);
}

Times stop(cudaGraphExec_t exec) {
    Times times;
    cudart_cpu_stop_times(exec, take, &times);
    return times;
}

std::size_t runs_of(const Times& times, cudaGraphNode_t node) {
    return static_cast<std::size_t>(std::ranges::count(times, node, &cudart_cpu::NodeTime::node));
}

const cudart_cpu::NodeTime& first_of(const Times& times, cudaGraphNode_t node) {
    return *std::ranges::find(times, node, &cudart_cpu::NodeTime::node);
}

cudaGraphNode_t add_host(cudaGraph_t graph, std::vector<cudaGraphNode_t> after) {
    cudaHostNodeParams params{[](void*) {}, nullptr};
    cudaGraphNode_t node = nullptr;
    CHECK_OK(cudaGraphAddHostNode(&node, graph, after.data(), after.size(), &params));
    return node;
}

} // namespace

int main() {
    char* memory = nullptr;
    CHECK_OK(cudaMalloc(reinterpret_cast<void**>(&memory), 64));

    cudaGraph_t graph = nullptr;
    CHECK_OK(cudaGraphCreate(&graph, 0));
    const cudaGraphNode_t first = add_host(graph, {});
    cudaMemsetParams fill{};
    fill.dst = memory;
    fill.elementSize = 1;
    fill.width = 64;
    fill.height = 1;
    cudaGraphNode_t second = nullptr;
    CHECK_OK(cudaGraphAddMemsetNode(&second, graph, &first, 1, &fill));

    cudaGraph_t inner = nullptr;
    CHECK_OK(cudaGraphCreate(&inner, 0));
    add_host(inner, {});
    cudaGraphNode_t child = nullptr, inside = nullptr;
    CHECK_OK(cudaGraphAddChildGraphNode(&child, graph, &second, 1, inner));
    cudaGraph_t cloned = nullptr;
    CHECK_OK(cudaGraphChildGraphNodeGetGraph(child, &cloned));
    std::size_t one = 1;
    CHECK_OK(cudaGraphGetNodes(cloned, &inside, &one));

    cudaGraphNodeParams conditional{};
    conditional.type = cudaGraphNodeTypeConditional;
    CHECK_OK(cudaGraphConditionalHandleCreate(&conditional.conditional.handle, graph, 1, cudaGraphCondAssignDefault));
    conditional.conditional.type = cudaGraphCondTypeIf;
    conditional.conditional.size = 1;
    cudaGraphNode_t branch = nullptr, in_body = nullptr;
#if CUDART_VERSION >= 13000
    CHECK_OK(cudaGraphAddNode(&branch, graph, &child, nullptr, 1, &conditional));
#else
    CHECK_OK(cudaGraphAddNode(&branch, graph, &child, 1, &conditional));
#endif
    CHECK_OK(cudaGraphAddMemsetNode(&in_body, conditional.conditional.phGraph_out[0], nullptr, 0, &fill));

    cudaGraphExec_t exec = nullptr;
    CHECK_OK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK_OK(cudaGraphLaunch(exec, nullptr));
    CHECK_OK(cudaStreamSynchronize(nullptr));
    CHECK(stop(exec).empty()); // the recording had not begun

    cudart_cpu_start_times(exec);
    for (int i = 0; i < 3; ++i)
        CHECK_OK(cudaGraphLaunch(exec, nullptr));
    CHECK_OK(cudaStreamSynchronize(nullptr));
    const Times times = stop(exec);
    for (const cudaGraphNode_t node : {first, second, inside, branch, in_body})
        CHECK(runs_of(times, node) == 3);
    CHECK(first_of(times, first).launch == 0);
    CHECK(times.back().launch == 2);
    CHECK(first_of(times, first).begin <= first_of(times, first).end);
    CHECK(first_of(times, first).end <= first_of(times, second).begin);
    CHECK(first_of(times, second).end <= first_of(times, inside).begin);
    CHECK(first_of(times, branch).begin <= first_of(times, in_body).begin);
    CHECK(first_of(times, in_body).end <= first_of(times, branch).end);

    CHECK_OK(cudaGraphLaunch(exec, nullptr));
    CHECK_OK(cudaStreamSynchronize(nullptr));
    CHECK(stop(exec).empty()); // it has ended

    CHECK_OK(cudaGraphNodeSetEnabled(exec, second, 0));
    cudart_cpu_start_times(exec);
    cudart_cpu_start_times(exec); // forgets the first
    CHECK_OK(cudaGraphLaunch(exec, nullptr));
    CHECK_OK(cudaStreamSynchronize(nullptr));
    const Times without = stop(exec);
    CHECK(runs_of(without, first) == 1);
    CHECK(runs_of(without, second) == 0);

    cudart_cpu_start_times(nullptr);
    CHECK(stop(nullptr).empty());
    return 0;
}
