// Attributes of kernel nodes.
#include "graph/graph_params.hpp"
#include "runtime/number_in.hpp"

using namespace cudart_cpu::detail;

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphKernelNodeGetAttribute(cudaGraphNode_t hNode, cudaKernelNodeAttrID attr,
                                                                     cudaKernelNodeAttrValue* value_out) {
    return graph_api("cudaGraphKernelNodeGetAttribute", [&] { get_node_attribute(hNode, number_in(attr), value_out); });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphKernelNodeSetAttribute(cudaGraphNode_t hNode, cudaKernelNodeAttrID attr,
                                                                     const cudaKernelNodeAttrValue* value) {
    return graph_api("cudaGraphKernelNodeSetAttribute", [&] { set_node_attribute(hNode, number_in(attr), value); });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t hDst, cudaGraphNode_t hSrc) {
    return graph_api("cudaGraphKernelNodeCopyAttributes", [&] {
        Node& to = node_of(hDst);
        const KernelAttributes& attributes = work_of<KernelWork>(node_of(hSrc)).attributes();
        const auto& work = work_of<KernelWork>(to);
        if (attributes.device_node || work.attributes().device_node)
            fail(cudaErrorNotSupported, "Attributes cannot be copied to/from a device-updatable node");
        to.work = std::make_shared<KernelWork>(work, attributes);
    });
}
