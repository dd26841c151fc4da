// Clusters of more than the portable 8 blocks: how many there may be is known by the device only.
#include "attributes.hpp"

using cudag::GraphBuilder;
using cudag::GraphError;

namespace {

/// Lets a kernel have larger clusters while it lives.
class LargeClusters {
  public:
    explicit LargeClusters(const void* kernel) : kernel_(kernel) { set(1); }
    ~LargeClusters() { set(0); }
    LargeClusters(const LargeClusters&) = delete;
    LargeClusters& operator=(const LargeClusters&) = delete;

  private:
    void set(int allowed) const {
        CHECK(cudaFuncSetAttribute(kernel_, cudaFuncAttributeNonPortableClusterSizeAllowed, allowed) == cudaSuccess);
    }
    const void* kernel_;
};

} // namespace

TEST_CASE("a cluster of more blocks than the device runs together is refused with the limit", "[builder][attributes]") {
    const LargeClusters large(cudag::detail::kernel_symbol(nothing));
    GraphBuilder b;
    const auto error = refused<GraphError>([&] { b.kernel({.grid = 64, .cluster = 64}, nothing); });
    CHECK(error.code() == cuda_code(cudaErrorInvalidClusterSize));
    CHECK_THAT(error.what(), ContainsSubstring("64 x 1 x 1 has 64 blocks") && ContainsSubstring("runs up to"));
    CHECK(std::move(b).build().node_count() == 0);
}

TEST_CASE("the largest cluster that the device runs is accepted", "[builder][attributes]") {
    const void* const kernel = cudag::detail::kernel_symbol(nothing);
    const LargeClusters large(kernel);
    cudaLaunchConfig_t config{};
    config.gridDim = 64;
    config.blockDim = 1;
    int limit = 0;
    cudag::check(cudaOccupancyMaxPotentialClusterSize(&limit, kernel, &config));
    REQUIRE(limit >= 8);
    const auto blocks = static_cast<unsigned>(limit);
    GraphBuilder b;
    CHECK(cluster_of(b.kernel({.grid = blocks, .cluster = blocks}, nothing)) == std::vector{blocks, 1U, 1U});
    run(std::move(b));
}
