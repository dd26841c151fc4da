// Fills of memory.
#include "fill.hpp"

#include "fields.hpp"

#include <fmt/format.h>

namespace cudag::detail {

namespace {

cudaMemsetParams runtime_params(const SetParams& set) noexcept {
    cudaMemsetParams params{};
    params.dst = set.destination;
    params.value = set.value;
    params.elementSize = set.element_bytes;
    params.width = set.size;
    params.height = set.height;
    params.pitch = set.pitch;
    return params;
}

} // namespace

std::string problem_of(const SetParams& set) {
    if (set.size == 0 || set.height == 0) return "a memset of 0 elements; leave it out";
    if (set.destination == nullptr) return "the destination is null";
    if (set.height == 1) return {};
    if (set.pitch < set.size * set.element_bytes)
        return fmt::format(
            "the pitch is {} bytes, a row of {} elements has {}; a pitch counts bytes, and is at least a row",
            set.pitch, set.size, set.size * set.element_bytes);
    if (set.pitch % set.element_bytes != 0)
        return fmt::format("the pitch of {} bytes is no multiple of the elements' {}", set.pitch, set.element_bytes);
    return {};
}

std::string problem_in_exec(const SetParams& current, const SetParams& next) {
    if (next.height != current.height)
        return fmt::format("the memset has {} rows, the update {}; CUDA fixes their number when the graph is "
                           "instantiated",
                           current.height, next.height);
    if (current.height == 1) return {};
    const auto fixed = [](const char* what, std::size_t is, std::size_t wanted) {
        return fmt::format("the {} of the 2D memset is {}, the update's {}; CUDA updates address and value only", what,
                           is, wanted);
    };
    if (next.element_bytes != current.element_bytes)
        return fixed("element size", current.element_bytes, next.element_bytes);
    if (next.size != current.size) return fixed("width", current.size, next.size);
    if (next.pitch != current.pitch) return fixed("pitch", current.pitch, next.pitch);
    return {};
}

NativeResult add_native(cudaGraphNode_t& node, cudaGraph_t graph, const SetParams& set) {
    const cudaMemsetParams native = runtime_params(set);
    return {cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &native), "cudaGraphAddMemsetNode"};
}

NativeResult set_native(const NodeTarget& target, const SetParams& set) {
    const cudaMemsetParams native = runtime_params(set);
    if (target.exec != nullptr)
        return {cudaGraphExecMemsetNodeSetParams(target.exec, target.node, &native),
                "cudaGraphExecMemsetNodeSetParams"};
    return {cudaGraphMemsetNodeSetParams(target.node, &native), "cudaGraphMemsetNodeSetParams"};
}

SetParams read_set(cudaGraphNode_t node) {
    cudaMemsetParams native{};
    checked<GraphError>(cudaGraphMemsetNodeGetParams(node, &native), "cudaGraphMemsetNodeGetParams");
    return {native.dst, native.width, native.elementSize, native.value, native.height, native.pitch, 1};
}

void compare(const SetParams& before, const SetParams& after, Fields& fields) {
    fields.address("destination", before.destination, after.destination);
    const bool fixed = before.height != 1; // then CUDA updates address and value only
    const DifferenceKind kind = DifferenceKind::parameter;
    fields.fixed("rows", before.height, after.height);
    fields.field("elements", before.size, after.size, kind, fixed);
    if (fixed) fields.fixed("pitch", before.pitch, after.pitch);
    fields.field("bytes of an element", before.element_bytes, after.element_bytes, kind, fixed);
    fields.field("value", before.value, after.value);
}

std::string title(const SetParams& set) {
    return fmt::format("memset {}{} x {} bytes", set.size / set.parts,
                       set.height == 1 ? "" : fmt::format(" x {}", set.height), set.element_bytes * set.parts);
}

} // namespace cudag::detail
