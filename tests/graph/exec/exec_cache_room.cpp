// ExecCache: which execs stay if there is no room for all structures.
#include "gate.hpp"
#include "stores.hpp"
#include "usable.hpp"

#include <cudag/observer.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using cudag::ExecCache;
using cudag::Graph;
using cudag::Stream;

namespace {

/// Graphs of one to `count` nodes: as many structures.
std::vector<Graph> structures(const Stores& stores, std::size_t count) {
    std::vector<Graph> graphs;
    for (std::size_t i = 0; i < count; ++i) {
        cudag::GraphBuilder b;
        cudag::Node last = b.kernel({}, store, stores.cell(0), static_cast<int>(i));
        for (std::size_t k = 0; k < i; ++k)
            last = b.kernel({}, store, stores.cell(0), static_cast<int>(i)).after(last);
        graphs.push_back(std::move(b).build());
    }
    return graphs;
}

/// Launches, and waits; whether it was a hit.
bool hits(ExecCache& cache, const Graph& graph, const Stream& stream) {
    const std::uint64_t before = cache.stats().hits;
    cache.launch(graph, stream);
    stream.synchronize();
    return cache.stats().hits != before;
}

} // namespace

TEST_CASE("structures in turns, more than there is room for: most execs stay", "[exec][cache][policy]") {
    constexpr std::size_t capacity = 4, rounds = 30;
    const std::size_t count = GENERATE(5U, 12U);
    const Stores stores;
    const Stream stream;
    ExecCache cache({.capacity = capacity});
    const std::vector<Graph> graphs = structures(stores, count);
    std::vector<cudag::ObservedCrowding> events;
    const cudag::Observer former = cudag::set_observer([&](const cudag::Observation& event) {
        if (const auto* crowding = event.find<cudag::ObservedCrowding>()) events.push_back(*crowding);
    });
    for (std::size_t round = 0; round < rounds; ++round)
        for (std::size_t i = 0; i < count; ++i) {
            hits(cache, graphs[i], stream);
            CHECK(stores.cells()[0] == static_cast<int>(i));
            CHECK(cache.stats().execs <= capacity);
        }
    cudag::set_observer(former);
    const cudag::ExecCacheStats stats = cache.stats();
    CHECK(stats.hits >= (rounds - 4) * (capacity - 1)); // one place is for the others
    CHECK(stats.returns == stats.instantiations - count);
    CHECK(stats.needed_capacity == count);
    CHECK_THAT(to_string(stats), EndsWith(" returns: capacity " + std::to_string(count) + " would keep all"));
    REQUIRE(events.size() >= 2); // after 8, 16, ... returns
    CHECK(events.front().returns == 8);
    CHECK(events.back().cache == "ExecCache");
    CHECK(events.back().keys == count - capacity);
    CHECK(events.back().needed == count);
}

TEST_CASE("an exec launched often stays while others come but once", "[exec][cache][policy]") {
    const Stores stores;
    const Stream stream;
    ExecCache cache({.capacity = 2});
    const std::vector<Graph> graphs = structures(stores, 20);
    hits(cache, graphs[0], stream);
    std::uint64_t hot = 0;
    for (std::size_t i = 1; i < graphs.size(); ++i) {
        hot += hits(cache, graphs[0], stream);
        hot += hits(cache, graphs[0], stream);
        hits(cache, graphs[i], stream);
    }
    CHECK(hot == 2 * (graphs.size() - 1));
    CHECK(cache.stats().returns == 0);
    CHECK(cache.stats().needed_capacity == 2);
}

TEST_CASE("execs of a former phase give way to those of the next one", "[exec][cache][policy]") {
    const Stores stores;
    const Stream stream;
    ExecCache cache({.capacity = 3});
    const std::vector<Graph> graphs = structures(stores, 8);
    for (std::size_t phase = 0; phase < 4; ++phase) {
        const std::uint64_t before = cache.stats().hits;
        for (std::size_t i = 0; i < 60; ++i)
            hits(cache, graphs[2 * phase + i % 2], stream);
        CHECK(cache.stats().hits - before >= 50);
    }
    CHECK(cache.stats().execs == 3);
}

TEST_CASE("an exec displaces a rarer one, also beside one more frequent than itself", "[exec][cache][policy]") {
    const Stores stores;
    const Stream stream;
    ExecCache cache({.capacity = 3}); // two, and a place for those that come and go
    const std::vector<Graph> graphs = structures(stores, 8);
    const Graph& often = graphs[0];
    const Graph& rare = graphs[1];
    const Graph& sometimes = graphs[2];
    for (int i = 0; i < 4; ++i) { // `rare` gets its place
        hits(cache, often, stream);
        hits(cache, rare, stream);
    }
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < 60; ++i) {
        hits(cache, often, stream);
        found += hits(cache, sometimes, stream) ? 1 : 0;
        hits(cache, often, stream);
        hits(cache, graphs[3 + i % 5], stream);
    }
    CHECK(found >= 50);
}

TEST_CASE("launches of one exec in a row count for it", "[exec][cache][policy]") {
    const Stores stores;
    const Stream stream;
    ExecCache cache({.capacity = 2});
    const std::vector<Graph> graphs = structures(stores, 6);
    for (int i = 0; i < 30; ++i)
        hits(cache, graphs[0], stream); // in a row
    for (std::size_t i = 1; i < graphs.size(); ++i)
        hits(cache, graphs[i], stream);
    CHECK(hits(cache, graphs[0], stream));
}

TEST_CASE("a cache with all execs in flight grows, and shrinks when they have ended", "[exec][cache][policy]") {
    std::vector<Stream> streams(10);
    const std::vector<Stores> stores(streams.size()); // all run at once
    ExecCache cache({.capacity = 2});
    std::vector<Graph> graphs;
    for (const Stores& own : stores)
        graphs.push_back(std::move(structures(own, graphs.size() + 1).back()));
    Gate gate;
    std::vector<Graph> gates;
    for (const Stream& stream : streams) {
        cudag::GraphBuilder b;
        b.host(gate.node());
        gates.push_back(std::move(b).build());
        cudag::Exec(gates.back().instantiate()).launch(stream);
    }
    for (std::size_t i = 0; i < streams.size(); ++i)
        cache.launch(graphs[i], streams[i]);
    CHECK(cache.stats().execs == streams.size());
    CHECK(cache.stats().evictions == 0);
    gate.open();
    for (const Stream& stream : streams)
        stream.synchronize();
    hits(cache, graphs[0], streams[0]);
    CHECK(cache.stats().execs == 2);
}
