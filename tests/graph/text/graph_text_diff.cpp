// Differences between a graph and an earlier text.
#include <cudag/graph_text.hpp>

#include <cudag/format.hpp>

#include <functional>

#include "conditional_kernels.hpp"
#include "kernels.hpp"
#include "test.hpp"

using cudag::Difference;
using cudag::DifferenceKind;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;

namespace {

/// Two stores, and a conditional with one.
struct Shape {
    cudag::LaunchConfig config = {};
    int value = 1;
    bool has_edge = true;
    bool has_third = false;
    bool fills = false;
    bool subtracts = false;
    unsigned initial = 1;
    const char* label = "first";

    [[nodiscard]] Graph graph(int* cells) const {
        GraphBuilder b;
        const auto first = b.kernel(config, store, cells, value).label(label);
        const cudag::DeviceSpan<int> cell(cells + 1, 1);
        cudag::Node second;
        if (fills)
            second = b.memset(cell, 1).label("second");
        else
            second = b.kernel({}, subtracts ? subtract : add, cells + 1, cells + 2, 4).label("second");
        if (has_edge) b.join(first).after(second);
        if (!has_edge) b.join(first);
        const auto condition = b.condition(initial);
        b.if_(condition, [&](GraphBuilder& body) { body.kernel({}, set_condition, condition, 0U).label("inside"); });
        if (has_third) b.kernel({}, nothing).label("third");
        return std::move(b).build();
    }
};

} // namespace

TEST_CASE("a graph does not differ from its own text", "[text]") {
    cudag::DeviceBuffer<int> cells(4);
    const Graph graph = Shape().graph(cells.data());
    CHECK(diff(graph, to_text(graph)).empty());
}

TEST_CASE("differences from a text are those from its graph, in the same words", "[text]") {
    cudag::DeviceBuffer<int> cells(4);
    const Graph before = Shape().graph(cells.data());
    const std::vector<Shape> shapes{{.value = 2},
                                    {.config = {.grid = 2}},
                                    {.has_edge = false},
                                    {.has_third = true},
                                    {.fills = true},
                                    {.subtracts = true},
                                    {.initial = 0},
                                    {.label = "other"},
                                    {.config = {.cooperative = true}},
                                    {.config = {.block = 64}, .value = 9, .has_third = true}};
    for (const Shape& shape : shapes) {
        const Graph after = shape.graph(cells.data());
        const std::vector<Difference> expected = diff(before, after);
        const std::vector<Difference> found = diff(before, to_text(after));
        std::size_t place = 0;
        for (const Difference& each : expected) {
            if (place == found.size()) break;
            INFO(to_string(each) << " / " << to_string(found[place]));
            CHECK(found[place].kind == each.kind);
            CHECK(found[place].before == each.before);
            CHECK(found[place].after == cudag::Node());
            CHECK(found[place].needs_instantiate == each.needs_instantiate);
            if (each.kind != DifferenceKind::edge) {
                CHECK(found[place].field == each.field);
                CHECK(found[place].old_value == each.old_value);
                CHECK(found[place].new_value == each.new_value);
            }
            ++place;
        }
        // accesses belong to texts only
        for (; place < found.size(); ++place)
            CHECK_THAT(found[place].field, ContainsSubstring("access"));
        CHECK(found.size() >= expected.size());
    }
}

TEST_CASE("a text of other nodes, attributes and inner graphs differs in them", "[text]") {
    cudag::DeviceBuffer<int> cells(4);
    const auto texts_of = [](const Graph& graph, const Graph& other) {
        std::vector<std::string> texts;
        for (const Difference& each : diff(graph, to_text(other)))
            if (each.field.find("access") == std::string::npos) texts.push_back(to_string(each));
        return texts;
    };
    const auto one_node = [&](const auto& add_node) {
        GraphBuilder b;
        add_node(b);
        return std::move(b).build();
    };
    const Graph fill = one_node([&](GraphBuilder& b) { b.memset(cells, 1).label("only"); });
    const Graph kernel = one_node([](GraphBuilder& b) { b.kernel({}, nothing).label("only"); });
    const Graph none = one_node([](GraphBuilder&) {});
    const Graph cooperative = one_node([](GraphBuilder& b) { b.kernel({.cooperative = true}, nothing).label("only"); });

    auto found = texts_of(fill, kernel);
    REQUIRE(found.size() == 1);
    CHECK_THAT(found[0],
               ContainsSubstring("memset \"only\"") && ContainsSubstring("memset") && ContainsSubstring("kernel"));
    found = texts_of(kernel, none);
    REQUIRE(found.size() == 1);
    CHECK_THAT(found[0], ContainsSubstring("kernel \"only\"") && ContainsSubstring("missing"));
    found = texts_of(none, kernel);
    REQUIRE(found.size() == 1);
    CHECK_THAT(found[0], ContainsSubstring("kernel \"only\"") && ContainsSubstring("there"));
    const Graph unnamed = one_node([&](GraphBuilder& b) {
        b.kernel({}, nothing);
        b.memset(cells, 1);
    });
    found = texts_of(none, unnamed);
    REQUIRE(found.size() == 2);
    CHECK_THAT(found[0], ContainsSubstring("kernel nothing"));
    CHECK_THAT(found[1], ContainsSubstring("memset node 1"));
    for (const bool is_given : {false, true}) {
        const auto differences = diff(is_given ? cooperative : kernel, to_text(is_given ? kernel : cooperative));
        REQUIRE(differences.size() == 1);
        CHECK(differences[0].field == "cooperative");
        CHECK(differences[0].kind == DifferenceKind::attribute);
        CHECK(differences[0].needs_instantiate);
        CHECK(differences[0].old_value == (is_given ? "yes" : "no"));
        CHECK(differences[0].new_value == (is_given ? "no" : "yes"));
    }
}

