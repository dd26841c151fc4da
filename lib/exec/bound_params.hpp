// Uses of the BufferParams bound last in an exec's graph.
#pragma once

#include "bind_plan.hpp"
#include "graph/find.hpp"
#include "graph/graph_records.hpp"
#include "handles/address_index.hpp"
#include "handles/buffer_uses.hpp"

#include <cudag/access.hpp>
#include <cudag/buffer_param.hpp>
#include <cudag/detail/recapture.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <list>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cudag::detail {

/// A cache of uses, by memory and options of the parameters. One search for each is enough: the parameters of an exec's
/// source graph never change. Holds a few uses for each address in the graph; drops the least recently bound first.
class BoundParams {
  public:
    using Uses = std::shared_ptr<const MemoryUses>;

    /// Returns the uses in `graph`, the same graph in each call since `forget_all`, as nodes of `source`, which has the
    /// same nodes. Throws GraphError.
    [[nodiscard]] Uses find(const GraphState& graph, const GraphState& source, const ParamMemory& param) {
        forget_others(graph);
        const auto known = places_.find(Key(param));
        if (known != places_.end()) return known->second->uses;
        const auto found = std::make_shared<MemoryUses>(uses_of(graph, param));
        if (&graph == &source) [[likely]]
            return found;
        const auto move = [&](auto& use) { use.place.graph = &counterpart_in(source, *use.place.graph); };
        std::ranges::for_each(found->uses, move);
        std::ranges::for_each(found->declared, move);
        std::ranges::for_each(found->obstacles, move);
        return found;
    }
    void forget_all() noexcept { forget(); }
    /// Keeps the uses of a bound parameter. If memory runs out, drops all uses: they are searched again.
    void keep(const GraphState& graph, const ParamMemory& param, const Uses& uses) noexcept {
        try {
            const Key key(param);
            if (const auto known = places_.find(key); known != places_.end()) {
                entries_.splice(entries_.end(), entries_, known->second);
                return;
            }
            entries_.push_back({key, uses});
            size_ += entries_.back().size();
            places_.emplace(key, std::prev(entries_.end()));
            evict(uses_that_fit(graph));
        } catch (...) {
            forget();
        }
    }

    /// Returns the plan for these parameters in this order; null if there is none.
    [[nodiscard]] BindPlan* find_plan(const GraphState& graph, std::span<const BufferBinding> bindings) noexcept {
        if (plans_.empty()) return nullptr;
        forget_others(graph);
        const auto known = std::ranges::find_if(plans_, [&](const KnownPlan& plan) { return plan.is_of(bindings); });
        return known == plans_.end() ? nullptr : &known->plan;
    }
    void forget_plans() noexcept { plans_.clear(); }
    /// Keeps the plan for these parameters, with the uses that it refers to. Keeps the latest few plans.
    void keep_plan(std::span<const BufferBinding> bindings, std::vector<Uses>&& uses, BindPlan&& plan) noexcept {
        constexpr std::size_t most = 4;
        try {
            KnownPlan known{{}, std::move(uses), std::move(plan)};
            for (const BufferBinding& binding : bindings)
                known.keys.emplace_back(Access::memory(binding));
            std::erase_if(plans_, [&](const KnownPlan& other) { return other.is_of(bindings); });
            if (plans_.size() == most) plans_.erase(plans_.begin());
            plans_.push_back(std::move(known));
        } catch (...) {
            plans_.clear();
        }
    }

    /// Returns what captures the graph `inner` again with its memory in force, in an exec with this basis; null if it
    /// cannot be captured again. `made` is that of the basis.
    [[nodiscard]] std::shared_ptr<const Recapture> recapture(const GraphState& inner, const GraphState& basis,
                                                             const std::shared_ptr<const Recapture>& made) const {
        const auto known = recaptures_.find(&inner);
        return known == recaptures_.end() || known->second.basis != &basis ? made : known->second.recapture;
    }
    /// Makes room for one more.
    void reserve_recapture(const GraphState& inner) { recaptures_.try_emplace(&inner); }
    /// Notes the graph given to the node around `inner` by an update or bind; call `reserve_recapture` first.
    void set_recapture(const GraphState& inner, const GraphState& basis,
                       const std::shared_ptr<const Recapture>& recapture) noexcept {
        recaptures_.find(&inner)->second = {&basis, recapture};
    }

  private:
    /// The graph in force inside a node.
    struct InForce {
        const GraphState* basis = nullptr; ///< of the exec, when it was given
        std::shared_ptr<const Recapture> recapture = nullptr;
    };
    struct Key {
        explicit Key(const ParamMemory& param) noexcept
            : address(param.address), bytes(param.bytes), in_objects(param.in_objects),
              end_pointers(param.end_pointers) {}

        std::uintptr_t address;
        std::size_t bytes;
        bool in_objects;
        EndPointers end_pointers;
        bool operator==(const Key&) const = default;
    };
    struct HashOfKey {
        std::size_t operator()(const Key& key) const noexcept {
            return std::hash<std::uintptr_t>()(key.address + 31 * key.bytes);
        }
    };
    struct KnownPlan {
        std::vector<Key> keys;
        std::vector<Uses> uses;
        BindPlan plan;

        [[nodiscard]] bool is_of(std::span<const BufferBinding> bindings) const noexcept {
            return std::ranges::equal(keys, bindings, {}, {},
                                      [](const BufferBinding& binding) { return Key(Access::memory(binding)); });
        }
    };
    struct Entry {
        Key key;
        Uses uses;
        [[nodiscard]] std::size_t size() const noexcept { return uses->uses.size() + uses->declared.size() + 2; }
    };

    static std::size_t uses_that_fit(const GraphState& graph) { return 64 + 3 * addresses_of(graph)->words().size(); }
    void evict(std::size_t most) noexcept {
        while (size_ > most && entries_.size() > 1) {
            size_ -= entries_.front().size();
            places_.erase(entries_.front().key);
            entries_.pop_front();
        }
    }
    /// Forgets all that was found before the last declaration.
    void forget_others(const GraphState& graph) noexcept {
        if (const std::uint64_t version = records_of(graph).declared_version(); version != version_) {
            forget();
            version_ = version;
        }
    }
    void forget() noexcept {
        plans_.clear();
        places_.clear();
        entries_.clear();
        size_ = 0;
    }

    std::list<Entry> entries_; ///< the least recently bound first
    std::unordered_map<Key, std::list<Entry>::iterator, HashOfKey> places_;
    std::size_t size_ = 0;         ///< of all entries
    std::vector<KnownPlan> plans_; ///< the latest ones, the oldest first
    std::unordered_map<const GraphState*, InForce> recaptures_;
    std::uint64_t version_ = 0; ///< see GraphState::declared_version
};

} // namespace cudag::detail
