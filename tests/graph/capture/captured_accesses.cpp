// What captured nodes do to memory: as their calls say, as CUDA tells, and as it is declared.
#include "functions.hpp"
#include "test.hpp"

#include <memory>
#include <thread>
#include <vector>

using cudag::DeviceBuffer;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::StreamCapture;

namespace {

/// Two streams that are forked, and what is enqueued into each.
template <class First, class Second>
Graph captured_beside(const First& first, const Second& second) {
    const cudag::Stream stream, fork;
    return cudag::capture(stream, [&](StreamCapture& c) {
        cudag::launch(stream, {}, nothing);
        c.fork(fork);
        c.step("first", [&] { first(stream.get()); });
        c.step("second", [&] { second(fork.get()); });
        c.join(fork);
    });
}

auto stores(const DeviceBuffer<int>& cells, int value) {
    return [&cells, value](cudaStream_t s) { cudag::launch(s, {}, store, cells, value); };
}

/// As a library does.
void launch_unknown(cudaStream_t s, int* cell, int value) {
    void* arguments[] = {&cell, &value};
    cudag::check(cudaLaunchKernel(cudag::detail::kernel_symbol(store), dim3(1), dim3(1), arguments, 0, s));
}

} // namespace

TEST_CASE("captured launches do to memory what their arguments say", "[capture][accesses]") {
    const DeviceBuffer<int> cells(4), other(1);
    const Graph graph = captured_beside(
        stores(cells, 1), [&](cudaStream_t s) { cudag::launch(s, {}, add, other, cells.span().subspan(3, 1), 2); });
    const std::vector<cudag::Race> races = graph.races();
    REQUIRE(races.size() == 1);
    CHECK(races[0].first.label() == "first");
    CHECK(races[0].second.label() == "second");
    CHECK(races[0].first_argument == 0);
    CHECK(races[0].second_argument == 1);
    CHECK(races[0].first_writes);
    CHECK_FALSE(races[0].second_writes);
    CHECK(races[0].element == 3);
    CHECK(graph.untracked().empty());
    CHECK(graph.clone().races().size() == 1);
}

TEST_CASE("captured launches say more where they are told to", "[capture][accesses]") {
    const DeviceBuffer<int> cells(4);
    const auto races = [&](auto&& first, auto&& second) {
        return captured_beside([&](cudaStream_t s) { cudag::launch(s, {}, store, first, 1); },
                               [&](cudaStream_t s) { cudag::launch(s, {}, store, second, 1); })
            .races()
            .size();
    };
    CHECK(races(cells, cells) == 1);
    CHECK(races(cudag::in(cells), cudag::in(cells)) == 0);
    CHECK(races(cudag::in(cells), cudag::out(cells)) == 1);
    CHECK(races(cudag::atomic(cells), cudag::atomic(cells)) == 0);
    CHECK(races(cells.span().subspan(0, 2), cells.span().subspan(2, 2)) == 0);
    const auto shared = std::make_shared<DeviceBuffer<int>>(1);
    CHECK(races(shared, shared->span()) == 1);
}

TEST_CASE("launches with attributes, and of Functions, are tracked, too", "[capture][accesses]") {
    const DeviceBuffer<int> cells(1);
    const cudag::Function function = function_of(store);
    const auto typed = function.typed<int*, int>();
    const Graph graph = captured_beside([&](cudaStream_t s) { cudag::launch(s, {}, function, cells, 1); },
                                        [&](cudaStream_t s) { cudag::launch(s, {}, typed, cells, 1); });
    CHECK(graph.races().size() == 1);
    CHECK(graph.untracked().empty());
    const Graph attributed =
        captured_beside(stores(cells, 1), [&](cudaStream_t s) { cudag::launch(s, {.priority = 0}, store, cells, 1); });
    CHECK(attributed.races().size() == 1);
    CHECK(attributed.untracked().empty());
}

TEST_CASE("of captured launches only pointers without a length are untracked", "[capture][accesses]") {
    const DeviceBuffer<Numbers> out(1);
    const Graph graph = captured_beside(
        [&](cudaStream_t s) { cudag::launch(s, {}, write_numbers, out, 1, 2, 3, 4, 5, 6, 7LL, 8ULL, 9.0F, 10.0); },
        [&](cudaStream_t s) { cudag::launch(s, {}, store, static_cast<int*>(nullptr), 1); });
    CHECK(graph.untracked() == std::vector<cudag::UntrackedArgument>{{graph.find_one("second"), 0}});
}

TEST_CASE("captured copies and fills are known exactly", "[capture][accesses]") {
    const DeviceBuffer<int> cells(8), others(4);
    const auto races = [](const auto& first, const auto& second) { return captured_beside(first, second).races(); };
    const auto fill = [&](cudaStream_t s) { cudag::memset_async(s, cells.span().subspan(0, 4), 0); };
    CHECK(races(fill, [&](cudaStream_t s) { cudag::memcpy_async(s, others, cells.span().subspan(4, 4)); }).empty());
    const auto found = races(fill, [&](cudaStream_t s) { cudag::memcpy_async(s, others, cells.span().subspan(3, 4)); });
    REQUIRE(found.size() == 1);
    CHECK(found[0].begin == reinterpret_cast<std::uintptr_t>(cells.data() + 3));
    CHECK(found[0].bytes == sizeof(int));
}

