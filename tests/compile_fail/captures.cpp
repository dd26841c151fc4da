// Streams, captures, graphed functions, scalars and parameters.
#include <cudag/cudag.hpp>

#include <array>
#include <functional>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

__global__ void scale(float* x, int n, float factor);
void outside(cudaStream_t stream);

void captures(cudag::GraphBuilder& builder, cudag::Stream& stream, cudag::Exec& exec, cudag::DeviceBuffer<float>& x) {
    const cudag::Graph graph = cudag::capture(stream, outside);
    builder.capture(stream, outside);
    cudag::StreamCapture capture(stream);
    capture.step("outside", outside);
    capture.retain(x);
    capture.kernel({}, scale, x, 1, 1.0f);
    capture.add([](cudag::GraphBuilder& b) { return b.join(b.host([] {})); });
    cudag::Graph captured = std::move(capture).finish();
    cudag::DeviceScalar<float> scalar(1.0f);
    scalar.set(2.0f, stream);
    cudag::DynamicParam<int> position(0);
    position.set(1, exec, captured);
    position.drive(builder.kernel({}, scale, x, position, 1.0f),
                   [](int n) { return cudag::grid_1d(1, 1u + 0u * static_cast<unsigned>(n)); });
    position.drive(builder.memset(x, 0.0f));
    cudag::GraphedFunction forward([](cudaStream_t, cudag::DeviceSpan<const float>) {});
    forward.forward(stream, x);
    [[maybe_unused]] const cudag::Exec& constant = exec;
#if CUDAG_MISTAKE == 1 // expect-error: cudag: capture(stream, function) calls function(cudaStream_t)
    const auto other = cudag::capture(stream, [] {});
#elif CUDAG_MISTAKE == 2  // expect-error: cudag: capture(stream, function) calls function(cudaStream_t)
    cudag::Graph other = cudag::capture(stream, [](cudag::Stream&) {});
#elif CUDAG_MISTAKE == 3  // expect-error: cudag: capture(stream, function) calls function(cudaStream_t)
    cudag::Graph other = cudag::capture(outside);
#elif CUDAG_MISTAKE == 4  // expect-error: cudag: capture(stream, function) calls function(cudaStream_t)
    cudag::Graph other = cudag::capture(outside, stream);
#elif CUDAG_MISTAKE == 5  // expect-error: cudag: capture(stream, function) calls function(cudaStream_t)
    builder.capture(stream, [](int) {});
#elif CUDAG_MISTAKE == 6  // expect-error: cudag: capture(stream, function) calls function(cudaStream_t)
    builder.capture(outside);
#elif CUDAG_MISTAKE == 7  // expect-error: cudag: step(label, function) calls function(cudaStream_t) or function()
    capture.step(outside);
#elif CUDAG_MISTAKE == 8  // expect-error: cudag: step(label, function) calls function(cudaStream_t) or function()
    capture.step("outside", [](cudag::StreamCapture&) {});
#elif CUDAG_MISTAKE == 9  // expect-error: cudag: finish() ends the capture: std::move(capture).finish()
    cudag::Graph other = capture.finish();
#elif CUDAG_MISTAKE == 10 // expect-error: cudag: retain(owner) keeps buffers, pools and shared_ptrs
    capture.retain(x.span());
#elif CUDAG_MISTAKE == 11 // expect-error: cudag: a stream is a cudag::Stream or a cudaStream_t
    cudag::StreamCapture other(nullptr);
#elif CUDAG_MISTAKE == 12 // expect-error: cudag: a stream is a cudag::Stream or a cudaStream_t
    capture.fork(&stream);
#elif CUDAG_MISTAKE == 13 // expect-error: cudag: set(value, stream) needs the stream
    scalar.set(2.0f);
#elif CUDAG_MISTAKE == 14 // expect-error: cudag: get(stream) needs the stream
    static_cast<void>(scalar.get());
#elif CUDAG_MISTAKE == 15 // expect-error: cudag: a DeviceScalar is set in a stream: set(value, stream)
    scalar = 2.0f;
#elif CUDAG_MISTAKE == 16 // expect-error: cudag: a DynamicParam is set in Execs and Graphs
    position.set(1, stream);
#elif CUDAG_MISTAKE == 17 // expect-error: cudag: a DynamicParam is set in Execs and Graphs
    position.set(1, constant);
#elif CUDAG_MISTAKE == 18 // expect-error: cudag: a DynamicParam is set by set(value, execs and graphs...)
    position = 1;
#elif CUDAG_MISTAKE == 19 // expect-error: cudag: a graphed function is called by forward(stream, inputs...)
    forward(stream, x);
#elif CUDAG_MISTAKE == 20 // expect-error: cudag: a stream is a cudag::Stream or a cudaStream_t
    forward.forward(x);
#elif CUDAG_MISTAKE == 21 // expect-error: cudag: a stream is a cudag::Stream or a cudaStream_t
    exec.launch(std::make_shared<cudag::Stream>());
#elif CUDAG_MISTAKE == 22 // expect-error: cudag: a StreamCapture stays where it is: pass it by reference
    cudag::StreamCapture other = std::move(capture);
#elif CUDAG_MISTAKE == 23 // expect-error: cudag: capture(stream, function) calls function(cudaStream_t)
    builder.capture(stream, scale);
#elif CUDAG_MISTAKE == 24 // expect-error: cudag: a DynamicParam is set in Execs and Graphs, which it changes
    position.set(1, graph.instantiate());
#elif CUDAG_MISTAKE == 25 // expect-error: cudag: a DynamicParam has no copies: pass it by reference
    auto copy = position;
#elif CUDAG_MISTAKE == 26 // expect-error: cudag: a CapturePool has one owner
    cudag::CapturePool pool;
    auto copy = pool;
#endif
    static_cast<void>(graph);
}

