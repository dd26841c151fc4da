// The arguments of retain(): objects with an owner.
#pragma once

#include <cudag/detail/argument.hpp>

#include <memory>

namespace cudag::detail {

/// A shared_ptr, or an object with a shared owner: a buffer, a pool.
template <class Owner>
concept OwnerArgument = is_shared_ptr<Owner> || requires(const Owner& owner) {
    { owner.owner() } -> std::convertible_to<std::shared_ptr<const void>>;
};

/// Returns the shared owner behind `owner`.
template <OwnerArgument Owner>
std::shared_ptr<const void> owner_of(const Owner& owner) {
    if constexpr (is_shared_ptr<Owner>)
        return any_owner(owner);
    else
        return owner.owner();
}

} // namespace cudag::detail
