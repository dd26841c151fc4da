// Streams and events.
#include <optional>

#include "gate.hpp"

using cudag::Error;
using cudag::Event;
using cudag::Exec;
using cudag::GraphBuilder;
using cudag::Stream;

namespace {

/// An exec that waits at `gate`.
Exec held_up(Gate& gate) {
    GraphBuilder b;
    b.host(gate.node());
    return std::move(b).build().instantiate();
}

} // namespace

TEST_CASE("a new stream is idle and does not block the default stream", "[stream]") {
    const Stream stream;
    CHECK(stream.get() != nullptr);
    CHECK(stream.query());
    CHECK_NOTHROW(stream.synchronize());
    unsigned flags = 0;
    cudag::check(cudaStreamGetFlags(stream.get(), &flags));
    CHECK(flags == cudaStreamNonBlocking);
}

TEST_CASE("a stream is busy until its work has finished", "[stream]") {
    const Stream stream;
    const Stream idle;
    Gate gate;
    Exec exec = held_up(gate);
    exec.launch(stream);
    gate.wait_until_entered();
    CHECK_FALSE(stream.query());
    CHECK(idle.query());
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    gate.open();
    stream.synchronize();
    CHECK(stream.query());
}

TEST_CASE("a stream moves, and is then owned once", "[stream]") {
    Stream first;
    cudaStream_t raw = first.get();
    Stream second = std::move(first);
    CHECK(second.get() == raw);
    CHECK(first.get() == nullptr);
    first = Stream();
    CHECK(first.get() != raw);
    first = std::move(second);
    CHECK(first.get() == raw);
    CHECK(first.query());
}

TEST_CASE("a stream that was moved from is refused, not taken for the default stream", "[stream]") {
    Stream first;
    const Stream second = std::move(first);
    const auto error = refused<Error>([&] { cudag::launch(first, {}, nothing); });
    CHECK(error.code() == cuda_code(cudaErrorInvalidResourceHandle));
    CHECK_THAT(error.what(), ContainsSubstring("moved-from Stream"));
    CHECK(second.query());
}

TEST_CASE("a stream that was moved from answers no question about the default stream", "[stream]") {
    Stream first;
    const Stream second = std::move(first);
    for (const auto& ask : {+[](const Stream& stream) { stream.synchronize(); },
                            +[](const Stream& stream) { static_cast<void>(stream.query()); }}) {
        const auto error = refused<Error>([&] { ask(first); });
        CHECK(error.code() == cuda_code(cudaErrorInvalidResourceHandle));
        CHECK_THAT(error.what(), ContainsSubstring("a moved-from Stream was used"));
    }
}

TEST_CASE("a stream that was moved from by assignment is no other stream", "[stream]") {
    Stream first;
    Stream second;
    cudaStream_t raw = second.get();
    first = std::move(second);
    CHECK(first.get() == raw);
    CHECK(second.get() == nullptr);
    CHECK_THAT(refused<Error>([&] { cudag::launch(second, {}, nothing); }).what(),
               ContainsSubstring("moved-from Stream"));
    Stream& self = first;
    first = std::move(self);
    CHECK(first.get() == raw);
    CHECK(first.query());
}

TEST_CASE("every call of an event that was moved from is refused", "[event]") {
    const Stream stream;
    Event first;
    Event second = std::move(first);
    const auto calls = {+[](Event& event, const Stream& s) { event.record(s); },
                        +[](Event& event, const Stream&) { event.synchronize(); },
                        +[](Event& event, const Stream&) { static_cast<void>(event.query()); },
                        +[](Event& event, const Stream&) { Stream().wait(event); },
                        +[](Event& event, const Stream& s) {
                            Event end;
                            end.record(s);
                            static_cast<void>(end.milliseconds_since(event));
                        },
                        +[](Event& event, const Stream& s) {
                            Event start;
                            start.record(s);
                            static_cast<void>(event.milliseconds_since(start));
                        }};
    const auto refuse_all = [&](Event& event) {
        for (const auto& call : calls) {
            const auto error = refused<Error>([&] { call(event, stream); });
            CHECK(error.code() == cuda_code(cudaErrorInvalidResourceHandle));
            CHECK_THAT(error.what(), ContainsSubstring("a moved-from Event was used"));
        }
    };
    refuse_all(first);
    cudaEvent_t raw = second.get();
    Event third;
    third = std::move(second);
    CHECK(third.get() == raw);
    CHECK(second.get() == nullptr);
    refuse_all(second);
    Event& self = third;
    third = std::move(self);
    CHECK(third.get() == raw);
    CHECK_NOTHROW(third.record(stream));
}

