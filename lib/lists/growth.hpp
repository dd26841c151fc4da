// Growth policy for vectors filled one element at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace cudag::detail {

template <class T>
[[gnu::noinline]] void grow(std::vector<T>& list, std::size_t more, std::size_t least) {
    list.reserve(std::max({least, 2 * list.capacity(), list.size() + more}));
}

/// Makes room for `more` elements; doubles the capacity, from `least` elements on, so repeated additions rarely move
/// the list. Inlined where nodes are added.
template <class T>
void reserve_more(std::vector<T>& list, std::size_t more, std::size_t least = 8) {
    if (list.capacity() - list.size() < more) [[unlikely]]
        grow(list, more, least);
}

/// Whether `more` elements can be added without an allocation.
template <class T>
[[nodiscard]] bool has_room(const std::vector<T>& list, std::size_t more = 1) noexcept {
    return list.capacity() - list.size() >= more;
}

} // namespace cudag::detail
