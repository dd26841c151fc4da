// Bodies that throw, at several levels and several times: the builder is as it was before.
#include <optional>
#include <string>
#include <utility>

#include <cudag/format.hpp>
#include <fmt/format.h>

#include "conditional_kernels.hpp"
#include "cuda_version.hpp"
#include "native.hpp"

using cudag::Condition;
using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::Node;
using cudag::Stream;

namespace {

struct Thrown {};

void check_throws(CallRef<> call) {
    CHECK_THROWS_AS(call(), Thrown);
}

std::string place(const Node& node) {
    return fmt::format("{}", node.location());
}

} // namespace

TEST_CASE("a body may throw any number of times after it has made conditions", "[conditional][throws]") {
    const auto cell = device({0});
    GraphBuilder b;
    const Condition outer = b.condition(1);
    const auto attempt = [&](bool fails, unsigned initial) {
        b.if_(outer, [&](GraphBuilder& body) {
            const Condition inner = body.condition(initial);
            const Condition second = body.condition(1);
            if (fails) throw Thrown();
            body.if_(inner, [&](GraphBuilder& nested) { nested.kernel({}, store, cell, 7); });
            body.if_(second, [](GraphBuilder&) {});
        });
    };
    for (const unsigned initial : {1U, 1U, 2U, 1U, 3U, 2U})
        check_throws([&] { attempt(true, initial); });
    attempt(false, 1);
    run(std::move(b));
    CHECK(read(cell) == std::vector{7});
}

TEST_CASE("conditions made in bodies that throw at every level are given out again", "[conditional][throws]") {
    const auto cell = device({0});
    GraphBuilder b;
    const Condition outermost = b.condition(1);
    const Condition shared = b.condition(1); // of a conditional in the innermost body, if that stays
    for (int throws_at = 0; throws_at < 4; ++throws_at)
        check_throws([&] {
            b.if_(outermost, [&](GraphBuilder& first) {
                const Condition middle = first.condition(1);
                if (throws_at == 0) throw Thrown();
                first.if_(middle, [&](GraphBuilder& second) {
                    static_cast<void>(b.condition(1)); // the builder outside will be as it was before, too
                    if (throws_at == 1) throw Thrown();
                    second.if_(shared, [&](GraphBuilder& third) {
                        if (throws_at == 2) throw Thrown();
                        third.kernel({}, store, cell, 5);
                    });
                    throw Thrown();
                });
            });
        });
    b.if_(outermost, [&](GraphBuilder& first) {
        const Condition retried = first.condition(1);
        for (int i = 0; i < 2; ++i)
            check_throws([&] {
                first.if_(retried, [](GraphBuilder& second) {
                    static_cast<void>(second.condition(1));
                    throw Thrown();
                });
            });
        first.if_(retried, [&](GraphBuilder& second) {
            second.if_(shared, [&](GraphBuilder& third) { third.kernel({}, store, cell, 9); });
        });
    });
    run(std::move(b));
    CHECK(read(cell) == std::vector{9});
}

TEST_CASE("a condition that is given out again needs a node of its own, and is named by its new place",
          "[conditional][throws]") {
    GraphBuilder b;
    const Condition outer = b.condition(1);
    check_throws([&] {
        b.if_(outer, [](GraphBuilder& body) {
            body.if_(body.condition(1), [](GraphBuilder&) {});
            throw Thrown();
        });
    });
    b.if_(outer, [](GraphBuilder&) {});
    const auto line = cudag::SourceLocation::current().line + 1;
    const Condition again = b.condition(1);
    const auto error = refused<GraphError>([&] { b.check(); });
    CHECK_THAT(error.what(), ContainsSubstring("conditional_throws.cpp:" + std::to_string(line)));
    b.if_(again, [](GraphBuilder&) {});
    b.check();
}

TEST_CASE("what a body left over is no argument", "[conditional][throws]") {
    GraphBuilder b;
    std::optional<Condition> kept;
    check_throws([&] {
        b.if_(b.condition(0), [&](GraphBuilder& body) {
            kept = body.condition(1);
            throw Thrown();
        });
    });
    const auto error = refused<GraphError>([&] { b.kernel({}, set_condition, *kept, 1); });
    CHECK_THAT(error.what(), ContainsSubstring("argument 0: the condition was made in a body that has thrown"));
}

