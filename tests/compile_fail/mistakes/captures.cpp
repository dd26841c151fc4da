// Streams, captures, graphed functions, scalars and parameters.
#include <cudag/cudag.hpp>

#include <memory>
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
    cudag::Graph captured = std::move(capture).finish();
    cudag::DeviceScalar<float> scalar(1.0f);
    scalar.set(2.0f, stream);
    cudag::DynamicParam<int> position(0);
    position.set(1, exec, captured);
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
