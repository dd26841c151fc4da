// Lanes: chains of nodes side by side, and as many as end soonest.
#include "plan/lanes.hpp"

#include "edges/edge_groups.hpp"
#include "edges/topological_order.hpp"

#include "catch.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

using namespace cudag::detail;

namespace {

using Edges = std::vector<EdgeRecord>;

/// `count` chains of `length` nodes; those of a chain stand one after the other.
Edges chains(std::uint32_t count, std::uint32_t length) {
    Edges edges;
    for (std::uint32_t chain = 0; chain < count; ++chain)
        for (std::uint32_t i = 1; i < length; ++i)
            edges.push_back({chain * length + i - 1, chain * length + i});
    return edges;
}

/// Gaps of a microsecond, up to 8 lanes; more cost as much as they gain, and more.
LaneCosts up_to_eight_lanes() {
    LaneCosts costs{};
    for (std::size_t i = 0; i < LaneCosts::lanes.size(); ++i)
        costs.gaps[i].fill(LaneCosts::lanes[i] <= 8 ? 1 : LaneCosts::lanes[i] * LaneCosts::lanes[i] / 8);
    costs.crossing = 2;
    return costs;
}

const LaneCosts costs = up_to_eight_lanes();

std::optional<Lanes> lanes_of(std::size_t nodes, const Edges& edges, std::size_t at_most,
                              const std::vector<double>& durations = {}, const std::vector<bool>& is_off = {}) {
    return plan_lanes({nodes, edges, is_off, {}, durations, at_most, costs});
}

/// By node: the end, if each takes a microsecond.
std::vector<unsigned> ends_of(std::size_t nodes, Edges edges, const Edges& more) {
    edges.insert(edges.end(), more.begin(), more.end());
    const EdgeGroups outgoing(nodes, edges, &EdgeRecord::from);
    std::vector<unsigned> ends(nodes, 1);
    for (const std::uint32_t node : topological_order(edges, outgoing))
        for (std::uint32_t i = outgoing.first[node]; i < outgoing.first[node + 1]; ++i) {
            unsigned& end = ends[edges[outgoing.items[i]].to];
            end = std::max(end, ends[node] + 1);
        }
    return ends;
}

unsigned end_of(std::size_t nodes, const Edges& edges, const Edges& more) {
    const std::vector<unsigned> ends = ends_of(nodes, edges, more);
    return *std::max_element(ends.begin(), ends.end());
}

} // namespace

TEST_CASE("whole chains stand on one lane, with one edge from each to the next") {
    const Edges edges = chains(6, 3);
    const auto lanes = lanes_of(18, edges, 2);
    REQUIRE(lanes);
    CHECK(lanes->count == 2);
    CHECK(lanes->edges == Edges{{2, 6}, {5, 9}, {8, 12}, {11, 15}});
    CHECK(end_of(18, edges, lanes->edges) == 9);
}

TEST_CASE("chains that are longest begin first") {
    const Edges edges{{1, 2}, {2, 3}, {3, 4}}; // 0, 5 and 6 stand alone
    const auto lanes = lanes_of(7, edges, 2);
    REQUIRE(lanes);
    CHECK(lanes->edges == Edges{{0, 5}, {5, 6}});
}

TEST_CASE("a chain that long ones come after begins before one that is longer itself") {
    Edges edges{{0, 1}}; // after 2 come two chains of three
    for (const std::uint32_t first : {3U, 6U})
        edges.insert(edges.end(), {{2, first}, {first, first + 1}, {first + 1, first + 2}});
    const auto line = lanes_of(9, edges, 1);
    REQUIRE(line);
    CHECK(line->edges == Edges{{5, 6}, {8, 0}});
}

