// Pairs of corresponding conditions in two graphs.
#pragma once

#include "node/differences.hpp"

#include <cuda_runtime_api.h>

#include <string>
#include <unordered_map>

namespace cudag::detail {

class GraphState;

/// The corresponding conditions of two graphs. CUDA's handles of conditions are numbers, counted in the order of their
/// creation in a graph. Equal graphs may have different ones: conditions correspond if corresponding nodes test them.
/// Yet CUDA does not update an exec from a graph with other numbers in its conditionals.
class ConditionPairs : public SameConditions {
  public:
    /// Pairs the conditions of conditionals at the same place. `for_update`: the comparison is for CUDA's update from
    /// `before` to `after`.
    ConditionPairs(const GraphState& before, const GraphState& after, bool for_update);

    [[nodiscard]] bool same(cudaGraphConditionalHandle before, cudaGraphConditionalHandle after) const override;
    [[nodiscard]] bool for_update() const noexcept override { return for_update_; }

    /// Names a condition: "condition of if \"x\" at f.cpp:12".
    [[nodiscard]] std::string name_before(cudaGraphConditionalHandle handle) const override {
        return name(before_, handle);
    }
    [[nodiscard]] std::string name_after(cudaGraphConditionalHandle handle) const override {
        return name(after_, handle);
    }
    [[nodiscard]] std::string initial_before(cudaGraphConditionalHandle handle) const override {
        return initial(before_, handle);
    }
    [[nodiscard]] std::string initial_after(cudaGraphConditionalHandle handle) const override {
        return initial(after_, handle);
    }

  private:
    using SameConditions::name;
    static std::string name(const GraphState* root, cudaGraphConditionalHandle handle);
    static std::string initial(const GraphState* root, cudaGraphConditionalHandle handle);

    const GraphState* before_; ///< the roots
    const GraphState* after_;
    bool for_update_;
    std::unordered_map<cudaGraphConditionalHandle, cudaGraphConditionalHandle> pairs_;
};

} // namespace cudag::detail
