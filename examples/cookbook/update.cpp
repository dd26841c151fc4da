// docs/cookbook-launch.md: recipes for launches, and for changes between them.
#include "cookbook.hpp"

#include <cudag/graph_function.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace cookbook {
namespace {

/// Fills `x` with ones and multiplies it by each of `factors`.
cudag::Graph chain(const cudag::DeviceBuffer<float>& x, const std::vector<float>& factors) {
    cudag::GraphBuilder b({.dependencies = cudag::Dependencies::inferred});
    b.memset(x, 1.0f).label("fill");
    for (const float factor : factors)
        b.kernel(config, scale, n, factor, x).label("scale");
    return std::move(b).build();
}

void input() {
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n), y(n), sum(n);
    cudag::memset_async(stream, x, 1.0f);
    cudag::memset_async(stream, y, 5.0f);
    // input begins
    cudag::BufferParam<float> in(x); // or b.parameter<float>(n), with memory of its own
    cudag::GraphBuilder b;
    b.kernel(config, add, n, in, in, sum);
    cudag::Exec exec = std::move(b).build().instantiate();
    for (const cudag::DeviceBuffer<float>* next : {&x, &y}) {
        exec.bind(in, *next); // every use of `in`: in sub-spans, copies and fills, too
        exec.launch(stream);
    }
    stream.synchronize(); // sum = y + y
    // input ends
    expect(sum, 10);
}

void ring() {
    cudag::Stream stream;
    float total = 0;
    // ring begins
    struct Frame {
        cudag::PinnedBuffer<float> in{n}, out{n};
        cudag::DeviceBuffer<float> x{n};
        cudag::Event done;
        cudag::Exec exec = [this] {
            cudag::GraphBuilder b({.dependencies = cudag::Dependencies::inferred});
            b.memcpy(x, in);
            b.kernel(config, scale, n, 2.0f, x);
            b.memcpy(out, x);
            return std::move(b).build().instantiate();
        }();
    };
    std::array<Frame, 3> frames;
    for (std::size_t i = 0; i < 10; ++i) {
        Frame& frame = frames[i % frames.size()];
        frame.done.synchronize(); // its launch of three frames ago; without one, returns at once
        if (i >= frames.size()) total += frame.out[0];
        std::fill(frame.in.begin(), frame.in.end(), static_cast<float>(i)); // while the others are in flight
        frame.exec.launch(stream);
        frame.done.record(stream);
    }
    stream.synchronize(); // total = 2 * (0 + 1 + ... + 6); the last three are still in `frames`
    // ring ends
    expect(total == 42, "the frames are not in order");
    expect(frames[0].out, 18);
}

void followed() {
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n), y(n);
    // followed begins
    cudag::DynamicParam<float> factor(1.0f);
    cudag::GraphBuilder b({.dependencies = cudag::Dependencies::inferred});
    for (const cudag::DeviceBuffer<float>* layer : {&x, &y}) {
        b.memset(*layer, 1.0f);
        b.kernel(config, scale, n, factor, *layer); // bound to the parameter by its type
    }
    cudag::Exec exec = std::move(b).build().instantiate();
    const std::size_t changed = factor.set(5.0f, exec); // 2 arguments; all of them, or none
    exec.launch(stream);
    stream.synchronize(); // x = y = 5
    // followed ends
    expect(x, 5);
    expect(y, 5);
    expect(changed == 2, "set changed another number of arguments than 2");
}

void smaller() {
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n);
    // smaller begins
    cudag::DynamicParam<int> count(n);
    cudag::GraphBuilder b;
    auto ones = b.memset(x, 1.0f); // of all n elements
    auto work = b.kernel(config, scale, count, 2.0f, x).after(ones);
    count.drive(work, [](int now) { return cudag::grid_1d(static_cast<std::size_t>(now), 256); });
    auto cleared = b.memset(x, 7.0f).after(work);
    count.drive(cleared, [](int now) { return now / 2; }); // the size of a fill or copy
    cudag::Exec exec = std::move(b).build().instantiate();
    count.set(100, exec); // argument, grid and size
    exec.launch(stream);
    stream.synchronize(); // x = 50 times 7, 50 times 2, and ones
    // smaller ends
    expect(x.span().first(50), 7);
    expect(x.span().subspan(50, 50), 2);
    expect(x.span().subspan(100), 1);
}

