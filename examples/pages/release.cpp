// docs/release.md: memory released and restored.
#include "kernels.hpp"
#include "pages.hpp"

#include <cudag/cudag.hpp>
#include <cudag/released_memory.hpp>

#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>

namespace pages {

namespace {

void pool_sleeps() {
    constexpr int n = 1 << 20;
    const cudag::Stream stream;
    // pool begins
    cudag::CapturePool pool("activations", {.releasable = true});
    const cudag::DeviceBuffer<float> x = pool.allocate<float>(n);
    cudag::GraphBuilder b;
    b.kernel(cudag::grid_1d(n, 256), scale, n, 2.0f, x).label("double");
    cudag::Graph graph = std::move(b).build().name("decode");
    cudag::Exec exec = graph.instantiate();
    cudag::memset_async(stream, x, 1.0f);
    exec.launch(stream);

    const cudag::ReleasedMemory released = pool.release(); // waits for the launch
    std::puts(to_string(released).c_str());
    std::puts(to_string(pool.memory()).c_str());
    pool.restore();
    exec.launch(stream); // no new capture, no new instantiation: x is where it was, with its contents
    // pool ends
    float first = 0;
    stream.synchronize();
    cudag::check(cudaMemcpy(&first, x.data(), sizeof first, cudaMemcpyDeviceToHost));
    if (first != 4.0f) throw std::runtime_error("the contents are gone");

    pool.release();
    // refused begins
    try {
        exec.launch(stream);
    } catch (const cudag::Error& error) {
        std::puts(error.what());
    }
    // refused ends
    pool.restore();
}

void cache_sleeps() {
    constexpr int n = 1 << 18;
    const cudag::Stream stream;
    // cache begins
    cudag::CapturePool pool("activations", {.releasable = true});
    cudag::CaptureCache cache({.warm_up = 0});
    const auto serve = [&](int batch) {
        return cache.run(stream, batch, [&](cudag::Steps& steps) {
            const auto scratch = pool.allocate<float>(n);
            steps.step("scale", [&](cudaStream_t s) {
                cudag::launch(s, cudag::grid_1d(n, 256), scale, n, 2.0f, scratch); // the graph keeps the buffer
            });
        });
    };
    for (const int batch : {1, 2, 4})
        serve(batch);
    std::puts(to_string(cache.release_memory({.contents = cudag::KeptContents::none})).c_str()); // sleeps
    cache.restore_memory();                                                                      // wakes
    if (serve(4) == cudag::RunKind::replayed) std::puts("replayed");
    // cache ends
    stream.synchronize();
}

} // namespace

void release() {
    pool_sleeps();
    cache_sleeps();
}

} // namespace pages
