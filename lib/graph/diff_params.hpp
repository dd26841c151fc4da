// Compares the parameters of two nodes of one kind, field by field.
#pragma once

#include "condition_pairs.hpp"
#include "node/node_params.hpp"

#include <cudag/diff.hpp>

#include <string>
#include <vector>

namespace cudag::detail {

/// One field in which the parameters of two nodes differ.
struct FieldDifference {
    DifferenceKind kind;
    std::string field;
    std::string before;
    std::string after;
    bool needs_instantiate;
};

/// Empty if they are equal, or of kinds that cudag does not describe.
[[nodiscard]] std::vector<FieldDifference> diff_params(const NodeParams& before, const NodeParams& after,
                                                       const ConditionPairs& conditions);

/// The same as an empty diff, without the texts.
[[nodiscard]] bool same_params(const NodeParams& before, const NodeParams& after,
                               const ConditionPairs& conditions = {});

} // namespace cudag::detail
