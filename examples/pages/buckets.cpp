// docs/buckets.md: few graphs for many sizes.
#include "kernels.hpp"
#include "pages.hpp"

#include <cudag/bucket.hpp>
#include <cudag/cudag.hpp>
#include <cudag/footprint.hpp>

#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <vector>

namespace pages {

namespace {

void rounded() {
    const cudag::Stream stream;
    // rounded begins
    cudag::GraphedFunction model(
        [](cudaStream_t s, cudag::DeviceSpan<float> batch) {
            cudag::launch(s, cudag::grid_1d(batch.size(), 256), scale, static_cast<int>(batch.size()), 2.0f, batch);
            return batch;
        },
        {.bucket = {8, 16, 32}});
    for (const std::size_t size : {5U, 8U, 20U, 3U, 31U}) {
        const std::vector<float> input(size, 3.0f);
        const cudag::DeviceSpan<float> output = model.forward(stream, input); // `size` elements, as given
        std::vector<float> result(output.size());
        cudag::memcpy_async(stream, result, output);
        stream.synchronize();
        expect(result.back(), 6.0f, "the last element");
    }
    std::printf("%zu graphs for 5 sizes\n", model.size()); // of 8 and 32 elements
    // rounded ends
}

void prepared() {
    const cudag::Stream stream;
    // prepared begins
    cudag::CapturePool pool("activations");
    cudag::GraphedFunction model(
        [&](cudaStream_t s, cudag::DeviceSpan<float> batch) {
            const int n = static_cast<int>(batch.size());
            const auto hidden = pool.allocate<float>(4 * batch.size()); // shared by the graphs, which keep the pool
            cudag::clear_async(s, hidden.span());
            cudag::launch(s, cudag::grid_1d(batch.size(), 256), scale, n, 2.0f, batch);
            return batch;
        },
        {.capacity = 16, .capture = {.pool = pool.id()}, .bucket = cudag::Bucket::powers_of_two(1, 1024)});
    model.prepare(stream, {1, 4, 16, 64, 256, 1024}, [](const cudag::PreparedBucket& done) {
        std::printf("%zu of %zu: size %zu, %zu KiB\n", done.done, done.count, done.size, done.reserved / 1024);
    });
    // prepared ends
    stream.synchronize();
    if (pool.memory().reserved != 1024 * 5 * sizeof(float)) throw std::runtime_error("the graphs do not share memory");
}

void counted() {
    const cudag::Stream stream;
    const std::vector<float> rows(3 * 768, 1.0f);
    const std::vector<int> positions(3, 0);
    // counted begins
    cudag::GraphedFunction model(
        [](cudaStream_t s, cudag::DeviceSpan<float> given, cudag::DeviceSpan<const int>, cudag::Valid valid) {
            // kernels read the number of given items at valid.data(), here 3 of 4
            cudag::memcpy_async(s, given.first(1), cudag::DeviceSpan<const float>(given.data() + 1, 1));
            static_cast<void>(valid.data());
            return given;
        },
        {.bucket = cudag::Bucket::powers_of_two(), .item_elements = {768, 1}, .padding = cudag::Padding::none});
    model.forward(stream, rows, positions); // 3 items: in each input
    // counted ends
    stream.synchronize();
}

} // namespace

void buckets() {
    rounded();
    prepared();
    counted();
}

} // namespace pages
