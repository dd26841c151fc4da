// ExecCache: launched, updated or instantiated, and what goes.
#include "gate.hpp"
#include "stores.hpp"
#include "usable.hpp"

#include <cudag/format.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

using cudag::arg;
using cudag::Exec;
using cudag::ExecCache;
using cudag::ExecCacheStats;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::Stream;

namespace {

struct Launches {
    std::uint64_t hits, updates, instantiations;
    friend bool operator==(const Launches&, const Launches&) = default;
};

Launches launches(const ExecCache& cache) {
    const ExecCacheStats stats = cache.stats();
    return {stats.hits, stats.updates, stats.instantiations};
}

/// What the cells are after `graph` was launched.
Cells result(ExecCache& cache, const Stores& stores, const Graph& graph) {
    const Stream stream;
    stores.clear();
    cache.launch(graph, stream);
    stream.synchronize();
    return stores.cells();
}

/// A stream of cudag's, or another one.
class AnyStream {
  public:
    explicit AnyStream(bool is_own) {
        if (is_own)
            own_.emplace();
        else
            cudag::check(cudaStreamCreateWithFlags(&plain_, cudaStreamNonBlocking));
    }
    ~AnyStream() {
        if (!own_) cudaStreamDestroy(plain_);
    }
    AnyStream(const AnyStream&) = delete;
    AnyStream& operator=(const AnyStream&) = delete;

    [[nodiscard]] cudaStream_t get() const { return own_ ? own_->get() : plain_; }
    void synchronize() const { cudag::check(cudaStreamSynchronize(get())); }

  private:
    std::optional<Stream> own_;
    cudaStream_t plain_ = nullptr;
};

} // namespace

TEST_CASE("a graph that was launched is launched again as it is", "[exec][cache]") {
    const Stores stores;
    const Graph graph = stores.build({1, 2});
    ExecCache cache;
    CHECK(result(cache, stores, graph) == Cells{1, 2, -1});
    CHECK(result(cache, stores, graph) == Cells{1, 2, -1});
    CHECK(launches(cache) == Launches{1, 0, 1});
    CHECK(cache.stats().execs == 1);
    const Stream stream;
    CHECK(cache.launch(graph, stream).replays() == 3);
    stream.synchronize();
}

TEST_CASE("graphs of one structure share an exec, and others have their own", "[exec][cache]") {
    const Stores stores;
    ExecCache cache;
    const Graph one = stores.build({1, 2}), other = stores.build({3, 4}), longer = stores.build({5, 6, 7});
    CHECK(result(cache, stores, one) == Cells{1, 2, -1});
    CHECK(result(cache, stores, other) == Cells{3, 4, -1});
    CHECK(result(cache, stores, longer) == Cells{5, 6, 7});
    CHECK(result(cache, stores, one) == Cells{1, 2, -1});
    CHECK(launches(cache) == Launches{0, 2, 2});
    CHECK(result(cache, stores, one) == Cells{1, 2, -1});
    CHECK(launches(cache) == Launches{1, 2, 2});
}

TEST_CASE("a cache knows a graph that is gone no more, nor one that takes its place", "[exec][cache]") {
    const Stores stores;
    ExecCache cache;
    for (int value = 0; value < 20; ++value)
        CHECK(result(cache, stores, stores.build({value, value})) == Cells{value, value, -1});
    CHECK(launches(cache) == Launches{0, 19, 1});
}

TEST_CASE("what changed in a graph since its last launch is brought in", "[exec][cache]") {
    const Stores stores;
    ExecCache cache;
    Graph graph = stores.build({1, 2});
    CHECK(result(cache, stores, graph) == Cells{1, 2, -1});
    graph.update(graph.find(store)[0], arg<1>(7));
    CHECK(result(cache, stores, graph) == Cells{7, 2, -1});
    CHECK(result(cache, stores, stores.build({3, 4})) == Cells{3, 4, -1});
    graph.update(graph.find(store)[1], arg<1>(8));
    CHECK(result(cache, stores, graph) == Cells{7, 8, -1});
    CHECK(result(cache, stores, graph) == Cells{7, 8, -1});
    CHECK(launches(cache) == Launches{1, 3, 1});
}

