// Bindings of a graph's nodes to DynamicParams.
#pragma once

#include "lists/assertion.hpp"
#include "lists/growth.hpp"
#include "lists/renumbering.hpp"
#include "node_table.hpp"

#include <cudag/detail/call_effects.hpp>
#include <cudag/detail/driven.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cudag::detail {

/// A use of a DynamicParam by a node: a kernel argument, or the quantity described by `driven`.
struct Binding {
    std::uint32_t node;
    std::uint32_t argument;
    std::shared_ptr<const Driven> driven = nullptr;
    std::size_t most = 0;          ///< elements of a driven copy or fill
    AccessMode mode = {};          ///< of a span argument
    std::size_t element_bytes = 0; ///< of a span argument; 0 for others
};

/// The bindings of one graph, by the id of the DynamicParam.
class Bindings {
  public:
    /// Makes room for `list`.
    void reserve(const std::vector<ArgumentBinding>& list) {
        for (const ArgumentBinding& binding : list)
            reserve_more(all_[binding.dynamic], list.size());
    }
    /// Adds a binding. Call `reserve` first.
    void add(std::uint64_t dynamic, Binding&& binding) noexcept {
        CUDAG_ASSERT(all_.contains(dynamic) && has_room(of(dynamic)));
        all_.find(dynamic)->second.push_back(std::move(binding));
    }
    /// Makes room for one more binding of `dynamic`.
    void reserve(std::uint64_t dynamic) { reserve_more(all_[dynamic], 1); }
    [[nodiscard]] const std::vector<Binding>& of(std::uint64_t dynamic) const noexcept {
        static const std::vector<Binding> empty; // a constant
        const auto found = all_.find(dynamic);
        return found == all_.end() ? empty : found->second;
    }

    /// Calls `use(dynamic, binding)` for each binding.
    template <class Use>
    void for_each(const Use& use) const {
        for (const auto& [dynamic, list] : all_)
            for (const Binding& binding : list)
                use(dynamic, binding);
    }
    /// Calls `use(node, most)` for each copy or fill of driven size.
    template <class Use>
    void for_each_driven_size(const Use& use) const {
        for (const auto& [dynamic, list] : all_)
            for (const Binding& binding : list)
                if (binding.most != 0) use(binding.node, binding.most);
    }

    void renumber(const Renumbering& next) noexcept {
        for (auto& [dynamic, list] : all_) {
            std::erase_if(list, [&](const Binding& binding) { return !next.keeps(binding.node); });
            for (Binding& binding : list)
                binding.node = next(binding.node);
        }
    }

  private:
    std::unordered_map<std::uint64_t, std::vector<Binding>> all_;
};

} // namespace cudag::detail
