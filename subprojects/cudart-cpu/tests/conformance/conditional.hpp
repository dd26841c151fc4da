// Conditional nodes for the tests.
#pragma once

#include "graph_kernels.hpp"
#include "nodes.hpp"

#include <vector>

using Condition = cudaGraphConditionalHandle;

inline Condition make_condition(cudaGraph_t graph, unsigned initial, unsigned flags = cudaGraphCondAssignDefault) {
    Condition handle = 0;
    REQUIRE_CUDA(cudaGraphConditionalHandleCreate(&handle, graph, initial, flags));
    return handle;
}

inline cudaGraphNodeParams conditional_params(Condition handle, cudaGraphConditionalNodeType type, unsigned size) {
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = handle;
    params.conditional.type = type;
    params.conditional.size = size;
    return params;
}

struct Conditional {
    cudaGraphNode_t node;
    std::vector<cudaGraph_t> bodies;
};

inline Conditional add_conditional(cudaGraph_t graph, Condition handle, cudaGraphConditionalNodeType type,
                                   unsigned size = 1, const Nodes& after = {}) {
    cudaGraphNodeParams params = conditional_params(handle, type, size);
    Conditional added{};
    REQUIRE_CUDA(cudaGraphAddNode(&added.node, graph, after.data(), nullptr, after.size(), &params));
    REQUIRE(params.conditional.phGraph_out != nullptr);
    added.bodies.assign(params.conditional.phGraph_out, params.conditional.phGraph_out + size);
    return added;
}

/// The call fails, adds nothing and writes nothing.
inline void require_refused(cudaError_t code, cudaGraph_t graph, cudaGraphNodeParams params) {
    auto node = untouched<cudaGraphNode_t>();
    const std::size_t before = nodes_of(graph).size();
    REQUIRE_CUDA_ERROR(code, cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
    REQUIRE(node == untouched<cudaGraphNode_t>());
    REQUIRE(nodes_of(graph).size() == before);
}

/// What cudaGraphInstantiateWithParams answers.
struct Instantiated {
    cudaError_t code;
    cudaGraphInstantiateResult result;
    cudaGraphNode_t node;

    bool operator==(const Instantiated&) const = default;
};

inline Instantiated try_instantiate(cudaGraph_t graph, unsigned long long flags = 0) {
    cudaGraphInstantiateParams params{};
    params.flags = flags;
    cudaGraphExec_t exec = nullptr;
    const cudaError_t code = cudaGraphInstantiateWithParams(&exec, graph, &params);
    if (code == cudaSuccess) REQUIRE_CUDA(cudaGraphExecDestroy(exec));
    static_cast<void>(cudaGetLastError());
    return {code, params.result_out, params.errNode_out};
}

inline const Instantiated instantiated{cudaSuccess, cudaGraphInstantiateSuccess, nullptr};
