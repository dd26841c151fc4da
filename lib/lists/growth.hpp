// How lists grow to which elements are added one by one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace cudag::detail {

template <class T>
[[gnu::noinline]] void grow(std::vector<T>& list, std::size_t more) {
    list.reserve(std::max(2 * list.capacity(), list.size() + more));
}

/// Room for `more`, so that what comes one by one is moved seldom. Inlined where nodes are added.
template <class T>
void reserve_more(std::vector<T>& list, std::size_t more) {
    if (list.capacity() - list.size() < more) [[unlikely]]
        grow(list, more);
}

} // namespace cudag::detail
