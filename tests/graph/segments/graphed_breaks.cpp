// GraphedFunction: functions that take Steps, with breaks.
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "graphed.hpp"

using cudag::CaptureError;
using cudag::check;
using cudag::DeviceBuffer;
using cudag::DeviceSpan;
using cudag::GraphedFunction;
using cudag::launch;
using cudag::Steps;
using cudag::Stream;

TEST_CASE("a graphed function with breaks calls them in each forward", "[capture][segments][graphed]") {
    const Stream stream;
    int calls = 0, breaks = 0;
    std::vector<int> seen;
    GraphedFunction function(
        [&](Steps& steps, DeviceSpan<const int> in) {
            ++calls;
            auto total = std::make_shared<DeviceBuffer<int>>(1);
            steps.step("sum", [&](cudaStream_t s) { launch(s, {}, sum, total->data(), in); });
            steps.eager("look", [&breaks, &seen, total](cudaStream_t s) {
                ++breaks;
                check(cudaStreamSynchronize(s));
                seen.push_back(read(*total).front());
            });
            launch(steps.stream(), {}, add, total->data(), total->data(), 1);
            return total;
        },
        {.capacity = 2, .capture = {.mode = cudag::CaptureMode::relaxed}});
    for (const int first : {1, 2, 3}) {
        const std::vector<int> two = numbers(2, first), three = numbers(3, first);
        const auto& total_of_two = function.forward(stream, two);
        stream.synchronize();
        CHECK(read(*total_of_two).front() == total(two) + 1);
        const auto& total_of_three = function.forward(stream, three);
        stream.synchronize();
        CHECK(read(*total_of_three).front() == total(three) + 1);
    }
    CHECK(calls == 4); // per shape, a warm-up run and a capture
    CHECK(breaks == 8);
    CHECK(seen == std::vector{3, 3, 6, 6, 5, 9, 7, 12});
    CHECK(function.captures() == 2);
    CHECK(function.replays() == 6);
}

TEST_CASE("an exception of a break passes through forward", "[capture][segments][graphed]") {
    const Stream stream;
    const auto cell = device({0});
    bool fails = true;
    GraphedFunction function(
        [&](Steps& steps, DeviceSpan<const int> in) {
            launch(steps.stream(), {}, sum, cell.data(), in);
            steps.eager("may fail", [&] {
                if (fails) throw std::runtime_error("no");
            });
            launch(steps.stream(), {}, add, cell.data(), cell.data(), 1);
        },
        {.warm_up_runs = 0});
    CHECK_THROWS_AS(function.forward(stream, numbers_of_two), std::runtime_error);
    CHECK(function.size() == 0);
    fails = false;
    function.forward(stream, numbers_of_two);
    fails = true;
    CHECK_THROWS_AS(function.forward(stream, numbers_of_two), std::runtime_error);
    fails = false;
    function.forward(stream, numbers_of_two);
    stream.synchronize();
    CHECK(read(cell) == std::vector{4});
    CHECK(function.size() == 1);
}

TEST_CASE("inputs of a function that takes Steps are copied", "[capture][segments][graphed]") {
    const Stream stream;
    const auto cell = device({0}), input = device({5});
    GraphedFunction function(
        [&](Steps& steps, DeviceSpan<const int> in) { launch(steps.stream(), {}, sum, cell.data(), in); },
        {.bind_inputs = true});
    function.forward(stream, input);
    stream.synchronize();
    CHECK(read(cell) == std::vector{5});
    REQUIRE(function.last_copied().size() == 1);
    CHECK_THAT(function.last_copied().front().reason, ContainsSubstring("the function takes Steps"));
}

TEST_CASE("verified replays of a graphed function compare each segment", "[capture][segments][graphed]") {
    const Stream stream;
    const auto cell = device({0});
    int frozen = 10;
    bool has_more = false;
    GraphedFunction function(
        [&](Steps& steps, DeviceSpan<const int> in) {
            launch(steps.stream(), {}, sum, cell.data(), in);
            steps.eager("break", [] {});
            launch(steps.stream(), {}, add, cell.data(), cell.data(), frozen);
            if (has_more) steps.eager("more", [] {});
        },
        {.verify = 1});
    const auto run = [&] { function.forward(stream, numbers_of_two); };
    run();
    run();
    stream.synchronize();
    CHECK(read(cell) == std::vector{13});
    frozen = 20;
    CHECK_THAT(refused<cudag::FrozenValueError>(run).what(), ContainsSubstring("10 -> 20"));
    frozen = 10;
    has_more = true;
    CHECK_THAT(refused<CaptureError>(run).what(),
               ContainsSubstring("it has other segments and breaks than in its capture"));
    has_more = false;
    run();
    CHECK(function.replays() == 3);
}

TEST_CASE("owners in breaks of a graphed function outlive it while replays run", "[owners][segments][graphed]") {
    const Stream stream;
    Watched kept;
    Gate gate;
    auto owner = kept.take();
    {
        GraphedFunction function(
            [&gate, held = std::move(owner)](Steps& steps) {
                launch(steps.stream(), {}, store, held.get(), 1);
                steps.eager("last", [&gate, held](cudaStream_t s) {
                    hold_up(s, gate);
                    launch(s, {}, add, held.get(), held.get(), 1);
                });
            },
            {.warm_up_runs = 0});
        function.forward(stream);
        gate.wait_until_entered();
    }
    CHECK(kept.alive());
    gate.open();
    CHECK(released(kept, stream));
    CHECK(kept.value() == 2);
}
