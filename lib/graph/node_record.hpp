// The record of a node.
#pragma once

#include "label.hpp"
#include "node/node_params.hpp"

#include <cudag/detail/builder_graph.hpp>
#include <cudag/node.hpp>
#include <cudag/source_location.hpp>

#include <cstdint>
#include <utility>

namespace cudag::detail {

struct NodeRecord {
    NodeRecord(NodeKind its_kind, const NodeParams& its_params, Label its_label, const SourceLocation& where) noexcept
        : kind(its_kind), params(its_params), label(std::move(its_label)), location(where) {}

    NodeKind kind;
    std::int32_t device = any_device; ///< as given to the builder; any_device if only CUDA knows
    NodeParams params;
    Label label;
    SourceLocation location;
};

} // namespace cudag::detail
