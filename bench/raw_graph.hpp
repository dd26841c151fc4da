// A graph and its executable form, owned, through the Runtime API.
#pragma once

#include <cudag/cudag.hpp>

#include <utility>

namespace bench {

struct RawGraph {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;

    RawGraph() = default;
    RawGraph(RawGraph&& other) noexcept
        : graph(std::exchange(other.graph, nullptr)), exec(std::exchange(other.exec, nullptr)) {}
    RawGraph& operator=(RawGraph&&) = delete;
    ~RawGraph() {
        if (exec != nullptr) static_cast<void>(cudaGraphExecDestroy(exec));
        if (graph != nullptr) static_cast<void>(cudaGraphDestroy(graph));
    }

    void instantiate() { cudag::check(cudaGraphInstantiate(&exec, graph, 0)); }
};

} // namespace bench
