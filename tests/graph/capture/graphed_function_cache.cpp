// The shapes of a GraphedFunction: which are kept, which goes, and what is in flight.
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "graphed.hpp"

using cudag::DeviceSpan;
using cudag::GraphedFunction;
using cudag::launch;
using cudag::Stream;

TEST_CASE("each shape is captured once while it is kept", "[capture][graphed]") {
    Total sums;
    const Stream stream;
    GraphedFunction f(sums.function(), {.warm_up_runs = 0, .capacity = 3});
    for (int round = 0; round < 3; ++round) {
        for (const std::size_t size : {1U, 2U, 300U}) {
            const auto input = numbers(size, round);
            CHECK(read(stream, f.forward(stream, input)) == std::vector{total(input)});
        }
    }
    CHECK(f.captures() == 3);
    CHECK(f.replays() == 9);
    CHECK(f.size() == 3);
}

TEST_CASE("the sizes of all inputs are the shape", "[capture][graphed]") {
    int captured = 0;
    const Stream stream;
    GraphedFunction f(
        [&](cudaStream_t, DeviceSpan<const int> a, DeviceSpan<const float> b) {
            ++captured;
            return std::vector{a.size(), b.size()};
        },
        {.warm_up_runs = 0, .capacity = 4, .capture = {.allow_empty = true}});
    const std::vector<int> a(3);
    const std::vector<float> b(3);
    const auto sizes = [&](std::size_t n, std::size_t m) {
        return f.forward(stream, std::span(a).first(n), std::span(b).first(m));
    };
    CHECK(sizes(1, 2) == std::vector<std::size_t>{1, 2});
    CHECK(sizes(2, 1) == std::vector<std::size_t>{2, 1});
    CHECK(sizes(1, 2) == std::vector<std::size_t>{1, 2});
    CHECK(captured == 2);
}

TEST_CASE("a new shape evicts the least recently used one", "[capture][graphed]") {
    Total sums;
    const Stream stream;
    GraphedFunction f(sums.function(), {.warm_up_runs = 0, .capacity = 2});
    const auto captures_for = [&](std::size_t size) {
        const auto input = numbers(size, 1);
        const auto before = f.captures();
        CHECK(read(stream, f.forward(stream, input)) == std::vector{total(input)});
        return f.captures() - before;
    };
    CHECK(captures_for(1) == 1);
    CHECK(captures_for(2) == 1);
    CHECK(captures_for(1) == 0); // 2 is the older one now
    CHECK(captures_for(3) == 1);
    CHECK(f.size() == 2);
    CHECK(captures_for(1) == 0);
    CHECK(captures_for(2) == 1); // had gone; 3 goes
    CHECK(captures_for(1) == 0);
    CHECK(captures_for(3) == 1);
    CHECK(f.size() == 2);
}

TEST_CASE("a graphed function keeps one shape unless told otherwise", "[capture][graphed]") {
    Total sums;
    const Stream stream;
    GraphedFunction f(sums.function());
    f.forward(stream, numbers_of_one);
    f.forward(stream, numbers_of_two);
    CHECK(f.size() == 1);
    f.forward(stream, numbers_of_one);
    CHECK(f.captures() == 3);
}

TEST_CASE("an output goes with its shape", "[capture][graphed]") {
    const Stream stream;
    GraphedFunction f([](cudaStream_t, DeviceSpan<const int> in) { return std::make_shared<std::size_t>(in.size()); },
                      {.capture = {.allow_empty = true}});
    const std::weak_ptr<std::size_t> one = f.forward(stream, numbers_of_one);
    CHECK(*one.lock() == 1);
    const std::weak_ptr<std::size_t> two = f.forward(stream, numbers_of_two);
    CHECK(released(one, stream));
    CHECK_FALSE(two.expired());
    f.reset();
    CHECK(released(two, stream));
}

