// docs/compare-with-eager.md: a function and its graph, a value that was frozen by the capture, and a missing edge.
#include "kernels.hpp"
#include "pages.hpp"

#include <cudag/cudag.hpp>
#include <cudag/verify.hpp>

#include <cstdio>
#include <utility>

namespace pages {

void compare() {
    constexpr int n = 1 << 10;
    const cudag::LaunchConfig config = cudag::grid_1d(n, 256);
    const cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n), y(n);
    // function begins
    float factor = 1.0f;
    const auto step = [&](cudaStream_t s) {
        factor *= 2; // a graph keeps the value of its capture
        cudag::memset_async(s, x, 1.0f);
        cudag::launch(s, config, scale, n, factor, x);
        cudag::launch(s, config, add, n, x, x, y);
    };
    const cudag::Verification result = cudag::verify(stream, step);
    if (!result.ok()) std::puts(result.to_string().c_str());
    // function ends
    expect(static_cast<float>(result.differences.size()), 2, "differences");
    expect(static_cast<float>(result.changes.size()), 1, "changes");
    // graph begins
    cudag::GraphBuilder b({.races = cudag::Races::allowed});
    b.memset(x, 1.0f).label("ones");
    b.kernel(config, add, n, x, x, y).label("sum"); // without .after
    const cudag::Verification missing = cudag::verify(std::move(b).build(), stream, {.launches = 20});
    // graph ends
    expect(missing.bytes == 2 * n * sizeof(float) ? 1 : 0, 1, "compared bytes");
    // memory begins
    float* const raw = y.data();
    const cudag::Verification given = cudag::verify(
        stream, [&](cudaStream_t s) { cudag::launch(s, config, scale, n, 2.0f, raw); }, {.memory = {{y, 1e-5}}});
    // memory ends
    expect(given.ok() ? 1 : 0, 1, "equality");
}

} // namespace pages