// A DynamicParam that would have to own memory.
void dynamic_owner(int* memory) {
#if CUDAG_MISTAKE == 27 // expect-error: cudag: a DynamicParam holds a trivially copyable value; it owns nothing
    const cudag::DynamicParam<std::shared_ptr<int>> parameter{std::shared_ptr<int>(memory)};
#else
    const cudag::DynamicParam<int*> parameter(memory);
#endif
    static_cast<void>(parameter);
}

// A generic lambda without a signature.
void graphed_generic_lambda([[maybe_unused]] cudaStream_t stream) {
#if CUDAG_MISTAKE == 28 // expect-error: cudag: a GraphedFunction has a signature such as Output(cudaStream_t,
    cudag::GraphedFunction f([](auto) {});
#else
    cudag::GraphedFunction<void(cudaStream_t)> f([](auto) {});
#endif
}

// Fewer inputs than the function has.
void graphed_input_count([[maybe_unused]] cudaStream_t stream) {
    cudag::GraphedFunction f([](cudaStream_t, cudag::DeviceSpan<const int>) {});
    [[maybe_unused]] const std::vector<int> input(3);
#if CUDAG_MISTAKE == 29 // expect-error: cudag: forward() takes one input for each DeviceSpan of the function
    f.forward(stream);
#else
    f.forward(stream, input);
#endif
}

// An input of other elements than the function's.
void graphed_input_type([[maybe_unused]] cudaStream_t stream) {
    cudag::GraphedFunction f([](cudaStream_t, cudag::DeviceSpan<const int>) {});
    const std::vector<int> input(3);
    [[maybe_unused]] const std::vector<float> other(3);
#if CUDAG_MISTAKE == 30 // expect-error: cudag: an input of forward() needs the element type of the function's
    f.forward(stream, other);
#else
    f.forward(stream, input);
#endif
}

// A function that does not have the signature.
void graphed_mismatch([[maybe_unused]] cudaStream_t stream) {
    using Graphed = cudag::GraphedFunction<void(cudaStream_t, cudag::DeviceSpan<const int>)>;
#if CUDAG_MISTAKE == 31 // expect-error: cudag: the function cannot be called with a cudaStream_t or Steps& and the
    Graphed f([](cudaStream_t) {});
#else
    Graphed f([](cudaStream_t, cudag::DeviceSpan<const int>) {});
#endif
}

