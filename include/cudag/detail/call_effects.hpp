// What the arguments of one call bring with them, besides their values.
#pragma once

#include <cudag/detail/few_of.hpp>
#include <cudag/detail/memory_region.hpp>
#include <cudag/detail/owners.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace cudag::detail {

/// An argument that follows a DynamicParam.
struct ArgumentBinding {
    std::uint32_t argument;
    std::uint64_t dynamic;
    AccessMode mode = {};          ///< of a span: what the kernel does to its memory
    std::size_t element_bytes = 0; ///< of a span; 0 of other values
};

/// What a node does to memory through one of its arguments.
struct ArgumentAccess {
    std::uint32_t argument;
    AccessMode mode;
    std::size_t element_bytes;
    MemoryRegion region;
    std::uint32_t unit = 0;        ///< of what a captured region declares as a whole: see MemoryAccess
    std::uintptr_t moved_from = 0; ///< where the graph has it, if an exec binds what a whole node declares; or 0
    friend bool operator==(const ArgumentAccess&, const ArgumentAccess&) = default;
};

using ArgumentAccesses = FewOf<ArgumentAccess, 4>;

/// Empty where arguments are numbers and raw pointers; without an allocation where few of them are anything else.
struct CallEffects {
    Owners owners = {};
    std::vector<ArgumentBinding> bindings = {};
    ArgumentAccesses accesses = {}; ///< of memory whose extent is known, in order of the arguments

    [[nodiscard]] bool empty() const noexcept { return owners.empty() && bindings.empty() && accesses.empty(); }
};

inline void keep(CallEffects& effects, std::uint32_t argument, std::shared_ptr<const void> object) {
    keep(effects.owners, argument, std::move(object));
}

inline void touch(CallEffects& effects, std::uint32_t argument, AccessMode mode, std::size_t element_bytes,
                  const MemoryRegion& region) {
    if (!region.is_empty()) effects.accesses.push_back({argument, mode, element_bytes, region});
}

} // namespace cudag::detail
