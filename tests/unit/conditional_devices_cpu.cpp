// Conditions and bodies on one of two devices.
#include "several_devices.hpp"

#include <cudag/cudag.hpp>

#include <catch.hpp>
#include <cudart_cpu/control.hpp>

#include <optional>
#include <string>

using Catch::Matchers::ContainsSubstring;
using cudag::Condition;
using cudag::Graph;
using cudag::GraphBuilder;

extern "C" void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value); // the CPU runtime's

namespace {

void increment(int* cell) {
    ++*cell;
}
void count_down(int* cell, cudaGraphConditionalHandle condition) {
    cudaGraphSetConditional(condition, --*cell > 0 ? 1 : 0);
}

struct Thrown {};

template <class Call>
std::string refusal(Call&& call) {
    try {
        std::forward<Call>(call)();
    } catch (const cudag::GraphError& error) {
        return error.what();
    }
    return "";
}

void run(const Graph& graph) {
    cudag::Exec exec = graph.instantiate();
    const cudag::Stream stream;
    exec.launch(stream);
    stream.synchronize();
}

} // namespace

TEST_CASE("what a body on another device left over does not keep the builder from being built", "[unit][device]") {
    const SeveralDevices devices(2);
    const cudag::PinnedBuffer<int> cell(1);
    cell.data()[0] = 0;
    {
        GraphBuilder b;
        GraphBuilder second = b.on(1);
        const Condition outer = second.condition(1);
        const auto attempt = [&] {
            second.if_(outer, [](GraphBuilder& body) {
                static_cast<void>(body.condition(1));
                static_cast<void>(body.condition(3));
                throw Thrown();
            });
        };
        CHECK_THROWS_AS(attempt(), Thrown);
        CHECK_THROWS_AS(attempt(), Thrown);
        second.if_(outer, [&](GraphBuilder& body) { body.kernel({}, increment, cell); });
        static_cast<void>(b.condition(3)); // device 0 has none left over
        CHECK_THAT(refusal([&] { b.check(); }), ContainsSubstring("has no node"));
    }
    GraphBuilder b;
    GraphBuilder second = b.on(1);
    const Condition outer = second.condition(1);
    CHECK_THROWS_AS(second.if_(outer,
                               [](GraphBuilder& body) {
                                   static_cast<void>(body.condition(1));
                                   throw Thrown();
                               }),
                    Thrown);
    second.if_(outer, [&](GraphBuilder& body) { body.kernel({}, increment, cell); });
    const Graph graph = std::move(b).build();
    CHECK(graph.find("left over by a body that threw").size() == 1);
    int current = -1;
    CHECK(cudaGetDevice(&current) == cudaSuccess);
    CHECK(current == 0);
    run(graph);
    CHECK(cell.data()[0] == 1);
}

TEST_CASE("a body takes no nodes of another device", "[unit][device]") {
    const SeveralDevices devices(2);
    const cudag::PinnedBuffer<int> cell(1);
    const cudag::Stream stream;
    cudag::check(cudaSetDevice(1));
    const cudag::Stream other_stream;
    cudag::check(cudaSetDevice(0));
    GraphBuilder b;
    const Condition condition = b.condition(1);
    const auto check = [&](const char* text, auto&& write) {
        CHECK_THAT(refusal([&] { b.if_(condition, [&](GraphBuilder& body) { write(body); }); }),
                   ContainsSubstring(text));
        cudag::check(cudaSetDevice(0));
    };
    const char* const text = "the current device is 1, and the body of if node 0 at";
    check(text, [&](GraphBuilder& body) { body.on(1).kernel({}, increment, cell); });
    check(text, [&](GraphBuilder& body) { body.on(1).memset(cudag::DeviceSpan<int>(cell.data(), 1), 0); });
    check(text, [&](GraphBuilder& body) {
        cudag::check(cudaSetDevice(1));
        body.kernel({}, increment, cell);
    });
    check("the stream is of device 1, and the body of if node 0 at", [&](GraphBuilder& body) {
        body.capture(other_stream, [&](cudaStream_t s) { cudag::launch(s, {}, increment, cell); });
    });
    check("on device 0; all its nodes belong there",
          [&](GraphBuilder& body) { body.on(1).if_(body.on(1).condition(1), [](GraphBuilder&) {}); });
    CHECK_THAT(refusal([&] { b.on(1).if_(condition, [](GraphBuilder&) {}); }),
               ContainsSubstring("the current device is 1, the condition was made on device 0"));
    b.if_(condition, [&](GraphBuilder& body) { body.on(0).kernel({}, increment, cell); });
    CHECK(std::move(b).build().node_count() >= 1);
}

TEST_CASE("a loop's body may leave another device current", "[unit][device]") {
    const SeveralDevices devices(2);
    const cudag::PinnedBuffer<int> cells(2);
    cells.data()[0] = 3;
    cells.data()[1] = 0;
    GraphBuilder b;
    const Condition more = b.condition(1);
    b.while_(more, [&](GraphBuilder& body) {
        const auto branch =
            body.if_(body.condition(1), [&](GraphBuilder& then) { then.kernel({}, increment, cells.data() + 1); });
        body.kernel({}, count_down, cells.data(), more.native()).after(branch);
        cudag::check(cudaSetDevice(1)); // the condition of the if is reset all the same
    });
    cudag::check(cudaSetDevice(0));
    run(std::move(b).build());
    CHECK(cells.data()[1] == 3);
}