void scalar() {
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n), sum(n);
    // scalar begins
    cudag::DeviceScalar<float> bias(0.0f);
    cudag::GraphBuilder b;
    auto ones = b.memset(x, 1.0f);
    b.kernel({}, add, 1, x, bias, sum).after(ones); // sum[0] = x[0] + bias
    cudag::Exec exec = std::move(b).build().instantiate();
    for (const float value : {1.0f, 2.0f, 3.0f}) {
        bias.set(value, stream); // in stream order, also while earlier launches run
        exec.launch(stream);
    }
    stream.synchronize(); // sum[0] = 1 + 3
    // scalar ends
    expect(sum.span().first(1), 4);
}

void skipped() {
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n);
    cudag::memset_async(stream, x, 1.0f);
    // skipped begins
    cudag::GraphBuilder b;
    auto always = b.kernel(config, scale, n, 2.0f, x);
    auto sometimes = b.kernel(config, scale, n, 3.0f, x).label("every fifth launch").after(always);
    cudag::Exec exec = std::move(b).build().instantiate();
    for (int launch = 0; launch < 10; ++launch) {
        if (launch % 5 == 0)
            exec.enable(sometimes);
        else
            exec.disable(sometimes); // the nodes after it still run after those before it
        exec.launch(stream);
    }
    stream.synchronize(); // x = 2^10 * 3^2
    // skipped ends
    expect(x, 9216);
}

void called() {
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n), y(n), sum(n);
    cudag::memset_async(stream, x, 1.0f);
    cudag::memset_async(stream, y, 2.0f);
    // called begins
    using Axpy = cudag::GraphFunction<void(cudag::InOut<float>, cudag::In<float>, cudag::Out<float>, float)>;
    Axpy axpy(
        [](auto& b, const auto& a, const auto& to_add, const auto& result, const auto& factor) {
            b.kernel(config, scale, n, factor, a); // the edges are inferred
            b.kernel(config, add, n, a, to_add, result);
        },
        x, y, sum, 2.0f);              // the first buffers and values; nothing runs
    axpy(stream, x, y, sum, 2.0f);     // a launch
    axpy(stream, cudag::arg<3>(5.0f)); // another factor; the buffers are those of the last call
    axpy(stream, y, x, sum, 3.0f);     // other buffers, and another value: too few or wrong ones do not compile
    stream.synchronize();              // sum = 3 * 2 + 10
    // called ends
    expect(sum, 16);
}

void swapped() {
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n), y(n);
    cudag::memset_async(stream, x, 1.0f);
    // swapped begins
    cudag::GraphFunction<void(cudag::In<float>, cudag::Out<float>)> step(
        {.execs = 2}, // one for each direction
        [](auto& b, const auto& from, const auto& to) { b.kernel(config, add, n, from, from, to); }, x, y);
    for (int i = 0; i < 5; ++i) {
        step(stream, x, y);
        step(stream, y, x); // both: from the second round on plain launches
    }
    stream.synchronize(); // x = 2^10
    // swapped ends
    expect(x, 1024);
    expect(step.execs() == 2, "a direction has no Exec of its own");
}

void streams() {
    cudag::DeviceBuffer<float> x(n), y(n);
    // streams begins
    cudag::BufferParam<float> data(x);
    cudag::GraphBuilder b;
    b.kernel(config, scale, n, 3.0f, data).after(b.memset(data, 1.0f));
    cudag::Graph graph = std::move(b).build();

    cudag::Stream one, two;
    cudag::Exec first = graph.instantiate(), second = graph.instantiate(); // the launches of one Exec never overlap
    second.bind(data, y);                                                  // memory of its own
    first.launch(one);
    second.launch(two); // may run at the same time
    one.synchronize();
    two.synchronize();
    // streams ends
    expect(x, 3);
    expect(y, 3);
}

