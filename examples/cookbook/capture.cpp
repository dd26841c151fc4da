// docs/cookbook-capture.md: recipes for existing stream code.
#include "cookbook.hpp"

#include <cudag/pool_order.hpp>
#include <cudag/segmented_graph.hpp>

#include <cstddef>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace cookbook {
namespace {

/// Stands for a library such as cuBLAS, which knows streams, and no graphs: doubles `count` elements.
void library_call(cudaStream_t stream, int count, float* x) {
    float factor = 2.0f;
    void* arguments[] = {&count, &factor, &x};
    const auto* kernel = reinterpret_cast<const void*>(scale);
    cudag::check(cudaLaunchKernel(kernel, dim3(4), dim3(256), arguments, 0, stream));
}

void forked() {
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n), y(n), sum(n);
    // forked begins
    cudag::Stream side;
    cudag::Graph graph = cudag::capture(stream, [&](cudag::StreamCapture& c) {
        cudag::memset_async(stream, x, 1.0f);
        c.fork(side); // work in `side` comes after the fill, and beside the later work in `stream`
        cudag::memset_async(side, y, 5.0f);
        library_call(stream.get(), n, x.data());
        c.join(side); // later work in `stream` comes after both
        cudag::launch(stream, config, add, n, x, y, sum);
    });
    graph.instantiate().launch(stream); // `side` is not needed for launches
    stream.synchronize();               // sum = 2 * 1 + 5
    // forked ends
    expect(sum, 7);
}

void region() {
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n);
    cudag::PinnedBuffer<float> host(n);
    // region begins
    cudag::GraphBuilder b;
    auto ones = b.memset(x, 1.0f);
    auto call = b.capture(stream, [&](cudaStream_t s) { library_call(s, n, x.data()); });
    call.label("library").writes(x).after(ones); // declared: the library's pointers have no length
    b.memcpy(host, x).after(call);
    cudag::Exec exec = std::move(b).build().instantiate();
    exec.launch(stream);
    stream.synchronize(); // host = 2
    // region ends
    expect(host, 2);
}

void by_key() {
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n);
    cudag::memset_async(stream, x, 1.0f);
    // by_key begins
    cudag::CaptureCache cache({.warm_up = 1});
    for (int call = 0; call < 4; ++call)
        for (const int count : {100, n}) // the key: everything that the work depends on
            cache.run(stream, count, [&](cudaStream_t s) { library_call(s, count, x.data()); });
    stream.synchronize();
    const cudag::CaptureCacheStats stats = cache.stats(); // 2 eager runs, 2 captures, 4 replays
    // by_key ends
    expect(x.span().first(100), 256);
    expect(x.span().subspan(100), 16);
    expect(stats.captures == 2 && stats.replays == 4, "the cache did not replay");
}

void batches() {
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n);
    float total = 0;
    // batches begins
    cudag::GraphedFunction model(
        [](cudaStream_t s, cudag::DeviceSpan<float> batch) {
            library_call(s, static_cast<int>(batch.size()), batch.data());
            return batch; // the output
        },
        {.capacity = 8}); // graphs of at most eight sizes; further sizes run eagerly, or displace rare ones
    std::vector<float> host(64);
    for (const std::size_t size : {8U, 64U, 8U, 64U, 8U}) {
        const std::vector<float> input(size, 3.0f);
        const cudag::DeviceSpan<float> output = model.forward(stream, input);
        cudag::memcpy_async(stream, std::span(host).first(size), output);
        stream.synchronize();
        total += std::accumulate(host.begin(), host.begin() + static_cast<std::ptrdiff_t>(size), 0.0f);
    } // model.captures() is 2, model.replays() is 5
    // batches ends
    expect(total == 6 * 152, "an output is wrong");
    expect(model.captures() == 2, "a size was captured again");
}

void between() {
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n);
    cudag::PinnedBuffer<float> host(n);
    cudag::memset_async(stream, x, 1.0f);
    int resets = 0;
    // between begins
    cudag::SegmentedGraph program = cudag::capture_segments(stream, [&](cudag::StreamCapture& c) {
        c.step("double", [&](cudaStream_t s) { library_call(s, n, x.data()); });
        c.step("download", [&](cudaStream_t s) { cudag::memcpy_async(s, host, x); });
        c.eager("decide", [&](cudaStream_t s) { // not captured: runs in each launch, between two graphs
            cudag::check(cudaStreamSynchronize(s));
            if (host[0] < 8) return;
            cudag::memset_async(s, x, 1.0f);
            ++resets;
        });
        c.step("triple", [&](cudaStream_t s) { cudag::launch(s, config, scale, n, 3.0f, x); });
    });
    for (int i = 0; i < 2; ++i)
        program.launch(stream); // x = 3 * 2 * 1, then 3 * 1, since 2 * 6 is too large
    // between ends
    stream.synchronize();
    expect(x, 3);
    expect(resets == 1, "the decision was not made in each launch");
}

