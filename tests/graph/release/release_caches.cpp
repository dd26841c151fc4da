// release_memory of caches: their pools and graph memory go, and a call in between is refused.
#include <cudag/capture_cache.hpp>
#include <cudag/exec_cache.hpp>
#include <cudag/graph_memory.hpp>
#include <cudag/graphed_function.hpp>
#include <cudag/segmented_graph.hpp>

#include <memory>
#include <utility>
#include <vector>

#include "test.hpp"

using cudag::CapturePool;
using cudag::DeviceBuffer;
using cudag::DeviceSpan;
using cudag::Error;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::ReleasedMemory;
using cudag::Stream;

namespace {

Graph storing(const DeviceBuffer<int>& cell, int value) {
    GraphBuilder b;
    b.kernel({}, store, cell, value);
    return std::move(b).build();
}

} // namespace

TEST_CASE("an ExecCache releases the pools of its graphs, and runs them after the restoration", "[memory][release]") {
    const Stream stream;
    CapturePool pool("activations", {.releasable = true}), ordinary("ordinary");
    const DeviceBuffer<int> cell = pool.allocate<int>(1), other = ordinary.allocate<int>(1);
    cudag::ExecCache cache;
    const Graph first = storing(cell, 1), second = storing(other, 2);
    cache.launch(first, stream);
    GraphBuilder b;
    const auto node = b.kernel({}, store, other, 2);
    b.kernel({}, store, other, 3).after(node);
    const Graph third = std::move(b).build(); // another structure: an Exec of its own
    cache.launch(third, stream);
    const std::size_t reserved = pool.reserved_bytes();

    const ReleasedMemory released = cache.release_memory();
    CHECK(released.pools == reserved);
    CHECK(released.kept == reserved);
    CHECK(released.not_released == ordinary.reserved_bytes());
    CHECK(cache.memory().memory.released() == reserved);
    CHECK_THAT(refused<Error>([&] { cache.launch(first, stream); }).what(),
               ContainsSubstring("restore_memory() of the cache that released it"));
    cache.launch(third, stream);
    CHECK(cache.restore_memory() == reserved);
    CHECK(cache.restore_memory() == 0);
    cache.launch(first, stream);
    stream.synchronize();
    CHECK(read(cell) == std::vector{1});
    CHECK(read(other) == std::vector{3});
}

TEST_CASE("a first launch by an ExecCache is refused by name if its memory is released", "[memory][release]") {
    const Stream stream;
    CapturePool pool("activations", {.releasable = true});
    const DeviceBuffer<int> cells = pool.allocate<int>(4), own(4);
    const auto filling = [](const DeviceSpan<int>& to, const char* label) {
        GraphBuilder b;
        b.memset(to, 3).label(label);
        return std::move(b).build().name("decode");
    };
    const Graph graph = filling(cells.span(), "fill");
    cudag::ExecCache cache;
    const bool has_exec = GENERATE(false, true); // whose update CUDA refuses
    if (has_exec) cache.launch(filling(own.span(), "fill"), stream);
    pool.release();
    const auto error = refused<Error>([&] { cache.launch(graph, stream); });
    CHECK(error.code() == cuda_code(cudaErrorNotReady));
    CHECK_THAT(error.what(), StartsWith("cudag: launch of an Exec of the graph \"decode\" made at "));
    CHECK_THAT(error.what(), ContainsSubstring(" \"fill\" at ") &&
                                 ContainsSubstring(" uses the released memory of CapturePool \"activations\""));
    CHECK(error.labels() == Labels{"decode", "activations"});
    CHECK(cache.stats().execs == (has_exec ? 1 : 0));
    pool.restore();
    cache.launch(graph, stream);
    stream.synchronize();
    CHECK(read(cells) == std::vector{3, 3, 3, 3});
}

TEST_CASE("a first launch by an ExecCache is refused if its graph keeps a released pool", "[memory][release]") {
    const Stream stream;
    CapturePool pool("activations", {.releasable = true});
    const DeviceBuffer<int> cell(1);
    const Graph inner = storing(cell, 5);
    GraphBuilder b;
    b.child(inner);
    b.retain(pool);
    const Graph graph = std::move(b).build();
    static_cast<void>(pool.allocate<int>(1));
    cudag::ExecCache cache;
    pool.release();
    CHECK_THAT(refused<Error>([&] { cache.launch(graph, stream); }).what(),
               ContainsSubstring("the graph keeps the released memory of CapturePool \"activations\""));
    CHECK(cache.stats().instantiations == 0);
    pool.restore();
    cache.launch(graph, stream);
    stream.synchronize();
    CHECK(read(cell) == std::vector{5});
}

