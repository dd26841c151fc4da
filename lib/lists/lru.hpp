// The entries of a cache in the order of their last use, also by key.
#pragma once

#include "assertion.hpp"

#include <algorithm>
#include <iterator>
#include <list>
#include <unordered_map>
#include <utility>

namespace cudag::detail {

/// The entries of a cache, the least recently used first.
template <class Entry>
class LruInFlight : private std::list<Entry> {
    using List = std::list<Entry>;

  public:
    using Place = typename List::iterator;
    using List::back, List::begin, List::clear, List::empty, List::end, List::erase, List::front, List::rbegin,
        List::rend, List::size;

    [[nodiscard]] Place last() noexcept { return std::prev(end()); }
    /// Adds one entry, made in a list of its own, as the most recently used one.
    Place add(List&& made) noexcept {
        List::splice(end(), made);
        return last();
    }
    void use(Place place) noexcept { List::splice(end(), *this, place); }
    /// Takes an entry of `other` as the most recently used one. Its place stays the same.
    void take(LruInFlight& other, Place place) noexcept { List::splice(end(), other, place); }
    /// The least recently used entry that is not in flight; the last if there is none, as it has just been used.
    template <class IsIdle>
    [[nodiscard]] Place first_idle(const IsIdle& is_idle) {
        return std::find_if(begin(), last(), is_idle);
    }
};

/// The places of entries by key, those of one key in the order of their last use.
template <class Key, class Place>
class LruIndex {
  public:
    /// Keeps an entry in the index until its destruction. The index must outlive it.
    class Link {
      public:
        Link() noexcept = default;
        ~Link() { reset(); }
        Link(const Link&) = delete;
        Link& operator=(const Link&) = delete;

        [[nodiscard]] explicit operator bool() const noexcept { return list_ != nullptr; }
        /// A copy in the entry itself: each launch by a cache reads it.
        [[nodiscard]] const Key& key() const noexcept { return key_; }
        [[nodiscard]] Place place() const noexcept { return *position_; }

        /// Makes the entry at `place` the most recently used one of `key`. Changes nothing if it throws.
        void put(LruIndex& index, const Key& key, Place place) {
            if (list_ != nullptr && key_ == key) return use();
            std::list<Place> made{place};
            std::list<Place>& next = index.lists_.try_emplace(key).first->second;
            reset();
            index_ = &index;
            list_ = &next;
            key_ = key;
            position_ = made.begin();
            next.splice(next.end(), made);
        }
        void use() noexcept {
            CUDAG_ASSERT(list_ != nullptr);
            list_->splice(list_->end(), *list_, position_);
        }
        void reset() noexcept {
            if (list_ == nullptr) return;
            list_->erase(position_);
            if (list_->empty()) index_->lists_.erase(key_);
            list_ = nullptr;
        }

      private:
        LruIndex* index_ = nullptr;
        std::list<Place>* list_ = nullptr; ///< null if it keeps none
        Key key_{};
        typename std::list<Place>::iterator position_ = {};
    };

    /// The number of keys with entries.
    [[nodiscard]] std::size_t key_count() const noexcept { return lists_.size(); }
    /// The places of the entries of `key`, the least recently used first.
    [[nodiscard]] const std::list<Place>& of(const Key& key) const {
        static const std::list<Place> nothing; // a constant
        const auto found = lists_.find(key);
        return found == lists_.end() ? nothing : found->second;
    }

  private:
    std::unordered_map<Key, std::list<Place>> lists_;
};

} // namespace cudag::detail
