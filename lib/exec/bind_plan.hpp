// What one call of bind has found, for the next call with the same parameters.
#pragma once

#include "graph/node_place.hpp"
#include "handles/buffer_uses.hpp"

#include <cudag/buffer_param.hpp>
#include <cudag/detail/kernel_call.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace cudag::detail {

class ExecState;

/// The kernel nodes that a list of parameters changes, and the addresses in them. Parameters of a plan share no memory:
/// every list of bindings to other memory then makes these changes and no others.
struct BindPlan {
    struct Change {
        const AddressUse* use;
        std::uint32_t binding; ///< its number in the list
        bool is_needed = false;
    };
    struct Node {
        NodePlace place;
        const KernelSignature* signature; ///< as made
        std::uint32_t first;              ///< its changes: [first, end)
        std::uint32_t end;
    };

    std::vector<Node> nodes;
    std::vector<Change> changes;        ///< node by node
    std::vector<std::uintptr_t> former; ///< room for the addresses in force, by change

    /// Whether these bindings make no race, as a search has shown. `accesses` is the exec's number of access changes.
    [[nodiscard]] bool is_raceless(std::span<const BufferBinding> bindings, std::uint64_t accesses) const noexcept;
    /// Keeps the result of such a search. `before` is the number of access changes before it.
    void note_raceless(std::span<const BufferBinding> bindings, std::uint64_t before, std::uint64_t accesses);
    /// Notes that only a bind by this plan has changed accesses since: the results still hold.
    void note_own_changes(std::uint64_t accesses) noexcept { accesses_ = accesses; }

  private:
    std::vector<std::uintptr_t> raceless_; ///< the addresses of each such list
    std::uint64_t accesses_ = 0;           ///< for which that holds
};

/// Binds by a plan, without another search, and without allocations unless owners leave. Returns the number of changed
/// nodes. Returns nothing, and changes nothing, if new addresses are not enough, or if a binding must be refused: the
/// whole search then decides. Throws UpdateError, and changes nothing, if CUDA refuses.
///   - The nodes have been bound before, and still have the parameters of their kernels.
///   - Their declared accesses are those of single arguments, and have been searched for races at these addresses.
///   - Owners come in the place of others. Those that stay with another node of this call need no mark of a launch.
[[nodiscard]] std::optional<std::size_t> bind_by_plan(ExecState& exec, BindPlan& plan,
                                                      std::span<const BufferBinding> bindings);

} // namespace cudag::detail
