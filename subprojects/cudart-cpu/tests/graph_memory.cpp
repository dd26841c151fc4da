// Memory of graphs, arrays, pools: poison, and counts of what is alive.
#include "check.hpp"

#include <cudart_cpu/control.hpp>

#include <algorithm>
#include <vector>

namespace {

constexpr std::size_t bytes = 1000;

bool all_bytes(const void* memory, unsigned char value) {
    const auto* begin = static_cast<const unsigned char*>(memory);
    return std::all_of(begin, begin + bytes, [=](unsigned char byte) { return byte == value; });
}

struct Node {
    cudaGraphNode_t handle;
    void* data;
};

Node add_alloc(cudaGraph_t graph) {
    cudaMemAllocNodeParams params{};
    params.poolProps.allocType = cudaMemAllocationTypePinned;
    params.poolProps.location.type = cudaMemLocationTypeDevice;
    params.bytesize = bytes;
    Node node{};
    CHECK_OK(cudaGraphAddMemAllocNode(&node.handle, graph, nullptr, 0, &params));
    node.data = params.dptr;
    return node;
}

void launch(cudaGraphExec_t exec) {
    CHECK_OK(cudaGraphLaunch(exec, nullptr));
    CHECK_OK(cudaDeviceSynchronize());
}

/// The exec of a graph that leaves `data` allocated; the graph is destroyed.
cudaGraphExec_t leaving_exec(void*& data) {
    cudaGraph_t graph = nullptr;
    CHECK_OK(cudaGraphCreate(&graph, 0));
    data = add_alloc(graph).data;
    cudaGraphExec_t exec = nullptr;
    CHECK_OK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK_OK(cudaGraphDestroy(graph));
    return exec;
}

void memory_of_a_graph_is_poisoned_when_it_is_allocated_and_when_it_is_freed() {
    void* data = nullptr;
    const cudaGraphExec_t exec = leaving_exec(data);
    launch(exec);
    CHECK(all_bytes(data, 0xCD));
    CHECK_OK(cudaMemset(data, 1, bytes));
    CHECK_OK(cudaFreeAsync(data, nullptr));
    CHECK_OK(cudaDeviceSynchronize());
    CHECK(all_bytes(data, 0xDD));
    launch(exec);
    CHECK(all_bytes(data, 0xCD));
    CHECK_OK(cudaFree(data));
    CHECK_OK(cudaGraphExecDestroy(exec));
}

void memory_that_its_graph_frees_is_poisoned_after_the_launch() {
    cudaGraph_t graph = nullptr;
    CHECK_OK(cudaGraphCreate(&graph, 0));
    const Node alloc = add_alloc(graph);
    cudaGraphNode_t free = nullptr;
    CHECK_OK(cudaGraphAddMemFreeNode(&free, graph, &alloc.handle, 1, alloc.data));
    cudaGraphExec_t exec = nullptr;
    CHECK_OK(cudaGraphInstantiate(&exec, graph, 0));
    const std::size_t before = cudart_cpu::live().device_allocations;
    launch(exec);
    CHECK(all_bytes(alloc.data, 0xDD));
    CHECK(cudart_cpu::live().device_allocations == before);
    CHECK_OK(cudaGraphExecDestroy(exec));
    CHECK_OK(cudaGraphDestroy(graph));
}

void memory_of_a_graph_counts_while_it_is_allocated() {
    const cudart_cpu::LiveCounts before = cudart_cpu::live();
    void* data = nullptr;
    const cudaGraphExec_t exec = leaving_exec(data);
    CHECK(cudart_cpu::live().device_allocations == before.device_allocations);
    launch(exec);
    CHECK(cudart_cpu::live().device_allocations == before.device_allocations + 1);
    CHECK_OK(cudaGraphExecDestroy(exec));
    CHECK(cudart_cpu::live().device_allocations == before.device_allocations + 1);
    CHECK_OK(cudaFree(data));
    CHECK(cudart_cpu::live() == before);
}

void a_refused_launch_leaves_the_memory_as_it_is() {
    void* data = nullptr;
    const cudaGraphExec_t exec = leaving_exec(data);
    cudart_cpu::fail_call(1, cudaErrorUnknown);
    CHECK_CODE(cudaErrorUnknown, cudaGraphLaunch(exec, nullptr));
    CHECK_CODE(cudaErrorInvalidValue, cudaFree(data));
    launch(exec);
    CHECK_OK(cudaMemset(data, 1, bytes));
    CHECK_CODE(cudaErrorInvalidValue, cudaGraphLaunch(exec, nullptr));
    CHECK_OK(cudaDeviceSynchronize());
    CHECK(all_bytes(data, 1));
    CHECK_OK(cudaFree(data));
    CHECK_OK(cudaGraphExecDestroy(exec));
}

void arrays_and_memory_from_pools_count_too() {
    const cudart_cpu::LiveCounts before = cudart_cpu::live();
    const cudaChannelFormatDesc desc = cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindUnsigned);
    cudaArray_t array = nullptr;
    CHECK_OK(cudaMallocArray(&array, &desc, 8, 8, 0));
    cudaMemPool_t pool = nullptr;
    CHECK_OK(cudaDeviceGetDefaultMemPool(&pool, 0));
    void* data = nullptr;
    CHECK_OK(cudaMallocFromPoolAsync(&data, bytes, pool, nullptr));
    CHECK(cudart_cpu::live().device_allocations == before.device_allocations + 2);
    CHECK_OK(cudaFreeArray(array));
    CHECK_CODE(cudaErrorInvalidResourceHandle, cudaFreeArray(array));
    CHECK_OK(cudaFree(data));
    CHECK(cudart_cpu::live() == before);
}

void fresh_arrays_are_poisoned() {
    const cudaChannelFormatDesc desc = cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindUnsigned);
    cudaArray_t array = nullptr;
    CHECK_OK(cudaMallocArray(&array, &desc, bytes, 1, 0));
    std::vector<unsigned char> back(bytes);
    CHECK_OK(cudaMemcpy2DFromArray(back.data(), bytes, array, 0, 0, bytes, 1, cudaMemcpyDeviceToHost));
    CHECK(all_bytes(back.data(), 0xCD));
    CHECK_OK(cudaFreeArray(array));
}

} // namespace

int main() {
    memory_of_a_graph_is_poisoned_when_it_is_allocated_and_when_it_is_freed();
    memory_that_its_graph_frees_is_poisoned_after_the_launch();
    memory_of_a_graph_counts_while_it_is_allocated();
    a_refused_launch_leaves_the_memory_as_it_is();
    arrays_and_memory_from_pools_count_too();
    fresh_arrays_are_poisoned();
}
