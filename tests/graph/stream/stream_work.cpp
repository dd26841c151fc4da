// Plain stream work: launch, memcpy_async, memset_async.
#include <memory>

#include "cuda_version.hpp"
#include "test.hpp"

using cudag::DeviceBuffer;
using cudag::DeviceSpan;
using cudag::Error;
using cudag::GraphError;
using cudag::LaunchConfig;
using cudag::PinnedBuffer;
using cudag::Stream;

TEST_CASE("a pipeline of plain stream work computes what the oracle says", "[stream]") {
    constexpr int n = 1000;
    const Stream stream;
    std::vector<float> x(n);
    std::vector<float> y(n);
    std::vector<float> oracle(n);
    for (int i = 0; i < n; ++i) {
        const auto k = static_cast<std::size_t>(i);
        x[k] = static_cast<float>(i);
        y[k] = static_cast<float>(2 * i);
        oracle[k] = 3 * x[k] + y[k];
    }
    const DeviceBuffer<float> device_x(n);
    const DeviceBuffer<float> device_y(n);
    std::vector<float> result(n);
    cudag::memcpy_async(stream, device_x, x);
    cudag::memcpy_async(stream, device_y, y);
    cudag::launch(stream, cudag::grid_1d(n, 128), saxpy, n, 3, device_x, device_y);
    cudag::memcpy_async(stream, result, device_y);
    stream.synchronize();
    CHECK(result == oracle);
}

TEST_CASE("launch takes raw and default streams", "[stream]") {
    const auto count = device({0U});
    const auto sum = device({0U});
    const Stream stream;
    cudaStream_t raw = stream.get();
    cudag::launch(raw, {}, count_threads, count, sum, 1);
    stream.synchronize();
    cudaStream_t legacy = nullptr;
    cudag::launch(legacy, {.grid = 2}, count_threads, count, sum, 1);
    cudag::check(cudaStreamSynchronize(legacy));
    CHECK(read(count) == std::vector{3U});
    CHECK(read(sum) == std::vector{3U});
}

TEST_CASE("a launch copies its arguments", "[stream]") {
    const auto cell = device({0});
    const Stream stream;
    int value = 5;
    cudag::launch(stream, {}, store, cell, value);
    value = 6;
    stream.synchronize();
    CHECK(read(cell) == std::vector{5});
}

TEST_CASE("memory given to a launch is borrowed", "[stream]") {
    const DeviceBuffer<int> cell(1);
    const Stream stream;
    cudag::launch(stream, {}, store, cell, 1);
    cudag::memset_async(stream, cell, 1);
    CHECK(cell.owner().use_count() == 1);
    stream.synchronize();
}

TEST_CASE("copies go in all four directions", "[stream]") {
    const Stream stream;
    const std::vector host{1, 2};
    const PinnedBuffer<int> pinned(2);
    const PinnedBuffer<int> result(2);
    const DeviceBuffer<int> first(2);
    const DeviceBuffer<int> second(2);
    cudag::memcpy_async(stream, pinned, host);
    cudag::memcpy_async(stream, first, pinned);
    cudag::memcpy_async(stream, second, first);
    cudag::memcpy_async(stream, result, second);
    stream.synchronize();
    CHECK(std::vector(result.begin(), result.end()) == host);
}

TEST_CASE("memset_async sets elements of 1, 2 and 4 bytes", "[stream]") {
    const Stream stream;
    const auto bytes = device(std::vector<unsigned char>(5, 0));
    const auto shorts = device(std::vector<short>(5, 0));
    const auto ints = device(std::vector<int>(5, 0));
    const auto floats = device(std::vector<float>(5, 0));
    cudag::memset_async(stream, bytes.span().subspan(1, 3), 200);
    cudag::memset_async(stream, shorts.span().subspan(1, 3), -300);
    cudag::memset_async(stream, ints.span().subspan(1, 3), -70000);
    cudag::memset_async(stream, floats.span().subspan(1, 3), 1.5F);
    stream.synchronize();
    CHECK(read(bytes) == std::vector<unsigned char>{0, 200, 200, 200, 0});
    CHECK(read(shorts) == std::vector<short>{0, -300, -300, -300, 0});
    CHECK(read(ints) == std::vector{0, -70000, -70000, -70000, 0});
    CHECK(read(floats) == std::vector{0.0F, 1.5F, 1.5F, 1.5F, 0.0F});
}

