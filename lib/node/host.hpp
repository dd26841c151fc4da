// Calls of host functions.
#pragma once

#include "fields.hpp"
#include "native_result.hpp"

#include <cudag/detail/host_params.hpp>

#include <cuda_runtime_api.h>

namespace cudag::detail {

[[nodiscard]] CUgraphNodeParams native_params(const HostParams& host) noexcept;
[[nodiscard]] inline NativeResult add_native(cudaGraphNode_t& node, cudaGraph_t graph, const HostParams& host) {
    CUgraphNodeParams params = native_params(host);
    return add_native(node, graph, params);
}
[[nodiscard]] inline NativeResult set_native(const NodeTarget& target, const HostParams& host) {
    return set_native(target, native_params(host));
}
[[nodiscard]] HostParams read_host(cudaGraphNode_t node);

template <class Visitor>
constexpr void fields(const HostParams&, Visitor& visit) {
    visit.field("function", member<&HostParams::fn>, changeable);
    visit.field("callable", member<&HostParams::userData>, changeable);
    visit.field("sync mode", member<&HostParams::sync_mode>, fixed());
}

} // namespace cudag::detail