void fallback() {
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n);
    cudag::memset_async(stream, x, 1.0f);
    stream.synchronize();
    bool waits = true;
    // fallback begins
    const auto work = [&](cudag::Steps& steps) {
        steps.step("double", [&](cudaStream_t s) { library_call(s, n, x.data()); });
        if (waits) steps.step("wait", [](cudaStream_t s) { cudag::check(cudaStreamSynchronize(s)); });
    };
    auto ran = cudag::capture_or_run(stream, work); // eagerly: a captured stream has nothing to wait for
    const std::vector<std::string> culprit = ran.error ? ran.error->labels() : std::vector<std::string>();
    waits = false;
    ran = cudag::capture_or_run(stream, work); // as a graph
    if (ran.exec) ran.exec->launch(stream);    // once more
    stream.synchronize();                      // x = 2 * 2 * 2
    // fallback ends
    expect(x, 8);
    expect(culprit == std::vector<std::string>{"wait"} && ran.exec, "the capture did not fail at the wait");
}

void rounded() {
    cudag::Stream stream;
    std::vector<float> result;
    // rounded begins
    cudag::CapturePool pool("activations");
    cudag::GraphedFunction model(
        [](cudaStream_t s, cudag::DeviceSpan<float> batch) {
            library_call(s, static_cast<int>(batch.size()), batch.data());
            return batch;
        },
        {.capture = {.pool = pool.id()}, .bucket = cudag::Bucket::powers_of_two(8, 64)});
    model.prepare(stream, {8, 16, 32, 64}); // four graphs, the largest first, in one pool
    for (const std::size_t size : {5U, 64U, 33U, 17U}) {
        const std::vector<float> input(size, 3.0f);
        const cudag::DeviceSpan<float> output = model.forward(stream, input); // padded, and cut to `size` again
        result.resize(output.size());
        cudag::memcpy_async(stream, result, output);
        stream.synchronize();
    } // model.captures() is 4
    // rounded ends
    expect(result, 6);
    expect(result.size() == 17 && model.captures() == 4, "a size was captured, or not cut");
}

void ended() {
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n), y(n), sum(n);
    // ended begins
    cudag::Graph graph = cudag::capture(stream, [&](cudaStream_t s) {
        const std::vector<float> weights(n, 3.0f); // ends before the launch
        cudag::memcpy_async(s, x, cudag::copied(weights));
        cudag::memset_async(s, y, 1.0f);
        cudag::launch(s, config, add, n, x, y, sum);
    });
    graph.instantiate().launch(stream);
    stream.synchronize(); // sum = 3 + 1
    // ended ends
    expect(sum, 4);
}

void found() {
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n);
    // found begins
    cudag::Graph graph = cudag::capture(stream, [&](cudag::StreamCapture& c) {
        c.step("fill", [&](cudaStream_t s) { cudag::memset_async(s, x, 1.0f); });
        c.step("library", [&](cudaStream_t s) { library_call(s, n, x.data()); });
    });
    auto node = graph.find_one(scale);                                  // typed; or the step: find_one("library")
    auto unknown = graph.find_one("library").as<cudag::FunctionNode>(); // without types, if the kernel is the library's
    cudag::Exec exec = graph.instantiate();
    exec.update(node, cudag::arg<1>(5.0f));
    exec.update(unknown, cudag::arg(0, n / 2)); // checked by size
    exec.launch(stream);
    stream.synchronize(); // the first half of x is 5
    // found ends
    expect(x.span().first(n / 2), 5);
    expect(x.span().last(n / 2), 1);
}

