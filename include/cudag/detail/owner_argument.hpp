// What retain() takes: things that own what they refer to.
#pragma once

#include <cudag/detail/argument.hpp>

#include <memory>

namespace cudag::detail {

template <class Owner>
concept OwnerArgument = is_shared_ptr<Owner> || requires(const Owner& owner) {
    { owner.owner() } -> std::convertible_to<std::shared_ptr<const void>>;
};

template <OwnerArgument Owner>
std::shared_ptr<const void> owner_of(const Owner& owner) {
    if constexpr (is_shared_ptr<Owner>)
        return any_owner(owner);
    else
        return owner.owner();
}

} // namespace cudag::detail
