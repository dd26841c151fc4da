// Results about a graph, kept with it by functions above.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace cudag::detail {

class GraphState;

/// Base of the results about one graph: each function derives a type of its own for its result.
struct GraphMemo {
    GraphMemo() = default;
    virtual ~GraphMemo() = default;
    GraphMemo(const GraphMemo&) = delete;
    GraphMemo& operator=(const GraphMemo&) = delete;
};

/// The memos of one graph, at most one of each type. Threads: under the lock of the graph, the hint excepted.
class GraphMemos {
  public:
    /// The memo of type `Memo`, made by its first use. Throws std::bad_alloc.
    template <class Memo>
    [[nodiscard]] Memo& of() {
        for (const auto& [type, memo] : memos_)
            if (type == &type_of<Memo>) return static_cast<Memo&>(*memo);
        auto made = std::make_unique<Memo>();
        Memo& memo = *made;
        memos_.emplace_back(&type_of<Memo>, std::move(made));
        return memo;
    }
    /// Drops all memos: the graph's edges have changed.
    void forget() noexcept {
        memos_.clear();
        hint_.store(0, std::memory_order_relaxed);
    }
    /// A number by which a cache of Execs finds the graph's Exec without a lock; 0 at first.
    [[nodiscard]] std::atomic<std::uint64_t>& hint() noexcept { return hint_; }

  private:
    template <class>
    static constexpr char type_of = 0; ///< its address stands for the type

    std::vector<std::pair<const char*, std::unique_ptr<GraphMemo>>> memos_;
    std::atomic<std::uint64_t> hint_ = 0;
};

[[nodiscard]] GraphMemos& memos_of(const GraphState& graph) noexcept;

} // namespace cudag::detail
