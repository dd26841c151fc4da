// Effective parameters whose kernels have all their attributes.
#pragma once

#include "graph/graph_tree.hpp"
#include "graph/in_force.hpp"
#include "node/kernel_attributes.hpp"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <variant>

namespace cudag::detail {

/// The effective state of `base`. Reads the attributes of each captured kernel once, however often it is asked for:
/// each attribute is a call of CUDA.
class CompleteKernels final : public InForce {
  public:
    explicit CompleteKernels(const InForce& base) noexcept : base_(base) {}

    /// Throws GraphError.
    [[nodiscard]] const NodeParams& params(const NodePlace& node) const override {
        const NodeParams& given = base_.params(node);
        const auto* const* kernel = std::get_if<const KernelParams*>(&given);
        if (kernel == nullptr || (*kernel)->unread == nullptr) return given;
        const auto [known, is_new] = known_.try_emplace(tree_of(*node.graph).first_number() + node.index);
        Complete& complete = known->second;
        if (is_new) {
            try {
                if (!version_) version_ = cuda_version();
                complete.attributes = full_config(**kernel, *version_);
            } catch (...) {
                known_.erase(known);
                throw;
            }
            complete.kernel = **kernel;
            complete.kernel.unread = nullptr;
            complete.kernel.attributes = has_attributes(complete.attributes) ? &complete.attributes : nullptr;
            complete.params = &complete.kernel;
        }
        return complete.params;
    }
    void for_each_declared(const NodePlace& node, const AccessVisitor& visit) const override {
        base_.for_each_declared(node, visit);
    }
    [[nodiscard]] std::uint32_t region(const NodePlace& node) const override { return base_.region(node); }
    [[nodiscard]] std::uint64_t declared_version(const GraphState& graph) const override {
        return base_.declared_version(graph);
    }

  private:
    struct Complete {
        KernelParams kernel = {};
        LaunchConfig attributes = {};
        NodeParams params = {};
    };

    const InForce& base_;
    mutable std::optional<int> version_;                        ///< of CUDA; asked for once
    mutable std::unordered_map<std::uint32_t, Complete> known_; ///< by the node's number
};

} // namespace cudag::detail
