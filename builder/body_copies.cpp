// Asks CUDA what a copy in a body reads and writes.
#include "body_copies.hpp"

#include "cuda/failure.hpp"
#include "graph/names.hpp"
#include "new_node.hpp"

#include <fmt/format.h>

namespace cudag::detail {

namespace {

bool is_pageable(const void* memory) {
    cudaPointerAttributes attributes{};
    checked<GraphError>(cudaPointerGetAttributes(&attributes, memory), "cudaPointerGetAttributes");
    return attributes.type == cudaMemoryTypeUnregistered;
}

constexpr const char* pageable = "its host memory is not page-locked, as CUDA asks for there; use a PinnedBuffer";
constexpr const char* array = "it copies an array, which CUDA does not do there; put it before or after that node";

} // namespace

const char* why_not_in_body(const NodeParams& params) {
    if (const auto* copy = std::get_if<const CopyParams*>(&params))
        return is_pageable((*copy)->destination) || is_pageable((*copy)->source) ? pageable : nullptr;
    if (const auto* copy = std::get_if<const cudaMemcpy3DParms*>(&params)) {
        if ((*copy)->dstArray != nullptr || (*copy)->srcArray != nullptr) return array;
        return is_pageable((*copy)->dstPtr.ptr) || is_pageable((*copy)->srcPtr.ptr) ? pageable : nullptr;
    }
    return nullptr;
}

void require_body_copy(const GraphState& graph, const NodeParams& params, const SourceLocation& where) {
    if (!graph.is_in_body()) return;
    if (const char* reason = why_not_in_body(params); reason != nullptr)
        refuse(fmt::format("{} takes no such copy: {}", describe_place(graph), reason),
               new_node_subject(NodeKind::memcpy, where));
}

} // namespace cudag::detail