void applied() {
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n);
    // applied begins
    cudag::GraphBuilder b;
    auto fill = b.memset(x, 1.0f);
    auto work = b.kernel(config, scale, n, 2.0f, x).after(fill);
    cudag::Graph graph = std::move(b).build();
    std::array<cudag::Exec, 2> execs{graph.instantiate(), graph.instantiate()};

    graph.update(work, cudag::arg<1>(4.0f)); // the graph first
    graph.update(fill, x, 10.0f);
    for (cudag::Exec& exec : execs)
        exec.apply(graph); // exactly the changed nodes
    execs[1].launch(stream);
    stream.synchronize(); // x = 10 * 4
    // applied ends
    expect(x, 40);
}

void refused() {
    cudag::DeviceBuffer<float> x(n);
    std::string why;
    // refused begins
    cudag::Exec exec = chain(x, {2.0f, 3.0f}).instantiate();
    cudag::Graph next = chain(x, {2.0f, 3.0f, 4.0f}); // one more kernel
    cudag::UpdateReport report = exec.update(next);
    if (!report.updated()) { // a report, no exception: the Exec is as before
        why = report.reason();
        for (const cudag::Difference& difference : report.differences())
            why += '\n' + to_string(difference); // the node, the field, the old and the new value
    }
    if (report.needs_instantiate()) exec = next.instantiate();
    // refused ends
    expect(report.verdict() == cudag::UpdateVerdict::topology_changed, "the update was not refused");
    expect(why.find("scale") != std::string::npos, "the report does not name the node");
}

void compared() {
    cudag::DeviceBuffer<float> x(n);
    std::string all;
    // compared begins
    const cudag::Graph before = chain(x, {2.0f, 3.0f});
    const cudag::Graph after = chain(x, {2.0f, 4.0f});
    const std::vector<cudag::Difference> differences = cudag::diff(before, after);
    for (const cudag::Difference& difference : differences) // kernel "scale" at ...: argument 1: 3 -> 4
        if (difference.kind == cudag::DifferenceKind::parameter && !difference.needs_instantiate)
            all += to_string(difference) + '\n';
    // compared ends
    expect(differences.size() == 1 && all.find("argument 1") != std::string::npos, "another difference");
}

void streaming() {
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n);
    // streaming begins
    cudag::ExecCache cache({.capacity = 8});
    for (int step = 1; step <= 10; ++step) {
        const bool larger = step % 2 == 0; // two structures, with new parameters at each step
        const float factor = static_cast<float>(step);
        const cudag::Graph graph = larger ? chain(x, {factor, 2.0f}) : chain(x, {factor});
        cache.launch(graph, stream); // may be destroyed at once
    }
    stream.synchronize();                              // x = 10 * 2
    const cudag::ExecCacheStats stats = cache.stats(); // 2 instantiations, 8 updates
    // streaming ends
    expect(x, 20);
    expect(stats.instantiations == 2 && stats.updates == 8, "the cache instantiated more than two structures");
}

} // namespace

std::vector<Recipe> update_recipes() {
    return {{"Change the input buffer at every launch", input},   {"Call a graph like a function", called},
            {"Swap two buffers at every launch", swapped},        {"Process frames in a ring of three", ring},
            {"Set one value that many kernels follow", followed}, {"Run on fewer elements than at first", smaller},
            {"Change a value without an update", scalar},         {"Skip a node in some launches", skipped},
            {"Launch one graph from several streams", streams},   {"Change a graph and all its Execs", applied},
            {"Find why an update was refused", refused},          {"Compare two graphs", compared},
            {"Launch a new graph at every step", streaming}};
}

} // namespace cookbook
