// The conversion of CUDA's parameter structures into Work, for all kinds of nodes.
#pragma once

#include "graph_kernel_work.hpp"
#include "graph_model.hpp"

#include <cuda.h>

namespace cudart_cpu::detail {

/// These functions throw Failure if the function is no kernel. The runtime takes a symbol or a cudaKernel_t; the driver
/// a CUfunction or, if that is null, a CUkernel.
KernelParams kernel_params(const cudaKernelNodeParams& params);
KernelParams kernel_params(const CUDA_KERNEL_NODE_PARAMS_v2& params);

/// Makes a kernel node's work.
WorkPointer make_kernel_work(const KernelParams& params);
/// Makes a kernel node's new work; the attributes stay as in `current`, also a kernel node's work.
WorkPointer make_kernel_work(const KernelParams& params, const Work& current);

/// These functions throw Failure for other nodes, attributes and values.
void set_node_attribute(cudaGraphNode_t node, int id, const cudaLaunchAttributeValue* value);
void get_node_attribute(cudaGraphNode_t node, int id, cudaLaunchAttributeValue* value);

/// Return the parameters of a kernel node. Their arguments are those of shown_kernel().
cudaKernelNodeParams kernel_params_of(Node& node);
CUDA_KERNEL_NODE_PARAMS_v2 driver_kernel_params_of(Node& node, CUcontext context);

/// The copy of a kernel node's work into whose arguments the caller may point until the work is replaced.
const KernelWork& shown_kernel(Node& node);

/// Makes the content of a new node of `target` from the tagged union, and writes its results there. Throws Failure for
/// kinds without support in cudart-cpu.
NodeContent make_content(cudaGraphNodeParams& params, const Graph& target, const std::vector<Node*>& before);
/// Makes the new content of `node`. Throws Failure if the parameters are of another kind.
NodeContent make_content(const cudaGraphNodeParams& params, const Node& node);
/// Makes the new work of an exec's node with the work `current`; its bodies stay.
WorkPointer make_work(const cudaGraphNodeParams& params, const Work& current);

/// Returns the parameters of a node in the tagged union; pointers in it point into the node.
cudaGraphNodeParams params_of(Node& node);

/// The same for the driver's tagged union.
NodeContent make_content(CUgraphNodeParams& params, const Graph& target, const std::vector<Node*>& before);
NodeContent make_content(const CUgraphNodeParams& params, const Node& node);
WorkPointer make_work(const CUgraphNodeParams& params, const Work& current);
/// `context` is that of a node whose parameters have one.
CUgraphNodeParams driver_params_of(Node& node, CUcontext context);

struct EdgeEnds {
    cudaGraphNodeType from;
    cudaGraphNodeType to;
};
void require_valid_edge(const cudaGraphEdgeData& data, EdgeEnds ends, std::size_t index);

/// Refuses, by its name, a kind of CUDA's without support in cudart-cpu.
[[noreturn]] void refuse_kind(cudaGraphNodeType type);

/// Throws Failure unless `data` is null or all its elements describe possible edges: ordinary ones, or programmatic
/// ones between two kernels. `ends(i)` returns the types of the nodes of edge i.
template <class Ends>
void require_valid_edges(const cudaGraphEdgeData* data, std::size_t count, Ends&& ends) {
    for (std::size_t i = 0; data && i < count; ++i)
        require_valid_edge(data[i], ends(i), i);
}

} // namespace cudart_cpu::detail
