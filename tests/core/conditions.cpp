// Conditions of a graph: by their handles, in the arguments of kernels, and against those of another graph.
#include "graph/conditions.hpp"
#include "compare/condition_pairs.hpp"
#include "graph/condition_arguments.hpp"

#include "catch.hpp"
#include "empty_graph.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using cudag::Condition;
using cudag::NodeKind;
using cudag::detail::ConditionalKind;
using cudag::detail::ConditionalParams;
using cudag::detail::ConditionPairs;
using cudag::detail::ConditionRecord;
using cudag::detail::Conditions;
using cudag::detail::GraphState;
using cudag::detail::KernelSignature;
using cudag::detail::Parameter;
using cudag::detail::ParameterType;

namespace {

void add_condition(Conditions& conditions, cudaGraphConditionalHandle handle) {
    conditions.reserve(1U, 0);
    conditions.add({handle, 1U, 0, {}});
}

/// Conditions 10 and 20.
std::shared_ptr<GraphState> graph_of_two() {
    const auto graph = empty_graph();
    add_condition(graph->conditions(), 10);
    add_condition(graph->conditions(), 20);
    return graph;
}

using Found = std::vector<std::pair<std::uint32_t, cudaGraphConditionalHandle>>; // argument, condition

Found conditions_of(const GraphState& graph, const std::vector<Parameter>& parameters, const std::byte* values) {
    const KernelSignature signature{parameters.data(), static_cast<std::uint32_t>(parameters.size()), 0};
    Found found;
    cudag::detail::for_each_condition(
        graph, signature, values,
        [&](std::uint32_t argument, cudaGraphConditionalHandle handle) { found.emplace_back(argument, handle); });
    return found;
}

constexpr std::uint32_t whole = sizeof(Condition);

} // namespace

TEST_CASE("a condition is found by its handle, in whichever order they came", "[graph][conditions]") {
    Conditions conditions;
    CHECK(conditions.find(10) == nullptr);
    for (const cudaGraphConditionalHandle handle : {20U, 10U, 40U})
        add_condition(conditions, handle);
    for (const cudaGraphConditionalHandle handle : {10U, 20U, 40U}) {
        const ConditionRecord* const found = conditions.find(handle);
        REQUIRE(found != nullptr);
        CHECK(found->handle == handle);
    }
    for (const cudaGraphConditionalHandle handle : {9U, 11U, 30U, 41U})
        CHECK(conditions.find(handle) == nullptr);
}

TEST_CASE("a kernel takes conditions as arguments, and whole ones in objects", "[graph][conditions]") {
    const auto graph = graph_of_two();
    const auto other = graph_of_two();
    alignas(Condition) std::byte values[2 * whole]{};
    const Condition first = graph->identity().condition_value(10), second = graph->identity().condition_value(20);
    std::memcpy(values, &first, whole);
    std::memcpy(values + whole, &second, whole);
    const Parameter object{.offset = 0, .size = 2 * whole};
    CHECK(conditions_of(*graph, {object}, values) == Found{{0, 10}, {0, 20}}); // the last one ends with the object
    CHECK(conditions_of(*other, {object}, values).empty());
    CHECK(conditions_of(*graph, {{.offset = 0, .size = 2 * whole - 1}}, values) == Found{{0, 10}});
    CHECK(conditions_of(*graph, {{.offset = whole, .size = whole, .type = ParameterType::condition}}, values) ==
          Found{{0, 20}});
    for (const ParameterType type : {ParameterType::span, ParameterType::pointer})
        CHECK(conditions_of(*graph, {{.offset = 0, .size = 2 * whole, .type = type}}, values).empty());
}

TEST_CASE("conditions of conditionals at the same place stand for each other, others for themselves",
          "[graph][conditions]") {
    const auto before = graph_of_two(), after = graph_of_two();
    const ConditionalParams looks_at_10{ConditionalKind::if_, 10, 1}, looks_at_20{ConditionalKind::if_, 20, 1};
    add_node(*before, {NodeKind::conditional, &looks_at_10, {}, {}});
    add_node(*after, {NodeKind::conditional, &looks_at_20, {}, {}});
    add_node(*before, {NodeKind::conditional, &looks_at_20, {}, {}});
    add_node(*after); // no conditional
    add_node(*before);
    add_node(*after, {NodeKind::conditional, &looks_at_10, {}, {}});
    const ConditionPairs pairs(*before, *after, false);
    CHECK(pairs.same(10, 20));
    CHECK_FALSE(pairs.same(10, 10));
    CHECK(pairs.same(20, 20));
    CHECK_FALSE(pairs.same(20, 10));
    const ConditionPairs with_none(*before, *empty_graph(), false);
    CHECK(with_none.same(10, 10));
}

TEST_CASE("a condition is named by the node that looks at it, or by its number", "[graph][conditions]") {
    const auto before = graph_of_two();
    const ConditionalParams looks_at_10{ConditionalKind::if_, 10, 1};
    add_node(*before, {NodeKind::conditional, &looks_at_10, cudag::detail::Label("turn"), {}});
    ConditionRecord& used = *before->conditions().find(10);
    used.user = before.get();
    used.node = 0;
    const auto after = graph_of_two();
    const ConditionPairs pairs(*before, *after, false);
    CHECK(pairs.name_before(10).find("condition of ") == 0);
    CHECK(pairs.name_before(10).find("\"turn\"") != std::string::npos);
    CHECK(pairs.name_before(20) == "condition 20"); // no node looks at it
    CHECK(pairs.name_before(30) == "condition 30"); // it is not the graph's
    CHECK(pairs.name_after(10) == "condition 10");
}
