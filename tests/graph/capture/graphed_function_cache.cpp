// The shapes of a GraphedFunction: which are kept, which goes, and what is in flight.
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include <cudag/observer.hpp>

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

TEST_CASE("beyond the capacity a shape runs eagerly, until it comes more often than another one",
          "[capture][graphed][policy]") {
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
    CHECK(captures_for(1) == 0);
    CHECK(captures_for(3) == 0); // who knows whether it comes again
    CHECK(f.eager_runs() == 1);
    CHECK(captures_for(3) == 1); // more often than 2, which goes
    CHECK(f.size() == 2);
    CHECK(captures_for(1) == 0);
    CHECK(captures_for(3) == 0);
    CHECK(captures_for(2) == 0);
    CHECK(f.eager_runs() == 2);
    CHECK(f.captures() == 3);
    CHECK(f.replays() == 6);
    CHECK(f.size() == 2);
}

TEST_CASE("shapes take no more memory than they may, a floor aside", "[capture][graphed][policy]") {
    Total sums;
    const Stream stream;
    const auto small = numbers(4, 1), other = numbers(8, 2), third = numbers(12, 3);
    const std::vector<int> large(1 << 20, 1); // its sum is an int
    std::size_t one = 0;
    {
        GraphedFunction f(sums.function(), {.warm_up_runs = 0});
        f.forward(stream, small);
        one = f.memory().held;
    }
    const auto run = [&](auto& f, const std::vector<int>& input) {
        CHECK(read(stream, f.forward(stream, input)) == std::vector{total(input)});
    };
    SECTION("as many graphs as fit") {
        GraphedFunction f(sums.function(), {.warm_up_runs = 0, .max_bytes = 2 * one + one / 2});
        for (const auto* input : {&small, &other, &third, &small, &other, &third})
            run(f, *input);
        CHECK(f.size() == 2);
        CHECK(f.eager_runs() == 2);
        CHECK(f.memory().held <= 3 * one); // with the inputs of the eager run
    }
    SECTION("a shape with large inputs runs eagerly") {
        GraphedFunction f(sums.function(), {.warm_up_runs = 0, .max_bytes = 4 * one});
        for (const auto* input : {&small, &large, &small, &other})
            run(f, *input);
        CHECK(f.size() == 2);
        CHECK(f.eager_runs() == 1);
    }
    SECTION("a shape alone stays, and so does the least number") {
        GraphedFunction f(sums.function(), {.warm_up_runs = 0, .max_bytes = 1});
        run(f, large);
        run(f, large);
        CHECK(f.size() == 1);
        CHECK(f.captures() == 1);
        GraphedFunction g(sums.function(), {.warm_up_runs = 0, .max_bytes = 1, .min_graphs = 2});
        for (const auto* input : {&small, &other, &third})
            run(g, *input);
        CHECK(g.size() == 2);
        CHECK(g.eager_runs() == 1);
    }
}

TEST_CASE("shapes in turns, more than there is room for, keep their graphs", "[capture][graphed][policy]") {
    constexpr std::size_t capacity = 3;
    const std::size_t shapes = GENERATE(4U, 10U);
    Total sums;
    const Stream stream;
    std::vector<cudag::ObservedCrowding> events;
    const cudag::Observer former = cudag::set_observer([&](const cudag::Observation& event) {
        if (const auto* crowding = event.find<cudag::ObservedCrowding>()) events.push_back(*crowding);
    });
    GraphedFunction f(sums.function(), {.capacity = capacity});
    for (int turn = 0; turn < 10; ++turn)
        for (std::size_t size = 1; size <= shapes; ++size) {
            const auto input = numbers(size, turn);
            CHECK(read(stream, f.forward(stream, input)) == std::vector{total(input)});
        }
    cudag::set_observer(former);
    CHECK(f.captures() == capacity);
    CHECK(f.replays() == 10 * capacity);
    CHECK(f.eager_runs() == 10 * (shapes - capacity));
    CHECK(f.needed_capacity() == shapes);
    REQUIRE_FALSE(events.empty()); // after 8, 16, 32 and 64 runs
    CHECK(events.front().runs == 8);
    CHECK(events.front().cache == "GraphedFunction");
    CHECK(events.back().needed == shapes);
    CHECK(events.back().capacity == capacity);
}

TEST_CASE("a graphed function keeps alternating shapes unless told otherwise", "[capture][graphed][policy]") {
    Total sums;
    const Stream stream;
    GraphedFunction f(sums.function());
    for (int i = 0; i < 10; ++i) {
        f.forward(stream, numbers_of_one);
        f.forward(stream, numbers_of_two);
    }
    CHECK(f.size() == 2);
    CHECK(f.captures() == 2);
    CHECK(f.replays() == 20);
    CHECK(f.eager_runs() == 0);
}

