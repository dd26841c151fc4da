// The policy of caches, simulated: distances, margins, and the replayed share against the best possible one.
#include "lists/keep_policy.hpp"
#include "../../bench/access_patterns.hpp"

#include <catch.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

using bench::Way;
using cudag::detail::KeepPolicy;
using cudag::detail::UseHistory;

namespace {

constexpr int warm_up = 2;

/// A cache without entries: the decisions of a CaptureCache.
class SimulatedCache {
  public:
    explicit SimulatedCache(std::size_t capacity) : capacity_(capacity) {}

    Way run(int key) {
        Entry& entry = entries_[key];
        if (entry.is_kept) {
            policy_.use_kept(entry.history);
            return Way::replayed;
        }
        policy_.use(entry.history);
        if (entry.history.uses <= warm_up) return Way::eager;
        if (kept_.size() >= capacity_) {
            const auto worst = std::max_element(kept_.begin(), kept_.end(), [&](const Entry* a, const Entry* b) {
                return policy_.goes_before(b->history, a->history);
            });
            if (!policy_.displaces(entry.history, policy_.frequency((*worst)->history))) return Way::eager;
            policy_.displace((*worst)->history);
            (*worst)->is_kept = false;
            kept_.erase(worst);
        }
        policy_.keep(entry.history);
        entry.is_kept = true;
        kept_.push_back(&entry);
        return Way::captured;
    }
    std::vector<Way> run(const std::vector<int>& keys) {
        std::vector<Way> ways;
        for (const int key : keys)
            ways.push_back(run(key));
        return ways;
    }
    [[nodiscard]] const KeepPolicy& policy() const { return policy_; }
    [[nodiscard]] UseHistory history(int key) { return entries_[key].history; }

  private:
    struct Entry {
        UseHistory history;
        bool is_kept = false;
    };
    KeepPolicy policy_;
    std::map<int, Entry> entries_;
    std::vector<Entry*> kept_;
    std::size_t capacity_;
};

} // namespace

TEST_CASE("on each pattern the policy replays about as much as one that knows the future", "[core][policy]") {
    // What no policy can know without the future: which of equally frequent keys come next, and how long a burst will
    // be.
    const std::map<std::string, double> least{{"turns", 0.99},   {"zipf", 0.94},        {"phases", 0.99},
                                              {"growing", 0.99}, {"cold start", 0.99},  {"alternating", 0.95},
                                              {"bursts", 0.95},  {"one-off keys", 0.99}};
    for (const std::size_t capacity : {std::size_t{4}, std::size_t{16}})
        for (const bench::AccessPattern& pattern : bench::access_patterns(capacity, 3000)) {
            CAPTURE(capacity, pattern.name);
            const auto best = bench::best_ways(pattern.keys, capacity, warm_up, {});
            const auto ways = SimulatedCache(capacity).run(pattern.keys);
            CHECK(bench::share_of(ways, Way::replayed) >=
                  least.at(pattern.name) * bench::share_of(best, Way::replayed));
            if (capacity == 16) // that of the note in docs/caches.md
                CHECK(bench::share_of(ways, Way::replayed) >= 0.95 * bench::share_of(best, Way::replayed));
            CHECK(bench::mean_cost(ways, {}) >= bench::mean_cost(best, {}) - 1e-9);
            CHECK(bench::mean_cost(ways, {}) <= bench::mean_cost(best, {}) + 0.3);
        }
}

TEST_CASE("keys in turns beyond the capacity keep their places", "[core][policy]") {
    const int beyond = GENERATE(1, 16, 100);
    SimulatedCache cache(16);
    std::vector<int> keys;
    for (int i = 0; i < 2000; ++i)
        keys.push_back(i % (16 + beyond));
    const auto ways = cache.run(keys);
    CHECK(std::count(ways.begin(), ways.end(), Way::captured) == 16);
    CHECK(bench::share_of(ways, Way::replayed) ==
          Approx(bench::share_of(bench::best_ways(keys, 16, warm_up, {}), Way::replayed)));
}

TEST_CASE("a key that comes often displaces one that comes no more, and not one that comes as often",
          "[core][policy]") {
    SimulatedCache cache(1);
    for (int i = 0; i < 10; ++i)
        cache.run(1);
    CHECK(cache.run(1) == Way::replayed);
    for (int i = 0; i < 10; ++i) { // in turns
        CHECK(cache.run(2) == Way::eager);
        CHECK(cache.run(1) == Way::replayed);
    }
    int calls = 0;
    while (cache.run(2) == Way::eager)
        ++calls;
    CHECK(calls <= 4);
    CHECK(cache.run(2) == Way::replayed);
    CHECK(cache.run(1) == Way::eager); // as often as its history says, but 2 is as near
}

