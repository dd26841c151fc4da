// The choice of the entries that a cache keeps, by their use.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace cudag::detail {

/// The uses of one entry of a cache. Remembered for entries that are not kept, too.
struct UseHistory {
    static constexpr unsigned gap_scale = 8;

    std::uint64_t last = 0;       ///< number of the last use, among the uses of all entries; 0: none yet
    std::uint64_t scaled_gap = 0; ///< smoothed number of uses of all entries between two of this one, times gap_scale
    std::uint64_t uses = 0;
    std::uint64_t uses_when_kept = 0;
};

/// Keeps the entries that come again soonest, as far as their uses so far can tell. Knows neither the entries nor CUDA:
/// caches ask it, and so does a simulation.
///
/// Each entry has a distance: its smoothed gap between uses, or the time since its last use if that is longer. So an
/// entry used once a round keeps its distance, and one no longer used falls behind within one gap (as in LIRS, which
/// takes the last gap). A gap counts as twice the smoothed one at most: an entry that comes again after a pause is as
/// near as before it. An entry without a place gets that of the most distant one if it comes `margin` times as often.
/// If a place changes hands before its entry has paid for itself, by `uses_to_pay` uses, the margin doubles, else it
/// falls: equally frequent entries then stop displacing each other, and new phases are followed at once.
class KeepPolicy {
  public:
    static constexpr std::uint64_t uses_to_pay = 4; ///< uses that save the cost of making an entry
    static constexpr double least_margin = 1.15, most_margin = 8;

    /// Counts a use. The first gaps weigh alike.
    void use(UseHistory& entry) noexcept {
        entry = used(entry);
        ++clock_;
    }
    /// Counts a use of an entry kept for some time: a few instructions.
    [[gnu::always_inline]] void use_kept(UseHistory& entry) noexcept {
        ++clock_;
        add_row(entry, 1);
    }
    /// Counts `count` uses in a row, the last of which was the `clock()`th of all.
    [[gnu::always_inline]] void add_row(UseHistory& entry, std::uint64_t count) const noexcept {
        if (count != 1 || entry.uses < UseHistory::gap_scale) return add_long_row(entry, count);
        const std::uint64_t mean = entry.scaled_gap / UseHistory::gap_scale;
        entry.scaled_gap += std::min(clock_ - entry.last, 2 * mean + 1) - mean;
        entry.last = clock_;
        ++entry.uses;
    }
    [[gnu::noinline]] void add_long_row(UseHistory& entry, std::uint64_t count) const noexcept {
        constexpr std::uint64_t forgotten = 64; // uses after which a gap no longer matters
        const std::uint64_t first = clock_ - count + 1;
        for (std::uint64_t i = 0; i < std::min(count, forgotten); ++i)
            entry = used(entry, first + i);
        if (count <= forgotten) return;
        entry.last = clock_;
        entry.uses += count - forgotten;
    }
    void pass(std::uint64_t uses) noexcept { clock_ += uses; }
    [[nodiscard]] std::uint64_t clock() const noexcept { return clock_; }

    /// The history after one more use, now.
    [[nodiscard]] UseHistory used(const UseHistory& entry) const noexcept { return used(entry, clock_ + 1); }

    /// The number of uses of all entries from one of this entry to the next, as far as known.
    [[nodiscard]] double distance(const UseHistory& entry) const noexcept {
        if (entry.uses < 2) return never;
        const std::uint64_t idle = clock_ > entry.last ? clock_ - entry.last : 0;
        return std::max(static_cast<double>(entry.scaled_gap) / UseHistory::gap_scale, static_cast<double>(idle));
    }
    /// Whether `a` is to go before `b`: the more distant one, or the one used less recently. Large ones go before small
    /// ones of the same distance.
    [[nodiscard]] bool goes_before(const UseHistory& a, const UseHistory& b, std::size_t size_of_a = 1,
                                   std::size_t size_of_b = 1) const noexcept {
        const double of_a = distance(a) * static_cast<double>(size_of_a);
        const double of_b = distance(b) * static_cast<double>(size_of_b);
        return of_a != of_b ? of_a > of_b : a.last < b.last;
    }
    /// Whether an entry has come again, and still comes, as far as its gaps can tell.
    [[nodiscard]] bool is_active(const UseHistory& entry) const noexcept {
        constexpr std::uint64_t gaps = 4;
        return entry.uses >= 2 && (clock_ - entry.last) * UseHistory::gap_scale <= gaps * entry.scaled_gap;
    }
    /// The uses of an entry for each use of a cache: what an entry is worth.
    [[nodiscard]] double frequency(const UseHistory& entry) const noexcept { return 1 / distance(entry); }
    /// Whether an entry is worth more than others of `frequency` in all, the cost of its making included.
    [[nodiscard]] bool displaces(const UseHistory& entry, double of_others) const noexcept {
        return entry.uses >= 2 && frequency(entry) > margin_ * of_others;
    }

    /// Gives an entry a place.
    void keep(UseHistory& entry) const noexcept { entry.uses_when_kept = entry.uses; }
    /// Takes the place of an entry for another one.
    void displace(const UseHistory& entry) noexcept {
        const bool has_paid = entry.uses - entry.uses_when_kept >= uses_to_pay;
        margin_ = has_paid ? std::max(least_margin, margin_ * 0.8) : std::min(most_margin, margin_ * 2);
    }
    [[nodiscard]] double margin() const noexcept { return margin_; }

  private:
    [[nodiscard]] static UseHistory used(UseHistory entry, std::uint64_t now) noexcept {
        std::uint64_t gap = now - entry.last;
        constexpr std::uint64_t few = 4; // uses that do not tell a pause from a gap
        if (entry.uses >= few) gap = std::min(gap, 2 * (entry.scaled_gap / UseHistory::gap_scale) + 1);
        if (entry.uses != 0) { // the first use ends no gap
            const std::uint64_t gaps = std::min<std::uint64_t>(entry.uses, UseHistory::gap_scale);
            entry.scaled_gap = (entry.scaled_gap * (gaps - 1) + gap * UseHistory::gap_scale) / gaps;
        }
        entry.last = now;
        ++entry.uses;
        return entry;
    }

    static constexpr double never = 1e18; ///< the distance of an entry used once

    std::uint64_t clock_ = 0;
    double margin_ = least_margin;
};

} // namespace cudag::detail
