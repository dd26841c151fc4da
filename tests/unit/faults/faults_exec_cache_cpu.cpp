// Every runtime call that fails while a cache launches a graph.
#include "allocation_faults.hpp"
#include "faults.hpp"
#include "live_counts.hpp"
#include "pipeline.hpp"

#include <catch.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

std::vector<int> run(cudag::ExecCache& cache, Pipeline& pipeline, const cudag::Graph& graph) {
    pipeline.stream.synchronize();
    std::fill(pipeline.out.begin(), pipeline.out.end(), -1);
    cache.launch(graph, pipeline.stream);
    pipeline.stream.synchronize();
    return pipeline.out;
}

/// Fills of cells: `value` in that of node `other`, and `rest` in the others.
cudag::Graph build_fills(const cudag::DeviceBuffer<int>& cells, std::size_t other, int value, int rest = 1) {
    cudag::GraphBuilder b;
    for (std::size_t i = 0; i < cells.size(); ++i)
        b.join(b.memset(cudag::DeviceSpan<int>(cells.data() + i, 1), i == other ? value : rest));
    return std::move(b).build();
}

std::vector<int> run(cudag::ExecCache& cache, const cudag::DeviceBuffer<int>& cells, const cudag::Stream& stream,
                     const cudag::Graph& graph) {
    cudag::check(cudaMemsetAsync(cells.data(), 0, cells.size() * sizeof(int), stream.get()));
    cache.launch(graph, stream);
    stream.synchronize();
    std::vector<int> result(cells.size());
    cudag::check(cudaMemcpy(result.data(), cells.data(), cells.size() * sizeof(int), cudaMemcpyDeviceToHost));
    return result;
}

std::uint64_t calls_of_launch(cudag::ExecCache& cache, const cudag::Stream& stream, const cudag::Graph& graph) {
    const std::uint64_t before = cudart_cpu::call_count();
    cache.launch(graph, stream);
    return cudart_cpu::call_count() - before;
}

} // namespace

TEST_CASE("a cache makes no call for what a graph has in common with the last one", "[unit]") {
    const cudag::DeviceBuffer<int> cells(16);
    const cudag::Stream stream;
    cudag::ExecCache cache;
    const cudag::Graph graph = build_fills(cells, 0, 1), equal = build_fills(cells, 0, 1);
    const cudag::Graph other = build_fills(cells, 3, 2);
    const auto calls = [&](const cudag::Graph& next) { return calls_of_launch(cache, stream, next); };
    static_cast<void>(calls(graph));
    const std::uint64_t of_a_hit = calls(graph);
    CHECK(calls(equal) == of_a_hit);
    CHECK(calls(other) == of_a_hit + 1); // one node
    CHECK(calls(other) == of_a_hit);
    stream.synchronize();
    CHECK(cache.stats().hits == 2);
    CHECK(cache.stats().updates == 2);
}

TEST_CASE("a cache compares nodes once in sixteen updates while graphs differ in much", "[unit]") {
    const cudag::DeviceBuffer<int> cells(16);
    const cudag::Stream stream;
    cudag::ExecCache cache;
    const cudag::Graph graph = build_fills(cells, 0, 1), different = build_fills(cells, 0, 2, 2);
    const cudag::Graph equal[] = {build_fills(cells, 0, 2, 2), build_fills(cells, 0, 2, 2)};
    const auto calls = [&](const cudag::Graph& next) { return calls_of_launch(cache, stream, next); };
    static_cast<void>(calls(graph));
    const std::uint64_t of_a_hit = calls(graph);
    CHECK(calls(different) > of_a_hit);
    for (std::size_t i = 0; i < 15; ++i)
        CHECK(calls(equal[i % 2]) > of_a_hit); // as a whole, unseen
    CHECK(calls(equal[1]) == of_a_hit);
    CHECK(calls(equal[0]) == of_a_hit);
    stream.synchronize();
    CHECK(cache.stats().updates == 18);
}

