// What the nodes of a graph do to memory, and the races of these as elements of what they were given.
#include "order/node_accesses.hpp"
#include "order/races.hpp"

#include "catch.hpp"
#include "empty_graph.hpp"

#include <cudag/error.hpp>
#include <cudag/node.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <tuple>
#include <vector>

using cudag::NodeKind;
using cudag::Race;
using cudag::detail::AccessMode;
using cudag::detail::ArgumentAccess;
using cudag::detail::GraphState;
using cudag::detail::KernelParams;
using cudag::detail::KernelSignature;
using cudag::detail::MemoryBlock;
using cudag::detail::NodeAccess;
using cudag::detail::NodeParams;
using cudag::detail::Parameter;
using cudag::detail::ParameterType;

namespace {

std::shared_ptr<GraphState> graph_of(std::uint32_t nodes) {
    auto graph = empty_graph();
    for (std::uint32_t i = 0; i < nodes; ++i)
        add_node(*graph);
    return graph;
}

/// A kernel that takes a condition.
struct TakesCondition {
    explicit TakesCondition(std::uint64_t handle) {
        std::memcpy(values.data(), &handle, sizeof handle);
        params.signature = &signature;
        params.values = values.data();
    }
    TakesCondition(const TakesCondition&) = delete;
    TakesCondition& operator=(const TakesCondition&) = delete;

    Parameter parameter{0, 8, ParameterType::condition, nullptr};
    KernelSignature signature{&parameter, 1, 8};
    alignas(8) std::array<std::byte, 8> values{};
    KernelParams params{};
};

} // namespace

TEST_CASE("a region that declares reads before writes is ordered as one that declares writes first", "[core][races]") {
    constexpr std::uint32_t unit = 1;
    constexpr MemoryBlock x{0x1000, 64};
    const ArgumentAccess writes{cudag::whole_node, AccessMode::write, 1, x, unit};
    const ArgumentAccess reads{cudag::whole_node, AccessMode::read, 1, x, unit};
    for (const auto& declared : {std::vector{writes, reads}, std::vector{reads, writes}}) {
        const auto graph = graph_of(3);
        graph->records().special().accesses = true;
        graph->records().initial_accesses().add(0, std::vector<ArgumentAccess>{{0, AccessMode::write, 1, x}});
        graph->records().units().reserve();
        graph->records().units().add(1, 2, unit);
        for (const std::uint32_t node : {1U, 2U})
            graph->records().initial_accesses().add(node, declared);
        graph->edge_lists().logical().add({0, 1});
        const std::vector<Race> races = cudag::detail::races_of(*graph, 10);
        REQUIRE(races.size() == 1);
        CHECK(races[0].first == graph->identity().handle(0));
        CHECK(races[0].second == graph->identity().handle(2));
    }
}

TEST_CASE("regions that stand for conditions are those between programs' memory and arrays", "[core][races]") {
    using cudag::detail::is_condition_cell;
    constexpr std::uintptr_t first = std::uintptr_t{1} << 62U;
    CHECK_FALSE(is_condition_cell({first - 1, 1}));
    CHECK(is_condition_cell({first, 1}));
    CHECK(is_condition_cell({2 * first - 1, 1}));
    CHECK_FALSE(is_condition_cell({2 * first, 1}));
    CHECK_FALSE(is_condition_cell(cudag::detail::ArrayAddresses().block(nullptr, {}, {1, 1, 1})));
}

TEST_CASE("kernels set the same conditions if their handles are the same, all of them", "[core][races]") {
    constexpr std::uint64_t handle = 1, other = (std::uint64_t{1} << 32U) + 1;
    const auto graph = graph_of(1);
    graph->conditions().reserve(0, 0);
    graph->conditions().add({handle, 0, 0, {}});
    const TakesCondition one(handle), same(handle), another(other);
    CHECK(cudag::detail::have_same_accesses(*graph, &one.params, &one.params));
    CHECK(cudag::detail::have_same_accesses(*graph, &one.params, &same.params));
    CHECK_FALSE(cudag::detail::have_same_accesses(*graph, &one.params, &another.params));
}

