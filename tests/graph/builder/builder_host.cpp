// Host nodes: callables of every kind.
#include <atomic>
#include <functional>
#include <memory>

#include "test.hpp"

using cudag::GraphBuilder;
using cudag::PinnedBuffer;

namespace {

std::atomic<int> calls = 0;
void count_call() {
    ++calls;
}

} // namespace

TEST_CASE("a lambda with captures runs once for each launch", "[builder][callable]") {
    int runs = 0;
    GraphBuilder b;
    b.host([&runs] { ++runs; });
    const cudag::Graph graph = std::move(b).build();
    cudag::Exec exec = graph.instantiate();
    CHECK(runs == 0);
    const cudag::Stream stream;
    run(exec, stream);
    CHECK(runs == 1);
    run(exec, stream);
    CHECK(runs == 2);
}

TEST_CASE("a callable may be move-only", "[builder][callable]") {
    auto value = std::make_unique<int>(5);
    int seen = 0;
    GraphBuilder b;
    b.host([value = std::move(value), &seen] { seen = *value; });
    run(std::move(b));
    CHECK(seen == 5);
}

TEST_CASE("a callable may change its own state", "[builder][callable]") {
    int last = 0;
    GraphBuilder b;
    b.host([count = 0, &last]() mutable { last = ++count; });
    const cudag::Graph graph = std::move(b).build();
    cudag::Exec exec = graph.instantiate();
    const cudag::Stream stream;
    run(exec, stream);
    run(exec, stream);
    CHECK(last == 2);
}

TEST_CASE("a function, a pointer to it and a std::function may be called", "[builder][callable]") {
    calls = 0;
    GraphBuilder b;
    const auto first = b.host(count_call);
    const auto second = b.host(&count_call).after(first);
    b.host(std::function<void()>(count_call)).after(second);
    run(std::move(b));
    CHECK(calls == 3);
}

TEST_CASE("a callable's result is ignored", "[builder][callable]") {
    int runs = 0;
    GraphBuilder b;
    b.host([&runs] { return ++runs; });
    run(std::move(b));
    CHECK(runs == 1);
}

TEST_CASE("an lvalue callable is copied", "[builder][callable]") {
    auto seen = std::make_shared<int>(0);
    auto callable = [seen, value = 1]() { *seen = value; };
    GraphBuilder b;
    b.host(callable);
    CHECK(seen.use_count() == 3);
    run(std::move(b));
    CHECK(*seen == 1);
}

TEST_CASE("a host node waits for kernels, and kernels for it", "[builder][callable]") {
    const PinnedBuffer<int> cells(3);
    std::fill(cells.begin(), cells.end(), 0);
    int* const p = cells.data();
    GraphBuilder b;
    const auto first = b.kernel({}, store, p, 1);
    const auto host = b.host([p] { p[1] = p[0] + 10; }).after(first);
    b.kernel({}, add, p + 2, p + 1, 100).after(host);
    run(std::move(b));
    CHECK(std::vector(cells.begin(), cells.end()) == std::vector{1, 11, 111});
}
