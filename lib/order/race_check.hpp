// A change of nodes that must make no race.
#pragma once

#include "cuda/failure.hpp"
#include "race_watch.hpp"

#include <cudag/error.hpp>

#include <span>
#include <string>
#include <utility>

namespace cudag::detail {

/// Until `commit` nothing has changed.
class RaceCheck {
  public:
    RaceCheck() noexcept = default;
    ~RaceCheck() { roll_back(); }
    RaceCheck(const RaceCheck&) = delete;
    RaceCheck& operator=(const RaceCheck&) = delete;

    /// A node that is to have `params`, and declares `declared`, in what `watch` watches.
    void stage(RaceWatch& watch, const NodePlace& node, const NodeParams& params,
               std::span<const ArgumentAccess> declared) {
        watch_ = &watch;
        watch.stage(node, params, declared);
    }
    /// Throws RaceError if what is staged would make a race, with a word about what to do, which may be empty.
    template <class MakeSubject>
    void require_none(const char* remedy, const MakeSubject& subject) const {
        if (watch_ == nullptr) [[likely]]
            return;
        if (const std::optional<Race> race = watch_->find())
            refuse<RaceError>("it would make a race: " + to_string(*race) + remedy, subject());
    }
    void roll_back() noexcept {
        if (watch_ != nullptr) std::exchange(watch_, nullptr)->roll_back();
    }
    void commit() noexcept {
        if (watch_ != nullptr) std::exchange(watch_, nullptr)->commit();
    }

  private:
    RaceWatch* watch_ = nullptr;
};

} // namespace cudag::detail
