// How steps and marks name captured nodes.
#include <memory>
#include <stdexcept>
#include <string>

#include "cuda_version.hpp"
#include "test.hpp"

using cudag::capture;
using cudag::CaptureError;
using cudag::Graph;
using cudag::launch;
using cudag::SourceLocation;
using cudag::Stream;
using cudag::StreamCapture;

namespace {

Labels labels_of(const Graph& graph) {
    Labels labels;
    for (const cudag::Node& node : graph.nodes())
        labels.emplace_back(node.label());
    return labels;
}

std::vector<unsigned> lines_of(const Graph& graph) {
    std::vector<unsigned> lines;
    for (const cudag::Node& node : graph.nodes()) {
        CHECK_THAT(std::string(node.location().file), EndsWith("capture_names.cpp"));
        lines.push_back(node.location().line);
    }
    return lines;
}

/// Records so many nodes.
void work(StreamCapture& c, int count = 1) {
    for (int i = 0; i < count; ++i)
        launch(c.stream(), {}, nothing);
}

template <class Record>
Graph captured(Record&& record) {
    return capture(Stream(), [&](StreamCapture& c) { record(c); });
}

} // namespace

TEST_CASE("a step names all that it records", "[capture][names]") {
    const Graph graph = captured([](StreamCapture& c) {
        work(c);
        c.step("first", [&] { work(c, 2); });
        work(c);
        c.step("second", [&](cudaStream_t s) { launch(s, {}, nothing); });
    });
    CHECK(labels_of(graph) == Labels{"", "first", "first", "", "second"});
}

TEST_CASE("a mark names what was recorded since the last one, or since the start", "[capture][names]") {
    const Graph graph = captured([](StreamCapture& c) {
        work(c, 2);
        c.mark("a");
        work(c);
        c.mark("b");
        work(c);
    });
    CHECK(labels_of(graph) == Labels{"a", "a", "b", ""});
}

TEST_CASE("a mark after nothing new names nothing, and ends the stretch of the next one", "[capture][names]") {
    const Graph graph = captured([](StreamCapture& c) {
        c.mark("nothing");
        work(c);
        c.mark("a");
        c.mark("nothing either");
        work(c);
        c.mark("b");
    });
    CHECK(labels_of(graph) == Labels{"a", "b"});
}

TEST_CASE("an inner step names its nodes, the outer one the rest of its own", "[capture][names]") {
    const Graph graph = captured([](StreamCapture& c) {
        c.step("outer", [&] {
            work(c);
            c.step("inner", [&] {
                work(c);
                c.step("innermost", [&] { work(c); });
                work(c);
            });
            work(c);
        });
    });
    CHECK(labels_of(graph) == Labels{"outer", "inner", "innermost", "inner", "outer"});
}

TEST_CASE("a mark leaves nodes to the steps that have named them", "[capture][names]") {
    const Graph graph = captured([](StreamCapture& c) {
        work(c);
        c.step("step", [&] { work(c); });
        work(c);
        c.mark("around");
        work(c);
    });
    CHECK(labels_of(graph) == Labels{"around", "step", "around", ""});
}

TEST_CASE("a mark in a step names what the step has recorded so far", "[capture][names]") {
    const Graph graph = captured([](StreamCapture& c) {
        work(c);
        c.step("step", [&] {
            work(c, 2);
            c.mark("a");
            work(c);
            c.mark("b");
            work(c);
        });
        work(c);
        c.mark("outside");
    });
    CHECK(labels_of(graph) == Labels{"outside", "a", "a", "b", "step", "outside"});
}

TEST_CASE("a mark in a step leaves nodes to the steps inside", "[capture][names]") {
    const Graph graph = captured([](StreamCapture& c) {
        c.step("outer", [&] {
            work(c);
            c.step("inner", [&] {
                work(c);
                c.mark("in the inner");
                work(c);
            });
            work(c);
            c.mark("in the outer");
            work(c);
        });
    });
    CHECK(labels_of(graph) == Labels{"in the outer", "in the inner", "inner", "in the outer", "outer"});
}

