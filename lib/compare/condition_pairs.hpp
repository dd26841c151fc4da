// Which conditions of two graphs stand for each other.
#pragma once

#include "graph/graph_state.hpp"
#include "node/fields.hpp"

#include <cuda_runtime_api.h>

#include <string>
#include <unordered_map>

namespace cudag::detail {

/// CUDA's handles of conditions are numbers, counted in the order in which the conditions of a graph were made. So two
/// graphs may be equal that have others: what counts is which nodes look at them. But CUDA updates no exec from a graph
/// whose conditionals have other numbers.
class ConditionPairs : public SameConditions {
  public:
    /// Those of conditionals at the same place stand for each other. `for_update`: CUDA is to take `after` for
    /// `before`.
    ConditionPairs(const GraphState& before, const GraphState& after, bool for_update);

    [[nodiscard]] bool same(cudaGraphConditionalHandle before, cudaGraphConditionalHandle after) const override;
    [[nodiscard]] bool for_update() const noexcept override { return for_update_; }

    /// "condition of if \"x\" at f.cpp:12"
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
