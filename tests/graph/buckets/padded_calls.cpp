// Calls of graphed functions with buckets: one graph for several sizes, with inputs padded and outputs cut.
#include <cudag/bucket.hpp>

#include <array>
#include <random>
#include <span>
#include <tuple>

#include "graphed.hpp"

using cudag::Bucket;
using cudag::CapturePool;
using cudag::DeviceSpan;
using cudag::GraphedFunction;
using cudag::GraphedFunctionOptions;
using cudag::GraphError;
using cudag::launch;
using cudag::Padding;
using cudag::Stream;
using cudag::Valid;

namespace {

/// Returns its input, with 1 more in the first element.
DeviceSpan<int> first_plus_one(cudaStream_t stream, DeviceSpan<int> data) {
    launch(stream, {}, add, data.data(), data.data(), 1);
    return data;
}

std::vector<int> with_first_plus_one(std::vector<int> values) {
    ++values.front();
    return values;
}

std::string refusal(CallRef<> call) {
    return refused<GraphError>(call).what();
}

} // namespace

TEST_CASE("sizes of one bucket share a graph, and are padded with zeros", "[capture][bucket]") {
    const Stream stream;
    Total sums;
    GraphedFunction f(sums.function(), {.bucket = {8, 16}});
    for (const std::size_t size : {8U, 5U, 7U, 1U, 16U, 9U, 8U}) {
        const auto input = numbers(size, 10);
        CAPTURE(size);
        CHECK(read(stream, f.forward(stream, input)) == std::vector{total(input)});
    }
    CHECK(f.captures() == 2);
    CHECK(f.replays() == 7);
    CHECK(f.copied_inputs() == 7);
}

TEST_CASE("outputs are cut to the given items", "[capture][bucket]") {
    const Stream stream;
    GraphedFunction f(first_plus_one, {.bucket = Bucket::powers_of_two()});
    for (const std::size_t size : {5U, 8U, 3U, 6U}) {
        const auto input = numbers(size, 3);
        const DeviceSpan<int> output = f.forward(stream, input);
        CHECK(output.size() == size);
        CHECK(read(stream, output) == with_first_plus_one(input));
    }
    CHECK(f.captures() == 2);
}

TEST_CASE("outputs of another size than the bucket's items stay whole", "[capture][bucket]") {
    const Stream stream;
    const auto constants = device({1, 2, 3, 4, 5});
    GraphedFunction f(
        [&](cudaStream_t s, DeviceSpan<int> data) {
            launch(s, {}, nothing);
            return std::tuple(data, constants.span(), std::array{data.first(4), data});
        },
        {.bucket = {8}});
    const auto input = numbers(6, 0);
    const auto& [cut, whole, parts] = f.forward(stream, input);
    CHECK(read(stream, cut) == input);
    CHECK(read(whole) == std::vector{1, 2, 3, 4, 5});
    CHECK(parts[0].size() == 4);
    CHECK(parts[1].size() == 6);
}

TEST_CASE("outputs of several elements an item are cut in proportion", "[capture][bucket]") {
    const Stream stream;
    GraphedFunction f(
        [](cudaStream_t s, DeviceSpan<int> rows) {
            launch(s, {}, nothing);
            return std::pair(rows, rows.first(rows.size() / 3));
        },
        {.bucket = {4}, .item_elements = {3}});
    const auto input = numbers(6, 1);
    const auto& [rows, items] = f.forward(stream, input);
    CHECK(read(stream, rows) == input);
    CHECK(items.size() == 2);
}

namespace {

/// An output that knows how to cut itself.
struct Sizes {
    std::size_t items = 0, bucket = 0;
    [[nodiscard]] Sizes cut(std::size_t given, std::size_t of) const { return {given, of}; }
};

} // namespace

TEST_CASE("an output type may cut itself", "[capture][bucket]") {
    const Stream stream;
    GraphedFunction f(
        [](cudaStream_t s, DeviceSpan<int>) {
            launch(s, {}, nothing);
            return Sizes();
        },
        {.bucket = {8}});
    const Sizes& cut = f.forward(stream, numbers_of_two);
    CHECK(cut.items == 2);
    CHECK(cut.bucket == 8);
}

