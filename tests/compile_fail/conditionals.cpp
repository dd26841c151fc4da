// Conditions, conditional nodes and their bodies; host nodes, events and semaphores.
#include <cudag/cudag.hpp>

#include <memory>
#include <utility>
#include <vector>

__global__ void stop(cudag::Condition condition);

void conditionals(cudag::GraphBuilder& builder, const cudag::Graph& graph, cudag::Stream& stream,
                  const cudag::ExternalSemaphore& semaphore) {
    const cudag::Condition condition = builder.condition(1);
    const auto body = [](cudag::GraphBuilder&) {};
    cudag::Event event;
    builder.if_(condition, body);
    builder.while_(builder.condition(1), [&](cudag::GraphBuilder& b) { b.kernel({}, stop, condition); });
    builder.switch_(builder.condition(1), {body, body});
    builder.host([] {});
    builder.record(event);
    builder.signal({semaphore, 5});
    event.record(stream);
#if CUDAG_MISTAKE == 1 // expect-error: cudag: if_(condition, then), with a Condition of builder.condition()
    builder.if_(true, body);
#elif CUDAG_MISTAKE == 2  // expect-error: cudag: while_(condition, body), with a Condition of builder.condition()
    builder.while_(1, body);
#elif CUDAG_MISTAKE == 3  // expect-error: cudag: if_(condition, then), with a Condition of builder.condition()
    builder.if_(condition);
#elif CUDAG_MISTAKE == 4  // expect-error: cudag: a body is a function that takes a GraphBuilder& and returns
    builder.if_(condition, graph);
#elif CUDAG_MISTAKE == 5  // expect-error: cudag: switch_(condition, {body, body}), with a Condition
    builder.switch_(condition, body, body);
#elif CUDAG_MISTAKE == 6  // expect-error: cudag: switch_(condition, {body, body}), with a Condition
    builder.switch_(2, {body, body});
#elif CUDAG_MISTAKE == 7  // expect-error: cudag: a body is a function that takes a GraphBuilder& and returns
    builder.while_(condition, [] {});
#elif CUDAG_MISTAKE == 8  // expect-error: cudag: a body is a function that takes a GraphBuilder& and returns
    builder.switch_(condition, {[](cudag::GraphBuilder&) { return 1; }});
#elif CUDAG_MISTAKE == 9  // expect-error: cudag: a Condition is set by kernels that have it
    condition.set(1);
#elif CUDAG_MISTAKE == 10 // expect-error: cudag: host(function) takes a function without arguments
    builder.host([](int) {}, 4);
#elif CUDAG_MISTAKE == 11 // expect-error: cudag: a host node calls a function without arguments
    builder.host([](cudaStream_t) {});
#elif CUDAG_MISTAKE == 12 // expect-error: cudag: a host node keeps its function, and this one cannot be copied
    auto once = [p = std::make_unique<int>(1)] { static_cast<void>(p); };
    builder.host(once);
#elif CUDAG_MISTAKE == 13 // expect-error: cudag: a host node calls a function without arguments
    builder.host("print");
#elif CUDAG_MISTAKE == 14 // expect-error: cudag: an event is a cudag::Event, a shared_ptr to one, or a
    builder.wait(stream);
#elif CUDAG_MISTAKE == 15 // expect-error: cudag: record(event) marks an event
    builder.record();
#elif CUDAG_MISTAKE == 16 // expect-error: cudag: signal({semaphore, value}), in braces
    builder.signal(semaphore, 5);
#elif CUDAG_MISTAKE == 17 // expect-error: cudag: wait(event), or wait({semaphore, value}) in braces
    builder.wait(semaphore, 5);
#elif CUDAG_MISTAKE == 18 // expect-error: cudag: record(stream) marks a place in a stream
    event.record();
#elif CUDAG_MISTAKE == 19 // expect-error: cudag: an Event has one owner: std::move(event), or pass it by
    auto copy = event;
#elif CUDAG_MISTAKE == 20 // expect-error: cudag: if_(condition, then), with a Condition of builder.condition()
    builder.if_(body, condition);
#elif CUDAG_MISTAKE == 21 // expect-error: cudag: a Condition comes from builder.condition()
    cudag::Condition other;
#endif
    static_cast<void>(graph);
}

// A body that takes its builder by value.
void body_by_value(cudag::GraphBuilder& b, const cudag::Condition& c) {
#if CUDAG_MISTAKE == 22 // expect-error: cudag: a body is a function that takes a GraphBuilder& and returns nothing
    b.switch_(c, {[](cudag::GraphBuilder) {}});
#else
    b.switch_(c, {[](cudag::GraphBuilder&) {}});
#endif
}

// A body that takes something other than a builder.
void body_parameters(cudag::GraphBuilder& b, const cudag::Condition& c) {
#if CUDAG_MISTAKE == 23 // expect-error: cudag: a body is a function that takes a GraphBuilder& and returns nothing
    b.if_(c, [](cudag::Graph&) {});
#else
    b.if_(c, [](cudag::GraphBuilder&) {});
#endif
}

