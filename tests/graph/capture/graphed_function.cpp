// GraphedFunction: warm-up, capture, replay, and what it takes and returns.
#include <array>
#include <chrono>
#include <memory>
#include <span>
#include <thread>
#include <type_traits>

#include "graphed.hpp"

using cudag::DeviceBuffer;
using cudag::DeviceSpan;
using cudag::GraphedFunction;
using cudag::launch;
using cudag::Stream;

namespace {

DeviceSpan<int> store_seven(cudaStream_t stream, DeviceSpan<int> cell) noexcept {
    launch(stream, {}, store, cell.data(), 7);
    return cell;
}

/// An output that cannot be copied.
struct Result {
    std::unique_ptr<int> run;
    DeviceSpan<int> cell;
};

} // namespace

TEST_CASE("a graphed function warms up, is captured once, and replays", "[capture][graphed]") {
    Total sums;
    const Stream stream;
    GraphedFunction f(sums.function(), {.warm_up_runs = 2});
    CHECK(sums.calls == 0);
    for (int first = 0; first < 4; ++first) {
        const auto input = numbers(5, first);
        CHECK(read(stream, f.forward(stream, input)) == std::vector{total(input)});
        CHECK(sums.calls == 3);
    }
    CHECK(f.captures() == 1);
    CHECK(f.replays() == 4);
    CHECK(f.size() == 1);
}

TEST_CASE("a graphed function warms up once unless told otherwise", "[capture][graphed]") {
    Total sums;
    const Stream stream;
    GraphedFunction f(sums.function());
    const std::vector input{1, 2, 3};
    f.forward(stream, input);
    f.forward(stream, input);
    CHECK(sums.calls == 2);
}

TEST_CASE("a graphed function without warm-up is only captured", "[capture][graphed]") {
    Total sums;
    const Stream stream;
    GraphedFunction f(sums.function(), {.warm_up_runs = 0});
    const std::vector input{1, 2, 3};
    CHECK(read(stream, f.forward(stream, input)) == std::vector{6});
    CHECK(sums.calls == 1);
}

TEST_CASE("a graphed function gives what the function gives by itself", "[capture][graphed]") {
    const auto run = [](cudaStream_t s, DeviceSpan<const float> x, DeviceSpan<float> y) {
        const int n = static_cast<int>(x.size());
        launch(s, cudag::grid_1d(x.size(), 32), saxpy, n, 2.0F, x, y);
        launch(s, cudag::grid_1d(x.size(), 32), saxpy, n, 0.5F, x, y);
        return y;
    };
    const Stream stream;
    GraphedFunction f(run, {.warm_up_runs = 3});
    for (const float a : {1.0F, -4.0F, 0.25F}) {
        const std::vector<float> x(100, a);
        const std::vector<float> y(100, a + 1);
        const auto eager_x = device(x);
        const auto eager_y = device(y);
        run(stream.get(), eager_x.span(), eager_y.span());
        stream.synchronize();
        CHECK(read(stream, f.forward(stream, x, y)) == read(eager_y));
        CHECK(read(stream, f.forward(stream, eager_x, y)) == read(eager_y));
    }
    CHECK(f.captures() == 1);
}

TEST_CASE("a graphed function may have neither inputs nor outputs", "[capture][graphed]") {
    const auto cells = device({0, 1});
    const Stream stream;
    GraphedFunction<void(cudaStream_t)> f([&](cudaStream_t s) { launch(s, {}, add, cells.data(), cells.data(), 10); },
                                          {.warm_up_runs = 2});
    static_assert(std::is_void_v<decltype(f.forward(stream))>);
    f.forward(stream);
    f.forward(stream);
    stream.synchronize();
    CHECK(read(cells) == std::vector{40, 1}); // two warm-up runs and two replays; the capture itself runs nothing
}