TEST_CASE("the reset of a condition is made where its conditional is, however long the body", "[conditional][nested]") {
    if (older_than(12080)) return;
    const auto cells = device({2, 0});
    GraphBuilder b;
    const Condition more = b.condition(1);
    std::optional<cudag::IfNode> inner;
    const auto loop = b.while_(more, [&](GraphBuilder& body) {
        const auto count = body.kernel({}, count_down, cells, more);
        for (int i = 0; i < 62; ++i)
            body.join(count);
        inner = body.if_(body.condition(1),
                         [&](GraphBuilder& then) { then.kernel({}, add, cells.data() + 1, cells.data() + 1, 1); });
    });
    const Graph graph = std::move(b).build();
    const Node reset = loop.body().find_one("reset of if node 63");
    CHECK(reset.kind() == cudag::NodeKind::kernel);
    CHECK(place(reset) == place(*inner));
    Exec exec = graph.instantiate();
    run(exec, Stream());
    CHECK(read(cells) == std::vector{0, 2});
}

TEST_CASE("a loop's body that begins with a region may have conditionals", "[conditional][nested]") {
    if (older_than(12080)) return;
    const auto cells = device({2, 0});
    const Stream stream;
    GraphBuilder b;
    const Condition more = b.condition(1);
    std::optional<cudag::IfNode> inner;
    const auto loop = b.while_(more, [&](GraphBuilder& body) {
        const auto region =
            body.capture(stream, [&](cudaStream_t s) { cudag::launch(s, {}, count_down, cells.data(), more); });
        inner = body.if_(body.condition(1),
                         [&](GraphBuilder& then) { then.kernel({}, add, cells.data() + 1, cells.data() + 1, 1); })
                    .after(region);
    });
    const Graph graph = std::move(b).build();
    CHECK(place(loop.body().find_one("reset of if node 1")) == place(*inner));
    Exec exec = graph.instantiate();
    run(exec, Stream());
    CHECK(read(cells) == std::vector{0, 2});
}

TEST_CASE("many conditionals of a repeated body are reset before all of it", "[conditional][nested]") {
    if (older_than(12080)) return;
    constexpr int count = 20;
    const auto cells = device({3, 0});
    GraphBuilder b;
    const Condition more = b.condition(1);
    const auto loop = b.while_(more, [&](GraphBuilder& body) {
        std::optional<Node> last;
        for (int i = 0; i < count; ++i) {
            const Condition once = body.condition(1);
            const auto conditional = body.if_(once, [&](GraphBuilder& then) {
                const auto step = then.kernel({}, add, cells.data() + 1, cells.data() + 1, 1);
                then.kernel({}, set_condition, once, 0).after(step);
            });
            if (last) conditional.after(*last);
            last = conditional;
            body.kernel({}, nothing); // a root of its own
        }
        body.kernel({}, count_down, cells, more).after(*last);
    });
    const Graph graph = std::move(b).build();
    const Graph body = loop.body();
    CHECK(body.node_count() == 3 * count + 2);
    // every reset but the last one comes before that, and that before the first conditional and the kernels; a kernel
    // comes after the last
    CHECK(body.edge_count() == (count - 1) + 1 + (count - 1) + (1 + count) + 1);
    Exec exec = graph.instantiate();
    run(exec, Stream());
    CHECK(read(cells) == std::vector{0, 3 * count});
}

TEST_CASE("a capture that is broken inside three conditionals is told as one", "[conditional][capture]") {
    for (const bool sibling : {false, true}) {
        const auto cell = device({0});
        const Stream stream;
        GraphBuilder b;
        const Condition first = b.condition(1);
        const auto write = [&] {
            b.if_(first, [&](GraphBuilder& b1) {
                b1.if_(b1.condition(1), [&](GraphBuilder& b2) {
                    if (sibling) b2.if_(b2.condition(1), [](GraphBuilder&) {});
                    b2.if_(b2.condition(1), [&](GraphBuilder& b3) {
                        b3.capture(stream, [&](cudaStream_t s) {
                            cudag::launch(s, {}, store, cell.data(), 1);
                            static_cast<void>(cudaStreamSynchronize(s)); // breaks the capture
                            static_cast<void>(cudaGetLastError());
                        });
                    });
                });
            });
        };
        CHECK_THROWS_AS(write(), cudag::CaptureError);
        static_cast<void>(cudaGetLastError());
        const auto lost = refused<GraphError>([&] { static_cast<void>(b.condition(1)); });
        CHECK_THAT(lost.what(), ContainsSubstring("was lost when the capture at"));
    }
}

TEST_CASE("what was kept of a body is of nothing when its graph is gone", "[conditional]") {
    std::optional<GraphBuilder> view;
    cudag::Node inside;
    {
        GraphBuilder b;
        b.if_(b.condition(1), [&](GraphBuilder& body) {
            view.emplace(body.on(0));
            inside = body.kernel({}, nothing);
        });
        CHECK(inside.kind() == cudag::NodeKind::kernel);
    }
    CHECK_THAT(refused<cudag::GraphError>([&] { static_cast<void>(inside.kind()); }).what(), StartsWith("cudag: "));
}
