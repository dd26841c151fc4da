// Patterns of keys, and the optimum by a flow.
#include "access_patterns.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <unordered_map>
#include <utility>

namespace bench {

namespace {

/// Random numbers that are the same everywhere.
class Draw {
  public:
    [[nodiscard]] int below(int end) { return static_cast<int>(next() % static_cast<std::uint64_t>(end)); }
    /// The number i with a chance in proportion to 1 / (i + 1).
    [[nodiscard]] int by_rank(int end) {
        double total = 0;
        for (int i = 0; i < end; ++i)
            total += 1.0 / (i + 1);
        double left = total * static_cast<double>(next() % 1'000'000) / 1e6;
        for (int i = 0; i < end; ++i)
            if ((left -= 1.0 / (i + 1)) < 0) return i;
        return end - 1;
    }

  private:
    std::uint64_t next() {
        state_ ^= state_ << 13U, state_ ^= state_ >> 7U, state_ ^= state_ << 17U;
        return state_ >> 11U;
    }
    std::uint64_t state_ = 88172645463325252U;
};

/// A network of arcs with capacities and costs, in which all nodes but the last have arcs to later nodes only.
class Network {
  public:
    explicit Network(std::size_t nodes) : arcs_(nodes) {}

    std::size_t add(std::size_t from, std::size_t to, int room, double cost) {
        arcs_[from].push_back({to, arcs_[to].size(), room, cost});
        arcs_[to].push_back({from, arcs_[from].size() - 1, 0, -cost});
        return arcs_[from].size() - 1;
    }
    [[nodiscard]] bool is_full(std::size_t from, std::size_t arc) const { return arcs_[from][arc].room == 0; }

    /// Sends up to `units` units from the first node in `order` to the last, while each lowers the cost.
    void send(std::size_t units, const std::vector<std::size_t>& order) {
        std::vector<double> potential(arcs_.size(), far);
        potential[order.front()] = 0;
        for (const std::size_t node : order)
            for (const Arc& arc : arcs_[node])
                if (arc.room > 0) potential[arc.to] = std::min(potential[arc.to], potential[node] + arc.cost);
        for (; units > 0 && send_one(order.front(), order.back(), potential); --units) {
        }
    }

  private:
    struct Arc {
        std::size_t to, back; ///< `back`: number of the opposite arc
        int room;
        double cost;
    };
    static constexpr double far = 1e18;

    bool send_one(std::size_t from, std::size_t to, std::vector<double>& potential) {
        struct Reached {
            double at = far;
            std::size_t node = 0, arc = 0;
        };
        std::vector<Reached> reached(arcs_.size());
        std::priority_queue<std::pair<double, std::size_t>, std::vector<std::pair<double, std::size_t>>, std::greater<>>
            next;
        reached[from].at = 0;
        next.emplace(0.0, from);
        while (!next.empty()) {
            const auto [at, node] = next.top();
            next.pop();
            if (at > reached[node].at) continue;
            for (std::size_t i = 0; i < arcs_[node].size(); ++i) {
                const Arc& arc = arcs_[node][i];
                if (arc.room == 0 || potential[arc.to] >= far) continue;
                const double there = at + std::max(0.0, arc.cost + potential[node] - potential[arc.to]);
                if (there + 1e-9 >= reached[arc.to].at) continue;
                reached[arc.to] = {there, node, i};
                next.emplace(there, arc.to);
            }
        }
        if (reached[to].at >= far) return false;
        for (std::size_t i = 0; i < potential.size(); ++i)
            if (reached[i].at < far) potential[i] += reached[i].at;
        if (potential[to] - potential[from] > -1e-9) return false; // it would cost something
        for (std::size_t node = to; node != from; node = reached[node].node) {
            Arc& arc = arcs_[reached[node].node][reached[node].arc];
            --arc.room;
            ++arcs_[node][arc.back].room;
        }
        return true;
    }

    std::vector<std::vector<Arc>> arcs_;
};

} // namespace

std::vector<AccessPattern> access_patterns(std::size_t capacity, int calls) {
    Draw draw;
    const int room = static_cast<int>(capacity);
    const int few = std::max(1, room * 3 / 4);
    const auto made = [&](std::string name, int count, const auto& key_of) {
        std::vector<int> keys;
        for (int i = 0; i < count; ++i)
            keys.push_back(key_of(i));
        return AccessPattern{std::move(name), std::move(keys)};
    };
    constexpr int others = 1'000'000;
    int burst = 0;
    return {
        made("turns", calls, [&](int i) { return i % (room + 1); }),
        made("zipf", calls, [&](int) { return draw.by_rank(12 * room); }),
        made("phases", calls, [&](int i) { return i / 500 * 100 + draw.below(few); }),
        made("growing", calls, [&](int i) { return i / 60 + draw.below(std::max(1, room / 2)); }),
        made("cold start", std::min(calls, 20 * room), [&](int) { return draw.below(std::max(1, room / 2)); }),
        made("alternating", calls, [&](int i) { return i / 100 % 2 * others + draw.below(few); }),
        made("bursts", calls, [&](int i) { return i % 30 == 0 ? burst = draw.below(4 * room) : burst; }),
        made("one-off keys", calls, [&](int i) { return draw.below(10) < 7 ? draw.below(few) : others + i; }),
    };
}

std::vector<Way> best_ways(const std::vector<int>& keys, std::size_t capacity, int warm_up, const CallCosts& costs) {
    // A unit of the flow is a place for a graph. It passes the calls one after the other, free or with a key: it takes
    // a key at a call, for the cost of a capture, and saves what a replay saves at each later call of that key.
    const std::size_t calls = keys.size();
    const auto with_key = [&](std::size_t call) { return calls + 1 + call; };
    constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
    Network network(2 * calls + 1);
    std::vector<std::size_t> capture(calls, none), replay(calls, none), former(calls, none), order;
    std::unordered_map<int, std::pair<std::size_t, int>> last; // call, and number of calls so far
    for (std::size_t i = 0; i < calls; ++i) {
        order.push_back(i);
        order.push_back(with_key(i));
        network.add(i, i + 1, static_cast<int>(capacity), 0);
        const auto [known, is_new] = last.try_emplace(keys[i], i, 0);
        if (!is_new && known->second.second > warm_up) {
            former[i] = known->second.first;
            replay[i] = network.add(with_key(former[i]), with_key(i), 1, costs.replayed - costs.eager);
        }
        if (known->second.second >= warm_up) {
            capture[i] = network.add(i, with_key(i), 1, costs.captured - costs.eager);
            network.add(with_key(i), i + 1, 1, 0);
        }
        known->second = {i, known->second.second + 1};
    }
    order.push_back(calls);
    network.send(capacity, order);
    std::vector<Way> ways(calls, Way::eager);
    for (std::size_t i = 0; i < calls; ++i) {
        if (former[i] != none && network.is_full(with_key(former[i]), replay[i]))
            ways[i] = Way::replayed;
        else if (capture[i] != none && network.is_full(i, capture[i]))
            ways[i] = Way::captured;
    }
    return ways;
}

double share_of(const std::vector<Way>& ways, Way way) {
    return static_cast<double>(std::count(ways.begin(), ways.end(), way)) / static_cast<double>(ways.size());
}

double mean_cost(const std::vector<Way>& ways, const CallCosts& costs) {
    return share_of(ways, Way::eager) * costs.eager + share_of(ways, Way::captured) * costs.captured +
           share_of(ways, Way::replayed) * costs.replayed;
}

} // namespace bench