TEST_CASE("a stream waits for the work that an event marks", "[stream][event]") {
    const Stream first;
    Stream second;
    Event marked;
    Event unmarked;
    Gate gate;
    Exec exec = held_up(gate);
    second.wait(unmarked);
    second.synchronize();
    exec.launch(first);
    marked.record(first);
    gate.wait_until_entered();
    second.wait(marked);
    CHECK_FALSE(second.query());
    gate.open();
    second.synchronize();
    CHECK(marked.query());
}

TEST_CASE("a stream that was moved from waits for nothing", "[stream][event]") {
    Stream first;
    const Stream second = std::move(first);
    const Event event;
    const auto error = refused<Error>([&] { first.wait(event); });
    CHECK_THAT(error.what(), ContainsSubstring("a moved-from Stream was used"));
}

TEST_CASE("a stream that waits for an event of a capture joins it", "[stream][event]") {
    const Stream captured;
    Stream other;
    const cudag::DeviceBuffer<int> cell(1);
    Event forked, done;
    const cudag::Graph graph = cudag::capture(captured, [&](cudaStream_t s) {
        forked.record(s);
        other.wait(forked);
        cudag::clear_async(other, cell);
        done.record(other);
        cudag::check(cudaStreamWaitEvent(s, done.get()));
    });
    CHECK(graph.node_count() == 1);
}

TEST_CASE("destroying a stream does not end its work", "[stream]") {
    const cudag::PinnedBuffer<int> cell(1);
    cell[0] = 0;
    Gate gate;
    GraphBuilder b;
    const auto wait = b.host(gate.node());
    b.kernel({}, store, cell, 3).after(wait);
    Exec exec = std::move(b).build().instantiate();
    {
        const Stream stream;
        exec.launch(stream);
        gate.wait_until_entered();
    }
    gate.open();
    cudag::check(cudaDeviceSynchronize());
    CHECK(cell[0] == 3);
}

TEST_CASE("an event that was never recorded is finished", "[event]") {
    const Event event;
    CHECK(event.query());
    CHECK_NOTHROW(event.synchronize());
}

TEST_CASE("an event is finished when the work before it is", "[event]") {
    const Stream stream;
    Gate gate;
    Exec exec = held_up(gate);
    Event before;
    Event after;
    before.record(stream);
    exec.launch(stream);
    after.record(stream);
    gate.wait_until_entered();
    CHECK(before.query());
    CHECK_FALSE(after.query());
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    gate.open();
    after.synchronize();
    CHECK(after.query());
}

TEST_CASE("recording an event again replaces its mark", "[event]") {
    const Stream stream;
    Gate gate;
    Exec exec = held_up(gate);
    Event event;
    event.record(stream);
    event.synchronize();
    exec.launch(stream);
    event.record(stream);
    gate.wait_until_entered();
    CHECK_FALSE(event.query());
    gate.open();
    event.synchronize();
    CHECK(event.query());
}

TEST_CASE("events measure the time between them", "[event]") {
    const Stream stream;
    Event start;
    Event end;
    start.record(stream);
    cudag::launch(stream, {}, nothing);
    end.record(stream);
    end.synchronize();
    CHECK(end.milliseconds_since(start) >= 0);
    CHECK(start.milliseconds_since(start) == 0);
    CHECK(start.milliseconds_since(end) == -end.milliseconds_since(start));
}

TEST_CASE("time is not measured without records, timing or an end", "[event]") {
    const Stream stream;
    Event start;
    Event end;
    const auto check = [](const Event& from, const Event& to, cudaError_t code) {
        const auto error = refused<Error>([&] { static_cast<void>(to.milliseconds_since(from)); });
        CHECK(error.code() == cuda_code(code));
        CHECK(error.operation() == "cudaEventElapsedTime");
    };
    check(start, end, cudaErrorInvalidResourceHandle);

    Event plain({.timing = false});
    start.record(stream);
    plain.record(stream);
    stream.synchronize();
    check(start, plain, cudaErrorInvalidResourceHandle);

    Gate gate;
    Exec exec = held_up(gate);
    exec.launch(stream);
    end.record(stream);
    gate.wait_until_entered();
    check(start, end, cudaErrorNotReady);
    gate.open();
    stream.synchronize();
    CHECK(end.milliseconds_since(start) > 0);
}

TEST_CASE("an event moves, and is then owned once", "[event]") {
    Event first;
    cudaEvent_t raw = first.get();
    Event second = std::move(first);
    CHECK(second.get() == raw);
    CHECK(first.get() == nullptr);
    first = std::move(second);
    CHECK(first.get() == raw);
    CHECK(first.query());
}

TEST_CASE("an event is recorded in a raw stream", "[event]") {
    const Stream stream;
    cudaStream_t raw = stream.get();
    Event event;
    event.record(raw);
    event.synchronize();
    CHECK(event.query());
}
