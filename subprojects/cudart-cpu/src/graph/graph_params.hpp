// CUDA's parameter structures of the kinds of nodes, made into Work.
#pragma once

#include "graph_kernel_work.hpp"
#include "graph_model.hpp"

#include <cuda.h>

namespace cudart_cpu::detail {

/// These throw Failure if the function is no kernel. The runtime takes a symbol or a cudaKernel_t; the driver a
/// CUfunction or, if that is null, a CUkernel.
KernelParams kernel_params(const cudaKernelNodeParams& params);
KernelParams kernel_params(const CUDA_KERNEL_NODE_PARAMS_v2& params);

/// A node's new work: what its parameters do not say stays as in `current`, which is of the same kind.
WorkPointer make_kernel_work(const KernelParams& params, const Work& current);

/// These throw Failure for other nodes, attributes and values.
void set_node_attribute(cudaGraphNode_t node, int id, const cudaLaunchAttributeValue* value);
void get_node_attribute(cudaGraphNode_t node, int id, cudaLaunchAttributeValue* value);

/// A copy of a kernel node's work whose arguments the caller may point into until the work is replaced.
const KernelWork& shown_kernel(Node& node);

/// What the tagged union describes, for a node of `target`. Throws Failure for kinds that cudart-cpu does not have.
/// Writes what the node's making gives back.
NodeContent make_content(cudaGraphNodeParams& params, const Graph& target, const std::vector<Node*>& before);
/// The same, in the place of what `node` has. Throws Failure if it is of another kind.
NodeContent make_content(const cudaGraphNodeParams& params, const Node& node);
/// The work alone, for a node of an exec whose work is `current`; its bodies stay.
WorkPointer make_work(const cudaGraphNodeParams& params, const Work& current);

struct EdgeEnds {
    cudaGraphNodeType from;
    cudaGraphNodeType to;
};
void require_valid_edge(const cudaGraphEdgeData& data, EdgeEnds ends, std::size_t index);

/// The kinds that CUDA has and cudart-cpu does not: refused by name.
[[noreturn]] void refuse_kind(cudaGraphNodeType type);

/// Throws Failure unless `data` is null or each of its elements describes an edge that there is: an ordinary one, or a
/// programmatic one between two kernels. `ends(i)` gives the types of the nodes of edge i.
template <class Ends>
void require_valid_edges(const cudaGraphEdgeData* data, std::size_t count, Ends&& ends) {
    for (std::size_t i = 0; data && i < count; ++i)
        require_valid_edge(data[i], ends(i), i);
}

} // namespace cudart_cpu::detail