TEST_CASE("a place that changes hands before it has paid doubles the margin", "[core][policy]") {
    KeepPolicy policy;
    UseHistory entry;
    for (int i = 0; i < 3; ++i)
        policy.use(entry);
    policy.keep(entry);
    CHECK(policy.margin() == KeepPolicy::least_margin);
    policy.displace(entry);
    CHECK(policy.margin() == 2 * KeepPolicy::least_margin);
    for (int i = 0; i < 10; ++i)
        policy.displace(entry);
    CHECK(policy.margin() == KeepPolicy::most_margin);
    for (std::uint64_t i = 0; i < KeepPolicy::uses_to_pay; ++i)
        policy.use_kept(entry);
    for (int i = 0; i < 20; ++i)
        policy.displace(entry);
    CHECK(policy.margin() == KeepPolicy::least_margin);
}

TEST_CASE("a history has the mean of the first gaps, then a smoothed one, and the time since the last use",
          "[core][policy]") {
    KeepPolicy policy;
    UseHistory entry, other;
    policy.use(entry);
    CHECK(policy.distance(entry) > 1e15); // used once
    CHECK_FALSE(policy.displaces(entry, 0));
    const auto after = [&](std::uint64_t gap) {
        policy.pass(gap - 1);
        policy.use(entry);
        return policy.distance(entry);
    };
    CHECK(after(4) == 4);
    CHECK(after(8) == 6);
    policy.pass(20);
    CHECK(policy.distance(entry) == 20);
    policy.use(other);
    policy.use(other);
    CHECK(policy.distance(other) == 1);
    CHECK(policy.goes_before(entry, other));
    CHECK(policy.displaces(other, policy.frequency(entry)));
    CHECK_FALSE(policy.displaces(other, policy.frequency(entry) * 22));
}

TEST_CASE("after a pause an entry is as near as before, if not much farther in the end", "[core][policy]") {
    KeepPolicy policy;
    UseHistory entry;
    const auto use_after = [&](std::uint64_t gap) {
        policy.pass(gap - 1);
        policy.use(entry);
        return policy.distance(entry);
    };
    for (int i = 0; i < 10; ++i)
        use_after(8);
    CHECK(policy.distance(entry) == 8);
    CHECK(use_after(1000) == Approx(9).margin(0.25)); // a gap of 17
    CHECK(use_after(8) == Approx(9).margin(0.25));
    double distance = 0;
    for (int i = 0; i < 60; ++i)
        distance = use_after(1000); // no pauses: it has become rare
    CHECK(distance == Approx(1000).margin(20));
    UseHistory few;
    policy.use(few);
    policy.pass(99);
    policy.use(few);
    policy.pass(9);
    policy.use(few);
    CHECK(policy.distance(few) == 55); // the first gaps count in full
}

TEST_CASE("uses in a row count as such, together or one by one", "[core][policy]") {
    const std::uint64_t count = GENERATE(1U, 2U, 5U, 31U, 200U);
    const int before = GENERATE(0, 1, 3, 20);
    KeepPolicy together, single;
    UseHistory a, b;
    for (int i = 0; i < before; ++i)
        together.pass(9), together.use(a), single.pass(9), single.use(b);
    together.pass(6 + count);
    together.add_row(a, count);
    single.pass(6);
    for (std::uint64_t i = 0; i < count; ++i)
        single.use(b);
    CHECK(a.uses == b.uses);
    CHECK(a.last == b.last);
    CHECK(together.distance(a) == single.distance(b));
    together.add_row(a, 0);
    CHECK(a.uses == b.uses);
}

TEST_CASE("a use of a kept entry counts as any other later one, about", "[core][policy]") {
    KeepPolicy policy;
    UseHistory kept, other;
    for (int i = 0; i < 30; ++i) {
        policy.pass(6);
        if (i < 9)
            policy.use(kept);
        else
            policy.use_kept(kept);
        policy.use(other);
    }
    CHECK(policy.distance(kept) == Approx(policy.distance(other)).margin(0.5));
    CHECK(kept.uses == other.uses);
}

TEST_CASE("the entry with the longer gaps goes first, even if it was used last; of equal ones the older, or the larger",
          "[core][policy]") {
    KeepPolicy policy;
    UseHistory rare, often, twin;
    for (int i = 0; i < 5; ++i) {
        policy.use(often), policy.use(often), policy.use(often);
        policy.pass(4);
        policy.use(rare);
    }
    CHECK(policy.goes_before(rare, often));
    CHECK_FALSE(policy.goes_before(often, rare));
    CHECK(policy.goes_before(often, rare, 100, 1)); // by size
    twin = rare;
    CHECK_FALSE(policy.goes_before(rare, twin));
    twin.last -= 1;
    CHECK(policy.goes_before(twin, rare));
    CHECK_FALSE(policy.goes_before(rare, twin));
}