TEST_CASE("a graphed function copies inputs from any memory", "[capture][graphed]") {
    Total sums;
    const Stream stream;
    GraphedFunction f(sums.function());
    const auto gives = [&](auto&& input) { return read(stream, f.forward(stream, input)).front(); };

    std::vector<int> vector{1, 2, 3};
    CHECK(gives(vector) == 6);
    vector[0] = 11;
    CHECK(gives(std::as_const(vector)) == 16);
    CHECK(gives(std::span(vector)) == 16);
    const std::array array{2, 3, 4};
    CHECK(gives(array) == 9);
    const int plain[] = {3, 4, 5};
    CHECK(gives(plain) == 12);
    const cudag::PinnedBuffer<int> pinned(3);
    for (int i = 0; i < 3; ++i)
        pinned[static_cast<std::size_t>(i)] = 4 + i;
    CHECK(gives(pinned) == 15);
    const auto buffer = device({5, 6, 7});
    CHECK(gives(buffer) == 18);
    CHECK(gives(buffer.span()) == 18);
    CHECK(gives(DeviceSpan<const int>(buffer.span())) == 18);
    CHECK(gives(std::make_shared<DeviceBuffer<int>>(device({6, 7, 8}))) == 21);
    CHECK(f.captures() == 1);
}

TEST_CASE("an input of a graphed function may be empty", "[capture][graphed]") {
    Total sums;
    const Stream stream;
    GraphedFunction f(sums.function());
    const std::vector<int> none;
    CHECK(read(stream, f.forward(stream, none)) == std::vector{0});
    CHECK(read(stream, f.forward(stream, DeviceSpan<int>())) == std::vector{0});
    CHECK(f.captures() == 1);
}

TEST_CASE("inputs of a graphed function that it writes to start anew at each replay", "[capture][graphed]") {
    const Stream stream;
    GraphedFunction f(
        [](cudaStream_t s, DeviceSpan<int> cell) {
            launch(s, {}, add, cell.data(), cell.data(), 1);
            return cell;
        },
        {.warm_up_runs = 3});
    const auto input = device({10});
    CHECK(read(stream, f.forward(stream, input)) == std::vector{11});
    CHECK(read(stream, f.forward(stream, input)) == std::vector{11});
    CHECK(read(input) == std::vector{10});
}

TEST_CASE("the warm-up of a graphed function comes after what its stream does, and forward waits for neither",
          "[capture][graphed]") {
    const auto cells = device({0, 0});
    const Stream stream;
    Gate gate;
    GraphedFunction f([&](cudaStream_t s, DeviceSpan<const int> in) {
        launch(s, {}, add, cells.data() + 1, cells.data(), 1); // of the run before
        launch(s, {}, add, cells.data(), in.data(), 0);
    });
    const auto input = device({0});
    hold_up(stream.get(), gate);
    launch(stream, {}, store, input.data(), 5);
    launch(stream, {}, store, cells.data(), 1);
    f.forward(stream, input);
    CHECK_FALSE(stream.query());
    std::this_thread::sleep_for(std::chrono::milliseconds(20)); // time for the warm-up to come too early
    gate.open();
    CHECK(read(stream, cells.span()) == std::vector{5, 6});
}

TEST_CASE("the output of a graphed function may be its next input", "[capture][graphed]") {
    const Stream stream;
    GraphedFunction f([](cudaStream_t s, DeviceSpan<int> cell) {
        launch(s, {}, add, cell.data(), cell.data(), 1);
        return cell;
    });
    const std::vector first{10};
    DeviceSpan<int> output = f.forward(stream, first);
    for (int i = 0; i < 3; ++i)
        output = f.forward(stream, output);
    CHECK(read(stream, output) == std::vector{14});
}