TEST_CASE("a node that an exec of a cache cannot take comes with the whole graph", "[unit][faults]") {
    const NothingLeft check;
    const cudag::DeviceBuffer<int> cells(16);
    const cudag::Stream stream;
    const cudag::Graph graph = build_fills(cells, 0, 1), next = build_fills(cells, 3, 2);
    const std::vector<int> expected = [] {
        std::vector<int> values(16, 1);
        values[3] = 2;
        return values;
    }();
    std::optional<cudag::ExecCache> cache;
    const auto prepare = [&] {
        cache.emplace();
        CHECK(run(*cache, cells, stream, graph) == std::vector<int>(16, 1));
    };
    const auto verify = [&] {
        CHECK(run(*cache, cells, stream, graph) == std::vector<int>(16, 1));
        CHECK(run(*cache, cells, stream, next) == expected);
        CHECK(cache->stats().instantiations == 1);
    };
    const Faults faults = for_every_call_failing([&] { cache->launch(next, stream); }, verify, prepare);
    CHECK(faults.thrown >= 1);
    CHECK(faults.ignored == 1); // the update of the node
}

TEST_CASE("a cache that fails to launch a new graph launches it the next time", "[unit][faults]") {
    const NothingLeft check;
    Pipeline pipeline;
    const cudag::Graph graph = pipeline.build();
    std::optional<cudag::ExecCache> cache;
    const auto faults_of = [&](cudaError_t code) {
        return for_every_call_failing([&] { cache->launch(graph, pipeline.stream); },
                                      [&] {
                                          CHECK(run(*cache, pipeline, graph) == pipeline.expected());
                                          CHECK(cache->stats().instantiations == 1); // what failed is not kept
                                      },
                                      [&] { cache.emplace(); }, code);
    };
    const Faults faults = faults_of(cudaErrorInvalidValue);
    CHECK(faults.thrown >= 3);
    const Faults wants = faults_of(cudaErrorMemoryAllocation);
    CHECK(wants.thrown == 0); // it is tried once more
    CHECK(wants.ignored >= 4);
    CHECK(run(*cache, pipeline, graph) == pipeline.expected());
}

TEST_CASE("a cache that fails to update an exec still has it", "[unit][faults]") {
    const NothingLeft check;
    Pipeline pipeline, other;
    const cudag::Graph graph = pipeline.build(), next = other.build();
    std::optional<cudag::ExecCache> cache;
    const auto prepare = [&] {
        cache.emplace();
        CHECK(run(*cache, pipeline, graph) == pipeline.expected());
    };
    const auto verify = [&] {
        CHECK(cache->stats().execs == 1);
        CHECK(run(*cache, pipeline, graph) == pipeline.expected());
        CHECK(run(*cache, other, next) == other.expected());
        CHECK(cache->stats().instantiations == 1);
    };
    const Faults faults = for_every_call_failing([&] { cache->launch(next, pipeline.stream); }, verify, prepare);
    CHECK(faults.thrown >= 2);
}

TEST_CASE("want of memory for a new exec makes a cache drop those that are not in flight", "[unit][faults]") {
    const NothingLeft check;
    Pipeline pipeline;
    const cudag::Graph graph = pipeline.build();
    cudag::GraphBuilder b;
    b.host([] {});
    const cudag::Graph other = std::move(b).build();
    bool has_dropped = false;
    for (std::uint64_t call = 1; call < 40 && !has_dropped; ++call) {
        cudag::ExecCache cache;
        cache.launch(other, pipeline.stream);
        pipeline.stream.synchronize();
        cudart_cpu::fail_call(call, cudaErrorMemoryAllocation);
        try {
            cache.launch(graph, pipeline.stream);
        } catch (const cudag::Error&) {
        }
        cudart_cpu::fail_call(0, cudaSuccess);
        has_dropped = cache.stats().evictions == 1 && cache.stats().instantiations == 2;
        CHECK(run(cache, pipeline, graph) == pipeline.expected());
    }
    CHECK(has_dropped);
}

