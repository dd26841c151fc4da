// The conditions among a kernel's arguments.
#pragma once

#include "conditions.hpp"
#include "graph_identity.hpp"
#include "node/kernel.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace cudag::detail {

class GraphState;

/// Whether the `sizeof(Condition)` bytes are the whole object of the condition `handle` of `root`.
[[nodiscard]] inline bool is_whole_condition(const GraphState& root, cudaGraphConditionalHandle handle,
                                             const std::byte* bytes) {
    constexpr std::size_t meaningful = 2 * sizeof(std::uint64_t) + sizeof(std::uint32_t); // padding follows
    static_assert(sizeof(cudaGraphConditionalHandle) == sizeof(std::uint64_t));
    const Condition condition = identity_of(root).condition_value(handle);
    return std::memcmp(&condition, bytes, meaningful) == 0;
}

/// Calls `use(handle)` for each condition of `root` with its whole Condition object in `bytes`.
template <class Use>
void for_each_whole_condition(const GraphState& root, const std::byte* bytes, std::size_t size, const Use& use) {
    for (std::size_t at = 0; at + sizeof(Condition) <= size; at += alignof(Condition)) {
        cudaGraphConditionalHandle handle = 0;
        std::memcpy(&handle, bytes + at, sizeof handle);
        if (conditions_of(root).find(handle) != nullptr && is_whole_condition(root, handle, bytes + at)) use(handle);
    }
}

/// Calls `use(argument, handle)` for each condition of `root` certainly taken by a kernel: as an argument, or as a
/// whole Condition inside an object.
template <class Use>
void for_each_condition(const GraphState& root, const KernelSignature& signature, const std::byte* values,
                        const Use& use) {
    for (std::uint32_t i = 0; i < signature.count; ++i) {
        const Parameter& parameter = signature.parameters[i];
        const std::byte* const value = values + parameter.offset;
        if (is_condition(parameter)) {
            cudaGraphConditionalHandle handle = 0;
            std::memcpy(&handle, value, sizeof handle);
            use(i, handle);
        } else if (parameter.type != ParameterType::pointer && parameter.type != ParameterType::span) {
            for_each_whole_condition(root, value, parameter.size,
                                     [&](cudaGraphConditionalHandle handle) { use(i, handle); });
        }
    }
}

} // namespace cudag::detail
