// Calls for which there is not enough memory: done, or without effect, whichever allocation fails.
#include "check.hpp"

#include <cudart_cpu/control.hpp>

#include <atomic>
#include <cstddef>
#include <new>
#include <vector>

namespace {

std::atomic<long> until_failure{0}; ///< the allocation with this number fails; 0 is none
std::atomic<long> allocated{0};     ///< how many allocations are alive

void* allocate(std::size_t bytes) {
    if (until_failure.load() > 0 && until_failure.fetch_sub(1) == 1) {
        throw std::bad_alloc();
    }
    void* const memory = std::malloc(bytes == 0 ? 1 : bytes);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    ++allocated;
    return memory;
}

void release(void* memory) noexcept {
    if (memory != nullptr) {
        --allocated;
        std::free(memory);
    }
}

} // namespace

void* operator new(std::size_t bytes) {
    return allocate(bytes);
}
void* operator new[](std::size_t bytes) {
    return allocate(bytes);
}
void operator delete(void* memory) noexcept {
    release(memory);
}
void operator delete[](void* memory) noexcept {
    release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    release(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
    release(memory);
}

namespace {

/// Calls `attempt` with the first, the second, ... allocation failing, until it succeeds.
template <class F>
void fail_each_allocation(const F& attempt) {
    for (long n = 1;; ++n) {
        CHECK(n < 10000);
        if (attempt([n] { until_failure = n; }, [] { return until_failure.exchange(0) <= 0; })) {
            return;
        }
    }
}

cudaGraph_t make_line(std::size_t length, std::vector<cudaGraphNode_t>& nodes) {
    cudaGraph_t graph = nullptr;
    CHECK_OK(cudaGraphCreate(&graph, 0));
    nodes.resize(length);
    for (cudaGraphNode_t& node : nodes) {
        CHECK_OK(cudaGraphAddEmptyNode(&node, graph, nullptr, 0));
    }
    return graph;
}

std::size_t edges_of(cudaGraph_t graph) {
    std::size_t count = 0;
    CHECK_OK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
    return count;
}

void add_dependencies() {
    fail_each_allocation([](auto fail, auto) {
        std::vector<cudaGraphNode_t> nodes;
        cudaGraph_t graph = make_line(20, nodes);
        const std::vector<cudaGraphNode_t> from(nodes.begin(), nodes.end() - 1);
        const std::vector<cudaGraphNode_t> to(nodes.begin() + 1, nodes.end());
        fail();
        const cudaError_t status = cudaGraphAddDependencies(graph, from.data(), to.data(), nullptr, from.size());
        until_failure = 0;
        const bool succeeded = status == cudaSuccess;
        CHECK(succeeded || status == cudaErrorMemoryAllocation);
        CHECK(edges_of(graph) == (succeeded ? from.size() : 0));
        if (!succeeded) {
            CHECK_OK(cudaGraphAddDependencies(graph, from.data(), to.data(), nullptr, from.size()));
        }
        static_cast<void>(cudaGetLastError());
        CHECK_OK(cudaGraphDestroy(graph));
        return succeeded;
    });
}

void end_capture() {
    cudaStream_t stream = nullptr;
    CHECK_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    fail_each_allocation([&](auto fail, auto) {
        const std::size_t graphs = cudart_cpu::live().graphs;
        CHECK_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        for (int i = 0; i < 3; ++i) {
            CHECK_OK(cudaLaunchHostFunc(
                stream, [](void*) {}, nullptr));
        }
        cudaGraph_t graph = nullptr;
        fail();
        const cudaError_t status = cudaStreamEndCapture(stream, &graph);
        until_failure = 0;
        cudaStreamCaptureStatus capture{};
        CHECK_OK(cudaStreamIsCapturing(stream, &capture));
        CHECK(capture == cudaStreamCaptureStatusNone);
        if (status == cudaSuccess) {
            CHECK_OK(cudaGraphDestroy(graph));
        } else {
            CHECK_CODE(cudaErrorMemoryAllocation, cudaGetLastError());
        }
        CHECK(cudart_cpu::live().graphs == graphs);
        return status == cudaSuccess;
    });
    CHECK_OK(cudaStreamDestroy(stream));
}

void clone() {
    std::vector<cudaGraphNode_t> nodes;
    cudaGraph_t inner = make_line(3, nodes);
    cudaGraph_t graph = make_line(3, nodes);
    for (int i = 0; i < 3; ++i) {
        cudaGraphNode_t child = nullptr;
        CHECK_OK(cudaGraphAddChildGraphNode(&child, graph, nullptr, 0, inner));
    }
    fail_each_allocation([&](auto fail, auto) {
        const long before = allocated;
        const std::size_t graphs = cudart_cpu::live().graphs;
        cudaGraph_t copy = nullptr;
        fail();
        const cudaError_t status = cudaGraphClone(&copy, graph);
        until_failure = 0;
        if (status != cudaSuccess) {
            CHECK_CODE(cudaErrorMemoryAllocation, cudaGetLastError());
            CHECK(cudart_cpu::live().graphs == graphs);
            CHECK(allocated - before < 4); // a line of the log, or a larger table of handles: nothing of the clone
            return false;
        }
        CHECK_OK(cudaGraphDestroy(copy));
        return true;
    });
    CHECK_OK(cudaGraphDestroy(graph));
    CHECK_OK(cudaGraphDestroy(inner));
}

void move_child() {
#if CUDART_VERSION >= 13000
    fail_each_allocation([](auto fail, auto) {
        std::vector<cudaGraphNode_t> nodes;
        cudaGraph_t outer = make_line(1, nodes);
        cudaGraph_t inner = make_line(3, nodes);
        cudaGraphNodeParams params{};
        params.type = cudaGraphNodeTypeGraph;
        params.graph.graph = inner;
        params.graph.ownership = cudaGraphChildGraphOwnershipMove;
        cudaGraphNode_t node = nullptr;
        fail();
        const cudaError_t status = cudaGraphAddNode(&node, outer, nullptr, nullptr, 0, &params);
        until_failure = 0;
        if (status != cudaSuccess) {
            CHECK_CODE(cudaErrorMemoryAllocation, cudaGetLastError());
            CHECK_OK(cudaGraphAddNode(&node, outer, nullptr, nullptr, 0, &params));
        }
        CHECK_OK(cudaGraphDestroy(outer));
        return status == cudaSuccess;
    });
#endif
}

} // namespace

int main() {
    add_dependencies();
    end_capture();
    clone();
    move_child();
}
