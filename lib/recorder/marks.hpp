// Marks between the nodes of CUDA's graph, for the time of an instantiation or an update.
#pragma once

#include "graph/node_place.hpp"

#include <cuda_runtime_api.h>

#include <string>
#include <vector>

namespace cudag::detail {

class GraphState;
class Recorder;

/// Returns why no exec of `graph` can be recorded; "" if one can. Sets `culprit` to the node, if there is one.
[[nodiscard]] std::string unrecordable(const GraphState& graph, bool is_device_launched, NodePlace& culprit);

/// The marks in the native graphs of a root and of all graphs inside it, while this object lives. They are kernels,
/// or fills, that write the recorder's memory: bodies and child graphs take both. Needs the graph's lock.
class Marks {
  public:
    /// Adds the marks to `graph`, which has the nodes and edges of the recorded exec's graph `numbered`, and complete
    /// native edges. Throws Error.
    Marks(GraphState& graph, const GraphState& numbered, const Recorder& recorder);
    ~Marks();
    Marks(const Marks&) = delete;
    Marks& operator=(const Marks&) = delete;

  private:
    explicit Marks(const Recorder& recorder) noexcept : recorder_(recorder) {}
    void add(GraphState& graph, const GraphState& numbered);

    const Recorder& recorder_;
    std::vector<cudaGraphNode_t> added_{};
    std::vector<GraphState*> graphs_{};
};

} // namespace cudag::detail
