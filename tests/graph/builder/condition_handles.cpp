// Kernels that take CUDA's handle of a condition, as those of existing code do, are given a Condition.
#include "conditional_kernels.hpp"
#include "functions.hpp"
#include "native.hpp"

using cudag::arg;
using cudag::Condition;
using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Function;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::Stream;
using cudag::UpdateError;

namespace {

int result_of(GraphBuilder& b, const DeviceBuffer<int>& cell, int turns) {
    write(cell.span(), std::vector<int>{turns});
    run(std::move(b));
    return read(cell)[0];
}

} // namespace

TEST_CASE("a Condition is given to kernels that take CUDA's handle", "[conditional][handle]") {
    const DeviceBuffer<int> cell(1);
    GraphBuilder b;
    const Condition condition = b.condition(1);
    b.while_(condition, [&](GraphBuilder& body) {
        const auto node = body.kernel({}, count_down_raw, cell, condition);
        CHECK(node.get<1>() == condition.native());
    });
    CHECK(result_of(b, cell, 5) == 0);
}

TEST_CASE("a Condition is given to run-time kernels that take CUDA's handle", "[conditional][handle]") {
    const DeviceBuffer<int> cell(1);
    const Function function = function_of(count_down_raw);
    for (const bool typed : {false, true}) {
        GraphBuilder b;
        const Condition condition = b.condition(1);
        b.while_(condition, [&](GraphBuilder& body) {
            if (typed)
                body.kernel({}, function.typed<int*, cudaGraphConditionalHandle>(), cell, condition);
            else
                body.kernel({}, function, cell, condition);
        });
        CHECK(result_of(b, cell, 5) == 0);
    }
}

TEST_CASE("a launch into a captured body takes a Condition for CUDA's handle", "[conditional][handle][capture]") {
    const DeviceBuffer<int> cell(1);
    const Stream stream;
    GraphBuilder b;
    const Condition condition = b.condition(1);
    b.while_(condition, [&](GraphBuilder& body) {
        body.capture(stream, [&](cudaStream_t s) { cudag::launch(s, {}, count_down_raw, cell, condition); });
    });
    CHECK(result_of(b, cell, 3) == 0);
}

TEST_CASE("a kernel captured with c.kernel takes a Condition for CUDA's handle", "[conditional][handle][capture]") {
    const auto cell = device(std::vector<int>{3});
    const Stream stream;
    cudag::StreamCapture c(stream);
    const Condition condition = c.condition(1);
    c.while_(condition, [&](GraphBuilder& body) { body.kernel({}, count_down_raw, cell, condition); });
    Exec exec = std::move(c).finish().instantiate();
    exec.launch(stream);
    stream.synchronize();
    CHECK(read(cell) == std::vector<int>{0});
}

TEST_CASE("a handle before a loop that no kernel can end is that of its condition", "[conditional][handle]") {
    const DeviceBuffer<int> cell(1);
    GraphBuilder b;
    const Condition condition = b.condition(0);
    b.kernel({}, count_down_raw, cell, condition);
    b.while_(condition, [&](GraphBuilder& body) { body.kernel({}, store, cell, 1); });
    const auto error = refused<GraphError>([&] { static_cast<void>(std::move(b).build()); });
    CHECK_THAT(error.what(), ContainsSubstring("it never ends: no kernel in its body takes its condition"));
}

TEST_CASE("the condition of another graph is refused for a handle", "[conditional][handle]") {
    const DeviceBuffer<int> cell(1);
    GraphBuilder other, b;
    const Condition foreign = other.condition(1), own = b.condition(1);
    const auto error = refused<GraphError>([&] { b.kernel({}, count_down_raw, cell, foreign); });
    CHECK_THAT(error.what(), ContainsSubstring("argument 1: the condition belongs to another graph"));
    const auto node = b.kernel({}, count_down_raw, cell, own);
    b.if_(own, [&](GraphBuilder& body) { body.kernel({}, store, cell, 1); }).after(node);
    Exec exec = std::move(b).build().instantiate();
    CHECK_THROWS_AS(exec.update(node, arg<1>(foreign)), UpdateError);
    CHECK_THROWS_AS(exec.update(node, cell, foreign), UpdateError);
}

TEST_CASE("updates give a kernel another Condition for its handle", "[conditional][handle][update]") {
    const DeviceBuffer<int> cell(1), first(1), second(1);
    GraphBuilder b;
    const Condition one = b.condition(0), two = b.condition(0);
    const auto setter = b.kernel({}, count_down_raw, cell, one);
    b.if_(one, [&](GraphBuilder& body) { body.kernel({}, store, first, 1); }).after(setter);
    b.if_(two, [&](GraphBuilder& body) { body.kernel({}, store, second, 1); }).after(setter);
    Exec exec = std::move(b).build().instantiate();
    const Stream stream;
    const auto results = [&] {
        write(cell.span(), std::vector<int>{2});
        write(first.span(), std::vector<int>{0});
        write(second.span(), std::vector<int>{0});
        exec.launch(stream);
        stream.synchronize();
        return std::vector<int>{read(first)[0], read(second)[0]};
    };
    CHECK(results() == std::vector<int>{1, 0});
    exec.update(setter, cell, two);
    CHECK(results() == std::vector<int>{0, 1});
    exec.update(setter, arg<1>(one));
    CHECK(results() == std::vector<int>{1, 0});
    exec.update(setter, arg<0>(cell));
    CHECK(results() == std::vector<int>{1, 0});
    exec.update(setter, arg<1>(two.native()));
    CHECK(results() == std::vector<int>{0, 1});
}