TEST_CASE("steps and marks at any depth name the nodes that are nearest to them", "[capture][names]") {
    const Graph graph = captured([](StreamCapture& c) {
        const auto record = [&] { work(c); };
        c.step("a", [&] {
            record();
            c.step("b", [&] {
                record();
                c.step("c", [&] {
                    record();
                    c.mark("d");
                    record();
                });
                record();
                c.mark("e");
                record();
            });
            record();
            c.mark("f");
            c.step("g", [&] { record(); });
        });
        record();
        c.mark("h");
    });
    CHECK(labels_of(graph) == Labels{"f", "e", "d", "c", "e", "b", "f", "g", "h"});
}

TEST_CASE("a step without nodes names none", "[capture][names]") {
    const Graph graph = captured([](StreamCapture& c) {
        c.step("empty", [] {}, {.allow_empty = true});
        work(c);
        c.step("empty, too", [&] { c.mark("nothing"); }, {.allow_empty = true});
    });
    CHECK(labels_of(graph) == Labels{""});
}

TEST_CASE("a label may stand at several steps and marks, which find() tells all", "[capture][names]") {
    const Graph graph = captured([](StreamCapture& c) {
        c.step("layer", [&] { work(c); });
        work(c);
        c.mark("glue");
        c.step("layer", [&] { work(c, 2); });
    });
    CHECK(graph.find("layer").size() == 3);
    CHECK(graph.find("layer").back() == graph.nodes().back());
    CHECK(graph.find("glue").size() == 1);
    CHECK(graph.find("lay").empty());
}

TEST_CASE("a label is copied when it is given", "[capture][names]") {
    const Graph graph = captured([](StreamCapture& c) {
        std::string label = "a label that is too long for any short string";
        c.step(label, [&] {
            work(c);
            label.assign(label.size(), 'x');
        });
        label = "another one, of a mark, which is long as well";
        work(c);
        c.mark(label);
        label.assign(label.size(), 'y');
    });
    CHECK(labels_of(graph) ==
          Labels{"a label that is too long for any short string", "another one, of a mark, which is long as well"});
}

TEST_CASE("a captured node is located at its step or mark, or else at its capture", "[capture][names]") {
    const Stream stream;
    unsigned line = 0;
    const Graph graph = capture(stream, [&](StreamCapture& c) { // line - 1
        line = __LINE__;
        work(c);
        c.mark("mark");      // line + 2
        c.step("step", [&] { // line + 3
            work(c);
            c.step("inner", [&] { work(c); }); // line + 5
        });
        work(c);
    });
    CHECK(lines_of(graph) == std::vector{line + 2, line + 3, line + 5, line - 1});
}

TEST_CASE("locations are passed on by those who wrap captures", "[capture][names]") {
    const Stream stream;
    const auto here = [](unsigned line) { return SourceLocation{"wrapped/capture_names.cpp", "f", line}; };
    const Graph graph = capture(
        stream,
        [&](StreamCapture& c) {
            c.step(
                "step", [&] { work(c); }, here(1));
            work(c);
            c.mark("mark", here(2));
            work(c);
        },
        {}, here(3));
    CHECK(lines_of(graph) == std::vector{1U, 2U, 3U});
}

TEST_CASE("what a step records before it fails belongs to what is around it", "[capture][names]") {
    const auto fails = [](StreamCapture& c) {
        try {
            c.step("fails", [&] {
                work(c);
                c.step("inner", [&] { work(c); });
                throw std::runtime_error("half-way");
            });
            FAIL("the step has thrown");
        } catch (const std::runtime_error&) {
        }
    };
    SECTION("a step") {
        const Graph graph = captured([&](StreamCapture& c) {
            c.step("around", [&] {
                fails(c);
                work(c);
            });
        });
        CHECK(labels_of(graph) == Labels{"around", "inner", "around"});
    }
    SECTION("a mark") {
        const Graph graph = captured([&](StreamCapture& c) {
            fails(c);
            work(c);
            c.mark("around");
        });
        CHECK(labels_of(graph) == Labels{"around", "inner", "around"});
    }
    SECTION("nothing") {
        const Graph graph = captured([&](StreamCapture& c) {
            fails(c);
            work(c);
        });
        CHECK(labels_of(graph) == Labels{"", "inner", ""});
    }
}

