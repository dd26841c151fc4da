// Writable parameters of a node, unlike those shared by graphs, their clones and execs.
#pragma once

#include "node_params.hpp"

#include <cstddef>
#include <memory_resource>
#include <variant>

namespace cudag::detail {

/// A copy of parameters in an exclusive block.
class OwnedParams {
  public:
    OwnedParams() noexcept = default;
    /// Copies into `memory`, until that is freed as a whole.
    OwnedParams(std::pmr::memory_resource& memory, const NodeParams& params);
    /// Copies to `place`, which must have room for the `copy_bytes` of `params` and maximal alignment.
    OwnedParams(std::byte* place, const NodeParams& params) noexcept;

    /// For reading, like the parameters of any node.
    [[nodiscard]] const NodeParams& view() const noexcept { return view_; }
    operator const NodeParams&() const noexcept { return view_; } // NOLINT: usable as any parameters to read

    /// For writing; null if the parameters are of another kind.
    template <class Params>
    [[nodiscard]] Params* find() noexcept {
        return std::holds_alternative<const Params*>(view_) ? static_cast<Params*>(block_) : nullptr;
    }
    /// Assigns `params` of the same node.
    void assign(const NodeParams& params) noexcept;

  private:
    NodeParams view_;
    void* block_ = nullptr; ///< the block of `view_`
};

/// The size of a copy in bytes.
[[nodiscard]] std::size_t copy_bytes(const NodeParams& params) noexcept;

} // namespace cudag::detail