// An input that has no length.
void graphed_pointer_parameter([[maybe_unused]] cudaStream_t stream) {
#if CUDAG_MISTAKE == 32 // expect-error: cudag: the inputs of a graphed function are DeviceSpans
    cudag::GraphedFunction f([](cudaStream_t, const int*) {});
#else
    cudag::GraphedFunction f([](cudaStream_t, cudag::DeviceSpan<const int>) {});
#endif
}

// An output that is somebody else's.
void graphed_reference([[maybe_unused]] cudaStream_t stream) {
    int value = 0;
#if CUDAG_MISTAKE == 33 // expect-error: cudag: a graphed function returns its outputs by value, not by reference
    cudag::GraphedFunction f([&](cudaStream_t) -> int& { return value; });
#else
    cudag::GraphedFunction f([&](cudaStream_t) { return value; });
#endif
}

// An input that is gone before it is copied.
void graphed_temporary_input([[maybe_unused]] cudaStream_t stream) {
    cudag::GraphedFunction f([](cudaStream_t, cudag::DeviceSpan<const int>) {});
    [[maybe_unused]] const std::vector<int> input(3);
#if CUDAG_MISTAKE == 34 // expect-error: cudag: a temporary host range is gone when the graph runs; pass an lvalue
    f.forward(stream, std::vector<int>(3));
#else
    f.forward(stream, input);
#endif
}

