// Graphs of buckets captured ahead: their order, their memory, progress, and failures.
#include <cudag/bucket.hpp>
#include <cudag/footprint.hpp>

#include <atomic>
#include <chrono>
#include <span>
#include <stdexcept>
#include <thread>

#include "graphed.hpp"

using cudag::Bucket;
using cudag::CapturePool;
using cudag::DeviceSpan;
using cudag::GraphedFunction;
using cudag::GraphError;
using cudag::launch;
using cudag::PreparedBucket;
using cudag::Stream;

namespace {

DeviceSpan<int> first_plus_one(cudaStream_t stream, DeviceSpan<int> data) {
    launch(stream, {}, add, data.data(), data.data(), 1);
    return data;
}

/// A model with two scratch buffers of its pool, four and two elements an item.
struct Model {
    CapturePool pool;
    GraphedFunction<DeviceSpan<int>(cudaStream_t, DeviceSpan<int>)> function{
        [this](cudaStream_t stream, DeviceSpan<int> data) {
            const auto wide = pool.allocate<int>(4 * data.size());
            const auto narrow = pool.allocate<int>(2 * data.size());
            cudag::clear_async(stream, wide.span()); // by spans: the graph keeps the pool, not the buffers
            cudag::clear_async(stream, narrow.span());
            return first_plus_one(stream, data);
        },
        {.capacity = 64, .capture = {.pool = pool.id()}, .bucket = Bucket([](std::size_t size) { return size; })}};

    /// The pool's memory after graphs for `sizes`.
    std::size_t prepared(std::initializer_list<std::size_t> sizes) {
        function.prepare(Stream(), sizes);
        return pool.memory().reserved;
    }
};

std::string refusal(CallRef<> call) {
    return refused<GraphError>(call).what();
}

} // namespace

TEST_CASE("prepare captures the largest bucket first, and tells its progress", "[capture][bucket]") {
    const Stream stream;
    std::vector<std::size_t> captured, sizes;
    GraphedFunction f(
        [&](cudaStream_t s, DeviceSpan<int> data) {
            captured.push_back(data.size());
            return first_plus_one(s, data);
        },
        {.warm_up_runs = 0, .bucket = Bucket::powers_of_two()});
    f.prepare(stream, {3, 1, 16, 4, 5}, [&](const PreparedBucket& done) {
        sizes.push_back(done.size);
        CHECK(done.done == sizes.size());
        CHECK(done.count == 4);
        CHECK(done.reserved == 256); // 16 elements, and less
    });
    CHECK(captured == std::vector<std::size_t>{16, 8, 4, 1});
    CHECK(sizes == captured);
    CHECK(f.captures() == 4);
    CHECK(f.replays() == 0);
    CHECK(f.size() == 4);
    for (const std::size_t size : {1U, 3U, 7U, 16U}) {
        const auto input = numbers(size, 4);
        auto expected = input;
        ++expected.front();
        CHECK(read(stream, f.forward(stream, input)) == expected);
    }
    CHECK(captured.size() == 4);
}

TEST_CASE("the memory of all buckets is that of the largest", "[capture][bucket][footprint]") {
    const std::size_t largest = Model().prepared({4096});
    CHECK(largest == 4096 * 7 * sizeof(int));
    Model powers, all;
    CHECK(powers.prepared({1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096}) <= largest * 11 / 10);
    CHECK(all.prepared({1, 3, 7, 100, 250, 251, 999, 1000, 1500, 2000, 2500, 3000, 3001, 3500, 4000, 4096}) <=
          largest * 11 / 10);
    Model grown; // as without prepare, by calls of growing sizes
    for (const std::size_t size : {512U, 1024U, 2048U, 4096U})
        grown.prepared({size});
    CHECK(grown.pool.memory().reserved > largest * 11 / 10);
}

TEST_CASE("graphs that share memory give their own results in turns", "[capture][bucket]") {
    const Stream stream;
    Model model;
    model.function.prepare(stream, {8, 64, 512});
    for (const std::size_t size : {512U, 8U, 64U, 8U, 512U}) {
        const auto input = numbers(size, 4);
        auto expected = input;
        ++expected.front();
        CHECK(read(stream, model.function.forward(stream, input)) == expected);
    }
}

TEST_CASE("prepare leaves buckets with graphs as they are", "[capture][bucket]") {
    const Stream stream;
    int calls = 0;
    GraphedFunction f(
        [&](cudaStream_t s, DeviceSpan<int> data) {
            ++calls;
            return first_plus_one(s, data);
        },
        {.warm_up_runs = 0, .capacity = 3, .bucket = Bucket::powers_of_two()});
    f.forward(stream, numbers_of_two);
    f.prepare(stream, {1, 2, 4});
    CHECK(calls == 3);
    f.prepare(stream, {1, 2, 3, 4});
    f.prepare(stream, std::vector<std::size_t>{});
    CHECK(calls == 3);
    CHECK(f.size() == 3);
    const std::vector<int> eight(8);
    f.forward(stream, eight); // runs eagerly: all are used as rarely
    CHECK(f.eager_runs() == 1);
}

TEST_CASE("warm-up runs of prepare see zeros", "[capture][bucket]") {
    const Stream stream;
    std::vector<std::vector<int>> seen;
    GraphedFunction f(
        [&](cudaStream_t s, DeviceSpan<int> data) {
            if (!cudag::is_capturing(s)) {
                cudag::check(cudaStreamSynchronize(s));
                seen.push_back(read(data));
            }
            return first_plus_one(s, data);
        },
        {.warm_up_runs = 2, .bucket = {4}});
    f.prepare(stream, {3});
    CHECK(seen == std::vector{std::vector(4, 0), std::vector(4, 0)});
}

