// Uses of the BufferParams bound last in an exec's graph.
#pragma once

#include "handles/address_index.hpp"
#include "handles/buffer_uses.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <list>
#include <memory>
#include <unordered_map>
#include <utility>

namespace cudag::detail {

/// A cache of uses, by memory and options of the parameters. One search for each is enough: the parameters of an exec's
/// source graph never change. Holds a few uses for each address in the graph; drops the least recently bound first.
class BoundParams {
  public:
    using Uses = std::shared_ptr<const MemoryUses>;

    /// Returns the uses in `graph`, the same graph in each call. Throws GraphError.
    [[nodiscard]] Uses find(const GraphState& graph, const ParamMemory& param) {
        if (const std::uint64_t version = graph.records().declared_version(); version != version_) {
            forget();
            version_ = version;
        }
        const auto known = places_.find(Key(param));
        if (known != places_.end()) return known->second->uses;
        return std::make_shared<const MemoryUses>(uses_of(graph, param));
    }
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

  private:
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
    void forget() noexcept {
        places_.clear();
        entries_.clear();
        size_ = 0;
    }

    std::list<Entry> entries_; ///< the least recently bound first
    std::unordered_map<Key, std::list<Entry>::iterator, HashOfKey> places_;
    std::size_t size_ = 0;      ///< of all entries
    std::uint64_t version_ = 0; ///< see GraphState::declared_version
};

} // namespace cudag::detail