// Elements that ask for more than a pool's alignment.
#if CUDAG_MISTAKE == 35 // expect-error: cudag: a CapturePool's memory is aligned to 256 bytes
struct alignas(512) Element {
#else
struct alignas(256) Element {
#endif
    char bytes[256];
};

void pool_alignment(cudag::CapturePool& pool) {
    static_cast<void>(pool.allocate<Element>(4));
}

// A captured region that comes after a number.
void region_after_int([[maybe_unused]] const cudag::HostNode& first, const cudag::CapturedNode& region) {
#if CUDAG_MISTAKE == 36 // expect-error: cudag: after() of a region takes node handles, ranges of node handles or other
    region.after(0);
#else
    region.after(first, region);
#endif
}

// A captured function whose reference would be handed out.
void region_reference(cudag::GraphBuilder& builder, cudag::StreamRef stream, int& result) {
#if CUDAG_MISTAKE == 37 // expect-error: cudag: capture() hands out what the function returns, which must be a value,
    builder.capture(stream, [&](cudaStream_t) -> int& { return result; });
#else
    builder.capture(stream, [&](cudaStream_t) -> int { return result; });
#endif
}

// A DeviceScalar of what bytes do not make.
void scalar_not_trivial() {
#if CUDAG_MISTAKE == 38 // expect-error: cudag: a buffer holds trivially copyable, non-const elements
    const cudag::DeviceScalar<std::shared_ptr<int>> scalar(nullptr);
#else
    const cudag::DeviceScalar<int*> scalar(nullptr);
#endif
    static_cast<void>(scalar);
}

// A DeviceScalar of more bytes than memsets shall carry.
void scalar_size() {
#if CUDAG_MISTAKE == 39 // expect-error: cudag: a DeviceScalar has at most 16 bytes
    const cudag::DeviceScalar<std::array<double, 3>> scalar({});
#else
    const cudag::DeviceScalar<std::array<double, 2>> scalar({});
#endif
    static_cast<void>(scalar);
}

// nullptr as a stream: the default stream by mistake.
void stream_from_nullptr([[maybe_unused]] cudaStream_t stream) {
#if CUDAG_MISTAKE == 40 // expect-error: cudag: a stream is a cudag::Stream or a cudaStream_t
    cudag::StreamRef ref = nullptr;
    static_cast<void>(ref);
#else
    cudag::StreamRef ref = stream;
    static_cast<void>(ref);
#endif
}

struct Incomparable {};

// Functions and keys of a cache, and functions that are captured or run.
void cache(cudag::CaptureCache& cache, cudag::Stream& stream, int& result, const cudag::DeviceBuffer<float>& memory,
           [[maybe_unused]] const std::vector<float>& host) {
    auto only = [unique = std::make_unique<int>(1)](cudaStream_t) {};
    cache.run(stream, 1, std::ref(only));
    cache.run(stream, "key", [](cudag::Steps& steps) { steps.step("outside", outside); });
    cudag::capture_or_run(stream, outside);
#if CUDAG_MISTAKE == 41 // expect-error: cudag: run(stream, key, function) calls function(cudaStream_t)
    cache.run(stream, 1, [] {});
#elif CUDAG_MISTAKE == 42 // expect-error: cudag: run(stream, key, function) calls function(cudaStream_t)
    cache.run(stream, outside);
#elif CUDAG_MISTAKE == 43 // expect-error: cudag: a key is compared with those of earlier calls: it must have ==, and a
    cache.run(stream, Incomparable(), outside);
#elif CUDAG_MISTAKE == 44 // expect-error: cudag: a key is compared with those of earlier calls: it must have ==, and a
    cache.run(stream, std::make_unique<int>(1), outside);
#elif CUDAG_MISTAKE == 45 // expect-error: cudag: a key owns what it compares: in a tuple or pair, text is a std::string
    cache.run(stream, std::tuple("decode", 1), outside);
#elif CUDAG_MISTAKE == 46 // expect-error: cudag: run() keeps the function with its graph: it must be copyable, or given
    cache.run(stream, 1, only);
#elif CUDAG_MISTAKE == 47 // expect-error: cudag: run() keeps what the function returns, which must be a value, not a
    cache.run(stream, 1, [&](cudaStream_t) -> int& { return result; });
#elif CUDAG_MISTAKE == 48 // expect-error: cudag: run() would drop the cudaError_t that the function returns: give it to
    cache.run(stream, 1, [](cudaStream_t s) { return cudaStreamSynchronize(s); });
#elif CUDAG_MISTAKE == 49 // expect-error: cudag: capture_or_run(stream, function) calls function(cudaStream_t)
    cudag::capture_or_run(stream, [](cudag::StreamCapture&) {});
#elif CUDAG_MISTAKE == 50 // expect-error: cudag: capture_or_run() hands out what the function returns, which must be a
    cudag::capture_or_run(stream, [&](cudaStream_t) -> int& { return result; });
#elif CUDAG_MISTAKE == 51 // expect-error: cudag: a stream is a cudag::Stream or a cudaStream_t
    cache.run(nullptr, 1, outside);
#elif CUDAG_MISTAKE == 52 // expect-error: cudag: step(label, function) calls function(cudaStream_t) or function()
    cache.run(stream, 1, [](cudag::Steps& steps) { steps.step("outside", [](cudag::Steps&) {}); });
#elif CUDAG_MISTAKE == 53 // expect-error: cudag: the buffers of a run are device memory
    cache.run(stream, 1, {host}, outside);
#endif
    cache.run(stream, 1, {memory}, outside);
    static_cast<void>(result);
}

// Events of captured graphs.
void captured_events(cudag::StreamCapture& capture, const cudag::Event& constant) {
#if CUDAG_MISTAKE == 54 // expect-error: cudag: an event is a cudag::Event, a shared_ptr to one, or a cudaEvent_t
    capture.record(3);
#elif CUDAG_MISTAKE == 55 // expect-error: cudag: recording changes an event, and this one is const
    capture.record(constant);
#elif CUDAG_MISTAKE == 56 // expect-error: cudag: a temporary Event is gone when the graph runs
    capture.wait(cudag::Event());
#elif CUDAG_MISTAKE == 57 // expect-error: cudag: record(event) marks an event
    capture.record();
#endif
    capture.wait(constant);
}

// What a DynamicParam drives.
void driven(cudag::GraphBuilder& builder, cudag::DynamicParam<int>& position, cudag::DeviceBuffer<float>& x) {
#if CUDAG_MISTAKE == 58 // expect-error: cudag: a kernel is driven by a function that makes a LaunchConfig
    position.drive(builder.kernel({}, scale, x, position, 1.0f), [](int) { return 3.0; });
#elif CUDAG_MISTAKE == 59 // expect-error: cudag: a copy or fill is driven by a number of elements
    position.drive(builder.memset(x, 0.0f), [](int n) { return 0.5f * static_cast<float>(n); });
#elif CUDAG_MISTAKE == 60 // expect-error: cudag: a DynamicParam drives the launch of a kernel
    position.drive(builder.host([] {}), [](int n) { return n; });
#elif CUDAG_MISTAKE == 61 // expect-error: cudag: a DynamicParam drives the launch of a kernel, by a function
    position.drive(builder.kernel({}, scale, x, position, 1.0f));
#endif
    position.drive(builder.memset(x, 0.0f));
}

// Nodes written into captures.
void written(cudag::StreamCapture& capture, cudag::DeviceBuffer<float>& x) {
#if CUDAG_MISTAKE == 62 // expect-error: cudag: add() takes a function of a GraphBuilder&
    capture.add([](cudaStream_t) {});
#elif CUDAG_MISTAKE == 63 // expect-error: cudag: add() hands out what the function returns
    capture.add([](cudag::GraphBuilder& b) -> cudag::GraphBuilder& { return b; });
#elif CUDAG_MISTAKE == 64 // expect-error: cudag: the number of arguments is not the number of the kernel
    capture.kernel({}, scale, x);
#endif
    capture.kernel({}, scale, x, 1, 1.0f);
}

// Breaks.
void breaks(cudag::Stream& stream, cudag::StreamCapture& capture, cudag::Steps& steps) {
#if CUDAG_MISTAKE == 65 // expect-error: cudag: the function of eager() is called with the stream, or with nothing
    capture.eager("look", [](int) {});
#elif CUDAG_MISTAKE == 66 // expect-error: cudag: eager() would drop what its function returns
    capture.eager("look", [](cudaStream_t s) { return cudaStreamSynchronize(s); });
#elif CUDAG_MISTAKE == 67 // expect-error: cudag: eager(label, function) calls function(cudaStream_t) or function()
    capture.eager([](cudaStream_t) {});
#elif CUDAG_MISTAKE == 68 // expect-error: cudag: a break keeps its function: it must be copyable
    const auto function = [owner = std::make_unique<int>(1)] {};
    capture.eager("look", function);
#elif CUDAG_MISTAKE == 69 // expect-error: cudag: capture_segments(stream, function) calls function(StreamCapture&)
    cudag::SegmentedGraph other = cudag::capture_segments(stream, outside);
#elif CUDAG_MISTAKE == 70 // expect-error: cudag: capture_segments() would drop what the function returns
    cudag::SegmentedGraph other = cudag::capture_segments(stream, [](cudag::StreamCapture&) { return 1; });
#elif CUDAG_MISTAKE == 71 // expect-error: cudag: eager(label, function) calls function(cudaStream_t) or function()
    steps.eager([](cudaStream_t) {});
#elif CUDAG_MISTAKE == 72 // expect-error: cudag: eager() would drop what its function returns
    steps.eager("look", [](cudaStream_t s) { return cudaStreamSynchronize(s); });
#endif
    steps.eager("look", [] {});
    capture.eager("look", [] {});
    cudag::SegmentedGraph other = cudag::capture_segments(stream, [](cudag::StreamCapture&) {});
}

// An inlined graph that comes after a number.
void inlined_after_int(cudag::GraphBuilder& builder, const cudag::Graph& graph) {
    const cudag::InlinedGraph part = builder.inline_graph(graph);
#if CUDAG_MISTAKE == 73 // expect-error: cudag: after() of an inlined graph takes node handles
    builder.inline_graph(graph).after(0);
#endif
    builder.inline_graph(graph).after(part.tails());
}