TEST_CASE("a call in another stream comes behind the runs of prepare", "[capture][bucket]") {
    const Stream first, second;
    Gate gate;
    bool holds = true;
    GraphedFunction f(
        [&](cudaStream_t s, DeviceSpan<int> data) {
            if (holds && !cudag::is_capturing(s)) hold_up(s, gate);
            return first_plus_one(s, data);
        },
        {.bucket = {4}});
    f.prepare(first, {4});
    holds = false;
    const auto input = device(numbers(4, 7)); // a copy of pageable memory might wait
    const DeviceSpan<int> output = f.forward(second, input);
    std::atomic<bool> has_run = false;
    const auto note = [](void* flag) { static_cast<std::atomic<bool>*>(flag)->store(true); };
    cudag::check(cudaLaunchHostFunc(second.get(), note, &has_run));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK_FALSE(has_run);
    gate.open();
    CHECK(read(second, output) == std::vector{8, 8, 9, 10});
}

TEST_CASE("a prepare that fails leaves the shapes as they were", "[capture][bucket]") {
    const Stream stream;
    int calls = 0, failing = 0;
    GraphedFunction f(
        [&](cudaStream_t s, DeviceSpan<int> data) {
            if (++calls == failing) throw std::runtime_error("the function");
            return first_plus_one(s, data);
        },
        {.warm_up_runs = 1, .bucket = Bucket::powers_of_two()});
    f.forward(stream, numbers_of_one);
    for (int call = 1; call <= 6; ++call) { // warm-up runs and captures of three buckets
        calls = 0;
        failing = call;
        CHECK_THROWS_WITH(f.prepare(stream, {2, 4, 8}), "the function");
        CHECK(f.size() == 1);
        CHECK(f.captures() == 1);
        CHECK(read(stream, f.forward(stream, numbers_of_one)) == std::vector{2});
    }
    failing = 0;
    CHECK_THROWS_WITH(f.prepare(stream, {2, 4},
                                [](const PreparedBucket& done) {
                                    if (done.done == 2) throw std::runtime_error("the progress");
                                }),
                      "the progress");
    CHECK(f.size() == 1);
    f.prepare(stream, {2, 4, 8});
    CHECK(f.size() == 4);
    CHECK(f.captures() == 4);
}

TEST_CASE("a prepare that fails waits for the runs that it has begun", "[capture][bucket]") {
    const Stream stream;
    int calls = 0;
    std::atomic<bool> has_ended = false;
    const auto end_late = [](void* flag) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        static_cast<std::atomic<bool>*>(flag)->store(true);
    };
    GraphedFunction f(
        [&](cudaStream_t s, DeviceSpan<int> data) {
            if (++calls == 2) throw std::runtime_error("the capture");
            cudag::check(cudaLaunchHostFunc(s, end_late, &has_ended));
            return first_plus_one(s, data);
        },
        {.warm_up_runs = 1, .bucket = Bucket::powers_of_two()});
    CHECK_THROWS_WITH(f.prepare(stream, {2}), "the capture");
    CHECK(has_ended);
}

TEST_CASE("what prepare cannot do is refused by name", "[capture][bucket]") {
    const Stream stream;
    GraphedFunction plain(first_plus_one);
    CHECK_THAT(refusal([&] { plain.prepare(stream, {1}); }),
               StartsWith("cudag: GraphedFunction at ") && ContainsSubstring(": prepare: there is no bucket"));
    GraphedFunction f(first_plus_one, {.capacity = 2, .bucket = {1, 2, 4}});
    CHECK_THAT(refusal([&] { f.prepare(stream, {1, 0}); }), ContainsSubstring("a size of 0 items"));
    CHECK_THAT(refusal([&] {
                   f.prepare(stream, {1, 5});
               }),
               ContainsSubstring("5 items is above the largest bucket, 4"));
    CHECK_THAT(refusal([&] {
                   f.prepare(stream, {1, 2, 4});
               }),
               ContainsSubstring("3 more buckets, beside 0 shapes, are above the capacity of 2"));
    CHECK(f.size() == 0);
    GraphedFunction fixed([](cudaStream_t s, DeviceSpan<int> data, DeviceSpan<int>) { return first_plus_one(s, data); },
                          {.bucket = {4}, .item_elements = {1, 0}});
    CHECK_THAT(refusal([&] { fixed.prepare(stream, {4}); }), ContainsSubstring("the size of input 1 is not rounded"));

    cudag::StreamCapture capture(stream);
    CHECK_THAT(refused<cudag::CaptureError>([&] { f.prepare(stream, {1}); }).what(),
               ContainsSubstring("the stream is being captured"));
}

TEST_CASE("after prepare, the last call's inputs are still told", "[capture][bucket]") {
    const Stream stream;
    GraphedFunction f(
        [](cudaStream_t s, DeviceSpan<int> data) { return data.empty() ? data : first_plus_one(s, data); },
        {.bucket = Bucket::powers_of_two()});
    f.forward(stream, std::span<int>());
    f.prepare(stream, {16});
    CHECK(f.last_copied().empty()); // empty inputs are left out
    f.forward(stream, numbers_of_one);
    CHECK(f.last_copied().size() == 1);
    GraphedFunction none(first_plus_one, {.bucket = {4}});
    none.prepare(stream, {4});
    CHECK(none.memory().graphs == 1);
    none.reset();
    CHECK(none.size() == 0);
}
