// Stream captures for the tests.
#pragma once

#include "nodes.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <future>
#include <utility>
#include <vector>

inline cudaStreamCaptureStatus status_of(cudaStream_t stream) {
    auto status = cudaStreamCaptureStatusNone;
    REQUIRE_CUDA(cudaStreamIsCapturing(stream, &status));
    return status;
}

inline bool captures(cudaStream_t stream) {
    return status_of(stream) == cudaStreamCaptureStatusActive;
}

inline bool invalidated(cudaStream_t stream) {
    return status_of(stream) == cudaStreamCaptureStatusInvalidated;
}

inline void refuse_end(cudaError_t code, cudaStream_t stream) {
    auto graph = untouched<cudaGraph_t>();
    REQUIRE_CUDA_ERROR(code, cudaStreamEndCapture(stream, &graph));
    REQUIRE(graph == nullptr);
}

/// A capture of `stream` from the constructor on: whatever a failing test leaves open is ended.
class Capture {
  public:
    explicit Capture(cudaStream_t stream, cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) : stream_(stream) {
        REQUIRE_CUDA(cudaStreamBeginCapture(stream, mode));
    }
    Capture(const Capture&) = delete;
    Capture& operator=(const Capture&) = delete;
    ~Capture() {
        auto status = cudaStreamCaptureStatusNone;
        cudaStreamIsCapturing(stream_, &status);
        if (status != cudaStreamCaptureStatusNone) {
            cudaGraph_t graph = nullptr;
            cudaStreamEndCapture(stream_, &graph);
            graph_ = graph;
        }
        if (graph_ != nullptr) {
            cudaGraphDestroy(graph_);
        }
        cudaGetLastError();
    }

    /// The graph, which this object keeps.
    cudaGraph_t end() {
        REQUIRE_CUDA(cudaStreamEndCapture(stream_, &graph_));
        return graph_;
    }
    /// Ends without a graph.
    void fail(cudaError_t code) {
        refuse_end(code, stream_);
        REQUIRE(status_of(stream_) == cudaStreamCaptureStatusNone);
    }

  private:
    cudaStream_t stream_;
    cudaGraph_t graph_ = nullptr;
};

inline constexpr auto relaxed = cudaStreamCaptureModeRelaxed;

/// A capture into `graph`, whose first node comes after `after`.
inline cudaError_t begin_into(cudaStream_t stream, cudaGraph_t graph, const Nodes& after = {},
                              cudaStreamCaptureMode mode = relaxed) {
    return cudaStreamBeginCaptureToGraph(stream, graph, after.data(), nullptr, after.size(), mode);
}

inline void end_into(cudaStream_t stream, cudaGraph_t graph) {
    auto ended = untouched<cudaGraph_t>();
    REQUIRE_CUDA(cudaStreamEndCapture(stream, &ended));
    REQUIRE(ended == graph);
}

/// `to` waits for what `from` has captured so far.
inline void follow(cudaStream_t to, cudaStream_t from) {
    Event event(cudaEventDisableTiming);
    REQUIRE_CUDA(cudaEventRecord(event, from));
    REQUIRE_CUDA(cudaStreamWaitEvent(to, event, 0));
}

struct CaptureInfo {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    unsigned long long id = 0;
    cudaGraph_t graph = nullptr;
    Nodes next;
    std::vector<cudaGraphEdgeData> data;
};

/// `next` and `data`: what the stream's next node will depend on.
inline CaptureInfo info_of(cudaStream_t stream) {
    CaptureInfo info;
    const cudaGraphNode_t* nodes = nullptr;
    const cudaGraphEdgeData* data = nullptr;
    std::size_t count = 0;
    REQUIRE_CUDA(cudaStreamGetCaptureInfo(stream, &info.status, &info.id, &info.graph, &nodes, &data, &count));
    if (info.status == cudaStreamCaptureStatusActive) {
        info.next.assign(nodes, nodes + count);
        info.data.assign(data, data + count);
    }
    return info;
}

using Places = std::vector<std::pair<int, int>>;

/// The edges by the places of their ends in nodes_of(), in order, whatever their data.
inline Places places(cudaGraph_t graph) {
    const Nodes nodes = nodes_of(graph);
    const auto place = [&](cudaGraphNode_t node) {
        return static_cast<int>(std::find(nodes.begin(), nodes.end(), node) - nodes.begin());
    };
    std::size_t count = 0;
    REQUIRE_CUDA(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
    Nodes from(count);
    Nodes to(count);
    std::vector<cudaGraphEdgeData> data(count);
    if (count > 0) {
        REQUIRE_CUDA(cudaGraphGetEdges(graph, from.data(), to.data(), data.data(), &count));
    }
    Places result;
    for (std::size_t i = 0; i < count; ++i) {
        result.emplace_back(place(from[i]), place(to[i]));
    }
    std::sort(result.begin(), result.end());
    return result;
}

inline cudaGraphNodeType type_of(cudaGraphNode_t node) {
    cudaGraphNodeType type{};
    REQUIRE_CUDA(cudaGraphNodeGetType(node, &type));
    return type;
}

inline std::vector<cudaGraphNodeType> types_of(cudaGraph_t graph) {
    std::vector<cudaGraphNodeType> types;
    for (const cudaGraphNode_t node : nodes_of(graph)) {
        types.push_back(type_of(node));
    }
    return types;
}

/// Runs on a thread of its own, to the end.
inline void elsewhere(const std::function<void()>& function) {
    std::async(std::launch::async, function).get();
}

inline constexpr auto all_modes = {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal,
                                   cudaStreamCaptureModeRelaxed};
