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
