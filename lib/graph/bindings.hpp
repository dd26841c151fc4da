// The arguments of a graph that follow DynamicParams.
#pragma once

#include "lists/growth.hpp"
#include "node_table.hpp"

#include <cudag/detail/owners.hpp>

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace cudag::detail {

/// An argument of a kernel node.
struct Binding {
    std::uint32_t node;
    std::uint32_t argument;
};

/// By the parameter's id.
class Bindings {
  public:
    /// Room for those among `owners`.
    void reserve(const Owners& owners) {
        for (const Owner& owner : owners)
            if (owner.dynamic != 0) reserve_more(all_[owner.dynamic], owners.size());
    }
    /// There must be room.
    void add(std::uint64_t dynamic, const Binding& binding) noexcept { all_.find(dynamic)->second.push_back(binding); }
    [[nodiscard]] const std::vector<Binding>& of(std::uint64_t dynamic) const noexcept {
        static const std::vector<Binding> none;
        const auto found = all_.find(dynamic);
        return found == all_.end() ? none : found->second;
    }

  private:
    std::unordered_map<std::uint64_t, std::vector<Binding>> all_;
};

} // namespace cudag::detail
