// What lists of edges share; those of nodes grow in the same way.
#pragma once

#include "edge_record.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudag::detail {

template <class T>
[[gnu::noinline]] void grow(std::vector<T>& list, std::size_t more) {
    list.reserve(std::max(2 * list.size(), list.size() + more));
}

/// Room for `more`, so that what comes one by one is moved seldom. Inlined where nodes are added.
template <class T>
void reserve_more(std::vector<T>& list, std::size_t more) {
    if (list.capacity() - list.size() < more) [[unlikely]]
        grow(list, more);
}

/// Removes the edges of nodes from `first` on.
inline void forget_nodes(std::vector<EdgeRecord>& list, std::uint32_t first) {
    std::erase_if(list, [first](const EdgeRecord& edge) { return edge.from >= first || edge.to >= first; });
}

} // namespace cudag::detail
