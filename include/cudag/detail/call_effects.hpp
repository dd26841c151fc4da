// The effects of the arguments of one call, in addition to their values.
#pragma once

#include <cudag/detail/few_of.hpp>
#include <cudag/detail/memory_block.hpp>
#include <cudag/detail/owners.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace cudag::detail {

/// An argument bound to a DynamicParam.
struct ArgumentBinding {
    std::uint32_t argument;
    std::uint64_t dynamic;
    AccessMode mode = {};          ///< for a span: the kernel's access to its memory
    std::size_t element_bytes = 0; ///< for a span; 0 for other values
};

using ArgumentAccesses = FewOf<ArgumentAccess, 4>;

/// The owners, bindings and accesses of a call. Numbers and raw pointers have none. A few owners and accesses need no
/// allocation.
struct CallEffects {
    Owners owners = {};
    std::vector<ArgumentBinding> bindings = {};
    ArgumentAccesses accesses = {}; ///< to memory of known extent, in the order of the arguments

    [[nodiscard]] bool empty() const noexcept { return owners.empty() && bindings.empty() && accesses.empty(); }
};

/// Records an owner unless it is null.
inline void keep(CallEffects& effects, std::uint32_t argument, std::shared_ptr<const void> object) {
    keep(effects.owners, argument, std::move(object));
}

/// Records an access unless the block is empty.
inline void touch(CallEffects& effects, std::uint32_t argument, AccessMode mode, std::size_t element_bytes,
                  const MemoryBlock& block) {
    if (!block.is_empty()) effects.accesses.push_back({argument, mode, element_bytes, block});
}

} // namespace cudag::detail