TEST_CASE("an argument is read if the kernel has it, and it has so many bytes", "[core][node]") {
    const std::array parameters{Parameter{0, 4}, Parameter{4, 4}};
    const KernelSignature signature{parameters.data(), 1, 4}; // the second one is another kernel's
    alignas(4) std::array<std::byte, 8> values{std::byte{7}};
    KernelParams params{};
    params.signature = &signature;
    params.values = values.data();
    const auto graph = empty_graph();
    add_node(*graph, {NodeKind::kernel, &params, {}, {}});
    const cudag::Node node = graph->identity().handle(0);
    std::array<std::byte, 8> value{};
    cudag::detail::read_argument(node, 0, value.data(), 4);
    CHECK(value == values);
    const auto why = [&](std::uint32_t index, std::size_t bytes) -> std::string {
        try {
            cudag::detail::read_argument(node, index, value.data(), bytes);
        } catch (const cudag::GraphError& error) {
            return error.what();
        }
        return "";
    };
    CHECK_THAT(why(0, 8), ContainsSubstring("argument 0 does not have 8 bytes"));
    CHECK_THAT(why(0, 2), ContainsSubstring("argument 0 does not have 2 bytes"));
    CHECK_THAT(why(1, 4), ContainsSubstring("argument 1 does not have 4 bytes"));
}

TEST_CASE("a race tells the elements that both touch, by rows where the first has rows", "[core][races]") {
    struct Case {
        MemoryBlock first; ///< of 4-byte elements
        MemoryBlock second;
        std::size_t element, elements, row_elements;
    };
    const auto bytes = [](std::uintptr_t begin, std::size_t count) { return MemoryBlock{begin, count}; };
    const MemoryBlock rows{0x1000, 16, 3, 64};
    const MemoryBlock slices{0x1000, 16, 3, 64, 2, 256};
    for (const auto& [first, second, element, elements, row_elements] : {
             Case{bytes(0x1000, 64), bytes(0x1008, 8), 2, 2, 0},
             Case{rows, bytes(0x1000, 4), 0, 1, 4},
             Case{rows, bytes(0x100c, 0x38), 3, 2, 4}, // the last of row 0 and the first of row 1
             Case{rows, bytes(0x1080, 0x100), 8, 4, 4},
             Case{slices, bytes(0x1104, 4), 13, 1, 4},
             Case{slices, bytes(0x1180, 0x100), 20, 4, 4},
             Case{{0x1000, 16, 1, 64, 2, 256}, bytes(0x1100, 4), 4, 1, 4},
             Case{{0x1000, 16, 1, 0, 2, 256}, bytes(0x1100, 4), 4, 1, 4},
             // rows and slices that reach into each other
             Case{{0x1000, 12, 2, 4}, bytes(0x100c, 4), 5, 1, 3},
             Case{{0x1000, 12, 2, 0}, bytes(0x1008, 4), 2, 1, 3},
             Case{{0x1000, 12, 1, 0, 2, 4}, bytes(0x100c, 4), 5, 1, 3},
             Case{{0x1000, 12, 1, 0, 2, 0}, bytes(0x1008, 4), 2, 1, 3},
         }) {
        CAPTURE(first.begin, first.rows, first.pitch, first.slices, first.slice_pitch, second.begin);
        const auto graph = graph_of(2);
        const NodeAccess a{{0, AccessMode::write, first}, {graph.get(), 0}, 3, 4};
        const NodeAccess b{{1, AccessMode::read, second}, {graph.get(), 1}, 5, 4};
        const Race race = cudag::detail::make_race(*graph, a, b);
        CHECK(race.element == element);
        CHECK(race.elements == elements);
        CHECK(race.row_elements == row_elements);
        CHECK(race.first == graph->identity().handle(0));
        CHECK(race.first_argument == 3);
        CHECK(race.first_writes);
        CHECK_FALSE(race.second_writes);
    }
}
