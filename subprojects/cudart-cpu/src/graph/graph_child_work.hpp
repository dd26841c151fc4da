// Child graph nodes: the node owns the graph, see Node::bodies.
#pragma once

#include "graph_model.hpp"

#include <cuda_runtime_api.h>

namespace cudart_cpu::detail {

class ChildWork final : public Work {
  public:
    static constexpr cudaGraphNodeType node_type = cudaGraphNodeTypeGraph;

    cudaGraphNodeType type() const noexcept override { return node_type; }
    std::string title() const override { return "child graph"; }
    std::string refuse_device_launch() const override { return {}; }
    void run() const override {} // a launch runs the nodes of the child graph
};

/// Makes the content of a node of `target` with a clone of `child`. Throws Failure if CUDA forbids it.
NodeContent cloned_child(cudaGraph_t child, const Graph& target);
/// Makes the content with a clone, or with the graph itself, as the ownership in `params` demands.
NodeContent child_content(const cudaChildGraphNodeParams& params, const Graph& target);

} // namespace cudart_cpu::detail