TEST_CASE("outputs stay whole on request", "[capture][bucket]") {
    const Stream stream;
    GraphedFunction f(first_plus_one, {.bucket = {8}, .cut_outputs = false});
    CHECK(read(stream, f.forward(stream, numbers_of_two)) == std::vector{2, 2, 0, 0, 0, 0, 0, 0});
    GraphedFunction owner(
        [](cudaStream_t s, DeviceSpan<int>) {
            launch(s, {}, nothing);
            return cudag::DeviceBuffer<int>(3);
        },
        {.warm_up_runs = 0, .capture = {.mode = cudag::CaptureMode::relaxed}, .bucket = {8}, .cut_outputs = false});
    CHECK(owner.forward(stream, numbers_of_two).size() == 3);
}

TEST_CASE("a Valid holds the number of given items in each call", "[capture][bucket]") {
    const Stream stream;
    const cudag::DeviceBuffer<unsigned> seen(1);
    GraphedFunction f(
        [&](cudaStream_t s, DeviceSpan<int> data, Valid valid) {
            cudag::memcpy_async(s, seen, DeviceSpan<const unsigned>(valid.data(), 1));
            return data;
        },
        {.bucket = {8}, .padding = Padding::none});
    for (const std::size_t size : {8U, 3U, 0U, 5U}) {
        const auto input = numbers(size, 1);
        const DeviceSpan<int> output = f.forward(stream, input);
        CHECK(read(stream, output) == input);
        CHECK(read(seen) == std::vector{static_cast<unsigned>(size)});
    }
    CHECK(f.captures() == 2); // a bucket, and no items
    CHECK(f.last_copied().size() == 1);
}

TEST_CASE("with a Valid and no padding, items of former calls stay", "[capture][bucket]") {
    const Stream stream;
    const auto run = [&](Padding padding) {
        GraphedFunction f(
            [&](cudaStream_t s, DeviceSpan<int> data, Valid) {
                launch(s, {}, nothing);
                return data;
            },
            {.bucket = {3}, .padding = padding, .cut_outputs = false});
        const std::vector<int> whole{1, 2, 3}, part{7};
        f.forward(stream, whole);
        return read(stream, f.forward(stream, part));
    };
    CHECK(run(Padding::none) == std::vector{7, 2, 3});
    CHECK(run(Padding::zeros) == std::vector{7, 0, 0});
}

TEST_CASE("items of several elements are rounded together, and fixed inputs not at all", "[capture][bucket]") {
    const Stream stream;
    int calls = 0;
    GraphedFunction f(
        [&](cudaStream_t s, DeviceSpan<const int> rows, DeviceSpan<const char> flags, DeviceSpan<const float> fixed) {
            ++calls;
            launch(s, {}, nothing);
            return std::tuple(rows, flags, fixed);
        },
        {.warm_up_runs = 0, .bucket = {4, 8}, .item_elements = {3, 1, 0}});
    const std::vector<float> fixed(4, 1.0f);
    for (const std::size_t items : {2U, 4U, 3U, 5U}) {
        const auto rows = numbers(3 * items, 1);
        const std::vector<char> flags(items, 'x');
        const auto& [seen, seen_flags, seen_fixed] = f.forward(stream, rows, flags, fixed);
        CHECK(read(stream, seen) == rows);
        CHECK(read(seen_flags) == flags);
        CHECK(read(seen_fixed).front() == 1.0f);
    }
    CHECK(calls == 2);
}

TEST_CASE("beyond the capacity, padded calls run eagerly with the same results", "[capture][bucket]") {
    const Stream stream;
    GraphedFunction f(first_plus_one, {.capacity = 1, .bucket = {4, 8}});
    for (const std::size_t size : {3U, 6U, 2U, 5U}) {
        const auto input = numbers(size, 3);
        const DeviceSpan<int> output = f.forward(stream, input);
        CHECK(read(stream, output) == with_first_plus_one(input));
    }
    CHECK(f.eager_runs() == 2);
    CHECK(f.captures() == 1);
}

TEST_CASE("a function with breaks is padded and cut", "[capture][bucket]") {
    const Stream stream;
    int breaks = 0;
    GraphedFunction f(
        [&](cudag::Steps& steps, DeviceSpan<int> data) {
            steps.step("first", [&](cudaStream_t s) { first_plus_one(s, data); });
            steps.eager("between", [&](cudaStream_t) { ++breaks; });
            steps.step("second", [&](cudaStream_t s) { first_plus_one(s, data); });
            return data;
        },
        {.warm_up_runs = 0, .bucket = {8}});
    for (const std::size_t size : {5U, 8U, 2U}) {
        const auto input = numbers(size, 3);
        CHECK(read(stream, f.forward(stream, input)) == with_first_plus_one(with_first_plus_one(input)));
    }
    CHECK(breaks == 3);
    CHECK(f.captures() == 1);
}