TEST_CASE("edges, kernels and attributes that CUDA fixes make another structure, pointers do not", "[exec][cache]") {
    const auto cells = device({0, 0}), others = device({0, 0});
    ExecCache cache;
    const Stream stream;
    const auto launched = [&](bool with_edge, bool adds, bool cooperative, int* cell) {
        GraphBuilder b;
        const auto first = b.kernel({.cooperative = cooperative}, store, cell, 1);
        const auto order = [&](const auto& second) {
            if (with_edge) second.after(first);
        };
        if (adds)
            order(b.kernel({}, add, cell + 1, cell + 1, 1));
        else
            order(b.kernel({}, store, cell + 1, 1));
        cache.launch(std::move(b).build(), stream);
        stream.synchronize();
        return cache.stats().instantiations;
    };
    CHECK(launched(true, true, false, cells.data()) == 1);
    CHECK(launched(true, true, false, others.data()) == 1);
    CHECK(launched(false, true, false, cells.data()) == 2);
    CHECK(launched(true, false, false, cells.data()) == 3);
    CHECK(launched(true, true, true, cells.data()) == 4);
    CHECK(launched(true, true, false, cells.data()) == 4);
}

TEST_CASE("captured graphs are kept by structure, too", "[exec][cache]") {
    const Stores stores;
    ExecCache cache;
    const auto captured = [&](int value) {
        const Stream stream;
        return cudag::capture(stream, [&](cudaStream_t s) {
            cudag::launch(s, {}, store, stores.cell(0), value);
            cudag::launch(s, {}, store, stores.cell(1), value);
        });
    };
    CHECK(result(cache, stores, captured(3)) == Cells{3, 3, -1});
    CHECK(result(cache, stores, captured(4)) == Cells{4, 4, -1});
    CHECK(result(cache, stores, stores.build({5, 6, 7})) == Cells{5, 6, 7});
    CHECK(launches(cache) == Launches{0, 1, 2});
}

TEST_CASE("an update that CUDA refuses is a new exec, and the former one serves on", "[exec][cache]") {
    const auto cells = device(std::vector<int>(6));
    const Stream stream;
    ExecCache cache;
    const auto fill = [&](std::size_t height, int value) { // which CUDA fixes
        GraphBuilder b;
        b.memset2d(cudag::DeviceSpan2D<int>(cells.span().subspan(0, 2 * height), 2, height), value);
        return std::move(b).build();
    };
    const Graph two = fill(2, 5), three = fill(3, 7);
    for (int turn = 0; turn < 2; ++turn) {
        cache.launch(two, stream);
        stream.synchronize();
        CHECK(read(cells)[3] == 5);
        cache.launch(three, stream);
        stream.synchronize();
        CHECK(read(cells)[5] == 7);
    }
    CHECK(launches(cache) == Launches{2, 0, 2});
    cache.launch(fill(2, 6), stream);
    cache.launch(fill(3, 8), stream);
    stream.synchronize();
    CHECK(read(cells) == std::vector{8, 8, 8, 8, 8, 8});
    CHECK(launches(cache) == Launches{2, 2, 2});
}

TEST_CASE("caches that share graphs each know which of their execs has one", "[exec][cache]") {
    const auto cells = device(std::vector<int>(6));
    const Stream stream;
    ExecCache one, other;
    const auto fill = [&](std::size_t height) { // which CUDA fixes
        GraphBuilder b;
        b.memset2d(cudag::DeviceSpan2D<int>(cells.span().subspan(0, 2 * height), 2, height), 5);
        return std::move(b).build();
    };
    const Graph two = fill(2), three = fill(3);
    for (int turn = 0; turn < 3; ++turn)
        for (ExecCache* cache : {&one, &other}) {
            cache->launch(two, stream);
            cache->launch(three, stream);
        }
    CHECK(launches(one) == Launches{4, 0, 2});
    CHECK(launches(other) == Launches{4, 0, 2});
    other.clear();
    one.launch(two, stream);
    other.launch(two, stream);
    CHECK(launches(one) == Launches{5, 0, 2});
    CHECK(launches(other) == Launches{4, 0, 3});
    stream.synchronize();
}

