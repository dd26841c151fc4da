// Every runtime call that fails while a cache launches a graph.
#include "faults.hpp"
#include "live_counts.hpp"
#include "pipeline.hpp"

#include <catch.hpp>

#include <optional>

namespace {

std::vector<int> run(cudag::ExecCache& cache, Pipeline& pipeline, const cudag::Graph& graph) {
    pipeline.stream.synchronize();
    std::fill(pipeline.out.begin(), pipeline.out.end(), -1);
    cache.launch(graph, pipeline.stream);
    pipeline.stream.synchronize();
    return pipeline.out;
}

} // namespace

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
