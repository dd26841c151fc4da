// What retain() takes: things that own what they refer to.
#pragma once

#include <cudag/detail/argument.hpp>

#include <memory>

namespace cudag::detail {

template <class T>
concept OwnerArgument = is_shared_ptr<T> || requires(const T& owner) {
    { owner.owner() } -> std::convertible_to<std::shared_ptr<const void>>;
};

template <OwnerArgument T>
std::shared_ptr<const void> owner_of(const T& owner) {
    if constexpr (is_shared_ptr<T>)
        return any_owner(owner);
    else
        return owner.owner();
}

} // namespace cudag::detail
