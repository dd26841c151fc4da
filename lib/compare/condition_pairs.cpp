// Pairs of corresponding conditions in two graphs.
#include "condition_pairs.hpp"

#include "diff.hpp"
#include "graph/conditions.hpp"
#include "graph/graph_records.hpp"
#include "graph/graph_tree.hpp"
#include "graph/names.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cudag::detail {

ConditionPairs::ConditionPairs(const GraphState& before, const GraphState& after, bool for_update)
    : before_(&root_of(before)), after_(&root_of(after)), for_update_(for_update) {
    if (conditions_of(*before_).all().empty() || conditions_of(*after_).all().empty()) return;
    for_each_graph_pair(before, after, [this](const GraphState& a, const GraphState& b) {
        const std::size_t common = std::min(records_of(a).nodes().size(), records_of(b).nodes().size());
        for (std::uint32_t i = 0; i < common; ++i) {
            const auto* ours = std::get_if<const ConditionalParams*>(&records_of(a).nodes()[i].params);
            const auto* theirs = std::get_if<const ConditionalParams*>(&records_of(b).nodes()[i].params);
            if (ours != nullptr && theirs != nullptr) pairs_.emplace((*ours)->condition, (*theirs)->condition);
        }
    });
}

bool ConditionPairs::same(cudaGraphConditionalHandle before, cudaGraphConditionalHandle after) const {
    const auto pair = pairs_.find(before);
    return (pair == pairs_.end() ? before : pair->second) == after;
}

std::string ConditionPairs::name(const GraphState* root, cudaGraphConditionalHandle handle) {
    const ConditionRecord* record = conditions_of(*root).find(handle);
    if (record == nullptr || record->user == nullptr) return name(handle);
    return "condition of " + describe_node(*record->user, record->node);
}

std::string ConditionPairs::initial(const GraphState* root, cudaGraphConditionalHandle handle) {
    const ConditionRecord* record = conditions_of(*root).find(handle);
    if (record != nullptr && record->is_read) return {};
    return record == nullptr || !record->initial ? "none" : fmt::format("{}", *record->initial);
}

} // namespace cudag::detail
