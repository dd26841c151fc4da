// Attributes of kernel nodes.
#include "graph_enum.hpp"
#include "graph_params.hpp"

namespace cudart_cpu::detail {

namespace {

[[noreturn]] void refuse_attribute(int id) {
    fail(cudaErrorNotSupported, text("cudart-cpu supports the attributes priority, cooperative and cluster dimension "
                                     "of kernel nodes, not attribute ",
                                     id));
}

dim3 checked_cluster(dim3 cluster) {
    constexpr unsigned portable_blocks = 8;
    const unsigned long long blocks = 1ULL * cluster.x * cluster.y * cluster.z;
    const bool none = cluster.x == 0 && cluster.y == 0 && cluster.z == 0;
    if (!none && (blocks == 0 || blocks > portable_blocks))
        fail(cudaErrorInvalidValue, text("a cluster of ", cluster, " blocks; it must have 1 to ", portable_blocks));
    return cluster;
}

} // namespace

} // namespace cudart_cpu::detail

using namespace cudart_cpu::detail;

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphKernelNodeGetAttribute(cudaGraphNode_t hNode, cudaKernelNodeAttrID attr,
                                                                     cudaKernelNodeAttrValue* value_out) {
    return graph_api("cudaGraphKernelNodeGetAttribute", [&] {
        require_pointer(value_out, "value_out");
        const KernelAttributes& attributes = work_of<KernelWork>(node_of(hNode)).attributes();
        switch (number_in(attr)) {
        case cudaLaunchAttributePriority:
            value_out->priority = attributes.priority;
            break;
        case cudaLaunchAttributeCooperative:
            value_out->cooperative = attributes.cooperative;
            break;
        case cudaLaunchAttributeClusterDimension:
            value_out->clusterDim.x = attributes.cluster.x;
            value_out->clusterDim.y = attributes.cluster.y;
            value_out->clusterDim.z = attributes.cluster.z;
            break;
        default:
            refuse_attribute(number_in(attr));
        }
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphKernelNodeSetAttribute(cudaGraphNode_t hNode, cudaKernelNodeAttrID attr,
                                                                     const cudaKernelNodeAttrValue* value) {
    return graph_api("cudaGraphKernelNodeSetAttribute", [&] {
        require_pointer(value, "value");
        Node& node = node_of(hNode);
        const auto& work = work_of<KernelWork>(node);
        KernelAttributes attributes = work.attributes();
        switch (number_in(attr)) {
        case cudaLaunchAttributePriority:
            attributes.priority = value->priority;
            break;
        case cudaLaunchAttributeCooperative:
            attributes.cooperative = value->cooperative != 0;
            break;
        case cudaLaunchAttributeClusterDimension:
            attributes.cluster = checked_cluster({value->clusterDim.x, value->clusterDim.y, value->clusterDim.z});
            break;
        default:
            refuse_attribute(number_in(attr));
        }
        node.work = std::make_shared<KernelWork>(work, attributes);
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t hDst, cudaGraphNode_t hSrc) {
    return graph_api("cudaGraphKernelNodeCopyAttributes", [&] {
        Node& to = node_of(hDst);
        const KernelAttributes& attributes = work_of<KernelWork>(node_of(hSrc)).attributes();
        to.work = std::make_shared<KernelWork>(work_of<KernelWork>(to), attributes);
    });
}
