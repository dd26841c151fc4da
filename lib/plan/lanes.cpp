// Lanes: added order between nodes, so that fewer run at once.
#include "lanes.hpp"

#include "edges/edge_groups.hpp"
#include "edges/topological_order.hpp"
#include "lists/none.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace cudag::detail {

namespace {

constexpr double least_gain_of_lanes = 1.05; // costs are only about right

/// A chain of nodes of one device: each node but the first depends on the previous one alone, and no other node
/// depends on that one.
struct Chain {
    std::uint32_t first = none;
    std::uint32_t last = none;
    std::size_t nodes = 0;
    double duration = 0;
    double to_end = 0; ///< from its beginning to the end of all its successors
    std::uint32_t device = 0;
    bool is_off = false;
};

struct Layout {
    std::vector<EdgeRecord> edges; ///< new ones
    std::size_t width;             ///< the most concurrent chains of one device
    double end;
};

struct Chains {
    explicit Chains(const LaneInput& input)
        : node_edges(input.edges), nodes_out(input.nodes, input.edges, &EdgeRecord::from), edges(find_chains(input)),
          outgoing(all.size(), edges, &EdgeRecord::from) {
        const std::vector<std::uint32_t> order = topological_order(edges, outgoing);
        for (auto chain = order.rbegin(); chain != order.rend(); ++chain) {
            Chain& one = all[*chain];
            for (std::uint32_t next = outgoing.first[*chain]; next < outgoing.first[*chain + 1]; ++next)
                one.to_end = std::max(one.to_end, all[edges[outgoing.items[next]].to].to_end);
            one.to_end += one.duration;
        }
    }

    [[nodiscard]] bool has_edge(std::uint32_t from, std::uint32_t to) const {
        const auto items = nodes_out.items.begin();
        return std::any_of(items + nodes_out.first[from], items + nodes_out.first[from + 1],
                           [&](std::uint32_t edge) { return node_edges[edge].to == to; });
    }

    const std::vector<EdgeRecord>& node_edges;
    EdgeGroups nodes_out;
    std::vector<Chain> all;
    std::vector<EdgeRecord> edges; ///< between chains
    EdgeGroups outgoing;

  private:
    [[nodiscard]] std::vector<EdgeRecord> find_chains(const LaneInput& input);
};

std::vector<EdgeRecord> Chains::find_chains(const LaneInput& input) {
    std::vector<std::uint32_t> incoming(input.nodes), before(input.nodes, none), chain_of(input.nodes, none);
    for (const EdgeRecord& edge : input.edges) {
        ++incoming[edge.to];
        before[edge.to] = edge.from;
    }
    const auto is_off = [&](std::uint32_t node) { return !input.is_off.empty() && input.is_off[node]; };
    const auto edges_from = [&](std::uint32_t node) { return nodes_out.first[node + 1] - nodes_out.first[node]; };
    const auto device_of = [&](std::uint32_t node) { return input.devices.empty() ? 0 : input.devices[node]; };
    const auto is_first = [&](std::uint32_t node) {
        return incoming[node] != 1 || is_off(node) || is_off(before[node]) || edges_from(before[node]) != 1 ||
               device_of(node) != device_of(before[node]);
    };
    for (std::uint32_t node = 0; node < input.nodes; ++node) {
        if (!is_first(node)) continue;
        Chain chain{.first = node, .device = device_of(node), .is_off = is_off(node)};
        for (std::uint32_t next = node; next != none;) {
            chain.last = next;
            chain_of[next] = static_cast<std::uint32_t>(all.size());
            if (!chain.is_off) {
                ++chain.nodes;
                chain.duration += input.durations.empty() ? 1 : input.durations[next];
            }
            next = edges_from(next) == 1 ? input.edges[nodes_out.items[nodes_out.first[next]]].to : none;
            if (next != none && is_first(next)) next = none;
        }
        all.push_back(chain);
    }
    std::vector<EdgeRecord> between;
    for (const EdgeRecord& edge : input.edges)
        if (chain_of[edge.from] != chain_of[edge.to]) between.push_back({chain_of[edge.from], chain_of[edge.to]});
    return between;
}

/// A walk through time, with up to `lanes` lanes for each device: ready chains begin, the one with the longest way to
/// the end first. Without costs, only durations count.
class Schedule {
  public:
    Schedule(const Chains& chains, std::size_t lanes, const LaneCosts* costs = nullptr)
        : chains_(chains), lanes_(lanes), costs_(costs), waits_for_(chains.all.size()),
          came_from_(chains.all.size(), none), lane_of_(chains.all.size(), none) {
        for (const Chain& chain : chains.all)
            if (chain.device >= devices_.size()) devices_.resize(chain.device + std::size_t{1});
    }

    Layout run() {
        for (const EdgeRecord& edge : chains_.edges)
            ++waits_for_[edge.to];
        const auto chains = static_cast<std::uint32_t>(waits_for_.size());
        for (std::uint32_t chain = 0; chain < chains; ++chain) // before make_ready changes the counts
            if (waits_for_[chain] == 0) firsts_.push_back(chain);
        for (const std::uint32_t chain : firsts_)
            make_ready(chain);
        for (;;) {
            for (Device& device : devices_)
                while (!device.ready.empty() && device.running < lanes_)
                    begin_next(device);
            if (running_.empty()) break;
            now_ = running_.top().first;
            const std::uint32_t chain = running_.top().second;
            running_.pop();
            Device& device = device_of(chain);
            --device.running;
            device.free.push(lane_of_[chain]);
            is_free_[lane_of_[chain]] = true;
            make_next_ready(chain);
        }
        return {std::move(edges_), width_, now_};
    }

