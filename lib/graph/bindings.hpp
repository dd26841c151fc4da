// What of a graph's nodes follows DynamicParams.
#pragma once

#include "lists/growth.hpp"
#include "node_table.hpp"

#include <cudag/detail/driven.hpp>
#include <cudag/detail/owners.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cudag::detail {

/// An argument of a kernel node, or what `driven` says.
struct Binding {
    std::uint32_t node;
    std::uint32_t argument;
    std::shared_ptr<const Driven> driven = nullptr;
    std::size_t most = 0; ///< elements of a driven copy or fill
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
    void add(std::uint64_t dynamic, Binding&& binding) noexcept {
        all_.find(dynamic)->second.push_back(std::move(binding));
    }
    /// Room for one more of `dynamic`.
    void reserve(std::uint64_t dynamic) { reserve_more(all_[dynamic], 1); }
    [[nodiscard]] const std::vector<Binding>& of(std::uint64_t dynamic) const noexcept {
        static const std::vector<Binding> none;
        const auto found = all_.find(dynamic);
        return found == all_.end() ? none : found->second;
    }

  private:
    std::unordered_map<std::uint64_t, std::vector<Binding>> all_;
};

} // namespace cudag::detail
