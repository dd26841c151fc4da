// A node's parameters that may be written, unlike those that graphs share with their clones and execs.
#pragma once

#include "node_params.hpp"

#include <cstddef>
#include <memory_resource>
#include <variant>

namespace cudag::detail {

/// A copy of parameters in a block that nobody else writes to.
class OwnedParams {
  public:
    OwnedParams() noexcept = default;
    /// In `memory`, until that is freed as a whole.
    OwnedParams(std::pmr::memory_resource& memory, const NodeParams& params);
    /// At `place`, which has room for the `copy_bytes` of `params`, aligned for anything.
    OwnedParams(std::byte* place, const NodeParams& params) noexcept;

    /// To be read, as those of any node.
    [[nodiscard]] const NodeParams& view() const noexcept { return view_; }
    operator const NodeParams&() const noexcept { return view_; } // NOLINT: where parameters are read, these may be

    /// To be written; null if they are of another kind.
    template <class Params>
    [[nodiscard]] Params* find() noexcept {
        return std::holds_alternative<const Params*>(view_) ? static_cast<Params*>(block_) : nullptr;
    }
    /// Makes them equal to `params`, of the same node.
    void assign(const NodeParams& params) noexcept;

  private:
    NodeParams view_;
    void* block_ = nullptr; ///< what `view_` points at
};

/// How many bytes a copy takes.
[[nodiscard]] std::size_t copy_bytes(const NodeParams& params) noexcept;

} // namespace cudag::detail