TEST_CASE("a step returns what its function returns", "[capture][names]") {
    int target = 0;
    const Graph graph = captured([&](StreamCapture& c) {
        CHECK(c.step("value", [&] {
            work(c);
            return std::make_unique<int>(3);
        }) != nullptr);
        int& same = c.step("reference", [&]() -> int& { return target; }, {.allow_empty = true});
        CHECK(&same == &target);
    });
    CHECK(labels_of(graph) == Labels{"value"});
}

TEST_CASE("names of captured nodes can be changed, and go with clones", "[capture][names]") {
    const Graph graph = captured([](StreamCapture& c) { c.step("old", [&] { work(c, 2); }); });
    graph.nodes().front().label("new");
    CHECK(labels_of(graph) == Labels{"new", "old"});
    CHECK(labels_of(graph.clone()) == Labels{"new", "old"});
    CHECK_THAT(graph.dot(), ContainsSubstring("new") && ContainsSubstring("old"));
}

TEST_CASE("errors about captured nodes name them and where they come from", "[capture][names]") {
    const auto cell = device({0});
    unsigned line = 0;
    const Graph graph = captured([&](StreamCapture& c) {
        line = __LINE__ + 1;
        c.step("set", [&](cudaStream_t s) { launch(s, {}, store, cell.data(), 1); });
    });
    cudag::Exec exec = graph.instantiate();
    const auto error =
        refused<cudag::UpdateError>([&] { exec.update(graph.find(store).at(0), cudag::LaunchConfig{.block = 5000}); });
    CHECK(error.labels() == Labels{"set"});
    CHECK(error.location().line == line);
    CHECK_THAT(error.what(),
               ContainsSubstring("kernel \"set\" (store) at ") && ContainsSubstring("capture_names.cpp:"));
}

TEST_CASE("marks and steps of a broken capture are refused, and name themselves", "[capture][names][errors]") {
    const Stream stream;
    StreamCapture c(stream);
    void* memory = nullptr;
    static_cast<void>(cudaMalloc(&memory, 16));
    static_cast<void>(cudaGetLastError());
    const auto mark = refused<CaptureError>([&] { c.mark("late mark"); });
    CHECK(mark.labels() == Labels{"late mark"});
    CHECK_THAT(mark.what(),
               ContainsSubstring("mark \"late mark\" at ") && ContainsSubstring(broken_by("cuMemAlloc_v2")));
    bool called = false;
    const auto step = refused<CaptureError>([&] { c.step("late step", [&] { called = true; }); });
    CHECK(step.labels() == Labels{"late step"});
    CHECK_THAT(step.what(), ContainsSubstring("step \"late step\" at "));
    CHECK_FALSE(called);
}

TEST_CASE("the innermost of the steps that are under way when a capture breaks is named", "[capture][names][errors]") {
    const auto error = refused<CaptureError>([&] {
        static_cast<void>(captured([](StreamCapture& c) {
            c.step("outer", [&] {
                c.step("fine", [&] { work(c); });
                c.step("culprit", [] {
                    void* memory = nullptr;
                    static_cast<void>(cudaMalloc(&memory, 16));
                });
            });
        }));
    });
    CHECK(error.labels() == Labels{"culprit"});
    CHECK_THAT(error.what(), ContainsSubstring("step \"culprit\" at "));
}

TEST_CASE("marks and steps after finish are refused", "[capture][names][errors]") {
    const Stream stream;
    StreamCapture c(stream, {.allow_empty = true});
    static_cast<void>(std::move(c).finish());
    CHECK_THAT(refused<CaptureError>([&] { c.mark("late"); }).what(), ContainsSubstring("mark \"late\""));
    CHECK_THAT(refused<CaptureError>([&] { c.step("late", [] {}); }).what(), ContainsSubstring("step \"late\""));
    CHECK_THROWS_AS(c.fork(Stream()), CaptureError);
    CHECK_THROWS_AS(c.join(Stream()), CaptureError);
}
