// What a plan must say, found without it: which nodes come before which, by paths.
#pragma once

#include "plan/joins.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

/// For each of up to 64 nodes, a bit for each node that a path of full edges leads from.
inline std::vector<std::uint64_t> nodes_before(std::size_t nodes, const std::vector<cudag::detail::EdgeRecord>& edges) {
    std::vector<std::uint64_t> before(nodes);
    for (bool changed = true; changed;) {
        changed = false;
        for (const auto& edge : edges) {
            if (edge.kind != cudag::EdgeKind::full) continue;
            const std::uint64_t all = before[edge.to] | before[edge.from] | std::uint64_t{1} << edge.from;
            changed = changed || all != before[edge.to];
            before[edge.to] = all;
        }
    }
    return before;
}

/// How many of the nodes `asked` may run at once, at most: so many chains cover them (Dilworth), as a largest matching
/// of each with one that comes after it shows.
inline std::size_t width_of(const std::vector<std::uint64_t>& before, std::uint64_t asked) {
    constexpr std::uint32_t none = 64;
    std::vector<std::uint32_t> next(before.size(), none); // by node: which one comes after it in its chain
    const auto find_place = [&](auto&& again, std::uint32_t node, std::uint64_t& tried) -> bool {
        for (std::uint32_t from = 0; from < before.size(); ++from) {
            const std::uint64_t bit = std::uint64_t{1} << from;
            if ((before[node] & asked & ~tried & bit) == 0) continue;
            tried |= bit;
            if (next[from] != none && !again(again, next[from], tried)) continue;
            next[from] = node;
            return true;
        }
        return false;
    };
    std::size_t chains = 0;
    for (std::uint32_t node = 0; node < before.size(); ++node) {
        std::uint64_t tried = 0;
        if ((asked >> node & 1) != 0 && !find_place(find_place, node, tried)) ++chains;
    }
    return chains;
}