TEST_CASE("nodes inside are compared from the first on", "[text]") {
    cudag::DeviceBuffer<int> cells(1);
    const auto with_child = [&](int value) {
        GraphBuilder inner;
        inner.kernel({}, store, cells, value);
        const Graph part = std::move(inner).build();
        GraphBuilder b;
        b.child(part);
        return std::move(b).build();
    };
    const auto differences = diff(with_child(1), to_text(with_child(2)));
    REQUIRE(differences.size() == 1);
    CHECK(differences[0].old_value == "1");
    CHECK(differences[0].new_value == "2");
}

TEST_CASE("the order in which a text has a node's edges is no difference", "[text]") {
    GraphBuilder b;
    const auto one = b.kernel({}, nothing), two = b.kernel({}, nothing);
    b.join(one, two);
    const Graph graph = std::move(b).build();
    std::string text = to_text(graph);
    const std::size_t place = text.find("after: 0 to 1\n");
    REQUIRE(place != std::string::npos);
    CHECK(diff(graph, text.replace(place, 13, "after: 1, 0")).empty());
}

TEST_CASE("a condition whose initial value a text does not know differs from one with a value", "[text]") {
    GraphBuilder b;
    b.if_(b.condition(1), [](GraphBuilder&) {}).label("branch");
    const Graph graph = std::move(b).build();
    std::string text = to_text(graph);
    const std::size_t place = text.find("initial 1");
    REQUIRE(place != std::string::npos);
    const auto differences = diff(graph, text.replace(place, 9, "unknown initial value"));
    REQUIRE(differences.size() == 1);
    CHECK(differences[0].field == "initial value");
    CHECK(differences[0].old_value == "1");
    CHECK(differences[0].new_value == "unknown");
}

TEST_CASE("a difference of nodes and edges from a text needs another instance", "[text]") {
    const auto two = [](bool has_edge) {
        GraphBuilder b;
        const auto first = b.kernel({}, nothing).label("first");
        const auto second = b.kernel({}, nothing).label("second");
        if (has_edge) first.after(second);
        return std::move(b).build();
    };
    for (const bool has_edge : {false, true}) {
        const auto found = diff(two(has_edge), to_text(two(!has_edge)));
        REQUIRE(found.size() == 1);
        CHECK(found[0].kind == DifferenceKind::edge);
        CHECK_THAT(found[0].field, ContainsSubstring("edge from kernel \"second\""));
        CHECK(found[0].old_value == (has_edge ? "there" : "missing"));
        CHECK(found[0].new_value == (has_edge ? "missing" : "there"));
        CHECK(found[0].needs_instantiate);
    }
    GraphBuilder b;
    b.kernel({}, nothing);
    const Graph one = std::move(b).build();
    const Graph none = GraphBuilder().build();
    REQUIRE(diff(one, to_text(none)).size() == 1);
    CHECK(diff(one, to_text(none))[0].needs_instantiate);
    CHECK(diff(none, to_text(one))[0].needs_instantiate);
}

TEST_CASE("a copy in another direction differs from the text, and needs another instance", "[text]") {
    std::vector<int> host(4);
    cudag::DeviceBuffer<int> cells(4);
    GraphBuilder up;
    up.memcpy(cells, host);
    GraphBuilder down;
    down.memcpy(host, cells);
    const Graph before = std::move(up).build();
    const Graph after = std::move(down).build();
    std::size_t fixed = 0;
    for (const Difference& each : diff(before, to_text(after)))
        if (each.field == "direction" && each.needs_instantiate) ++fixed;
    CHECK(fixed == 1);
}

TEST_CASE("a difference from a text has names for addresses", "[text]") {
    cudag::DeviceBuffer<int> cells(4);
    cudag::GraphNames names;
    names.memory("cells", cells);
    GraphBuilder b;
    b.kernel({}, store, cells.data(), 1).label("s");
    const std::string text = to_text(std::move(b).build(), names);
    GraphBuilder other;
    other.kernel({}, store, cells.data() + 2, 1).label("s");
    const auto found = diff(std::move(other).build(), text, names);
    REQUIRE(found.size() == 1);
    CHECK(found[0].field == "argument 0");
    CHECK(found[0].old_value == "cells + 8");
    CHECK(found[0].new_value == "cells");
}
