// What of a kernel fits on the device at once.
#include "call.hpp"

namespace {

cudaLaunchConfig_t blocks_of(unsigned threads) {
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(64, 1, 1);
    config.blockDim = dim3(threads, 1, 1);
    return config;
}

} // namespace

TEST_CASE("blocks share the multiprocessor's shared memory", "[occupancy]") {
    std::size_t for_one = 0;
    std::size_t for_two = 0;
    REQUIRE_CUDA(cudaOccupancyAvailableDynamicSMemPerBlock(&for_one, symbol(store), 1, 256));
    REQUIRE_CUDA(cudaOccupancyAvailableDynamicSMemPerBlock(&for_two, symbol(store), 2, 256));
    REQUIRE(for_one >= for_two);
    REQUIRE(for_two > 0);
}

TEST_CASE("a block may have the dynamic shared memory that its kernel asked for", "[occupancy]") {
    std::size_t bytes = 0;
    REQUIRE_CUDA(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, symbol(store), 1, 256));
    REQUIRE(bytes == 48 * 1024);
}

TEST_CASE("a cluster may have eight blocks", "[occupancy]") {
    const cudaLaunchConfig_t config = blocks_of(128);
    int size = 0;
    REQUIRE_CUDA(cudaOccupancyMaxPotentialClusterSize(&size, symbol(store), &config));
    REQUIRE(size == 8);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaOccupancyMaxPotentialClusterSize(nullptr, symbol(store), &config));
}

TEST_CASE("clusters fit on the device", "[occupancy]") {
    cudaLaunchConfig_t config = blocks_of(128);
    cudaLaunchAttribute cluster{};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = 2;
    cluster.val.clusterDim.y = 1;
    cluster.val.clusterDim.z = 1;
    config.attrs = &cluster;
    config.numAttrs = 1;
    int of_two = 0;
    int of_four = 0;
    REQUIRE_CUDA(cudaOccupancyMaxActiveClusters(&of_two, symbol(store), &config));
    cluster.val.clusterDim.x = 4;
    REQUIRE_CUDA(cudaOccupancyMaxActiveClusters(&of_four, symbol(store), &config));
    REQUIRE(of_two > of_four);
    REQUIRE(of_four > 0);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaOccupancyMaxActiveClusters(nullptr, symbol(store), &config));
}
