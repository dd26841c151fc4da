// Programmatic edges: a consumer may run before its producer, and only cudaGridDependencySynchronize waits for it.
#include "check.hpp"
#include "kernels.cuh"

#include <cudart_cpu/control.hpp>
#include <cudart_cpu/kernel.hpp>

#include <cstdint>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

int* managed_ints(std::size_t n) {
    void* pointer = nullptr;
    CHECK_OK(cudaMallocManaged(&pointer, n * sizeof(int), cudaMemAttachGlobal));
    return static_cast<int*>(pointer);
}

template <class... P>
cudaGraphNode_t add(cudaGraph_t graph, void (*kernel)(P...), P... arguments) {
    cudart_cpu::register_kernel(kernel);
    void* pointers[] = {&arguments..., nullptr};
    cudaKernelNodeParams params{};
    params.func = reinterpret_cast<void*>(kernel);
    params.gridDim = dim3(1);
    params.blockDim = dim3(2);
    params.kernelParams = pointers;
    cudaGraphNode_t node = nullptr;
    CHECK_OK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
    return node;
}

void connect(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to) {
    cudaGraphEdgeData data{};
    data.from_port = cudaGraphKernelNodePortProgrammatic;
    data.type = cudaGraphDependencyTypeProgrammatic;
    CHECK_OK(cudaGraphAddDependencies(graph, &from, &to, &data, 1));
}

cudaGraphExec_t instantiate(cudaGraph_t graph) {
    cudaGraphExec_t exec = nullptr;
    CHECK_OK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK_OK(cudaGraphDestroy(graph));
    return exec;
}

void run(cudaGraphExec_t exec) {
    CHECK_OK(cudaGraphLaunch(exec, nullptr));
    CHECK_OK(cudaDeviceSynchronize());
}

/// What a consumer of cells[0] = 1 finds there, over several seeds.
std::set<int> seen_by(void (*consumer)(int*, const int*)) {
    int* cells = managed_ints(2);
    cudaGraph_t graph = nullptr;
    CHECK_OK(cudaGraphCreate(&graph, 0));
    const cudaGraphNode_t reader = add<int*, const int*>(graph, consumer, cells + 1, cells);
    const cudaGraphNode_t writer = add<int*, int>(graph, produce, cells, 1);
    connect(graph, writer, reader);
    cudaGraphExec_t exec = instantiate(graph);
    std::set<int> seen;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        cudart_cpu::set_seed(seed);
        cells[0] = cells[1] = 0;
        run(exec);
        CHECK(cells[0] == 1);
        seen.insert(cells[1]);
    }
    CHECK_OK(cudaGraphExecDestroy(exec));
    CHECK_OK(cudaFree(cells));
    return seen;
}

void a_kernel_that_does_not_wait_may_see_old_values() {
    cudart_cpu::set_workers(1);
    CHECK(seen_by(consume_at_once) == std::set<int>({0, 1}));
}

void a_kernel_that_waits_sees_new_values(unsigned workers) {
    cudart_cpu::set_workers(workers);
    CHECK(seen_by(consume_after_wait) == std::set<int>({1}));
}

/// The nodes are added last first, so that no order of addition helps.
void a_long_line_of_waiting_kernels_runs(unsigned workers) {
    constexpr std::size_t length = 2000;
    cudart_cpu::set_workers(workers);
    int* cells = managed_ints(length + 1);
    cells[0] = 1;
    cudaGraph_t graph = nullptr;
    CHECK_OK(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t next = nullptr;
    for (std::size_t i = length; i > 0; --i) {
        const cudaGraphNode_t node = add<int*, const int*>(graph, consume_after_wait, cells + i, cells + i - 1);
        if (next != nullptr) {
            connect(graph, node, next);
        }
        next = node;
    }
    cudaGraphExec_t exec = instantiate(graph);
    for (int i = 0; i < 3; ++i) {
        for (std::size_t cell = 1; cell <= length; ++cell) {
            cells[cell] = 0;
        }
        run(exec);
        CHECK(cells[length] == 1);
    }
    CHECK_OK(cudaGraphExecDestroy(exec));
    CHECK_OK(cudaFree(cells));
}

void an_early_edge_is_drawn_as_one() {
    cudaGraph_t graph = nullptr;
    CHECK_OK(cudaGraphCreate(&graph, 0));
    const cudaGraphNode_t first = add(graph, nothing);
    connect(graph, first, add(graph, nothing));
    CHECK_OK(cudaGraphDebugDotPrint(graph, "programmatic.dot", 0));
    std::ifstream file("programmatic.dot");
    std::stringstream text;
    text << file.rdbuf();
    CHECK(text.str().find("n0 -> n1 [label=\"programmatic\"];") != std::string::npos);
    CHECK_OK(cudaGraphDestroy(graph));
}

} // namespace

int main() {
    a_kernel_that_does_not_wait_may_see_old_values();
    an_early_edge_is_drawn_as_one();
    for (const unsigned workers : {1u, 2u, 8u}) {
        a_kernel_that_waits_sees_new_values(workers);
        a_long_line_of_waiting_kernels_runs(workers);
    }
}
