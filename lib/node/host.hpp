// Calls of host functions.
#pragma once

#include "fields.hpp"
#include "native_result.hpp"

#include <cuda_runtime_api.h>

namespace cudag::detail {

[[nodiscard]] CUgraphNodeParams native_params(const cudaHostNodeParams& host) noexcept;
[[nodiscard]] inline NativeResult add_native(cudaGraphNode_t& node, cudaGraph_t graph, const cudaHostNodeParams& host) {
    CUgraphNodeParams params = native_params(host);
    return add_native(node, graph, params);
}
[[nodiscard]] inline NativeResult set_native(const NodeTarget& target, const cudaHostNodeParams& host) {
    return set_native(target, native_params(host));
}
[[nodiscard]] cudaHostNodeParams read_host(cudaGraphNode_t node);

template <class Visitor>
constexpr void fields(const cudaHostNodeParams&, Visitor& visit) {
    visit.field("function", member<&cudaHostNodeParams::fn>, changeable);
    visit.field("callable", member<&cudaHostNodeParams::userData>, changeable);
}

} // namespace cudag::detail