TEST_CASE("launches of other streams, and captures of others, are not taken for captured ones", "[capture][accesses]") {
    const DeviceBuffer<int> cells(1), others(1);
    const cudag::Stream plain, stream;
    const Graph around = cudag::capture(stream, [&](StreamCapture& c) {
        c.step("captured", [&] { cudag::launch(stream, {}, store, cells, 1); });
        const cudag::ThreadCaptureMode allow(cudag::CaptureMode::relaxed);
        cudag::launch(plain, {}, store, others, 7);
    });
    plain.synchronize();
    CHECK(read(others)[0] == 7);
    CHECK(around.node_count() == 1);
    CHECK(around.untracked().empty());
    cudag::check(cudaStreamBeginCapture(plain.get(), cudaStreamCaptureModeThreadLocal));
    cudag::launch(plain, {}, store, cells, 1);
    cudaGraph_t native = nullptr;
    cudag::check(cudaStreamEndCapture(plain.get(), &native));
    CHECK(Graph::adopt(native).untracked().size() == 1); // cudag did not begin it
}

TEST_CASE("threads that fork from a capture are heard", "[capture][accesses]") {
    const DeviceBuffer<int> cells(1);
    const cudag::Stream stream, first, second;
    const Graph graph = cudag::capture(stream,
                                       [&](StreamCapture& c) {
                                           cudag::launch(stream, {}, nothing);
                                           c.fork(first);
                                           c.fork(second);
                                           std::thread one([&] { cudag::launch(first, {}, store, cells, 1); });
                                           std::thread two([&] { cudag::launch(second, {}, store, cells, 2); });
                                           one.join();
                                           two.join();
                                           c.join(first);
                                           c.join(second);
                                       },
                                       {.mode = cudag::CaptureMode::relaxed});
    CHECK(graph.races().size() == 1);
    CHECK(graph.untracked().empty());
}

TEST_CASE("nodes that are added to a capture, and those around them, are tracked", "[capture][accesses]") {
    const DeviceBuffer<int> cells(1);
    const cudag::Stream stream, fork;
    const Graph graph = cudag::capture(stream, [&](StreamCapture& c) {
        cudag::launch(stream, {}, store, cells, 1);
        c.kernel({}, store, cells, 2);
        c.fork(fork);
        cudag::launch(stream, {}, store, cells, 3);
        cudag::launch(fork, {}, store, cells, 4);
        c.join(fork);
    });
    CHECK(graph.untracked().empty());
    CHECK(graph.races().size() == 1);
}

TEST_CASE("an update of a captured node changes what it does to memory", "[capture][accesses]") {
    const DeviceBuffer<int> cells(1), others(1);
    Graph graph = captured_beside(stores(cells, 1), stores(others, 2));
    CHECK(graph.races().empty());
    const auto second = graph.find(store).at(1);
    graph.update(second, cudag::arg<0>(cells));
    CHECK(graph.races().size() == 1);
    graph.update(second, others, 3);
    CHECK(graph.races().empty());
}

TEST_CASE("any node may say what it does to memory", "[capture][accesses]") {
    const DeviceBuffer<int> cells(4);
    const Graph graph = captured_beside([&](cudaStream_t s) { launch_unknown(s, cells.data(), 1); }, stores(cells, 1));
    CHECK(graph.races().empty());
    const cudag::Node first = graph.find_one("first");
    CHECK(first.reads(cells.span().subspan(0, 1)) == first);
    CHECK(graph.races().size() == 1);
}

TEST_CASE("captured regions are tracked, and what is not declares itself", "[capture][accesses]") {
    const DeviceBuffer<int> x(1), y(1);
    const cudag::Stream stream;
    GraphBuilder b;
    const auto before = b.memset(x, 0).label("before");
    const auto region = b.capture(stream, [&](cudaStream_t s) { cudag::launch(s, {}, add, y, x, 1); });
    static_cast<void>(refused<cudag::RaceError>([&] { b.check(); }));
    region.after(before);
    const auto unknown = b.capture(stream, [&](cudaStream_t s) {
        launch_unknown(s, x.data(), 5);
        launch_unknown(s, x.data(), 6);
    });
    b.check();
    CHECK(unknown.writes(x).reads(y) == unknown);
    CHECK_THAT(refused<cudag::RaceError>([&] { b.check(); }).what(), ContainsSubstring("(what it declares)"));
    unknown.after(region);
    run(std::move(b));
    CHECK(read(x)[0] == 6);
    CHECK(read(y)[0] == 1);
}

TEST_CASE("what a region declares orders it with others, not its nodes among each other", "[capture][accesses]") {
    const DeviceBuffer<int> x(2), y(2);
    const cudag::Stream stream, fork;
    GraphBuilder b;
    const auto region = b.capture(stream, [&](StreamCapture& c) {
        cudag::launch(stream, {}, store, y, 1); // tracked: what the region declares is not of this one
        c.fork(fork);
        launch_unknown(stream.get(), x.data(), 1);
        launch_unknown(fork.get(), x.data() + 1, 2);
        c.join(fork);
    });
    region.writes(x).reads(x);
    b.check();
    const auto after_one = b.kernel({}, store, x, 3).after(region.nodes().at(1));
    static_cast<void>(refused<cudag::RaceError>([&] { b.check(); })); // not after the other one
    after_one.after(region);
    b.check();
}
