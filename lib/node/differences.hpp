// Differences between the parameters of two nodes.
#pragma once

#include "fields.hpp"

#include <cudag/diff.hpp>

#include <cuda_runtime_api.h>

#include <string>

namespace cudag::detail {

/// A field with different values in two nodes.
struct FieldDifference {
    DifferenceKind kind;
    std::string field;
    std::string before;
    std::string after;
    ChangedBy changed_by;

    /// Whether no update of an exec makes the change.
    [[nodiscard]] bool needs_instantiate() const noexcept { return changed_by >= ChangedBy::instantiate; }
    /// Whether no update of the single node makes the change.
    [[nodiscard]] bool is_fixed_in_node() const noexcept { return changed_by != ChangedBy::node_update; }
};

/// The correspondence of conditions between two graphs; here, conditions with equal numbers correspond.
class SameConditions {
  public:
    virtual ~SameConditions() = default;
    [[nodiscard]] virtual bool same(cudaGraphConditionalHandle before, cudaGraphConditionalHandle after) const {
        return before == after;
    }
    /// Whether CUDA must accept `after` as an update of `before`.
    [[nodiscard]] virtual bool for_update() const noexcept { return false; }
    /// Whether initial values count; whole updates accept different ones.
    [[nodiscard]] virtual bool compares_initial() const noexcept { return !for_update(); }
    /// A condition's name and its initial value: "1", or "none"; "" if CUDA does not report it.
    [[nodiscard]] virtual std::string name_before(cudaGraphConditionalHandle handle) const { return name(handle); }
    [[nodiscard]] virtual std::string name_after(cudaGraphConditionalHandle handle) const { return name(handle); }
    [[nodiscard]] virtual std::string initial_before(cudaGraphConditionalHandle) const { return "none"; }
    [[nodiscard]] virtual std::string initial_after(cudaGraphConditionalHandle) const { return "none"; }

  protected:
    [[nodiscard]] static std::string name(cudaGraphConditionalHandle handle) {
        return "condition " + std::to_string(handle);
    }
};

} // namespace cudag::detail
