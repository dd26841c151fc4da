// What an exec keeps of its kernels when CUDA says that it has updated them, and that cudag says no instead.
#include "cluster_kernels.hpp"
#include "test.hpp"

using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::LaunchConfig;

namespace {

using Kernel = void (*)(unsigned*);

/// Clusters exist from compute capability 9.0 on.
bool skipped() {
    int clusters = 0;
    cudag::check(cudaDeviceGetAttribute(&clusters, cudaDevAttrClusterLaunch, 0));
    cudaFuncAttributes compiled{};
    cudag::check(cudaFuncGetAttributes(&compiled, reinterpret_cast<const void*>(see_cluster)));
    if (clusters != 0 && compiled.binaryVersion >= 90) return false;
    WARN("skipped: no clusters, on this device or in these kernels");
    return true;
}

/// One kernel that writes its cluster, built or captured.
struct Seen {
    cudag::DeviceBuffer<unsigned> blocks = device({0U});

    [[nodiscard]] Graph built(const LaunchConfig& config, Kernel kernel = see_cluster) const {
        GraphBuilder b;
        b.kernel(config, kernel, blocks).label("kernel");
        return std::move(b).build();
    }
    [[nodiscard]] Graph captured(const LaunchConfig& config, Kernel kernel = see_cluster) const {
        return cudag::capture(cudag::Stream(), [&](cudaStream_t s) { cudag::launch(s, config, kernel, blocks); });
    }
    [[nodiscard]] unsigned run(Exec& exec) const {
        const cudag::Stream stream;
        exec.launch(stream);
        stream.synchronize();
        return read(blocks).at(0);
    }
};

constexpr LaunchConfig none{.grid = 8, .block = 32};
constexpr LaunchConfig two{.grid = 8, .block = 32, .cluster = 2};
constexpr LaunchConfig four{.grid = 8, .block = 32, .cluster = 4};

} // namespace

TEST_CASE("CUDA says that a whole update changed a cluster, and keeps that of the first launch", "[exec][attributes]") {
    if (skipped()) return;
    const Seen seen;
    const auto after_update = [&](const Graph& before, const Graph& after) {
        Exec exec = before.instantiate();
        static_cast<void>(seen.run(exec));
        cudaGraphExecUpdateResultInfo info{};
        CHECK(cudaGraphExecUpdate(exec.native(), after.native(), &info) == cudaSuccess);
        CHECK(info.result == cudaGraphExecUpdateSuccess);
        return seen.run(exec);
    };
    CHECK(after_update(seen.built(two), seen.built(none)) == 2);
    CHECK(after_update(seen.built(two), seen.built(four)) == 2);
    CHECK(after_update(seen.built(none), seen.built(two)) == 1);
    CHECK(after_update(seen.captured(two), seen.captured(none)) == 2);
    CHECK(after_update(seen.built(none, see_cluster_of_4), seen.built(none)) == 4);
}

TEST_CASE("an updated exec runs in the clusters of the graph that it was updated to", "[exec][attributes]") {
    if (skipped()) return;
    const Seen seen;
    const Graph graphs[] = {seen.built(none),
                            seen.built(two),
                            seen.built(four),
                            seen.captured(none),
                            seen.captured(two),
                            seen.built(none, see_cluster_of_4),
                            seen.captured(none, see_cluster_of_4)};
    const unsigned clusters[] = {1, 2, 4, 1, 2, 4, 4};
    for (std::size_t i = 0; i < std::size(graphs); ++i)
        for (std::size_t j = 0; j < std::size(graphs); ++j) {
            CAPTURE(i, j);
            Exec exec = graphs[i].instantiate();
            CHECK(exec.update(graphs[j]).updated() == (clusters[i] == clusters[j]));
            CHECK(seen.run(exec) == clusters[i]);
            static_cast<void>(exec.update_or_instantiate(graphs[j]));
            CHECK(seen.run(exec) == clusters[j]);
        }
}

TEST_CASE("an update to a kernel that was compiled for clusters is refused with both", "[exec][attributes]") {
    if (skipped()) return;
    const Seen seen;
    const Graph plain = seen.built(none);
    Exec exec = plain.instantiate();
    CHECK_THAT(exec.update(seen.built(none, see_cluster_of_4)).to_string(),
               ContainsSubstring("cluster is (1, 1, 1), the update's is (4, 1, 1)"));
    Exec of_4 = seen.built(none, see_cluster_of_4).instantiate();
    CHECK_THAT(of_4.update(plain).to_string(), ContainsSubstring("cluster is (4, 1, 1), the update's is (1, 1, 1)"));
}

TEST_CASE("a child is not updated to a kernel of other clusters", "[exec][child][attributes]") {
    if (skipped()) return;
    const Seen seen;
    GraphBuilder b;
    const cudag::ChildNode child = b.child(seen.built(none)).label("layers");
    Exec exec = std::move(b).build().instantiate();
    CHECK_THAT(refused<cudag::UpdateError>([&] { exec.update(child, seen.built(none, see_cluster_of_4)); }).what(),
               ContainsSubstring("\"layers\"") && ContainsSubstring("cluster is (1, 1, 1), the update's is (4, 1, 1)"));
    exec.update(child, seen.built({.grid = 16}));
    CHECK(seen.run(exec) == 1);
}