TEST_CASE("plain stream work beyond CUDA's limits is refused with the limit", "[stream]") {
    const auto cell = device({5});
    const Stream stream;
    const auto check = [&](const LaunchConfig& config, const char* text) {
        const auto error = refused<Error>([&] { cudag::launch(stream, config, store, cell, 1); });
        CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
        CHECK(error.operation() == "cuLaunchKernel");
        CHECK_THAT(error.what(), ContainsSubstring("launch of store") && ContainsSubstring(text));
        CHECK(error.log().empty() == !has_log());
    };
    check({.grid = 0}, "grid.x is 0");
    check({.block = 2048}, "block.x is 2048");
    check({.block = {32, 33, 1}}, "1056 threads");
    check({.shared_bytes = 1 << 20}, "1048576 bytes of dynamic shared memory");
    stream.synchronize();
    CHECK(read(cell) == std::vector{5});
}

TEST_CASE("a launch refuses a number that does not fit", "[stream]") {
    const DeviceBuffer<int> cell(1);
    const Stream stream;
    const auto error = refused<GraphError>([&] { cudag::launch(stream, {}, store, cell, 1LL << 40U); });
    CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
    CHECK_THAT(error.what(), ContainsSubstring("kernel store") && ContainsSubstring("argument 1: 1099511627776 "));
}

TEST_CASE("copies and fills of nothing, or of other sizes, are refused", "[stream]") {
    const DeviceBuffer<int> two(2);
    const DeviceBuffer<int> three(3);
    const DeviceBuffer<int> empty(0);
    const Stream stream;
    const auto sizes = refused<GraphError>([&] { cudag::memcpy_async(stream, two, three); });
    CHECK(sizes.code() == cuda_code(cudaErrorInvalidValue));
    CHECK_THAT(sizes.what(), ContainsSubstring("memcpy_async") && ContainsSubstring("destination has 2 elements") &&
                                 ContainsSubstring("source 3"));
    CHECK(sizes.location().line == __LINE__ - 4);
    CHECK_THAT(refused<GraphError>([&] { cudag::memcpy_async(stream, empty, empty); }).what(),
               ContainsSubstring("0 elements"));
    const auto fill = refused<GraphError>([&] { cudag::memset_async(stream, empty, 1); });
    CHECK_THAT(fill.what(), ContainsSubstring("memset_async") && ContainsSubstring("0 elements"));
    CHECK(fill.location().line == __LINE__ - 2);
    CHECK_THAT(refused<GraphError>([&] { cudag::memset_async(stream, two, 1LL << 40U); }).what(),
               ContainsSubstring("1099511627776"));
}

TEST_CASE("memory that CUDA does not know is refused, with CUDA's function", "[stream]") {
    std::vector<int> host(4);
    const DeviceBuffer<int> memory(4);
    const DeviceSpan<int> wrong(host.data(), host.size());
    const Stream stream;
    const auto fill = refused<Error>([&] { cudag::memset_async(stream, wrong, 1); });
    CHECK(fill.code() == cuda_code(cudaErrorInvalidValue));
    CHECK(fill.operation() == "cuMemsetD32Async");
    const auto copy = refused<Error>([&] { cudag::memcpy_async(stream, wrong, memory); });
    CHECK(copy.code() == cuda_code(cudaErrorInvalidValue));
    CHECK(copy.operation() == "cudaMemcpyAsync");
    stream.synchronize();
}
