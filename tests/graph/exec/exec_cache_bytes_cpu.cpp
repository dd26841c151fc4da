// ExecCache: the device memory of its execs. On the CPU runtime, where each exec takes its own; a GPU takes memory for
// many at once.
#include "stores.hpp"
#include "usable.hpp"

using cudag::Exec;
using cudag::ExecCache;
using cudag::Graph;
using cudag::Stream;

namespace {

/// What a graph of so many nodes takes.
std::size_t bytes_of(const Stores& stores, std::size_t nodes) {
    const Graph graph = stores.build(std::vector<int>(nodes, 1));
    ExecCache cache;
    const Stream stream;
    cache.launch(graph, stream);
    stream.synchronize();
    return cache.stats().bytes;
}

} // namespace

TEST_CASE("a cache measures the device memory that its execs take", "[exec][cache]") {
    const Stores stores;
    const std::size_t one = bytes_of(stores, 1);
    CHECK(one > 0);
    CHECK(bytes_of(stores, 3) == 3 * one);
}

TEST_CASE("a cache keeps no more bytes than it may, the exec that is launched aside", "[exec][cache]") {
    const Stores stores;
    const std::size_t one = bytes_of(stores, 1);
    const Graph small = stores.build({1}), middle = stores.build({1, 2}), large = stores.build({1, 2, 3});
    ExecCache cache({.max_bytes = 3 * one});
    const Stream stream;
    const auto launch = [&](const Graph& graph) {
        cache.launch(graph, stream);
        stream.synchronize();
        return cache.stats();
    };
    CHECK(launch(small).execs == 1);
    CHECK(launch(middle).execs == 2); // of three bytes in all
    CHECK(launch(middle).bytes == 3 * one);
    CHECK(launch(large).execs == 1);
    CHECK(cache.stats().bytes == 3 * one);
    CHECK(cache.stats().evictions == 2);
    CHECK(launch(small).execs == 1);
    ExecCache tight({.max_bytes = one});
    tight.launch(large, stream);
    stream.synchronize();
    CHECK(tight.stats().execs == 1);
    CHECK(tight.stats().bytes == 3 * one);
    tight.clear();
    CHECK(tight.stats().bytes == 0);
    tight.launch(small, stream);
    stream.synchronize();
    CHECK(tight.stats().bytes == one);
}
