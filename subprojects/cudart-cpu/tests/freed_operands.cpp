// CUDART_CPU_CHECK=memory finds graphs that copy or fill memory that has been freed, and no other graphs.
#include "check.hpp"

#include <array>
#include <functional>
#include <string_view>

namespace {

constexpr std::size_t bytes = 4000;

void* allocated() {
    void* memory = nullptr;
    CHECK_OK(cudaMalloc(&memory, bytes));
    return memory;
}

/// Launches a graph of one node, after `change` has freed what it has.
cudaError_t launched(const std::function<void(cudaGraph_t)>& add, const std::function<void()>& change) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    CHECK_OK(cudaGraphCreate(&graph, 0));
    add(graph);
    CHECK_OK(cudaGraphInstantiate(&exec, graph, 0));
    change();
    const cudaError_t answer = cudaGraphLaunch(exec, nullptr); // waits for copies to pageable memory
    return answer == cudaSuccess ? cudaDeviceSynchronize() : answer;
}

void add_copy(cudaGraph_t graph, void* to, const void* from, cudaMemcpyKind kind) {
    cudaGraphNode_t node = nullptr;
    CHECK_OK(cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, to, from, bytes, kind));
}

void add_fill(cudaGraph_t graph, void* memory) {
    cudaMemsetParams params{};
    params.dst = memory;
    params.elementSize = 4;
    params.width = bytes / 4;
    params.height = 1;
    cudaGraphNode_t node = nullptr;
    CHECK_OK(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &params));
}

} // namespace

int main(int, char** arguments) {
    const std::string_view freed = arguments[1];
    void* const ended = allocated();
    void* const kept = allocated();
    std::array<char, bytes> host{};
    const auto free = [&] { CHECK_OK(cudaFree(ended)); };
    if (freed == "fill") {
        CHECK_CODE(cudaErrorIllegalAddress, launched([&](cudaGraph_t graph) { add_fill(graph, ended); }, free));
    } else if (freed == "source") {
        const auto add = [&](cudaGraph_t graph) { add_copy(graph, host.data(), ended, cudaMemcpyDeviceToHost); };
        CHECK_CODE(cudaErrorIllegalAddress, launched(add, free));
    } else if (freed == "destination") {
        const auto add = [&](cudaGraph_t graph) { add_copy(graph, ended, kept, cudaMemcpyDeviceToDevice); };
        CHECK_CODE(cudaErrorIllegalAddress, launched(add, free));
    } else { // nothing is freed; host memory is no allocation, and right all the same
        const auto none = [] {};
        CHECK_OK(launched([&](cudaGraph_t graph) { add_fill(graph, ended); }, none));
        CHECK_OK(
            launched([&](cudaGraph_t graph) { add_copy(graph, kept, host.data(), cudaMemcpyHostToDevice); }, none));
        CHECK_OK(launched([&](cudaGraph_t graph) { add_copy(graph, host.data(), kept, cudaMemcpyDefault); }, none));
        CHECK_OK(launched([&](cudaGraph_t graph) { add_copy(graph, ended, kept, cudaMemcpyDeviceToDevice); }, none));
        free();
    }
}
