// How much memory graphs use and hold.
#include "memory_nodes.hpp"

#include <cstdint>

namespace {

std::uint64_t get(cudaGraphMemAttributeType attribute) {
    std::uint64_t value = 0;
    REQUIRE_CUDA(cudaDeviceGetGraphMemAttribute(0, attribute, &value));
    return value;
}

void reset(cudaGraphMemAttributeType attribute) {
    std::uint64_t zero = 0;
    REQUIRE_CUDA(cudaDeviceSetGraphMemAttribute(0, attribute, &zero));
}

/// Nothing used, nothing held, nothing remembered.
void begin() {
    REQUIRE_CUDA(cudaDeviceSynchronize());
    REQUIRE_CUDA(cudaDeviceGraphMemTrim(0));
    reset(cudaGraphMemAttrUsedMemHigh);
    reset(cudaGraphMemAttrReservedMemHigh);
    REQUIRE(get(cudaGraphMemAttrUsedMemCurrent) == 0);
    REQUIRE(get(cudaGraphMemAttrReservedMemCurrent) == 0);
}

} // namespace

TEST_CASE("memory of a graph is used from its first launch on", "[graph_memory]") {
    begin();
    Stream stream;
    const LeavingGraph leaving;
    const Exec exec(leaving.graph);
    REQUIRE(get(cudaGraphMemAttrUsedMemCurrent) == 0);
    exec.run(stream);
    const std::uint64_t used = get(cudaGraphMemAttrUsedMemCurrent);
    REQUIRE(used >= 16);
    REQUIRE(get(cudaGraphMemAttrUsedMemHigh) >= used);
    REQUIRE(get(cudaGraphMemAttrReservedMemCurrent) >= used);
    REQUIRE(get(cudaGraphMemAttrReservedMemHigh) >= get(cudaGraphMemAttrReservedMemCurrent));
    REQUIRE_CUDA(cudaDeviceGraphMemTrim(0));
    REQUIRE(get(cudaGraphMemAttrUsedMemCurrent) >= 16);
    REQUIRE_CUDA(cudaFree(leaving.data()));
}

TEST_CASE("memory that is not allocated is given back when it is trimmed", "[graph_memory]") {
    begin();
    Stream stream;
    const LeavingGraph leaving;
    const Exec exec(leaving.graph);
    exec.run(stream);
    REQUIRE_CUDA(cudaFreeAsync(leaving.data(), stream));
    stream.synchronize();
    REQUIRE(get(cudaGraphMemAttrReservedMemCurrent) >= 16);
    REQUIRE_CUDA(cudaDeviceGraphMemTrim(0));
    REQUIRE(get(cudaGraphMemAttrUsedMemCurrent) == 0);
    REQUIRE(get(cudaGraphMemAttrReservedMemCurrent) == 0);
    REQUIRE(get(cudaGraphMemAttrUsedMemHigh) >= 16);
    exec.run(stream);
    REQUIRE(get(cudaGraphMemAttrUsedMemCurrent) >= 16);
    REQUIRE_CUDA(cudaFree(leaving.data()));
}

TEST_CASE("buffers that take turns in time need memory for one of them", "[graph_memory]") {
    begin();
    constexpr std::size_t megabytes_64 = std::size_t{16} << 20;
    Stream stream;
    Graph graph;
    const Allocation first = add_alloc(graph, megabytes_64);
    const cudaGraphNode_t freed = add_free(graph, first.data, {first.node});
    const Allocation second = add_alloc(graph, megabytes_64, {freed});
    add_free(graph, second.data, {second.node});
    const Exec exec(graph);
    exec.run(stream);
    REQUIRE(get(cudaGraphMemAttrUsedMemHigh) >= megabytes_64 * sizeof(int));
    REQUIRE(get(cudaGraphMemAttrUsedMemHigh) < 2 * megabytes_64 * sizeof(int));
}

TEST_CASE("only the high watermarks of graph memory can be set, and only to zero", "[graph_memory]") {
    begin();
    Stream stream;
    {
        const LeavingGraph leaving;
        const Exec exec(leaving.graph);
        exec.run(stream);
        REQUIRE_CUDA(cudaFree(leaving.data()));
    }
    REQUIRE_CUDA(cudaDeviceGraphMemTrim(0));
    REQUIRE(get(cudaGraphMemAttrUsedMemHigh) > 0);
    std::uint64_t one = 1;
    std::uint64_t zero = 0;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &one));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &zero));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue,
                       cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &zero));
    reset(cudaGraphMemAttrUsedMemHigh);
    reset(cudaGraphMemAttrReservedMemHigh);
    REQUIRE(get(cudaGraphMemAttrUsedMemHigh) == 0);
    REQUIRE(get(cudaGraphMemAttrReservedMemHigh) == 0);
}

TEST_CASE("bad questions about graph memory are refused", "[graph_memory]") {
    std::uint64_t value = 0;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidDevice, cudaDeviceGetGraphMemAttribute(99, cudaGraphMemAttrUsedMemHigh, &value));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidDevice, cudaDeviceSetGraphMemAttribute(99, cudaGraphMemAttrUsedMemHigh, &value));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidDevice, cudaDeviceGraphMemTrim(99));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, nullptr));
}
