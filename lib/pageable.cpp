// Asks CUDA whether the host memory of a copy is page-locked.
#include "pageable.hpp"

#include "failure.hpp"
#include "new_node.hpp"

#include <fmt/format.h>

namespace cudag::detail {

namespace {

bool is_pageable(const void* memory) {
    cudaPointerAttributes attributes{};
    checked<GraphError>(cudaPointerGetAttributes(&attributes, memory), "cudaPointerGetAttributes");
    return attributes.type == cudaMemoryTypeUnregistered;
}

} // namespace

bool copies_pageable(const NodeParams& params) {
    if (const auto* copy = std::get_if<const CopyParams*>(&params))
        return is_pageable((*copy)->destination) || is_pageable((*copy)->source);
    if (const auto* copy = std::get_if<const cudaMemcpy3DParms*>(&params)) {
        const bool to_pageable = (*copy)->dstArray == nullptr && is_pageable((*copy)->dstPtr.ptr);
        return to_pageable || ((*copy)->srcArray == nullptr && is_pageable((*copy)->srcPtr.ptr));
    }
    return false;
}

void require_page_locked(const GraphState& graph, const NodeParams& params, const SourceLocation& where) {
    if (!graph.is_in_body() || !copies_pageable(params)) return;
    refuse(fmt::format("its host memory is not page-locked, which CUDA asks for in {}; use a PinnedBuffer",
                       describe_place(graph)),
           new_node_subject(NodeKind::memcpy, where));
}

} // namespace cudag::detail