TEST_CASE("a part of a former output may be the next input, in another bucket", "[capture][bucket]") {
    const Stream stream;
    const unsigned warm_up_runs = GENERATE(0U, 2U);
    GraphedFunction f(
        [](cudaStream_t s, DeviceSpan<int> a, DeviceSpan<int> b) {
            launch(s, {}, nothing);
            return std::pair(a, b);
        },
        {.warm_up_runs = warm_up_runs, .bucket = {2, 4, 8}});
    const auto first = numbers(7, 10), second = numbers(7, 20);
    const auto [a, b] = f.forward(stream, first, second);
    const auto& [c, d] = f.forward(stream, b.subspan(1, 3), a.subspan(2, 3)); // exchanged, and the memory is shared
    CHECK(read(stream, c) == std::vector{21, 22, 23});
    CHECK(read(d) == std::vector{12, 13, 14});
}

TEST_CASE("graphs of several buckets run one after the other, in all streams", "[capture][bucket]") {
    Stream first, second;
    GraphedFunction f(first_plus_one, {.bucket = {4, 8}});
    const auto small_values = numbers(3, 1), large_values = numbers(7, 5);
    const auto small = device(small_values), large = device(large_values); // copies of pageable memory might wait
    f.forward(first, small);
    f.forward(first, large);
    Gate gate;
    hold_up(first.get(), gate);
    const cudag::PinnedBuffer<int> seen(3);
    const DeviceSpan<int> output = f.forward(first, small);
    cudag::memcpy_async(first, seen, output);
    cudag::Event was_read;
    was_read.record(first);
    second.wait(was_read);
    const DeviceSpan<int> next = f.forward(second, large);
    gate.open();
    CHECK(read(second, next) == with_first_plus_one(large_values));
    first.synchronize();
    CHECK(std::vector<int>(seen.begin(), seen.end()) == with_first_plus_one(small_values));
}

TEST_CASE("verified replays of padded calls are as captured", "[capture][bucket]") {
    const Stream stream;
    GraphedFunction f(first_plus_one, {.verify = 1, .bucket = {8}});
    for (const std::size_t size : {5U, 8U, 2U, 3U}) {
        const auto input = numbers(size, 3);
        CHECK(read(stream, f.forward(stream, input)) == with_first_plus_one(input));
    }
}

TEST_CASE("static inputs of buckets are in the pool of the capture, or in one of the function", "[capture][bucket]") {
    const Stream stream;
    CapturePool pool("mine");
    const auto input = numbers(1000, 0);
    GraphedFunction f(first_plus_one, {.capture = {.pool = pool.id()}, .bucket = {1024}});
    f.forward(stream, input);
    CHECK(pool.reserved_bytes() == 4096);
    CHECK(pool.count() == 0);
    CHECK(f.memory().memory.pools == std::vector{pool.memory()});
    CHECK(f.memory().memory.buffers == 0);

    GraphedFunction other(first_plus_one, {.bucket = {1024}});
    other.forward(stream, input);
    REQUIRE(other.memory().memory.pools.size() == 1);
    CHECK_THAT(other.memory().memory.pools.front().name,
               StartsWith("CapturePool \"GraphedFunction\" made at " __FILE__));
    CHECK(other.memory().memory.pools.front().reserved == 4096);
    pool.seal();
    f.reset();
    CHECK_THAT(refused<cudag::CaptureError>([&] { f.forward(stream, input); }).what(),
               ContainsSubstring("the pool is sealed"));
    CHECK(f.size() == 0);
    pool.unseal();
    CHECK(read(stream, f.forward(stream, input)) == with_first_plus_one(input));
}