TEST_CASE("what comes after several chains follows the one that ends last, without a new edge") {
    const Edges edges{{0, 1}, {1, 3}, {2, 3}, {4, 5}, {5, 6}, {6, 7}};
    const auto lanes = lanes_of(8, edges, 2);
    REQUIRE(lanes);
    CHECK(end_of(8, edges, lanes->edges) == 4);
    CHECK(std::find(lanes->edges.begin(), lanes->edges.end(), EdgeRecord{1, 3}) == lanes->edges.end());
}

TEST_CASE("no more lanes than can be used change nothing") {
    CHECK_FALSE(lanes_of(18, chains(6, 3), 6));
    CHECK_FALSE(lanes_of(18, chains(6, 3), 100));
    CHECK(lanes_of(18, chains(6, 3), 5));
    CHECK_FALSE(lanes_of(4, chains(1, 4), 1));
    CHECK_FALSE(lanes_of(0, {}, 1));
}

TEST_CASE("one lane is a line of all nodes, whatever their numbers") {
    const Edges edges{{5, 0}, {5, 1}, {0, 4}, {1, 4}, {2, 3}};
    const auto lanes = lanes_of(6, edges, 1);
    REQUIRE(lanes);
    CHECK(end_of(6, edges, lanes->edges) == 6);
}

TEST_CASE("nodes that are off have no place on a lane, and nothing comes after them for its sake") {
    const Edges edges{{0, 2}, {1, 2}, {2, 3}, {2, 4}};
    const auto lanes = lanes_of(5, edges, 1, {}, {false, false, true, false, false});
    REQUIRE(lanes);
    CHECK(lanes->edges == Edges{{0, 1}, {1, 3}, {3, 4}});
}

TEST_CASE("durations choose the number of lanes by what each costs") {
    const Edges edges = chains(64, 10);
    const std::vector<double> short_ones(640, 1), long_ones(640, 1000);
    const auto lanes = lanes_of(640, edges, 0, short_ones);
    REQUIRE(lanes);
    CHECK(lanes->count == 8);
    CHECK_FALSE(lanes_of(640, edges, 0, long_ones));
    CHECK(lanes_of(640, edges, 4, short_ones)->count == 4);
    CHECK(lanes_of(640, edges, 4, long_ones)->count == 4);
}

TEST_CASE("lanes that gain less than the costs are sure of are not laid") {
    LaneCosts close = costs; // 16 chains of 10: 10 * (10 + 10) as they are, 2 * 10 * (10 + x) on 8 lanes
    close.gaps[4].fill(10);
    const Edges edges = chains(16, 10);
    const std::vector<double> durations(160, 10);
    const auto laid_with_gap = [&](double gap) {
        for (std::size_t i = 0; i < 4; ++i)
            close.gaps[i].fill(gap);
        return plan_lanes({160, edges, {}, {}, durations, 0, close}).has_value();
    };
    CHECK_FALSE(laid_with_gap(-0.2));
    CHECK(laid_with_gap(-0.8));
    CHECK_FALSE(laid_with_gap(-0.475)); // 190.5 of 200, and 1.05 times as much is 200.03
    CHECK(laid_with_gap(-0.477));       // 190.46, and 199.98
}

TEST_CASE("lanes that gain nothing are not laid") {
    const LaneCosts nothing{};
    const std::vector<double> no_time(6, 0);
    CHECK_FALSE(plan_lanes({6, {}, {}, {}, no_time, 0, nothing}));
    CHECK_FALSE(plan_lanes({6, {}, {}, {}, no_time, 6, nothing}));
    CHECK(plan_lanes({6, {}, {}, {}, no_time, 4, nothing})->count == 4); // which is asked for
}

TEST_CASE("where many nodes run at once for a while only, the rest costs what few cost") {
    LaneCosts wide = costs;
    for (std::size_t i = 4; i < wide.gaps.size(); ++i)
        wide.gaps[i].fill(3);
    Edges edges{{63, 65}}; // 0 forks into 64, and a line of 200 comes after the last two of them
    for (std::uint32_t i = 1; i <= 64; ++i)
        edges.push_back({0, i});
    for (std::uint32_t i = 64; i < 264; ++i)
        edges.push_back({i, i + 1});
    CHECK_FALSE(plan_lanes({265, edges, {}, {}, std::vector<double>(265, 1), 0, wide}));
}

