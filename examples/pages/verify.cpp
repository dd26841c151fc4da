// docs/verify.md: a value that a cached graph has frozen.
#include "kernels.hpp"
#include "pages.hpp"

#include <cudag/cudag.hpp>

#include <cstdio>

namespace pages {

void verify() {
    constexpr int n = 1 << 10;
    const cudag::LaunchConfig config = cudag::grid_1d(n, 256);
    const cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n);
    cudag::PinnedBuffer<float> result(n);
    std::size_t frozen_values = 0;
    // frozen begins
    cudag::CaptureCache cache({.warm_up = 0, .verify = 1}); // verifies each replay; 1000 in production
    const auto step = [&](float factor) {
        cache.run(stream, n, [&](cudag::Steps& steps) { // the key lacks the factor
            steps.step("decay", [&](cudaStream_t s) { cudag::launch(s, config, scale, n, factor, x.data()); });
        });
    };
    cudag::memset_async(stream, x, 1.0f);
    step(0.5f); // captured
    step(0.5f); // replayed
    try {
        step(0.25f); // would multiply by 0.5 again
    } catch (const cudag::FrozenValueError& frozen) {
        std::puts(frozen.what());
        // frozen ends
        frozen_values = frozen.differences().size();
    }
    cudag::memcpy_async(stream, result, x);
    stream.synchronize();
    expect(result[7], 0.25f, "the result of two steps"); // the third one has launched nothing
    expect(static_cast<float>(frozen_values), 1, "frozen values");
}

} // namespace pages
