// Races that changes of nodes would make, beside all that the nodes of their graph do otherwise.
#include "catch.hpp"
#include "watched_nodes.hpp"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

using cudag::Race;
using cudag::detail::AccessMode;
using cudag::detail::ArgumentAccess;
using cudag::detail::EdgeRecord;
using cudag::detail::MemoryBlock;
using cudag::detail::Place;

namespace {

using Accesses = std::vector<ArgumentAccess>;
using Ends = WatchedNodes::Ends;

constexpr MemoryBlock x{0x1000, 64};
constexpr MemoryBlock y{0x2000, 64};
constexpr MemoryBlock z{0x3000, 64};

ArgumentAccess access(AccessMode mode, const MemoryBlock& region, std::uint32_t argument = 0, std::uint32_t unit = 0) {
    return {argument, mode, 1, region, unit};
}
ArgumentAccess writes(const MemoryBlock& region, std::uint32_t argument = 0) {
    return access(AccessMode::write, region, argument);
}

Ends ends(std::uint32_t first, std::uint32_t second) {
    return std::pair(first, second);
}

} // namespace

TEST_CASE("nodes that touched nothing race where both come to write the same", "[core][races]") {
    WatchedNodes nodes(3);
    nodes.stage(0, {writes(x)});
    nodes.stage(1, {writes(x)});
    CHECK(nodes.find() == ends(0, 1));
    nodes.watch.roll_back();
    nodes.stage(0, {writes(x)});
    CHECK(nodes.find() == Ends());
}

TEST_CASE("nodes that move by different distances race where they meet", "[core][races]") {
    WatchedNodes nodes(4);
    nodes[1] = {writes(x)};
    nodes[2] = {writes(y)};
    nodes.stage(1, {writes(z)});
    nodes.stage(2, {writes(z)});
    CHECK(nodes.find() == ends(1, 2));
    nodes.watch.roll_back();
    nodes.stage(0, {writes({0x9000, 4})}); // it moves nothing
    nodes.stage(1, {writes(z)});
    nodes.stage(2, {writes(z)});
    CHECK(nodes.find() == ends(1, 2));
}

TEST_CASE("the race of a node that stays where it was names the argument that it was given last", "[core][races]") {
    WatchedNodes nodes(2);
    nodes[0] = {writes(x, 1)};
    nodes.stage(0, {writes(x, 2)});
    CHECK(nodes.find() == Ends());
    nodes.watch.commit();
    nodes.stage(1, {writes(x, 3)});
    const std::optional<Race> race = nodes.watch.find();
    REQUIRE(race);
    CHECK(race->first_argument == 2);
    CHECK(race->second_argument == 3);
}

TEST_CASE("what nodes of one region declare together is no race, and is one beside others", "[core][races]") {
    constexpr std::uint32_t unit = 1;
    const auto of_unit = [](const MemoryBlock& region) { return access(AccessMode::write, region, 0, unit); };
    WatchedNodes nodes(4);
    for (std::uint32_t i = 0; i < 3; ++i)
        nodes.in_force.regions[{nodes.graph.get(), i}] = unit;
    nodes[0] = {of_unit(x)};
    nodes[1] = {of_unit(y)};
    nodes[2] = {writes({0x4000, 64})};
    nodes.stage(0, {of_unit(y)});
    CHECK(nodes.find() == Ends());
    nodes.watch.commit();
    nodes.stage(2, {writes(y)}); // its own, beside what its region declares
    CHECK(nodes.find() == Ends());
    nodes.watch.roll_back();
    nodes.stage(3, {of_unit(y)}); // as little of the region as any other
    nodes.watch.roll_back();
    nodes.stage(3, {writes(y)});
    CHECK(nodes.find() != Ends());
}

TEST_CASE("the regions of a graph inside a node are none of the graph around it", "[core][races]") {
    constexpr std::uint32_t unit = 1;
    const auto of_unit = [](const MemoryBlock& region) { return access(AccessMode::write, region, 0, unit); };
    WatchedNodes nodes(2);
    WatchedNodes inside(1);
    nodes.graph->reserve_nested(*inside.graph);
    nodes.graph->attach(inside.graph, 1, Place::child);
    nodes.in_force.regions[{nodes.graph.get(), 0}] = unit;
    nodes.in_force.regions[{inside.graph.get(), 0}] = unit;
    nodes[0] = {of_unit(x)};
    SECTION("in an update") {
        nodes.watch.stage({inside.graph.get(), 0}, {}, Accesses{of_unit(x)});
        CHECK(nodes.find() == ends(0, 1));
    }
    SECTION("that is there already") {
        nodes.in_force.accesses[{inside.graph.get(), 0}] = {of_unit(y)};
        nodes.stage(0, {of_unit(y)});
        CHECK(nodes.find() == ends(0, 1));
    }
    SECTION("that is there already, the node's own") {
        nodes.in_force.accesses[{inside.graph.get(), 0}] = {writes(y)};
        nodes.stage(0, {of_unit(y)});
        CHECK(nodes.find() == ends(0, 1));
    }
}

TEST_CASE("where changes overlap very many accesses, all are searched, for races of what changes", "[core][races]") {
    constexpr std::uint32_t many = 1200;
    constexpr std::uint32_t writer = 2, changed = 3, first = 4; // 0 and 1 race whatever changes
    constexpr MemoryBlock cell{0x1000, 4};
    std::vector<EdgeRecord> edges;
    for (std::uint32_t i = 0; i < many; ++i)
        edges.push_back({writer, first + i});
    WatchedNodes nodes(first + many, edges);
    nodes[0] = nodes[1] = {writes(y)};
    nodes[writer] = {writes(x)};
    nodes[changed] = {access(AccessMode::atomic, z)};
    for (std::uint32_t i = 0; i < many; ++i)
        nodes[first + i] = {access(AccessMode::atomic, cell)};
    for (int i = 0; i < 2; ++i) {
        nodes.stage(changed, {access(AccessMode::atomic, cell)});
        CHECK(nodes.find() == ends(writer, changed));
        nodes.watch.roll_back();
    }
    nodes.stage(changed, {access(AccessMode::atomic, cell), access(AccessMode::atomic, {0x8000, 4})});
    CHECK(nodes.find() == ends(writer, changed));
    nodes.watch.roll_back();
    nodes.stage(writer, {writes({0x5000, 64})}); // it leaves
    nodes.stage(changed, {access(AccessMode::atomic, cell)});
    CHECK(nodes.find() == Ends());
    nodes.watch.commit();
    nodes.stage(writer, {writes(x)});
    CHECK(nodes.find() == ends(writer, changed));
}

TEST_CASE("where changes overlap very many accesses, the first race of the graph is told", "[core][races]") {
    constexpr std::uint32_t many = 1200;
    constexpr std::uint32_t changed = 2, writer = 3, first = 4;
    constexpr MemoryBlock cell{0x1000, 4};
    std::vector<EdgeRecord> edges;
    for (std::uint32_t i = 0; i < many; ++i)
        edges.push_back({writer, first + i});
    WatchedNodes nodes(first + many, edges);
    nodes[writer] = {writes(x)};
    for (std::uint32_t i = 0; i < many; ++i)
        nodes[first + i] = {access(AccessMode::atomic, cell)};
    nodes.stage(changed, {access(AccessMode::atomic, cell)});
    nodes.stage(0, {writes(y)});
    nodes.stage(1, {writes(y)});
    CHECK(nodes.find() == ends(0, 1));
}