TEST_CASE("a graph changed in what an exec cannot take gets another one", "[exec][cache]") {
    const auto cells = device(std::vector<int>(6));
    const Stream stream;
    ExecCache cache;
    const auto region = [&](std::size_t height) {
        return cudag::DeviceSpan2D<int>(cells.span().subspan(0, 2 * height), 2, height);
    };
    GraphBuilder b;
    const auto fill = b.memset2d(region(2), 5);
    Graph graph = std::move(b).build();
    cache.launch(graph, stream);
    graph.update(fill, region(3), 6);
    for (int turn = 0; turn < 2; ++turn) {
        cache.launch(graph, stream);
        stream.synchronize();
        CHECK(read(cells) == std::vector{6, 6, 6, 6, 6, 6});
    }
    CHECK(launches(cache) == Launches{1, 0, 2});
}

TEST_CASE("the least recently launched exec goes first", "[exec][cache]") {
    const Stores stores;
    ExecCache cache({.capacity = 2});
    const Graph one = stores.build({1}), two = stores.build({1, 2}), three = stores.build({1, 2, 3});
    result(cache, stores, one);
    result(cache, stores, two);
    result(cache, stores, one);
    result(cache, stores, three); // two goes
    CHECK(cache.stats().execs == 2);
    CHECK(cache.stats().evictions == 1);
    result(cache, stores, one);
    CHECK(launches(cache) == Launches{2, 0, 3});
    result(cache, stores, two);
    CHECK(launches(cache) == Launches{2, 0, 4});
    CHECK(result(cache, stores, two) == Cells{1, 2, -1});
}

TEST_CASE("an exec in flight does not go", "[exec][cache]") {
    const Stores stores;
    const AnyStream stream(GENERATE(true, false));
    ExecCache cache({.capacity = 1});
    Gate gate;
    GraphBuilder b;
    const auto wait = b.host(gate.node());
    b.kernel({}, store, stores.cell(2), 9).after(wait); // beside what the other stores
    const Graph held = std::move(b).build(), other = stores.build({1, 2});
    stores.clear();
    cache.launch(held, stream.get());
    gate.wait_until_entered();
    const Stream beside;
    cache.launch(other, beside);
    CHECK(cache.stats().execs == 2);
    CHECK(cache.stats().evictions == 0);
    gate.open();
    stream.synchronize();
    beside.synchronize();
    cache.launch(other, beside);
    CHECK(cache.stats().execs == 1);
    CHECK(cache.stats().evictions == 1);
    beside.synchronize();
}

TEST_CASE("the first exec that has ended goes, whichever stream it was launched in", "[exec][cache]") {
    const Stores stores;
    const Stream held, free, last;
    ExecCache cache({.capacity = 3});
    const Graph one = stores.build({1}), two = stores.build({1, 2}), three = stores.build({1, 2, 3});
    Gate gate;
    GraphBuilder b;
    b.host(gate.node());
    const Graph gated = std::move(b).build();
    cache.launch(gated, held);
    gate.wait_until_entered();
    cache.launch(one, held); // behind the gate
    cache.launch(two, free);
    free.synchronize();
    cache.launch(three, last); // two goes
    last.synchronize();
    CHECK(cache.stats().execs == 3);
    CHECK(cache.stats().evictions == 1);
    cache.launch(one, held);
    CHECK(cache.stats().hits == 1);
    gate.open();
    held.synchronize();
    cache.launch(two, free); // the gate goes
    free.synchronize();
    CHECK(cache.stats().execs == 3);
    CHECK(cache.stats().instantiations == 5);
    cache.launch(one, last);
    cache.launch(three, last);
    CHECK(cache.stats().hits == 3);
    last.synchronize();
}