void scratch() {
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n), y(n), sum(n);
    cudag::memset_async(stream, x, 1.0f);
    // scratch begins
    cudag::CapturePool pool("scratch");
    const auto make = [&](float value, const cudag::DeviceBuffer<float>& result) {
        return cudag::capture(stream, [&](cudag::StreamCapture& c) {
            const auto memory = pool.allocate<float>(n);       // ends here, so the next capture gets the same memory
            c.retain(pool);                                    // keeps it valid
            cudag::memset_async(stream, memory.span(), value); // a span: not kept for this graph alone
            cudag::launch(stream, config, add, n, x, memory.span(), result);
        });
    };
    cudag::Exec first = make(2.0f, y).instantiate(), second = make(3.0f, sum).instantiate();
    first.launch(stream);
    second.launch(stream); // one after the other: they share memory
    stream.synchronize();  // y = 1 + 2, sum = 1 + 3; pool.count() is 0
    // scratch ends
    expect(y, 3);
    expect(sum, 4);
    expect(pool.count() == 0, "a graph keeps scratch memory for itself");
}

void asleep() {
    const cudag::Stream stream;
    // asleep begins
    cudag::CapturePool pool("model", {.releasable = true});
    const cudag::DeviceBuffer<float> weights = pool.allocate<float>(n);
    cudag::CaptureCache cache({.warm_up = 0});
    const auto serve = [&] {
        return cache.run(stream, "scale", [&](cudaStream_t s) { library_call(s, n, weights.data()); });
    };
    cudag::memset_async(stream, weights, 1.0f);
    serve();
    pool.release(); // sleep: the device has the memory back, the host keeps the contents
    pool.restore(); // wake: the same addresses
    const bool is_replayed = serve() == cudag::RunKind::replayed;
    stream.synchronize();
    // asleep ends
    expect(weights, 4);
    expect(is_replayed, "the graph is gone");
}

void in_order() {
    const cudag::Stream stream;
    const cudag::LaunchConfig config = cudag::grid_1d(n, 256);
    // in_order begins
    cudag::CapturePool pool("activations");
    const auto make = [&](const char* name) {
        return cudag::capture(stream,
                              [&](cudag::StreamCapture& c) {
                                  const auto memory = pool.allocate<float>(n); // the next capture gets the same memory
                                  c.retain(pool);
                                  cudag::launch(stream, config, scale, n, 2.0f, memory.span());
                              })
            .name(name);
    };
    cudag::Graph prefill = make("prefill"), decode = make("decode");
    const cudag::PoolOrder order(pool, {prefill, decode}, {.checked = true});
    cudag::Exec first = prefill.instantiate(), second = decode.instantiate();
    std::string refusal;
    try {
        second.launch(stream);
    } catch (const cudag::Error& error) {
        refusal = error.what(); // ...: at the beginning comes the graph "prefill" ...; launch that, ...
    }
    first.launch(stream);
    second.launch(stream);
    stream.synchronize();
    // in_order ends
    expect(!refusal.empty(), "a launch out of the order was not refused");
}

void relaxed() {
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n), y(n);
    // relaxed begins
    cudag::Graph graph = cudag::capture(stream, [&](cudag::StreamCapture& c) { // one stream: a line
        cudag::memset_async(stream, x, 1.0f);
        c.step("first", [&](cudaStream_t s) { library_call(s, n, x.data()); });
        cudag::memset_async(stream, y, 2.0f);
        c.step("second", [&](cudaStream_t s) { library_call(s, n, y.data()); });
    });
    graph.find_one("first").writes(x); // the library's pointers are unknown
    graph.find_one("second").writes(y);
    const cudag::RelaxReport report = cudag::relax(graph); // two branches
    for (const cudag::StayingNode& node : report.staying)  // none here: nodes that kept their place
        throw std::runtime_error(to_string(node));
    // relaxed ends
    graph.instantiate().launch(stream);
    stream.synchronize();
    expect(x, 2);
    expect(y, 4);
    expect(report.longest_path_after == 2, "the line is still a line");
}

} // namespace

std::vector<Recipe> capture_recipes() {
    return {{"Fork to two streams and join", forked},
            {"Call a library inside a graph", region},
            {"Reuse a captured function by key", by_key},
            {"Keep a graph per batch size", batches},
            {"Serve many sizes by few graphs", rounded},
            {"Run one step between two graphs", between},
            {"Run work that may not be capturable", fallback},
            {"Copy host values that end before the launch", ended},
            {"Change an argument in captured code", found},
            {"Share scratch memory between graphs", scratch},
            {"Let a captured line run in parallel", relaxed},
            {"Let a server sleep and wake", asleep},
            {"Check the order of graphs that share memory", in_order}};
}

} // namespace cookbook
