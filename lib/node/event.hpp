// Nodes that record events, or wait for them.
#pragma once

#include "fields.hpp"
#include "native_result.hpp"

#include <cuda_runtime_api.h>

#include <string>

namespace cudag::detail {

struct EventParams {
    cudaEvent_t event;
    bool records; ///< false: the node waits
};

/// The problem if the event is null; empty if there is none.
[[nodiscard]] std::string problem_of(const EventParams& event);

[[nodiscard]] CUgraphNodeParams native_params(const EventParams& event) noexcept;
[[nodiscard]] inline NativeResult add_native(cudaGraphNode_t& node, cudaGraph_t graph, const EventParams& event) {
    CUgraphNodeParams params = native_params(event);
    return add_native(node, graph, params);
}
[[nodiscard]] inline NativeResult set_native(const NodeTarget& target, const EventParams& event) {
    return set_native(target, native_params(event));
}
[[nodiscard]] EventParams read_event(cudaGraphNode_t node, bool records);

template <class Visitor>
constexpr void fields(const EventParams&, Visitor& visit) {
    visit.field("event", member<&EventParams::event>, changeable);
    visit.ignored(member<&EventParams::records>); // told by the node's kind
}

} // namespace cudag::detail
