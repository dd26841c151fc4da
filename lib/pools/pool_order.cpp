// Pools in an order: the launches of the graphs that share a pool's memory.
#include <cudag/pool_order.hpp>

#include "borrowed_memory.hpp"

#include "cuda/checks.hpp"
#include "cuda/failure.hpp"
#include "exec/exec_state.hpp"
#include "exec/launch_guards.hpp"
#include "footprint/footprint_sum.hpp"
#include "graph/construction.hpp"
#include "graph/graph_tree.hpp"
#include "graph/names.hpp"
#include "memory/pool_state.hpp"

#include <cudag/capture_pool.hpp>
#include <cudag/exec.hpp>
#include <cudag/format.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

namespace cudag {

namespace detail {

/// The order, and the place of the last launch in it.
class PoolOrderState final : public LaunchGuard {
  public:
    PoolOrderState(const CapturePool& pool, std::span<const std::reference_wrapper<const Graph>> graphs,
                   const PoolOrderOptions& options, const SourceLocation& location)
        : pool_(pool.owner().get()), pool_name_(pool.memory().name), location_(location), options_(options) {
        const Subject subject{fmt::format("order of {} stated at {}", pool_name_, location), {}, location};
        if (graphs.empty()) refuse("there are no graphs; state those that share the pool's memory", subject);
        for (const Graph& graph : graphs) {
            const std::shared_ptr<GraphState>& shared = Access::shared_state(graph);
            static_cast<void>(Access::state(graph)); // not moved from
            require_root(*shared, "PoolOrder");
            if (place_of(shared.get()))
                refuse(fmt::format("{} is there twice; an order has each graph once", describe_graph(*shared)),
                       subject);
            if (!keeps_pool([&](FootprintSum& sum) { sum.add(graph); }))
                refuse(fmt::format("{} keeps neither the pool nor a buffer of it; let it retain(pool)",
                                   describe_graph(*shared)),
                       subject);
            graphs_.push_back({shared, shared.get(), describe_graph(*shared), construction_of(*shared).name});
        }
    }

    /// Notes the memory of the graphs, for checks.
    void note_memory(std::span<const std::reference_wrapper<const Graph>> graphs) {
        FootprintSum sum;
        for (const Graph& graph : graphs)
            sum.add(graph);
        std::vector<const PoolState*> kept;
        for (const auto& pool : sum.pools())
            kept.push_back(pool.get());
        borrowed_.except(std::move(kept));
        for (const Graph& graph : graphs)
            borrowed_.note(Access::state(graph));
        is_checked_ = true;
    }

    void check(const ExecState& exec) override {
        const std::optional<std::size_t> place = place_of(&exec.made_from());
        if (!place) return require_stranger(exec);
        const std::scoped_lock lock(mutex_);
        if (!may_follow(*place)) refuse_launch(*place);
        borrowed_.check(exec);
        before_last_ = std::exchange(last_, *place);
        ++launches_;
    }
    void take_back(const ExecState& exec) noexcept override {
        if (!place_of(&exec.made_from())) return;
        const std::scoped_lock lock(mutex_);
        last_ = before_last_;
        --launches_;
    }

    [[nodiscard]] bool is_checked() const noexcept { return is_checked_; }
    [[nodiscard]] std::size_t launches() const {
        const std::scoped_lock lock(mutex_);
        return launches_;
    }
    void restart() {
        const std::scoped_lock lock(mutex_);
        last_.reset();
    }

  private:
    struct Ordered {
        std::weak_ptr<const GraphState> alive; ///< another graph may have the address of one that is gone
        const GraphState* graph;
        std::string name;
        std::string label;
    };

    [[nodiscard]] std::optional<std::size_t> place_of(const GraphState* graph) const noexcept {
        for (std::size_t i = 0; i < graphs_.size(); ++i)
            if (graphs_[i].graph == graph && !graphs_[i].alive.expired()) return i;
        return std::nullopt;
    }

    template <class Add>
    [[nodiscard]] bool keeps_pool(const Add& add) const {
        FootprintSum sum;
        add(sum);
        const auto pools = sum.pools();
        return std::ranges::any_of(pools, [&](const auto& pool) { return pool.get() == pool_; });
    }

    /// Refuses a launch of a graph that has the pool's memory and no place in the order.
    void require_stranger(const ExecState& exec) const {
        if (!keeps_pool([&](FootprintSum& sum) { sum.add(exec); })) return;
        refuse<Error>(
            fmt::format("it keeps memory of {}, and is not in the order stated at {}; state it there", pool_name_,
                        location_),
            {"launch of an Exec of " + describe_graph(exec.source()), {construction_of(exec.source()).name}, location_},
            cudaErrorNotPermitted);
    }

    [[nodiscard]] std::size_t next() const noexcept { return last_ ? (*last_ + 1) % graphs_.size() : 0; }
    [[nodiscard]] bool may_follow(std::size_t place) const noexcept {
        if (place == 0 || place == next()) return true;
        if (options_.may_repeat && last_ == place) return true;
        const bool is_new_round = !last_ || *last_ + 1 == graphs_.size();
        return options_.may_skip && (is_new_round || place > *last_);
    }
    [[noreturn]] void refuse_launch(std::size_t place) const {
        const Ordered& graph = graphs_[place];
        const Ordered& wanted = graphs_[next()];
        const std::string before = last_ ? "after " + graphs_[*last_].name : "at the beginning";
        refuse<Error>(fmt::format("out of the order of {}, stated at {}: {} comes {}; launch that, or begin again with "
                                  "{}",
                                  pool_name_, location_, before, wanted.name, graphs_.front().name),
                      {"launch of an Exec of " + graph.name, {graph.label, wanted.label}, location_},
                      cudaErrorNotPermitted);
    }

    const void* pool_;
    std::string pool_name_;
    SourceLocation location_;
    PoolOrderOptions options_;
    std::vector<Ordered> graphs_;
    bool is_checked_ = false;
    BorrowedMemory borrowed_;

    mutable std::mutex mutex_;
    std::optional<std::size_t> last_; ///< the place of the last launch; nothing before the first one
    std::optional<std::size_t> before_last_;
    std::size_t launches_ = 0;
};

} // namespace detail

PoolOrder::PoolOrder(const CapturePool& pool, std::span<const std::reference_wrapper<const Graph>> graphs,
                     PoolOrderOptions options, SourceLocation location)
    : state_(std::make_shared<detail::PoolOrderState>(pool, graphs, options, location)) {
    if (!options.checked && !detail::is_check_on("pools")) return;
    state_->note_memory(graphs);
    detail::add_launch_guard(state_);
}

PoolOrder::PoolOrder(PoolOrder&&) noexcept = default;
PoolOrder& PoolOrder::operator=(PoolOrder&& other) noexcept {
    if (this == &other) return *this;
    if (state_) detail::remove_launch_guard(state_.get());
    state_ = std::move(other.state_);
    return *this;
}
PoolOrder::~PoolOrder() {
    if (state_) detail::remove_launch_guard(state_.get());
}

bool PoolOrder::is_checked() const {
    return state().is_checked();
}
std::size_t PoolOrder::launches() const {
    return state().launches();
}
void PoolOrder::restart() {
    state().restart();
}

detail::PoolOrderState& PoolOrder::state() const {
    if (!state_) detail::refuse("a moved-from PoolOrder was used");
    return *state_;
}

} // namespace cudag