TEST_CASE("a shape in flight is not evicted before it has finished", "[capture][graphed]") {
    const auto cells = device({0, 0});
    const Stream first;
    const Stream second;
    std::atomic<bool> captured_two = false;
    std::atomic<bool> finished_one = false;
    Gate gate;
    GraphedFunction f(
        [&](cudaStream_t s, DeviceSpan<const int> in) {
            const bool one = in.size() == 1;
            if (one) hold_up(s, gate);
            launch(s, {}, add, cells.data() + 1, cells.data(), 1);
            launch(s, {}, store, cells.data(), static_cast<int>(in.size()));
            if (one) {
                cudag::check(cudaLaunchHostFunc(
                    s, [](void* finished) { *static_cast<std::atomic<bool>*>(finished) = true; }, &finished_one));
            } else {
                captured_two = true;
                captured_two.notify_all();
            }
            return cells.span();
        },
        {.warm_up_runs = 0});
    f.forward(first, numbers_of_one);
    gate.wait_until_entered();
    std::thread opener([&] {
        captured_two.wait(false);
        std::this_thread::sleep_for(std::chrono::milliseconds(50)); // what does not wait is done by then
        gate.open();
    });
    f.forward(second, numbers_of_two);
    CHECK(finished_one);
    opener.join();
    CHECK(read(second, cells.span()) == std::vector{2, 2});
}

TEST_CASE("replays come one after the other, in different streams", "[capture][graphed]") {
    const auto cells = device({0, 0});
    const Stream first;
    const Stream second;
    Gate gate;
    GraphedFunction f(
        [&](cudaStream_t s, DeviceSpan<const int> in) {
            hold_up(s, gate);
            launch(s, {}, add, cells.data(), in.data(), 0);
            launch(s, {}, add, cells.data() + 1, cells.data() + 1, 1);
        },
        {.warm_up_runs = 0});
    const cudag::PinnedBuffer<int> inputs(2);
    inputs[0] = 10;
    inputs[1] = 20;
    f.forward(first, inputs.span().first(1));
    gate.wait_until_entered();
    f.forward(second, inputs.span().last(1));
    CHECK_FALSE(second.query());
    gate.open();
    CHECK(read(second, cells.span()) == std::vector{20, 2});
    first.synchronize();
}

TEST_CASE("another stream does not overwrite the inputs of a replay in flight", "[capture][graphed]") {
    const auto seen = device({0, 0}); // the input of the latest replay, and of the one before
    const auto values = device({10, 20});
    const cudag::PinnedBuffer<int> now(1);
    const Stream first;
    const Stream second;
    const Stream watching;
    DeviceSpan<const int> input;
    Gate gate;
    GraphedFunction f(
        [&](cudaStream_t s, DeviceSpan<const int> in) {
            input = in;
            hold_up(s, gate);
            launch(s, {}, add, seen.data() + 1, seen.data(), 0);
            launch(s, {}, add, seen.data(), in.data(), 0);
        },
        {.warm_up_runs = 0});
    f.forward(first, values.span().subspan(0, 1));
    gate.wait_until_entered(); // the input is there, and not read yet
    f.forward(second, values.span().subspan(1, 1));
    for (int turn = 0; turn < 20; ++turn) { // time for the second input to come too early
        cudag::memcpy_async(watching, now, input);
        watching.synchronize();
        REQUIRE(now[0] == 10);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    gate.open();
    first.synchronize();
    second.synchronize();
    CHECK(read(seen) == std::vector{20, 10});
}

TEST_CASE("a reset leaves replays in flight alone", "[capture][graphed]") {
    Watched cell;
    const Stream stream;
    Gate gate;
    GraphedFunction f(
        [&](cudaStream_t s, DeviceSpan<const int> in) {
            hold_up(s, gate);
            auto output = cell.take();
            launch(s, {}, sum, output.get(), in);
            return output;
        },
        {.warm_up_runs = 0});
    f.forward(stream, numbers_of_two);
    gate.wait_until_entered();
    f.reset();
    CHECK(f.size() == 0);
    CHECK(cell.alive());
    CHECK_FALSE(stream.query());
    gate.open();
    CHECK(released(cell, stream));
    CHECK(cell.value() == 3);
}

TEST_CASE("a graphed function that is destroyed in flight finishes, with what its function owns",
          "[capture][graphed]") {
    Watched cell;
    const Stream stream;
    Gate gate;
    {
        GraphedFunction f(
            [&gate, owned = cell.take()](cudaStream_t s, DeviceSpan<const int> in) {
                hold_up(s, gate);
                launch(s, {}, sum, owned.get(), in);
            },
            {.warm_up_runs = 0});
        f.forward(stream, numbers_of_two);
        gate.wait_until_entered();
    }
    CHECK(cell.alive());
    CHECK_FALSE(stream.query());
    gate.open();
    CHECK(released(cell, stream));
    CHECK(cell.value() == 3);
}