TEST_CASE("short forks that cost more than they gain become a line, long ones stay") {
    Edges edges; // 0 forks into two, which meet, eight times over
    for (std::uint32_t i = 0; i < 24; i += 3)
        edges.insert(edges.end(), {{i, i + 1}, {i, i + 2}, {i + 1, i + 3}, {i + 2, i + 3}});
    const auto line = lanes_of(25, edges, 0, std::vector<double>(25, 0.5));
    REQUIRE(line);
    CHECK(line->count == 1);
    CHECK(end_of(25, edges, line->edges) == 25);
    CHECK_FALSE(lanes_of(25, edges, 0, std::vector<double>(25, 50)));
}

TEST_CASE("durations that are not alike are shared out among the lanes") {
    std::vector<double> durations{40, 10, 10, 10, 10};
    durations.resize(12, 40); // 12 nodes without edges
    const auto lanes = lanes_of(12, {}, 2, durations);
    REQUIRE(lanes);
    std::vector<double> ends = durations;
    for (const EdgeRecord& edge : lanes->edges) // each after the one before it on its lane
        ends[edge.to] += ends[edge.from];
    CHECK(*std::max_element(ends.begin(), ends.end()) == 180);
}

TEST_CASE("gaps between what was measured lie in proportion, and so do those of more lanes") {
    LaneCosts known{};
    for (std::size_t i = 0; i < LaneCosts::lanes.size(); ++i)
        for (std::size_t k = 0; k < LaneCosts::durations.size(); ++k)
            known.gaps[i][k] = 2 * LaneCosts::lanes[i] + LaneCosts::durations[k];
    CHECK(known.gap(1, 0) == 2);
    CHECK(known.gap(16, 5) == 37);
    CHECK(known.gap(12, 0) == 24);
    CHECK(known.gap(3, 35) == 41);
    CHECK(known.gap(128, 50) == 306);
    CHECK(known.gap(1000, 1000) == 2050);
}

TEST_CASE("each device has lanes of its own", "[plan][lanes]") {
    constexpr std::uint32_t count = 12; // six beside each other on each of two devices
    std::vector<std::uint32_t> devices;
    for (std::uint32_t node = 0; node < count; ++node)
        devices.push_back(node % 2);
    const std::vector<EdgeRecord> none_written;
    const std::vector<bool> none_off;
    const std::vector<double> no_durations;
    const auto lanes = plan_lanes({count, none_written, none_off, devices, no_durations, 2, costs});
    REQUIRE(lanes);
    CHECK(lanes->count == 2);
    CHECK(lanes->edges.size() == 2 * (6 - 2));
    for (const EdgeRecord& edge : lanes->edges)
        CHECK(devices[edge.from] == devices[edge.to]);
    CHECK_FALSE(plan_lanes({count, none_written, none_off, devices, no_durations, 6, costs})); // no more run at once
    CHECK(plan_lanes({count, none_written, none_off, {}, no_durations, 6, costs}));
}

TEST_CASE("a line that crosses from one device to another is on a lane of each", "[plan][lanes]") {
    std::vector<EdgeRecord> edges; // four lines of two nodes, the second on the other device
    std::vector<std::uint32_t> devices;
    for (std::uint32_t line = 0; line < 4; ++line) {
        edges.push_back({2 * line, 2 * line + 1});
        devices.insert(devices.end(), {0, 1});
    }
    const std::vector<bool> none_off;
    const std::vector<double> no_durations;
    const auto lanes = plan_lanes({8, edges, none_off, devices, no_durations, 1, costs});
    REQUIRE(lanes);
    CHECK(lanes->edges.size() == 6);
    for (const EdgeRecord& edge : lanes->edges)
        CHECK(devices[edge.from] == devices[edge.to]);
}