TEST_CASE("calls without a bucket for them are refused, and change nothing", "[capture][bucket]") {
    const Stream stream;
    GraphedFunction f(
        [](cudaStream_t s, DeviceSpan<int> rows, DeviceSpan<const int> items) {
            launch(s, {}, nothing);
            return std::pair(rows, items);
        },
        {.warm_up_runs = 0, .bucket = {4}, .item_elements = {2, 1}});
    const auto rows = numbers(10, 0), items = numbers(5, 0);
    const auto call = [&](std::size_t n, std::size_t m) {
        f.forward(stream, std::span(rows).first(n), std::span(items).first(m));
    };
    call(6, 3);
    CHECK_THAT(refusal([&] { call(7, 3); }),
               StartsWith("cudag: GraphedFunction at ") &&
                   ContainsSubstring("input 0 has 7 elements, no multiple of the 2 elements of an item"));
    CHECK_THAT(refusal([&] { call(6, 2); }),
               ContainsSubstring("input 1 has 2 items, and input 0 has 3; all have equally many"));
    CHECK_THAT(refusal([&] { call(10, 5); }), ContainsSubstring("5 items is above the largest bucket, 4"));
    CHECK(f.size() == 1);
    CHECK(f.captures() == 1);
    CHECK(f.replays() == 1);
    call(2, 1);
    CHECK(f.captures() == 1);
    CHECK(f.replays() == 2);
}

TEST_CASE("options of buckets that do not fit together are refused at construction", "[capture][bucket]") {
    const auto span = [](cudaStream_t, DeviceSpan<int> data) { return data; };
    const auto with_valid = [](cudaStream_t, DeviceSpan<int> data, Valid) { return data; };
    const auto why = [](const auto& function, const GraphedFunctionOptions& options) {
        return refusal([&] { const GraphedFunction f(function, options); });
    };
    const Bucket bucket = {8};
    CHECK_THAT(why(span, {.bind_inputs = true, .bucket = bucket}),
               ContainsSubstring("bucket and bind_inputs exclude each other"));
    CHECK_THAT(why(span, {.bucket = bucket, .padding = Padding::none}), ContainsSubstring("let it take a Valid"));
    CHECK_THAT(why(span, {.bucket = bucket, .item_elements = {1, 2}}),
               ContainsSubstring("item_elements has 2 entries for 1 inputs"));
    CHECK_THAT(why(with_valid, {.bucket = bucket, .item_elements = {1, 2}}),
               ContainsSubstring("item_elements has 2 entries for 1 inputs"));
    CHECK_THAT(why(span, {.bucket = bucket, .item_elements = {0}}), ContainsSubstring("is 0 for all inputs"));
    CHECK_THAT(why(with_valid, {}), ContainsSubstring("the function takes a Valid"));
    CHECK_THAT(why(span, {.item_elements = {2}}), ContainsSubstring("item_elements has no effect without bucket"));
    CHECK_THAT(why(span, {.padding = Padding::none}), ContainsSubstring("padding has no effect without bucket"));
    CHECK_THAT(why(span, {.cut_outputs = false}), ContainsSubstring("cut_outputs has no effect without bucket"));
    CHECK_THAT(why([](cudaStream_t) {}, {.bucket = bucket}), ContainsSubstring("the function has no inputs"));
    CHECK_THAT(why([](cudaStream_t, DeviceSpan<int>) { return 1; }, {.bucket = bucket}),
               ContainsSubstring("the output is no DeviceSpan"));
    CHECK_NOTHROW(GraphedFunction([](cudaStream_t, DeviceSpan<int>) {}, {.bucket = bucket}));
}

TEST_CASE("random sizes in random buckets give what eager calls give", "[capture][bucket]") {
    std::mt19937 random(17);
    const Stream stream;
    for (int round = 0; round < 6; ++round) {
        Total sums;
        const std::size_t step = 1 + random() % 9;
        GraphedFunction f(
            [run = sums.function()](cudaStream_t s, DeviceSpan<int> rows, DeviceSpan<const int> items) mutable {
                const DeviceSpan<int> result = run(s, items);
                first_plus_one(s, rows);
                return std::tuple(rows, items, result);
            },
            {.warm_up_runs = 0,
             .capacity = 3,
             .bucket = [step](std::size_t n) { return (n + step - 1) / step * step; },
             .item_elements = {2, 1}});
        for (int call = 0; call < 40; ++call) {
            const std::size_t count = 1 + random() % 24;
            const auto rows = numbers(2 * count, static_cast<int>(random() % 100));
            const auto items = numbers(count, static_cast<int>(random() % 100));
            const auto& [seen_rows, seen_items, result] = f.forward(stream, rows, items);
            CHECK(read(stream, seen_rows) == with_first_plus_one(rows));
            CHECK(read(seen_items) == items);
            CHECK(read(result) == std::vector{total(items)});
        }
    }
}
