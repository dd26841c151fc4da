// docs/footprint.md: the memory of graphs, pools and caches.
#include "kernels.hpp"
#include "pages.hpp"

#include <cudag/cudag.hpp>
#include <cudag/footprint.hpp>

#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <utility>
#include <vector>

namespace pages {

namespace {

void before_the_launch() {
    constexpr int n = 1 << 20;
    const cudag::DeviceBuffer<float> weights(n);
    std::vector<float> host(n);
    // before begins
    cudag::GraphBuilder b;
    auto upload = b.memcpy(weights, host);
    auto first = b.alloc<float>(n);
    auto filled = b.memset(first.span(), 1.0f).after(first);
    auto scaled = b.kernel(cudag::grid_1d(n, 256), scale, n, 2.0f, weights).after(upload, filled);
    auto freed = b.free(first).after(scaled);
    auto second = b.alloc<float>(n, {.after = {freed}}); // takes the memory of the first
    b.free(second).after(second);
    cudag::Graph graph = std::move(b).build();

    const cudag::Footprint memory = graph.memory(); // nothing has been launched
    std::puts(to_string(memory).c_str());
    cudag::Exec exec = graph.instantiate();
    if (exec.memory() != memory) std::puts("the plan or an update has changed it");
    // before ends
    if (memory.graph_memory * 2 != memory.graph_memory_requested) throw std::runtime_error("no memory was used again");
}

void caches() {
    constexpr int n = 1 << 10;
    const cudag::Stream stream;
    const cudag::DeviceBuffer<float> x(n);
    // cache begins
    cudag::CapturePool pool("activations");
    cudag::CaptureCache cache({.warm_up = 0});
    for (const int batch : {1, 2, 4})
        cache.run(stream, batch, [&](cudag::Steps& steps) {
            const auto scratch = pool.allocate<float>(n);
            steps.step("scale", [&](cudaStream_t s) {
                cudag::launch(s, cudag::grid_1d(n, 256), scale, n, 2.0f, scratch); // the graph keeps the buffer
            });
        });
    const cudag::CacheFootprint memory = cache.memory();
    std::printf("%zu graphs hold %zu KiB, at most %zu KiB; their pool has %zu KiB\n", memory.graphs, memory.held / 1024,
                memory.held_high / 1024, memory.memory.pools.at(0).reserved / 1024);
    // cache ends
    stream.synchronize();
}

void out_of_memory() {
    cudag::CapturePool pool("activations");
    // error begins
    const auto scratch = pool.allocate<char>(2 << 20);
    const cudag::DeviceBuffer<char> weights(3 << 20);
    try {
        const cudag::DeviceBuffer<char> more(std::size_t{1} << 50);
    } catch (const cudag::Error& error) {
        std::puts(error.what()); // ...; held: DeviceBuffer made at a.cpp:4: 3.0 MiB, CapturePool "activations" ...
    }
    // error ends
}

} // namespace

void footprint() {
    before_the_launch();
    caches();
    out_of_memory();
}

} // namespace pages
