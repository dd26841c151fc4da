// The accesses of the nodes of one exec: their changes, and a watch for races.
#include "exec_races.hpp"

#include "exec_declarations.hpp"
#include "exec_nodes.hpp"
#include "exec_race_watch.hpp"
#include "order/race_check.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>

namespace cudag::detail {

ExecRaces::ExecRaces(const ExecState& exec) noexcept : exec_(exec) {}
ExecRaces::~ExecRaces() = default;

RaceWatch& ExecRaces::watch() {
    ++changes_;
    if (!watch_) watch_ = std::make_unique<ExecRaceWatch>(exec_);
    if (!unwatched_.empty()) [[unlikely]]
        watch_unwatched();
    return watch_->watch();
}

void ExecRaces::watch_unwatched() {
    std::ranges::sort(unwatched_, {}, number_in_root);
    unwatched_.erase(std::unique(unwatched_.begin(), unwatched_.end()), unwatched_.end());
    RaceCheck known;
    for (const NodePlace& node : unwatched_)
        known.stage(watch_->watch(), node, exec_.effective().of(node), all_declared(exec_, node));
    known.commit();
    unwatched_.clear();
}

void ExecRaces::note_unwatched(const NodePlace& node) noexcept {
    constexpr std::size_t most = 1024; // the same nodes come again and again
    ++changes_;
    if (!watch_) return;
    try {
        if (unwatched_.size() < most) return unwatched_.push_back(node);
    } catch (...) { // out of memory
    }
    forget();
}

void ExecRaces::forget() noexcept {
    ++changes_;
    watch_.reset();
    unwatched_.clear();
}

} // namespace cudag::detail
