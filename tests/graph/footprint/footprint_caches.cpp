// The memory of caches, and the holders of memory in errors.
#include <cudag/footprint.hpp>

#include <optional>
#include <string>
#include <utility>

#include "graphed.hpp"
#include "test.hpp"

using cudag::CacheFootprint;
using cudag::CapturePool;
using cudag::DeviceBuffer;
using cudag::DeviceSpan;
using cudag::Error;
using cudag::GraphBuilder;
using cudag::Stream;

namespace {

constexpr std::size_t executable = 108 * 1024 + 2608; ///< of one kernel
constexpr std::size_t too_much = std::size_t{1} << 50U;

/// The text of the error of a buffer for which there is no memory.
std::string out_of_memory() {
    return refused<Error>([] { DeviceBuffer<char> buffer(too_much); }).what();
}

cudag::Graph of_nodes(int count) {
    GraphBuilder b;
    for (int i = 0; i < count; ++i)
        b.kernel({}, nothing);
    return std::move(b).build();
}

} // namespace

TEST_CASE("an ExecCache counts its Execs' memory as measured, and remembers the most", "[memory][footprint]") {
    const Stream stream;
    cudag::ExecCache cache;
    const DeviceBuffer<int> cell(1000);
    GraphBuilder b;
    b.kernel({}, store, cell, 1);
    cache.launch(std::move(b).build(), stream);
    cache.launch(of_nodes(2), stream);
    const CacheFootprint memory = cache.memory();
    CHECK(memory.graphs == 2);
    CHECK(memory.held == cache.stats().bytes);
    CHECK(memory.held_high == memory.held);
    CHECK(memory.memory.executable == memory.held);
    CHECK(memory.memory.buffers == 4000);
    cache.clear();
    CacheFootprint emptied;
    emptied.held_high = memory.held;
    CHECK(cache.memory() == emptied);
}

TEST_CASE("a CaptureCache counts its graphs, and what they share once", "[memory][footprint]") {
    const Stream stream;
    cudag::CaptureCache cache({.warm_up = 0, .capacity = 2});
    const DeviceBuffer<int> cell(1000);
    const auto run = [&](int key) {
        cache.run(stream, key, [&](cudaStream_t s) { cudag::launch(s, {}, store, cell, key); });
    };
    run(1);
    run(2);
    CacheFootprint memory = cache.memory();
    CHECK(memory.graphs == 2);
    CHECK(memory.held == 2 * executable);
    CHECK(memory.memory.executable == 2 * executable);
    CHECK(memory.memory.buffers == 4000);
    CHECK(memory.memory.parameters == 24);
    stream.synchronize();
    cache.forget(1);
    memory = cache.memory();
    CHECK(memory.graphs == 1);
    CHECK(memory.held == executable);
    CHECK(memory.held_high == 2 * executable);
    CHECK_THAT(to_string(memory), StartsWith("1 graph, 110.5 KiB held, at most 221.1 KiB; device: "));
}

TEST_CASE("a CaptureCache counts the graphs between breaks, and verified ones", "[memory][footprint]") {
    const Stream stream;
    const DeviceBuffer<int> cell(1);
    cudag::CaptureCache broken({.warm_up = 0}), verified({.warm_up = 0, .verify = 2});
    broken.run(stream, 1, [&](cudag::Steps& steps) {
        steps.step("before", [&](cudaStream_t s) { cudag::launch(s, {}, store, cell.data(), 1); });
        steps.eager("between", [](cudaStream_t) {});
        steps.step("after", [&](cudaStream_t s) { cudag::launch(s, {}, store, cell.data(), 2); });
    });
    verified.run(stream, 1, [&](cudaStream_t s) { cudag::launch(s, {}, store, cell.data(), 1); });
    CHECK(broken.memory().graphs == 2);
    CHECK(broken.memory().held == 2 * executable);
    CHECK(verified.memory().graphs == 1);
}

TEST_CASE("a SegmentedGraph counts its segments, and what they share once", "[memory][footprint][segments]") {
    const Stream stream;
    CapturePool pool("activations");
    const auto capture = [&](cudag::SegmentOptions options) {
        const DeviceBuffer<int> cell(1000);
        return cudag::capture_segments(
            stream,
            [&](cudag::StreamCapture& c) {
                c.retain(pool.allocate<int>(64));
                cudag::launch(c.stream(), {}, store, cell, 1); // the whole program keeps the cell
                c.eager("between", [](cudaStream_t) {});
                cudag::launch(c.stream(), {}, store, cell, 2);
            },
            {}, options);
    };
    cudag::SegmentedGraph program = capture({});
    const cudag::Footprint memory = program.memory();
    CHECK(memory.executable == 2 * executable);
    CHECK(memory.buffers == 4000);
    CHECK(memory.parameters == 24);
    REQUIRE(memory.pools.size() == 1);
    CHECK(memory.pools[0].used == 256);
    program.launch(stream);
    CHECK(program.memory() == memory);

    cudag::SegmentedGraph shared = capture({.share_execs = true});
    CHECK(shared.memory().executable == 0); // there is no Exec yet
    CHECK(shared.memory().buffers == 4000);
    shared.launch(stream);
    stream.synchronize();
    CHECK(shared.memory().buffers == 4000);
    CHECK(refused<cudag::GraphError>([&] {
              const cudag::SegmentedGraph moved = std::move(shared);
              static_cast<void>(shared.memory());
          }).what() == std::string("cudag: a moved-from SegmentedGraph was used"));
}