TEST_CASE("an eager run of a shape without room works on copies, and its output lives until the next one",
          "[capture][graphed][policy]") {
    const Stream stream;
    int calls = 0;
    GraphedFunction f(
        [&](cudaStream_t s, DeviceSpan<int> in) {
            ++calls;
            launch(s, {}, add, in.data(), in.data(), 5);
            return in;
        },
        {.warm_up_runs = 0, .capacity = 1});
    const auto one = device({1});
    const auto two = device({2, 3});
    const auto three = device({4, 5, 6});
    CHECK(read(stream, f.forward(stream, one)) == std::vector{6});
    const DeviceSpan<int> eager = f.forward(stream, two);
    CHECK(read(stream, eager) == std::vector{7, 3});
    CHECK(read(two) == std::vector{2, 3});
    REQUIRE(f.last_copied().size() == 1);
    CHECK(f.last_copied().front().reason == std::string("the shape has no graph, and ran eagerly"));
    CHECK(read(stream, f.forward(stream, one)) == std::vector{6}); // a replay
    CHECK(read(stream, eager) == std::vector{7, 3});
    CHECK(f.last_copied().front().reason == std::string("bind_inputs is not set"));
    CHECK(read(stream, f.forward(stream, eager)) == std::vector{12, 3}); // its own output as the input
    CHECK(f.eager_runs() + f.captures() == 3);
    CHECK(read(stream, f.forward(stream, three)) == std::vector{9, 5, 6});
    f.reset();
    CHECK(f.needed_capacity() == 0);
    CHECK(read(stream, f.forward(stream, three)) == std::vector{9, 5, 6});
    CHECK(f.size() == 1);
}

TEST_CASE("what an eager run has read and made lives until its work has ended", "[capture][graphed][policy]") {
    Watched cell;
    const Stream stream;
    Gate gate;
    const bool resets = GENERATE(false, true);
    {
        GraphedFunction f(
            [&](cudaStream_t s, DeviceSpan<const int> in) {
                if (in.size() == 1) return cell.watch().lock();
                hold_up(s, gate);
                auto output = cell.take();
                launch(s, {}, sum, output.get(), in);
                return output;
            },
            {.warm_up_runs = 0, .capacity = 1, .capture = {.allow_empty = true}});
        f.forward(stream, numbers_of_one);
        f.forward(stream, numbers_of_two);
        CHECK(f.eager_runs() == 1);
        gate.wait_until_entered();
        if (resets) f.reset();
    }
    CHECK(cell.alive());
    CHECK_FALSE(stream.query());
    gate.open();
    CHECK(released(cell, stream));
    CHECK(cell.value() == 3);
}

TEST_CASE("an exception of an eager run passes through, and the shapes are as before", "[capture][graphed][policy]") {
    const Stream stream;
    bool throws = false;
    GraphedFunction f(
        [&](cudaStream_t s, DeviceSpan<int> in) {
            launch(s, {}, add, in.data(), in.data(), 1);
            if (throws) throw std::runtime_error("half-way");
            return in;
        },
        {.warm_up_runs = 0, .capacity = 1});
    const auto one = device({1});
    const auto two = device({2, 3});
    f.forward(stream, one);
    throws = true;
    for (int i = 0; i < 3; ++i)
        CHECK_THROWS_AS(f.forward(stream, two), std::runtime_error);
    throws = false;
    CHECK(f.eager_runs() == 0);
    CHECK(f.captures() == 1);
    CHECK(read(stream, f.forward(stream, two)) == std::vector{3, 3});
    CHECK(f.eager_runs() == 1); // its first use
    CHECK(read(stream, f.forward(stream, one)) == std::vector{2});
}

TEST_CASE("an output goes with its shape", "[capture][graphed]") {
    const Stream stream;
    GraphedFunction f([](cudaStream_t, DeviceSpan<const int> in) { return std::make_shared<std::size_t>(in.size()); },
                      {.capacity = 1, .capture = {.allow_empty = true}});
    const std::weak_ptr<std::size_t> one = f.forward(stream, numbers_of_one);
    CHECK(*one.lock() == 1);
    std::weak_ptr<std::size_t> two = f.forward(stream, numbers_of_two);
    CHECK_FALSE(one.expired());
    two = f.forward(stream, numbers_of_two);
    CHECK(f.captures() == 2);
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
                captured_two = captured_two || cudag::is_capturing(s);
                captured_two.notify_all();
            }
            return cells.span();
        },
        {.warm_up_runs = 0, .capacity = 1});
    f.forward(first, numbers_of_one);
    gate.wait_until_entered();
    std::thread opener([&] {
        captured_two.wait(false);
        std::this_thread::sleep_for(std::chrono::milliseconds(50)); // what does not wait is done by then
        gate.open();
    });
    f.forward(second, numbers_of_two); // eagerly
    f.forward(second, numbers_of_two);
    CHECK(f.captures() == 2);
    CHECK(finished_one);
    opener.join();
    CHECK(read(second, cells.span()) == std::vector{2, 3});
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
