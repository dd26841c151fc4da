// What nodes and updates keep alive.
#pragma once

#include <cudag/detail/few_of.hpp>

#include <cstdint>
#include <memory>
#include <utility>

namespace cudag::detail {

/// One owner, and which argument of its node it belongs to (a kernel's parameter; 0 for other nodes' first operand).
struct Owner {
    std::uint32_t argument = 0;
    std::uint32_t word =
        0; ///< of one of several addresses in a kernel's argument: one more than its place in the block
    std::shared_ptr<const void> object;
};

/// The owners found in the arguments of one call; without an allocation where they are few, and empty where everything
/// is borrowed.
using Owners = FewOf<Owner, 4>;

/// Whatever `object` points to, volatile things too.
template <class Object>
std::shared_ptr<const void> any_owner(const std::shared_ptr<Object>& object) noexcept {
    return {object, const_cast<const void*>(static_cast<const volatile void*>(object.get()))};
}

inline void keep(Owners& owners, std::uint32_t argument, std::shared_ptr<const void> object) {
    if (object) owners.push_back({argument, 0, std::move(object)});
}

} // namespace cudag::detail