TEST_CASE("a GraphedFunction counts static inputs and executables", "[memory][footprint]") {
    const Stream stream;
    Total total;
    cudag::GraphedFunction function(total.function(), {.capacity = 1});
    const std::vector<int> small = numbers(64, 0), large = numbers(128, 0);
    function.forward(stream, small);
    CacheFootprint memory = function.memory();
    CHECK(memory.graphs == 1);
    CHECK(memory.memory.buffers == 256);
    CHECK(memory.held == 256 + executable);
    CHECK(memory.memory.device() == memory.held);

    function.forward(stream, large); // runs eagerly, without a graph
    memory = function.memory();
    CHECK(function.eager_runs() == 1);
    CHECK(memory.graphs == 1);
    CHECK(memory.held == 256 + 512 + executable);
    function.reset();
    memory = function.memory();
    CHECK(memory.held == 0);
    CHECK(memory.held_high == 256 + 512 + executable);
}

TEST_CASE("an error for lack of memory lists the holders, the largest first", "[memory][footprint]") {
    CapturePool pool("activations");
    const auto block = pool.allocate<char>(std::size_t{2} << 20U);
    const DeviceBuffer<char> buffer(std::size_t{3} << 20U);
    const Stream stream;
    cudag::CaptureCache cache({.warm_up = 0});
    cache.run(stream, 1, [&](cudaStream_t s) { cudag::launch(s, {}, nothing); });
    const std::string text = out_of_memory();
    CHECK_THAT(text, ContainsSubstring("; the device has ") && ContainsSubstring("; held: "));
    const std::size_t of_buffer = text.find("DeviceBuffer made at " __FILE__ ":");
    const std::size_t of_pool = text.find("CapturePool \"activations\" made at " __FILE__ ":");
    const std::size_t of_cache = text.find("CaptureCache made at " __FILE__ ":");
    REQUIRE(of_cache != std::string::npos);
    CHECK(of_buffer < of_pool);
    CHECK(of_pool < of_cache);
    CHECK_THAT(text, ContainsSubstring(": 3.0 MiB") && ContainsSubstring(": 2.0 MiB") &&
                         ContainsSubstring(": 110.5 KiB") && ContainsSubstring("1 live Exec, of some 110 KiB or more"));
}

TEST_CASE("what has been released is no holder any more", "[memory][footprint]") {
    {
        std::optional<CapturePool> pool("gone");
        const auto block = pool->allocate<char>(100);
        const DeviceBuffer<char> buffer(100);
    }
    cudag::PinnedBuffer<char> pinned(100);
    const std::weak_ptr<void> memory = pinned.owner(); // keeps the record of the owner, not the memory
    pinned = cudag::PinnedBuffer<char>(0);
    const std::string text = out_of_memory();
    CHECK_THAT(text, !ContainsSubstring("gone") && !ContainsSubstring("DeviceBuffer made") &&
                         !ContainsSubstring("PinnedBuffer made") && !ContainsSubstring("live Exec"));
}

TEST_CASE("an error lists ten holders, and the sum of the others", "[memory][footprint]") {
    std::vector<DeviceBuffer<char>> buffers;
    for (int i = 0; i < 12; ++i)
        buffers.emplace_back(1024);
    const std::string others = cudag::graph_memory(0).reserved == 0 ? "2" : "3"; // graph memory is one
    CHECK_THAT(out_of_memory(), ContainsSubstring(", and " + others + " more: " + others + ".0 KiB"));
}

TEST_CASE("an error tells how much a cache has held at most", "[memory][footprint]") {
    const Stream stream;
    cudag::CaptureCache cache({.warm_up = 0});
    for (const int key : {1, 2})
        cache.run(stream, key, [&](cudaStream_t s) { cudag::launch(s, {}, nothing); });
    stream.synchronize();
    cache.forget(1);
    CHECK_THAT(out_of_memory(), ContainsSubstring(": 110.5 KiB (at most 221.1 KiB)"));
}

TEST_CASE("refusals by cudag itself, and other errors, list no holders", "[memory][footprint]") {
    const DeviceBuffer<char> buffer(100);
    const auto error = refused<Error>([] { DeviceBuffer<int> many(too_much << 12U); });
    CHECK_THAT(error.what(), !ContainsSubstring("held: "));
    CHECK_THAT(refused<Error>([] { cudag::check(cudaErrorInvalidValue); }).what(), !ContainsSubstring("held: "));
}
