// A check that a change of nodes causes no race.
#pragma once

#include "cuda/failure.hpp"
#include "race_watch.hpp"

#include <cudag/error.hpp>

#include <span>
#include <string>
#include <utility>

namespace cudag::detail {

/// A staged change of nodes. Nothing changes until `commit`.
class RaceCheck {
  public:
    RaceCheck() noexcept = default;
    ~RaceCheck() { roll_back(); }
    RaceCheck(const RaceCheck&) = delete;
    RaceCheck& operator=(const RaceCheck&) = delete;

    /// Stages new `params` and `declared` accesses of a node watched by `watch`.
    void stage(RaceWatch& watch, const NodePlace& node, const NodeParams& params,
               std::span<const ArgumentAccess> declared) {
        watch_ = &watch;
        watch.stage(node, params, declared);
    }
    /// Throws RaceError if the staged change would cause a race. The message ends with `remedy`, which may be empty.
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