TEST_CASE("the outputs of a graphed function may be its next inputs in another order", "[capture][graphed]") {
    const Stream stream;
    SECTION("exchanged") {
        GraphedFunction f([](cudaStream_t s, DeviceSpan<int> a, DeviceSpan<int> b) {
            launch(s, {}, add, a.data(), a.data(), 1);
            return std::pair{b, a};
        });
        const auto a = device({10});
        const auto b = device({20});
        const auto once = f.forward(stream, a, b);
        CHECK(read(stream, once.first) == std::vector{20});
        CHECK(read(stream, once.second) == std::vector{11});
        const auto twice = f.forward(stream, once.first, once.second);
        CHECK(read(stream, twice.first) == std::vector{11});
        CHECK(read(stream, twice.second) == std::vector{21});
        const auto thrice = f.forward(stream, twice.first, twice.second);
        CHECK(read(stream, thrice.first) == std::vector{21});
        CHECK(read(stream, thrice.second) == std::vector{12});
        CHECK(f.captures() == 1);
    }
    SECTION("in each of six orders, and twice the same") {
        GraphedFunction f([](cudaStream_t s, DeviceSpan<int> a, DeviceSpan<int> b, DeviceSpan<int> c) {
            launch(s, {}, add, a.data(), a.data(), 0);
            return std::array{a, b, c};
        });
        const auto order = GENERATE(values<std::array<std::size_t, 3>>(
            {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}, {1, 1, 0}, {2, 0, 0}}));
        const auto a = device({1});
        const auto b = device({2});
        const auto c = device({3});
        const auto in = f.forward(stream, a, b, c);
        const auto out = f.forward(stream, in[order[0]], in[order[1]], in[order[2]]);
        for (std::size_t i = 0; i < 3; ++i)
            CHECK(read(stream, out[i]) == std::vector{static_cast<int>(order[i]) + 1});
    }
}

TEST_CASE("the next input of a graphed function may overlap its former one in part", "[capture][graphed]") {
    const Stream stream;
    DeviceSpan<int> memory; // of a shape of 128 elements: two static inputs side by side
    GraphedFunction f([&](cudaStream_t s, DeviceSpan<int> a, DeviceSpan<int> b) {
        memory = DeviceSpan<int>(a.data(), 128);
        launch(s, {}, add, a.data(), a.data(), 0);
        return b;
    });
    const auto both = numbers(128, 0);
    const DeviceSpan<int> output = f.forward(stream, std::span(both).subspan(0, 64), std::span(both).subspan(64, 64));
    REQUIRE(output.data() == memory.data() + 64);
    stream.synchronize();
    const auto from = GENERATE(1U, 7U, 63U);
    write(memory, both);
    f.forward(stream, memory.subspan(from, 64), memory.subspan(64 - from, 64));
    stream.synchronize();
    std::vector<int> expected = numbers(64, static_cast<int>(from));
    const std::vector<int> second = numbers(64, 64 - static_cast<int>(from));
    expected.insert(expected.end(), second.begin(), second.end());
    CHECK(read(memory) == expected);
}

TEST_CASE("the output of a graphed function is that of the captured call, taken once", "[capture][graphed]") {
    const auto cell = device({0});
    int runs = 0;
    const Stream stream;
    GraphedFunction f(
        [&](cudaStream_t s) {
            launch(s, {}, store, cell.data(), ++runs);
            return Result{std::make_unique<int>(runs), cell.span()};
        },
        {.warm_up_runs = 2});
    static_assert(std::is_same_v<decltype(f.forward(stream)), const Result&>);
    const Result& first = f.forward(stream);
    CHECK(*first.run == 3);
    CHECK(read(stream, first.cell) == std::vector{3});
    CHECK(&f.forward(stream) == &first);
    CHECK(runs == 3);
}

TEST_CASE("a graphed function may return memory that it allocates", "[capture][graphed]") {
    const Stream stream;
    GraphedFunction f([](cudaStream_t s, DeviceSpan<const int> in) {
        const cudag::ThreadCaptureMode allow_allocation(cudag::CaptureMode::relaxed);
        DeviceBuffer<int> output(1);
        launch(s, {}, sum, output, in);
        return output;
    });
    const std::vector input{1, 2, 3};
    CHECK(read(stream, f.forward(stream, input).span()) == std::vector{6});
    const std::vector other{4, 5, 6};
    const DeviceBuffer<int>& output = f.forward(stream, other);
    CHECK(read(stream, output.span()) == std::vector{15});
    const std::weak_ptr<void> memory = output.owner();
    f.reset();
    CHECK(released(memory, stream));
}