TEST_CASE("a cache that finds no memory for another exec in a stream keeps those that it has there", "[unit][faults]") {
    const NothingLeft check;
    const cudag::DeviceBuffer<int> few(2), some(3), many(4);
    const cudag::Stream stream;
    const cudag::Graph first = build_fills(few, 0, 7), second = build_fills(some, 0, 8),
                       third = build_fills(many, 0, 9);
    unsigned failures = 0;
    for (std::size_t n = 1;; ++n) {
        CAPTURE(n);
        cudag::ExecCache cache({.capacity = 2});
        cache.launch(first, stream);
        const std::optional<bool> failed = fails_without_allocation(n, [&] { cache.launch(second, stream); });
        if (!failed) break;
        failures += *failed ? 1 : 0;
        CHECK(cudaGetLastError() == cudaSuccess);
        CHECK(run(cache, few, stream, first) == std::vector<int>{7, 1});
        CHECK(run(cache, some, stream, second) == std::vector<int>{8, 1, 1});
        CHECK(run(cache, many, stream, third) == std::vector<int>{9, 1, 1, 1}); // in place of the first one
        CHECK(cache.stats().execs == 2);
    }
    CHECK(failures >= 5);
}

TEST_CASE("a cache without memory for another exec of a structure keeps the others of it", "[unit][faults]") {
    const NothingLeft check;
    const auto build_hosts = [](int count) { // without memory, so that it may run in several streams at a time
        cudag::GraphBuilder b;
        for (int i = 0; i < count; ++i)
            b.join(b.host([] {}));
        return std::move(b).build();
    };
    const cudag::Stream stream, others[2];
    const cudag::Graph graph = build_hosts(2);
    const bool is_other_stream = GENERATE(true, false);
    unsigned failures = 0;
    for (std::size_t n = 1;; ++n) {
        CAPTURE(n);
        cudag::ExecCache cache({.stream_affine = true});
        cache.launch(graph, others[0]);
        const cudag::Graph unlike = build_hosts(1);
        if (!is_other_stream) cache.launch(unlike, stream);
        const std::optional<bool> failed = fails_without_allocation(n, [&] { cache.launch(graph, stream); });
        if (!failed) break;
        failures += *failed ? 1 : 0;
        for (const cudag::Stream* each : {&others[0], &stream, &others[1]}) {
            cache.launch(graph, *each);
            each->synchronize();
        }
        CHECK(cache.stats().execs == (is_other_stream ? 3 : 4));
        CHECK(cache.stats().instantiations == cache.stats().execs);
        cache.launch(unlike, stream);
        stream.synchronize();
    }
    CHECK(failures >= 5);
}

TEST_CASE("what refuses a graph after want of memory is told as it is", "[unit][faults]") {
    cudag::GraphBuilder b;
    b.host([] {}).label("no work for kernels to launch");
    const cudag::Graph graph = std::move(b).build();
    const cudag::Stream stream;
    cudag::ExecCache cache({.instantiate = {.device_launch = true}});
    const auto why = [&] {
        try {
            cache.launch(graph, stream);
        } catch (const cudag::InstantiateError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    const std::string usual = why();
    CHECK_THAT(usual, ContainsSubstring("no work for kernels to launch"));
    cudart_cpu::fail_call(1, cudaErrorMemoryAllocation);
    CHECK(why() == usual);
    cudart_cpu::fail_call(0, cudaSuccess);
}

TEST_CASE("want of memory for a new exec trims the graph memory of the current device", "[unit][faults]") {
    cudart_cpu::set_devices(2);
    {
        const auto reserved = [](int device) { return cudag::graph_memory(device).reserved; };
        const auto take = [](int device) {
            cudag::check(cudaSetDevice(device));
            cudag::GraphBuilder b;
            const auto memory = b.alloc<int>(1 << 20);
            b.free(memory).after(memory);
            const cudag::Stream stream;
            cudag::Exec exec = std::move(b).build().instantiate();
            exec.launch(stream);
            stream.synchronize();
        };
        take(0);
        take(1);
        REQUIRE(reserved(0) > 0);
        REQUIRE(reserved(1) > 0);
        const cudag::DeviceBuffer<int> cells(2);
        const cudag::Graph graph = build_fills(cells, 0, 1);
        const cudag::Stream stream;
        cudag::ExecCache cache;
        cudart_cpu::fail_call(1, cudaErrorMemoryAllocation);
        cache.launch(graph, stream);
        cudart_cpu::fail_call(0, cudaSuccess);
        stream.synchronize();
        CHECK(reserved(0) > 0);
        CHECK(reserved(1) == 0);
        cudag::trim_graph_memory(0);
    }
    cudag::check(cudaSetDevice(0));
    cudart_cpu::set_devices(0);
}
