// Captures by code without cudag.
#pragma once

#include <cstddef>
#include <utility>

#include "test.hpp"

/// A capture by code that knows CUDA's functions only.
class ForeignCapture {
  public:
    explicit ForeignCapture(cudaStream_t stream) : stream_(stream) {
        cudag::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    }
    ~ForeignCapture() {
        if (is_open_) static_cast<void>(end());
        if (exec_ != nullptr) static_cast<void>(cudaGraphExecDestroy(exec_));
        if (graph_ != nullptr) static_cast<void>(cudaGraphDestroy(graph_));
        static_cast<void>(cudaGetLastError());
    }
    ForeignCapture(const ForeignCapture&) = delete;
    ForeignCapture& operator=(const ForeignCapture&) = delete;

    [[nodiscard]] cudaError_t end() {
        is_open_ = false;
        const cudaError_t status = cudaStreamEndCapture(stream_, &graph_);
        static_cast<void>(cudaGetLastError());
        return status;
    }

    /// Ends the capture if it is open, and launches its graph.
    void run() {
        if (is_open_) REQUIRE(end() == cudaSuccess);
        if (exec_ == nullptr) cudag::check(cudaGraphInstantiate(&exec_, graph_, 0));
        cudag::check(cudaGraphLaunch(exec_, stream_));
        cudag::check(cudaStreamSynchronize(stream_));
    }

    [[nodiscard]] std::size_t node_count() const {
        std::size_t count = 0;
        cudag::check(cudaGraphGetNodes(graph_, nullptr, &count));
        return count;
    }

    [[nodiscard]] cudag::Graph take() { return cudag::Graph::adopt(std::exchange(graph_, nullptr)); }

  private:
    cudaStream_t stream_;
    bool is_open_ = true;
    cudaGraph_t graph_ = nullptr;
    cudaGraphExec_t exec_ = nullptr;
};