TEST_CASE("of execs in several streams, the least recently launched one goes", "[exec][cache]") {
    constexpr std::size_t count = 3;
    const Stores stores;
    const std::vector<Stream> streams(count);
    const std::vector<Graph> graphs = [&] {
        std::vector<Graph> list;
        list.push_back(stores.build({1}));
        list.push_back(stores.build({1, 2}));
        list.push_back(stores.build({1, 2, 3}));
        return list;
    }();
    GraphBuilder b;
    b.host([] {});
    const Graph other = std::move(b).build();
    std::vector<std::size_t> order{0, 1, 2}; // of the streams
    const auto launch = [&](ExecCache& cache, std::size_t i) {
        cache.launch(graphs[i], streams[order[i]]);
        streams[order[i]].synchronize();
    };
    do {
        ExecCache cache({.capacity = count});
        for (std::size_t i = 0; i < count; ++i)
            launch(cache, i);
        cache.launch(other, streams[order[1]]); // in place of the first one
        streams[order[1]].synchronize();
        launch(cache, 1);
        launch(cache, 2);
        CHECK(launches(cache) == Launches{2, 0, 4});
        ExecCache turned({.capacity = count});
        for (std::size_t i = 0; i < count; ++i)
            launch(turned, i);
        launch(turned, 0);
        turned.launch(other, streams[order[0]]); // in place of the second one
        streams[order[0]].synchronize();
        launch(turned, 0);
        launch(turned, 2);
        CHECK(launches(turned) == Launches{3, 0, 4});
        CHECK(turned.stats().evictions == 1);
    } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("an exec that goes on in another stream keeps none in the former one", "[exec][cache]") {
    const Stores stores;
    const Stream held, free;
    ExecCache cache({.capacity = 2});
    const Graph one = stores.build({1}), two = stores.build({1, 2}), three = stores.build({1, 2, 3});
    Gate gate;
    GraphBuilder b;
    b.host(gate.node());
    Exec gated = std::move(b).build().instantiate();
    cache.launch(one, free);
    free.synchronize();
    gated.launch(held);
    gate.wait_until_entered();
    cache.launch(one, held); // behind the gate
    cache.launch(two, free);
    free.synchronize();
    cache.launch(three, free);
    free.synchronize();
    CHECK(cache.stats().execs == 2); // two has gone
    CHECK(cache.stats().evictions == 1);
    cache.launch(one, held);
    CHECK(cache.stats().hits == 2);
    gate.open();
    held.synchronize();
}

TEST_CASE("a relaxed graph is not launched with the edges that it had", "[exec][cache][relax]") {
    const auto cells = device({0, 0, 0, 0});
    const Stream stream;
    const auto line = [&] {
        return cudag::capture(stream, [&](cudaStream_t s) {
            for (std::size_t i = 0; i < 4; ++i)
                cudag::launch(s, {}, store, cells.span().subspan(i, 1), 1);
        });
    };
    Graph first = line(), second = line();
    ExecCache cache, other;
    for (ExecCache* each : {&cache, &other}) {
        each->launch(first, stream);
        each->launch(second, stream); // by an update of that exec
    }
    CHECK_THROWS_AS(cudag::relax(first), cudag::GraphError); // its execs are alive
    cudag::relax(second);
    REQUIRE(second.edge_count() == 0);
    for (ExecCache* each : {&other, &cache}) { // first the one that was the last to launch it
        const Exec& exec = each->launch(second, stream);
        CHECK(exec.plan().edges_before() == 0);
        CHECK(launches(*each) == Launches{0, 1, 2});
        each->launch(second, stream);
        CHECK(launches(*each) == Launches{1, 1, 2});
    }
    stream.synchronize();
}

TEST_CASE("clearing a cache waits for what is in flight", "[exec][cache]") {
    const Stores stores;
    const AnyStream stream(GENERATE(true, false));
    const Graph graph = stores.build({1, 2});
    ExecCache cache;
    stores.clear();
    cache.launch(graph, stream.get());
    cache.clear();
    CHECK(cudaStreamQuery(stream.get()) == cudaSuccess);
    CHECK(cache.stats().execs == 0);
    CHECK(result(cache, stores, graph) == Cells{1, 2, -1});
    CHECK(launches(cache) == Launches{0, 0, 2});
}

TEST_CASE("execs that belong to a stream are launched in no other", "[exec][cache]") {
    const Stores stores;
    const Graph graph = stores.build({1, 2});
    const Stream left, right;
    ExecCache shared, affine({.stream_affine = true});
    for (ExecCache* cache : {&shared, &affine})
        for (const Stream* stream : {&left, &right, &left, &right}) {
            cache->launch(graph, *stream);
            stream->synchronize();
        }
    CHECK(launches(shared) == Launches{3, 0, 1});
    CHECK(launches(affine) == Launches{2, 0, 2});
}

TEST_CASE("what changed in a graph is brought into the exec of each stream", "[exec][cache]") {
    const Stores stores;
    Graph graph = stores.build({1, 2});
    const Stream left, right;
    ExecCache cache({.stream_affine = true});
    const auto results = [&] {
        std::vector<Cells> cells;
        for (const Stream* stream : {&left, &right}) {
            stores.clear();
            cache.launch(graph, *stream);
            stream->synchronize();
            cells.push_back(stores.cells());
        }
        return cells;
    };
    CHECK(results() == std::vector{Cells{1, 2, -1}, Cells{1, 2, -1}});
    graph.update(graph.find(store).at(0), cudag::arg<1>(5));
    CHECK(results() == std::vector{Cells{5, 2, -1}, Cells{5, 2, -1}});
    CHECK(results() == std::vector{Cells{5, 2, -1}, Cells{5, 2, -1}});
    CHECK(launches(cache) == Launches{2, 2, 2});
}

TEST_CASE("execs of a cache are instantiated as its options say", "[exec][cache]") {
    const Stores stores;
    const Stream stream;
    ExecCache cache({.instantiate = {.use_node_priority = true, .plan = cudag::Plan::as_written()}});
    const Exec& exec = cache.launch(stores.build({1}), stream);
    CHECK(exec.options().use_node_priority);
    CHECK(exec.options().plan == cudag::Plan::as_written());
    stream.synchronize();
}

TEST_CASE("what a launch of a cache throws leaves it as it was", "[exec][cache]") {
    const Stores stores;
    ExecCache cache;
    const Graph graph = stores.build({1, 2});
    Graph gone = stores.build({1});
    const Graph taken = std::move(gone);
    const Stream stream;
    CHECK_THROWS_AS(cache.launch(gone, stream), cudag::GraphError);
    CHECK(cache.stats().execs == 0);
    CHECK(result(cache, stores, graph) == Cells{1, 2, -1});
    ExecCache moved = std::move(cache);
    CHECK_THROWS_AS(cache.launch(graph, stream), cudag::GraphError);
    CHECK_THROWS_AS(cache.stats(), cudag::GraphError);
    CHECK(result(moved, stores, graph) == Cells{1, 2, -1});
    CHECK_THROWS_AS(ExecCache({.capacity = 0}), cudag::GraphError);
}

TEST_CASE("a cache says how long its instantiations and updates took", "[exec][cache]") {
    const Stores stores;
    ExecCache cache;
    const Graph one = stores.build({1}), two = stores.build({2});
    result(cache, stores, one);
    CHECK(cache.stats().instantiate_seconds > 0);
    CHECK(cache.stats().update_seconds == 0);
    result(cache, stores, two);
    const double taken = cache.stats().update_seconds;
    CHECK(taken > 0);
    result(cache, stores, one);
    CHECK(cache.stats().update_seconds > taken);
}

TEST_CASE("a cache says what it has done", "[exec][cache]") {
    const ExecCacheStats stats{10, 1, 4, 2, 2, std::size_t{4} << 20U, 0.00012, 0.0015};
    CHECK(to_string(stats) ==
          "2 execs, 4.0 MiB; 10 hits, 1 update in 0.12 ms, 4 instantiations in 1.50 ms, 2 evictions");
    CHECK(fmt::format("{}", stats) == to_string(stats));
}
