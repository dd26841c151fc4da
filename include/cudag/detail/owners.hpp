// Owners: the objects kept alive by nodes and updates.
#pragma once

#include <cudag/detail/few_of.hpp>

#include <cstdint>
#include <memory>
#include <utility>

namespace cudag::detail {

/// An object kept alive, and the argument of its node: a kernel's parameter; 0 for the first operand of other nodes.
struct Owner {
    std::uint32_t argument = 0;
    std::uint32_t word = 0; ///< for one of several addresses in a kernel's argument: its place in the block, plus one
    std::shared_ptr<const void> object;
};

/// The owners in the arguments of one call. A few need no allocation; without owned arguments the list is empty.
using Owners = FewOf<Owner, 4>;

/// Returns an owner of `object`, which may be volatile.
template <class Object>
std::shared_ptr<const void> any_owner(const std::shared_ptr<Object>& object) noexcept {
    return {object, const_cast<const void*>(static_cast<const volatile void*>(object.get()))};
}

/// Adds an owner unless it is null.
inline void keep(Owners& owners, std::uint32_t argument, std::shared_ptr<const void> object) {
    if (object) owners.push_back({argument, 0, std::move(object)});
}

} // namespace cudag::detail