TEST_CASE("a CaptureCache sleeps and wakes without a new capture", "[memory][release]") {
    const Stream stream;
    CapturePool pool("activations", {.releasable = true});
    const auto cell = std::make_shared<const DeviceBuffer<int>>(pool.allocate<int>(1));
    cudag::CaptureCache cache({.warm_up = 0});
    int calls = 0;
    const auto run = [&] {
        return cache.run(stream, 1, [&, cell](cudaStream_t s) {
            ++calls;
            cudag::launch(s, {}, store, cell, 4);
        });
    };
    run();
    CHECK(cache.release_memory({.contents = cudag::KeptContents::none}).kept == 0);
    refused<Error>(run);
    cache.restore_memory();
    write(cell->span(), {0});
    CHECK(run() == cudag::RunKind::replayed);
    stream.synchronize();
    CHECK(read(*cell) == std::vector{4});
    CHECK(calls == 1);
}

TEST_CASE("a GraphedFunction with buckets releases the pool of its static inputs", "[memory][release][buckets]") {
    const Stream stream;
    CapturePool pool("inputs", {.releasable = true});
    cudag::GraphedFunction same(
        [](cudaStream_t, DeviceSpan<int> data) { return data; },
        {.capture = {.allow_empty = true, .pool = pool.id()}, .bucket = cudag::Bucket::powers_of_two(4, 64)});
    const DeviceBuffer<int> input(3);
    write(input.span(), {1, 2, 3});
    same.forward(stream, input);
    CHECK(same.release_memory().pools != 0);
    CHECK(pool.is_released());
    const auto error = refused<Error>([&] { same.forward(stream, input); });
    CHECK_THAT(error.what(), ContainsSubstring("its memory is released, in CapturePool \"inputs\""));
    same.restore_memory();
    const DeviceSpan<int> output = same.forward(stream, input);
    stream.synchronize();
    CHECK(read(output) == std::vector{1, 2, 3});
    CHECK(same.captures() == 1);
}

TEST_CASE("a GraphedFunction without a shape releases its pool all the same", "[memory][release][buckets]") {
    CapturePool pool("inputs", {.releasable = true});
    const DeviceBuffer<int> cell = pool.allocate<int>(1);
    cudag::GraphedFunction same(
        [](cudaStream_t, DeviceSpan<int> data) { return data; },
        {.capture = {.allow_empty = true, .pool = pool.id()}, .bucket = cudag::Bucket::powers_of_two(4, 64)});
    CHECK(same.release_memory().pools != 0);
    CHECK(pool.is_released());
    CHECK(same.memory().memory.released() != 0);
    CHECK(same.restore_memory() != 0);
}

TEST_CASE("a SegmentedGraph releases the memory of its segments", "[memory][release][segments]") {
    const Stream stream;
    CapturePool pool("activations", {.releasable = true});
    const DeviceBuffer<int> cell = pool.allocate<int>(1);
    const bool shares = GENERATE(false, true), has_run = GENERATE(false, true);
    cudag::SegmentedGraph program = cudag::capture_segments(stream,
                                                            [&](cudag::StreamCapture& c) {
                                                                cudag::launch(c.stream(), {}, store, cell, 1);
                                                                c.eager("between", [](cudaStream_t) {});
                                                                cudag::launch(c.stream(), {}, store, cell, 2);
                                                            },
                                                            {}, {.share_execs = shares});
    if (has_run) program.launch(stream);
    CHECK(program.release_memory().pools != 0);
    CHECK(refused<Error>([&] { program.launch(stream); }).code() == cuda_code(cudaErrorNotReady));
    CHECK(program.restore_memory() != 0);
    program.launch(stream);
    stream.synchronize();
    CHECK(read(cell) == std::vector{2});
}

TEST_CASE("a release trims graph memory, and the next launch has it again", "[memory][release][graph memory]") {
    const Stream stream;
    const DeviceBuffer<int> result(1);
    GraphBuilder b;
    constexpr std::size_t count = std::size_t{9} << 20U; // more than a piece of 32 MiB, which graphs share
    const auto memory = b.alloc<int>(count);
    const auto filled = b.memset(memory.span().first(1), 6).after(memory);
    const auto copied = b.memcpy(result.span(), memory.span().first(1)).after(filled);
    b.free(memory).after(copied);
    const Graph graph = std::move(b).build();
    cudag::ExecCache cache;
    cache.launch(graph, stream);
    const ReleasedMemory released = cache.release_memory();
    CHECK(released.graph_memory != 0);
    write(result.span(), {0});
    cache.launch(graph, stream); // needs no restoration
    stream.synchronize();
    CHECK(read(result) == std::vector{6});
}

TEST_CASE("an empty cache has nothing to release", "[memory][release]") {
    cudag::trim_graph_memory(0);
    cudag::ExecCache cache;
    CHECK(cache.release_memory() == ReleasedMemory());
    CHECK(cache.restore_memory() == 0);
}
