// Conditional nodes: nodes with bodies that run on a condition.
#pragma once

#include "fields.hpp"
#include "lists/hash.hpp"
#include "native_result.hpp"

#include <cudag/node.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cudag::detail {

class Differences;

struct ConditionalParams {
    ConditionalKind kind;
    cudaGraphConditionalHandle condition;
    std::uint32_t bodies;
};

/// "if", "while", "switch"
[[nodiscard]] std::string_view to_string(ConditionalKind kind) noexcept;
/// The role of body `number` in the node: "then", "else", "body", "case 2".
[[nodiscard]] std::string role_of_body(ConditionalKind kind, std::size_t number);

/// A conditional as CUDA reports it.
struct ReadConditional {
    ConditionalParams params;
    const cudaGraph_t* bodies; ///< owned by CUDA
    int device;                ///< of the nodes in the bodies
};
/// Reads a conditional made without cudag; nothing if the driver is older than CUDA 13.2. Throws GraphError.
[[nodiscard]] std::optional<ReadConditional> read_conditional(cudaGraphNode_t node);

/// Adds the node; `bodies` receives the graphs inside it, made and owned by CUDA.
[[nodiscard]] NativeResult add_native(cudaGraphNode_t& node, cudaGraph_t graph, const ConditionalParams& conditional,
                                      const cudaGraph_t*& bodies);
[[nodiscard]] inline NativeResult set_native(const NodeTarget&, const ConditionalParams&) noexcept {
    return cannot_be_set;
}

/// The condition of a conditional. Handles of equal conditions may differ between graphs, but not in an update.
struct ConditionField {
    static void compare(const ConditionalParams& before, const ConditionalParams& after, Differences& found);
    static void add_to(Hash& hash, const ConditionalParams& conditional, HashedFields which) noexcept {
        if (which == HashedFields::fixed) hash.add(conditional.condition);
    }
};

template <class Visitor>
constexpr void fields(const ConditionalParams&, Visitor& visit) {
    constexpr FieldRule of_kind{ChangedBy::new_node, nullptr, DifferenceKind::node_kind};
    visit.field("conditional", member<&ConditionalParams::kind>, of_kind);
    visit.field("bodies", member<&ConditionalParams::bodies>, of_kind);
    visit.part(ConditionField(), member<&ConditionalParams::condition>);
}
[[nodiscard]] std::string title(const ConditionalParams& conditional);

} // namespace cudag::detail
