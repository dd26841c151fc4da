// Copies between ranges of memory.
#include "copy.hpp"

#include <fmt/format.h>

#include <utility>

namespace cudag::detail {

std::string_view direction(cudaMemcpyKind kind) noexcept {
    switch (kind) {
    case cudaMemcpyHostToHost:
        return "host to host";
    case cudaMemcpyHostToDevice:
        return "host to device";
    case cudaMemcpyDeviceToHost:
        return "device to host";
    case cudaMemcpyDeviceToDevice:
        return "device to device";
    default:
        return "default";
    }
}

std::string problem_of(const CopyParams& copy) {
    if (copy.destination_size != copy.source_size)
        return fmt::format("the destination has {} elements, the source {}; both must have the same size",
                           copy.destination_size, copy.source_size);
    if (copy.source_size == 0) return "a copy of 0 elements; leave the copy out";
    if (copy.destination == nullptr || copy.source == nullptr)
        return fmt::format("the {} is null", copy.destination == nullptr ? "destination" : "source");
    return {};
}

const char* why_not_in_body(const CopyParams& copy) {
    return is_pageable(copy.destination) || is_pageable(copy.source) ? is_pageable_copy : nullptr;
}

NativeResult add_native(cudaGraphNode_t& node, cudaGraph_t graph, const CopyParams& copy) {
    return {
        cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, copy.destination, copy.source, bytes_of(copy), copy.kind),
        "cudaGraphAddMemcpyNode1D"};
}

NativeResult set_native(const NodeTarget& target, const CopyParams& copy) {
    if (target.exec != nullptr)
        return {cudaGraphExecMemcpyNodeSetParams1D(target.exec, target.node, copy.destination, copy.source,
                                                   bytes_of(copy), copy.kind),
                "cudaGraphExecMemcpyNodeSetParams1D"};
    return {cudaGraphMemcpyNodeSetParams1D(target.node, copy.destination, copy.source, bytes_of(copy), copy.kind),
            "cudaGraphMemcpyNodeSetParams1D"};
}

void raise_copy_update(const NativeResult& result, Subject&& subject) {
    CallFailure failure = describe_failure(result.status, result.operation, std::move(subject), result.api);
    const std::string& log = failure.details.log; // of CUDA 13.0 and later
    const bool may_be_memory = log.empty() || log.find("incompatible with existing operand") != log.npos;
    if (result.status == cudaErrorInvalidValue && may_be_memory)
        failure.text +=
            "; the copies of an Exec keep the kind of memory that they were made with: of cudaMalloc or the "
            "host, of memory pools (cudaMallocAsync, CapturePool), or of a graph";
    raise<UpdateError>(result.status, failure.text, std::move(failure.details));
}

std::optional<CopyParams> to_copy(const cudaMemcpy3DParms& native) noexcept {
    const cudaExtent& extent = native.extent;
    if (native.srcArray != nullptr || native.dstArray != nullptr || extent.height != 1 || extent.depth != 1)
        return std::nullopt;
    return CopyParams{static_cast<char*>(native.dstPtr.ptr) + native.dstPos.x,
                      static_cast<const char*>(native.srcPtr.ptr) + native.srcPos.x,
                      extent.width,
                      extent.width,
                      1,
                      native.kind};
}

std::string title(const CopyParams& copy) {
    return fmt::format("memcpy {} bytes", bytes_of(copy));
}

} // namespace cudag::detail
