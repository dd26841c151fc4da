// Loops that nothing can end are refused by build(), and no others.
#include <optional>

#include "conditional_kernels.hpp"
#include "cuda_version.hpp"
#include "native.hpp"

using cudag::Condition;
using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::Stream;

namespace {

/// A `while_` in `b` whose body is `body`.
template <class Body>
void loop(GraphBuilder& b, const Condition& condition, Body&& body) {
    b.while_(condition, std::forward<Body>(body)).label("loop");
}

std::string refusal(GraphBuilder& b) {
    const auto error = refused<GraphError>([&] { static_cast<void>(std::move(b).build()); });
    CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
    CHECK(error.labels() == Labels{"loop"});
    return error.what();
}

} // namespace

TEST_CASE("a loop whose condition no kernel takes is refused, with what to write", "[conditional][endless]") {
    const DeviceBuffer<int> cell(1);
    for (const bool given : {false, true}) {
        GraphBuilder b;
        const Condition condition = given ? b.condition(2) : b.condition();
        loop(b, condition, [&](GraphBuilder& body) { body.kernel({}, store, cell, 1); });
        CHECK_THAT(refusal(b), StartsWith("cudag: build: while \"loop\" at ") &&
                                   ContainsSubstring("it never ends: no kernel in its body takes its condition, made "
                                                     "at ") &&
                                   ContainsSubstring("conditional_endless.cpp") &&
                                   ContainsSubstring("body.kernel(config, kernel, condition, ...)"));
    }
}

TEST_CASE("an empty loop is refused", "[conditional][endless]") {
    GraphBuilder b;
    loop(b, b.condition(1), [](GraphBuilder&) {});
    refusal(b);
}

TEST_CASE("a loop that only a kernel before it can begin, and none can end, is refused", "[conditional][endless]") {
    const DeviceBuffer<int> cell(1);
    GraphBuilder b;
    const Condition condition = b.condition(0);
    b.kernel({}, set_from, condition, cell);
    loop(b, condition, [](GraphBuilder&) {});
    refusal(b);
}

TEST_CASE("a loop that never begins is taken", "[conditional][endless]") {
    GraphBuilder b;
    loop(b, b.condition(0), [](GraphBuilder& body) { body.kernel({}, nothing); });
    run(std::move(b));
}

TEST_CASE("the condition of a loop around it, or inside it, ends no loop", "[conditional][endless]") {
    if (older_than(12080)) return;
    const DeviceBuffer<int> cell(1);
    SECTION("the inner one is never set") {
        GraphBuilder b;
        const Condition outer = b.condition(1);
        b.while_(outer, [&](GraphBuilder& body) {
            loop(body, body.condition(1), [&](GraphBuilder& inner) { inner.kernel({}, count_down, cell, outer); });
        });
        refusal(b);
    }
    SECTION("the outer one is never set, though cudag resets the inner one in its body") {
        GraphBuilder b;
        loop(b, b.condition(1), [&](GraphBuilder& body) {
            const Condition inner = body.condition(1);
            body.while_(inner, [&](GraphBuilder& innermost) { innermost.kernel({}, count_down, cell, inner); });
        });
        refusal(b);
    }
    SECTION("an inner loop that begins with 0 is reset to 0") {
        GraphBuilder b;
        const Condition outer = b.condition(1);
        b.while_(outer, [&](GraphBuilder& body) {
            body.while_(body.condition(0), [](GraphBuilder&) {});
            body.kernel({}, set_condition, outer, 0);
        });
        run(std::move(b));
    }
}

TEST_CASE("a kernel anywhere inside a loop may end it", "[conditional][endless]") {
    if (older_than(12080)) return;
    const auto cells = device({2, 0});
    GraphBuilder b;
    const Condition more = b.condition(1);
    const auto end = [&](GraphBuilder& body) { body.kernel({}, count_down, cells, more); };
    SECTION("in a body inside its body") {
        b.while_(more, [&](GraphBuilder& body) { body.if_(body.condition(1), end); });
    }
    SECTION("captured there") {
        const Stream stream;
        b.while_(more, [&](GraphBuilder& body) {
            body.capture(stream, [&](cudaStream_t s) { cudag::launch(s, {}, count_down, cells.data(), more); });
        });
    }
    SECTION("in a graph made without cudag, with CUDA's own handle") {
        b.while_(more, [&](GraphBuilder& body) {
            const Stream stream;
            const Graph captured = cudag::capture(
                stream, [&](cudaStream_t s) { cudag::launch(s, {}, count_down_raw, cells.data(), more.native()); });
            body.child(captured);
        });
    }
    SECTION("in a child to which an update has given it") {
        if (older_than(12090)) return;
        b.while_(more, [&](GraphBuilder& body) {
            GraphBuilder inner;
            const auto count = inner.kernel({}, count_down_raw, cells, cudaGraphConditionalHandle{0});
            Graph child = std::move(inner).build();
            child.update(count, cudag::arg<1>(more.native()));
            body.child(std::move(child));
        });
    }
    SECTION("with the handle, as a number") {
        b.while_(more, [&](GraphBuilder& body) { body.kernel({}, count_down_raw, cells, more.native()); });
    }
    SECTION("with the condition somewhere in an object") {
        b.while_(more, [&](GraphBuilder& body) { body.kernel({}, count_down_with, Counter{'x', more, cells.data()}); });
    }
    run(std::move(b));
    CHECK(read(cells)[0] == 0);
}

TEST_CASE("a kernel that other kernels may change may end a loop", "[conditional][endless]") {
    const DeviceBuffer<int> cell(1);
    GraphBuilder b;
    loop(b, b.condition(1), [&](GraphBuilder& body) {
        cudag::LaunchConfig config;
        config.device_updatable = true;
        body.kernel(config, store, cell, 1);
    });
    CHECK(std::move(b).build().node_count() == 1);
}

TEST_CASE("a kernel after a loop ends it no more than one before it", "[conditional][endless]") {
    const DeviceBuffer<int> cell(1);
    GraphBuilder b;
    const Condition condition = b.condition(1);
    loop(b, condition, [&](GraphBuilder& body) { body.kernel({}, store, cell, 1); });
    b.kernel({}, set_from, condition, cell);
    refusal(b);
}

TEST_CASE("an address of the value of a condition's handle ends no loop", "[conditional][endless]") {
    GraphBuilder b;
    const Condition condition = b.condition(1);
    auto* const address = reinterpret_cast<int*>(static_cast<std::uintptr_t>(condition.native())); // never followed
    loop(b, condition, [&](GraphBuilder& body) { body.kernel({}, store, address, 1); });
    refusal(b);
}

TEST_CASE("no kernel is an unknown one that cudag knows, or whose arguments it reads", "[conditional][endless]") {
    const DeviceBuffer<int> cell(1);
    const Stream stream;
    SECTION("a kernel without parameters") {
        GraphBuilder b;
        loop(b, b.condition(1), [](GraphBuilder& body) { body.kernel({}, nothing); });
        refusal(b);
    }
    SECTION("a captured kernel with parameters") {
        GraphBuilder b;
        loop(b, b.condition(1), [&](GraphBuilder& body) {
            body.capture(stream, [&](cudaStream_t s) { cudag::launch(s, {}, store, cell.data(), 1); });
        });
        refusal(b);
    }
    SECTION("a captured kernel without parameters may set what it knows by other ways") {
        GraphBuilder b;
        loop(b, b.condition(1),
             [&](GraphBuilder& body) { body.capture(stream, [](cudaStream_t s) { cudag::launch(s, {}, nothing); }); });
        CHECK(std::move(b).build().node_count() == 1);
    }
}
