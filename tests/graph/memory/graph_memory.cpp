// The accounts of the memory that graphs allocate.
#include <cudag/graph_memory.hpp>

#include "native_nodes.hpp"
#include "test.hpp"

using cudag::graph_memory;
using cudag::GraphMemory;

namespace {

constexpr std::size_t bytes = std::size_t{4} << 20U;

/// A graph that allocates memory and frees it, made with CUDA's own functions.
cudag::Graph allocating(std::size_t size = bytes) {
    cudaGraph_t graph = nullptr;
    cudag::check(cudaGraphCreate(&graph, 0));
    cudaMemAllocNodeParams params{};
    params.poolProps.allocType = cudaMemAllocationTypePinned;
    params.poolProps.location.type = cudaMemLocationTypeDevice;
    params.bytesize = size;
    const cudaGraphNode_t alloc = add_native_alloc(graph, {}, params);
    add_native_free(graph, {alloc}, params.dptr);
    return cudag::Graph::adopt(graph);
}

} // namespace

TEST_CASE("a launch that allocates uses and reserves graph memory", "[memory][graph_memory]") {
    cudag::reset_graph_memory_high(0);
    cudag::Exec exec = allocating().instantiate();
    run(exec, cudag::Stream());
    const GraphMemory after = graph_memory(0);
    CHECK(after.used_high >= bytes);
    CHECK(after.reserved_high >= bytes);
    CHECK(after.reserved_high >= after.reserved);
    CHECK(after.used_high >= after.used);
}

TEST_CASE("resetting brings the high marks down to what is there", "[memory][graph_memory]") {
    cudag::Exec exec = allocating().instantiate();
    run(exec, cudag::Stream());
    cudag::reset_graph_memory_high(0);
    const GraphMemory now = graph_memory(0);
    CHECK(now.used_high == now.used);
    CHECK(now.reserved_high == now.reserved);
}

TEST_CASE("resetting brings the high marks down after memory was given back", "[memory][graph_memory]") {
    constexpr std::size_t size = 32 * bytes; // as below
    {
        cudag::Exec exec = allocating(size).instantiate();
        run(exec, cudag::Stream());
    }
    cudag::trim_graph_memory(0);
    const GraphMemory before = graph_memory(0);
    CHECK(before.used_high >= before.used + size / 2);
    CHECK(before.reserved_high >= before.reserved + size / 2);
    cudag::reset_graph_memory_high(0);
    const GraphMemory now = graph_memory(0);
    CHECK(now.used_high == now.used);
    CHECK(now.reserved_high == now.reserved);
}

TEST_CASE("trimming gives back what no graph uses", "[memory][graph_memory]") {
    // More than the pieces in which memory is reserved: other tests' memory may keep one of them.
    constexpr std::size_t size = 32 * bytes;
    cudag::Exec exec = allocating(size).instantiate();
    run(exec, cudag::Stream());
    const GraphMemory before = graph_memory(0);
    CHECK(before.reserved >= size);
    cudag::trim_graph_memory(0);
    const GraphMemory now = graph_memory(0);
    CHECK(now.reserved + size / 2 <= before.reserved);
    CHECK(now.reserved == now.used);
}

TEST_CASE("graph memory of a device that is not there is refused", "[memory][graph_memory]") {
    CHECK_THROWS_AS(graph_memory(99), cudag::Error);
    CHECK_THROWS_AS(cudag::reset_graph_memory_high(-1), cudag::Error);
    const auto error = refused<cudag::Error>([] { cudag::trim_graph_memory(99); });
    CHECK(error.code() == cuda_code(cudaErrorInvalidDevice));
    CHECK(error.operation() == "cudaDeviceGraphMemTrim");
}