  private:
    using Timed = std::pair<double, std::uint32_t>;

    struct Device {
        std::size_t running = 0;
        std::size_t lanes = 0;
        std::queue<std::uint32_t> free = {};   ///< lanes; some are no longer free
        std::priority_queue<Timed> ready = {}; ///< the way to the end, and `none` less the chain
    };

    [[nodiscard]] Device& device_of(std::uint32_t chain) { return devices_[chains_.all[chain].device]; }

    void make_ready(std::uint32_t chain) {
        const Chain& one = chains_.all[chain];
        if (!one.is_off) return device_of(chain).ready.push({one.to_end, none - chain});
        make_next_ready(chain);
    }
    void make_next_ready(std::uint32_t chain) {
        for (std::uint32_t i = chains_.outgoing.first[chain]; i < chains_.outgoing.first[chain + 1]; ++i) {
            const std::uint32_t next = chains_.edges[chains_.outgoing.items[i]].to;
            came_from_[next] = chain;
            if (--waits_for_[next] == 0) make_ready(next);
        }
    }

    /// The lane of the last predecessor if it is free, otherwise a new lane, otherwise the one free for longest.
    std::uint32_t lane_for(std::uint32_t chain, Device& device) {
        const std::uint32_t before = came_from_[chain];
        const bool is_of_device = before != none && chains_.all[before].device == chains_.all[chain].device;
        if (is_of_device && lane_of_[before] != none && is_free_[lane_of_[before]]) return lane_of_[before];
        if (device.lanes < lanes_) {
            ++device.lanes;
            tails_.push_back(none);
            is_free_.push_back(true);
            return static_cast<std::uint32_t>(tails_.size() - 1);
        }
        while (!is_free_[device.free.front()])
            device.free.pop();
        return device.free.front();
    }

    void begin_next(Device& device) {
        const std::uint32_t chain = none - device.ready.top().second;
        device.ready.pop();
        const std::uint32_t lane = lane_for(chain, device);
        const Chain& one = chains_.all[chain];
        if (const std::uint32_t tail = tails_[lane]; tail != none)
            if (const std::uint32_t last = chains_.all[tail].last; !chains_.has_edge(last, one.first))
                edges_.push_back({last, one.first});
        const double end = now_ + one.duration + (costs_ == nullptr ? 0 : cost_of(chain, lane, device));
        tails_[lane] = chain;
        lane_of_[chain] = lane;
        is_free_[lane] = false;
        running_.push({end, chain});
        width_ = std::max(width_, ++device.running);
    }

    /// Assumes as many concurrent chains as are ready now.
    [[nodiscard]] double cost_of(std::uint32_t chain, std::uint32_t lane, const Device& device) const {
        const Chain& one = chains_.all[chain];
        const auto nodes = static_cast<double>(one.nodes);
        const std::size_t at_once = std::min(lanes_, device.running + device.ready.size() + 1);
        const bool crosses = came_from_[chain] != none && lane_of_[came_from_[chain]] != lane;
        return nodes * costs_->gap(at_once, one.duration / nodes) + (crosses ? costs_->crossing : 0);
    }

    const Chains& chains_;
    std::size_t lanes_;
    const LaneCosts* costs_;
    double now_ = 0;
    std::size_t width_ = 0;
    std::vector<Device> devices_;
    std::vector<std::uint32_t> firsts_;
    std::vector<std::uint32_t> waits_for_; ///< by chain: the number of unfinished predecessors
    std::vector<std::uint32_t> came_from_; ///< by chain: its last finished predecessor
    std::vector<std::uint32_t> lane_of_;   ///< by chain
    std::vector<std::uint32_t> tails_;     ///< by lane: its last chain
    std::vector<bool> is_free_;            ///< by lane
    std::priority_queue<Timed, std::vector<Timed>, std::greater<>> running_; ///< ends
    std::vector<EdgeRecord> edges_;
};

} // namespace

std::optional<Lanes> plan_lanes(const LaneInput& input) {
    const Chains chains(input);
    const std::size_t any = std::max<std::size_t>(input.nodes, 1);
    const std::size_t width = Schedule(chains, any).run().width;
    const std::size_t limit = input.at_most == 0 ? width : std::min(input.at_most, width);
    if (input.durations.empty()) {
        if (limit == width) return std::nullopt;
        return Lanes{Schedule(chains, limit).run().edges, limit};
    }
    const auto laid_on = [&](std::size_t lanes) { return Schedule(chains, lanes, &input.costs).run(); };
    Layout best = laid_on(limit);
    std::size_t count = limit;
    if (limit == width) best.end /= least_gain_of_lanes; // the graph without lanes
    for (std::size_t lanes = 1; lanes < limit; lanes *= 2)
        if (Layout layout = laid_on(lanes); layout.end < best.end) {
            best = std::move(layout);
            count = lanes;
        }
    if (count == width) return std::nullopt;
    return Lanes{std::move(best.edges), count};
}

} // namespace cudag::detail