// A body that returns a value, which nobody would get.
void body_result(cudag::GraphBuilder& b, const cudag::Condition& c) {
#if CUDAG_MISTAKE == 24 // expect-error: cudag: a body is a function that takes a GraphBuilder& and returns nothing
    b.while_(c, [](cudag::GraphBuilder&) { return 1; });
#else
    b.while_(c, [](cudag::GraphBuilder&) {});
#endif
}

// A number where a kernel takes a condition.
void condition_number(cudag::GraphBuilder& b, const cudag::Condition& c) {
#if CUDAG_MISTAKE == 25 // expect-error: cudag: kernel argument cannot become the kernel's parameter type
    b.kernel({}, stop, 1);
    static_cast<void>(c);
#else
    b.kernel({}, stop, c);
#endif
}

// A host node with a function that takes parameters.
void host_parameters(cudag::GraphBuilder& builder) {
#if CUDAG_MISTAKE == 26 // expect-error: cudag: a host node calls a function without arguments
    builder.host([](int) {});
#else
    builder.host([] {});
#endif
}

// A constant event, recorded.
void record_const_event(cudag::GraphBuilder& b, const cudag::Event& event) {
#if CUDAG_MISTAKE == 27 // expect-error: cudag: recording changes an event, and this one is const
    b.record(event);
#else
    b.wait(event);
#endif
}

// A number, recorded.
void record_no_event(cudag::GraphBuilder& b, cudaEvent_t event) {
#if CUDAG_MISTAKE == 28 // expect-error: cudag: an event is a cudag::Event, a shared_ptr to one, or a cudaEvent_t
    b.record(event != nullptr ? 1 : 0);
#else
    b.record(event);
#endif
}

// An event that is gone when the graph runs, recorded.
void record_temporary_event(cudag::GraphBuilder& b, cudag::Event& event) {
#if CUDAG_MISTAKE == 29 // expect-error: cudag: a temporary Event is gone when the graph runs; pass an lvalue or a
    b.record(cudag::Event());
#else
    b.record(event);
#endif
}

// A semaphore that is gone when the graph runs, signalled.
void signal_temporary_semaphore(cudag::GraphBuilder& b, cudag::ExternalSemaphore& semaphore) {
#if CUDAG_MISTAKE == 30 // expect-error: cudag: it would be gone when the graph runs
    b.signal(cudag::SemaphoreSignal{std::move(semaphore), 1});
#else
    b.signal(cudag::SemaphoreSignal{semaphore, 1});
#endif
}

// An event that is gone when the graph runs, waited for.
void wait_temporary_event(cudag::GraphBuilder& b, cudag::Event& event) {
#if CUDAG_MISTAKE == 31 // expect-error: cudag: a temporary Event is gone when the graph runs; pass an lvalue or a
    b.wait(std::move(event));
#else
    b.wait(event);
#endif
}

// A semaphore that is gone when the graph runs, waited for.
void wait_temporary_semaphore(cudag::GraphBuilder& b, cudag::ExternalSemaphore& semaphore) {
#if CUDAG_MISTAKE == 32 // expect-error: cudag: it would be gone when the graph runs
    b.wait(cudag::SemaphoreWait{cudag::ExternalSemaphore::import_timeline(3), 1});
#else
    b.wait(cudag::SemaphoreWait{semaphore, 1});
#endif
}

// What a condition is set to that is no number in device memory, or is not given.
void condition_values(cudag::GraphBuilder& b, const cudag::Condition& c, const cudag::DeviceBuffer<int>& value,
                      const cudag::DeviceBuffer<float>& real) {
    static_cast<void>(value), static_cast<void>(real);
#if CUDAG_MISTAKE == 33 // expect-error: cudag: set(condition, value, ...) takes up to four conditions
    b.set(c, 1);
#elif CUDAG_MISTAKE == 34 // expect-error: cudag: set(condition, value, ...) takes up to four conditions
    b.set(c, real);
#elif CUDAG_MISTAKE == 35 // expect-error: cudag: set(condition, value, ...) takes up to four conditions
    b.set(c, value, value);
#elif CUDAG_MISTAKE == 36 // expect-error: cudag: set(condition, value, ...) takes up to four conditions
    b.set(c, value, c, value, c, value, c, value, c, value);
#elif CUDAG_MISTAKE == 37 // expect-error: cudag: set(condition, value), with a Condition of builder.condition()
    b.set(value, c);
#elif CUDAG_MISTAKE == 38 // expect-error: cudag: a body is a function that takes a GraphBuilder& and returns
    b.repeat(3, [] {});
#elif CUDAG_MISTAKE == 39 // expect-error: cudag: repeat(times, body) takes a number
    b.repeat([](cudag::GraphBuilder&) {}, 3);
#else
    b.set(c, value);
#endif
}