TEST_CASE("the signature of a graphed function is deduced", "[capture][graphed]") {
    const Stream stream;
    const std::vector input{1};
    GraphedFunction plain(store_seven);
    GraphedFunction pointer(&store_seven);
    GraphedFunction mutating([calls = 0](cudaStream_t s, DeviceSpan<int> cell) mutable {
        launch(s, {}, store, cell.data(), ++calls);
        return cell;
    });
    GraphedFunction move_only([value = std::make_unique<int>(9)](cudaStream_t s, DeviceSpan<int> cell) noexcept {
        launch(s, {}, store, cell.data(), *value);
        return cell;
    });
    GraphedFunction<DeviceSpan<int>(cudaStream_t, DeviceSpan<int>)> generic([](auto s, auto cell) {
        launch(s, {}, store, cell.data(), 8);
        return cell;
    });
    CHECK(read(stream, plain.forward(stream, input)) == std::vector{7});
    CHECK(read(stream, pointer.forward(stream, input)) == std::vector{7});
    CHECK(read(stream, mutating.forward(stream, input)) == std::vector{2}); // the second call is captured
    CHECK(read(stream, move_only.forward(stream, input)) == std::vector{9});
    CHECK(read(stream, generic.forward(stream, input)) == std::vector{8});
}

TEST_CASE("a graphed function captures again after a reset", "[capture][graphed]") {
    const auto cell = device({0});
    int value = 1;
    const Stream stream;
    GraphedFunction f([&](cudaStream_t s) {
        launch(s, {}, store, cell.data(), value);
        return cell.span();
    });
    CHECK(read(stream, f.forward(stream)) == std::vector{1});
    value = 2;
    CHECK(read(stream, f.forward(stream)) == std::vector{1}); // as captured
    f.reset();
    CHECK(f.size() == 0);
    CHECK(read(stream, f.forward(stream)) == std::vector{2});
    CHECK(f.captures() == 2);
    CHECK(f.replays() == 3);
    f.reset();
    f.reset();
    CHECK(read(stream, f.forward(stream)) == std::vector{2});
}

TEST_CASE("a moved graphed function keeps its shapes", "[capture][graphed]") {
    Total sums;
    const Stream stream;
    const std::vector input{1, 2};
    GraphedFunction f(sums.function());
    f.forward(stream, input);
    GraphedFunction moved = std::move(f);
    CHECK(read(stream, moved.forward(stream, input)) == std::vector{3});
    CHECK(moved.captures() == 1);
    const auto error = refused<cudag::GraphError>([&] { f.forward(stream, input); });
    CHECK_THAT(error.what(), ContainsSubstring("a moved-from GraphedFunction was used"));
    f = std::move(moved);
    f.forward(stream, input);
    CHECK(f.captures() == 1);
}

TEST_CASE("a graphed function replays in the default streams", "[capture][graphed]") {
    Total sums;
    GraphedFunction f(sums.function());
    const std::vector input{1, 2};
    for (const cudaStream_t stream : {cudaStream_t(), cudaStreamLegacy, cudaStreamPerThread}) {
        write(sums.cell.span(), {0});
        f.forward(stream, input);
        cudag::check(cudaStreamSynchronize(stream));
        CHECK(read(sums.cell) == std::vector{3});
    }
    CHECK(f.captures() == 1);
}

TEST_CASE("a graphed function stays on the device that it was made on", "[capture][graphed][device]") {
    int count = 0;
    cudag::check(cudaGetDeviceCount(&count));
    const int last = count - 1;
    cudag::check(cudaSetDevice(last));
    Total sums;
    const Stream stream;
    DeviceSpan<const int> input;
    GraphedFunction f([&, sum = sums.function()](cudaStream_t s, DeviceSpan<const int> in) mutable {
        input = in;
        return sum(s, in);
    });
    cudag::check(cudaSetDevice(0));
    for (const auto& values : {numbers(3, 1), numbers(3, 2)})
        CHECK(read(stream, f.forward(stream, values)) == std::vector{total(values)});
    cudaPointerAttributes attributes{};
    cudag::check(cudaPointerGetAttributes(&attributes, input.data()));
    CHECK(attributes.device == last);
    int current = -1;
    cudag::check(cudaGetDevice(&current));
    CHECK(current == 0);
}
