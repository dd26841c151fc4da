// docs/graphs.md: kinds of nodes, a loop on the device, graph memory, children, and changes before build().
#include "kernels.hpp"
#include "pages.hpp"

#include <cudag/cudag.hpp>

#include <numeric>
#include <utility>

namespace pages {
namespace {

void nodes() {
    cudag::Stream stream;
    // nodes begins
    const int n = 1000;
    const cudag::LaunchConfig config = cudag::grid_1d(n, 256);
    cudag::DeviceBuffer<float> x(n), y(n), sum(n);
    cudag::PinnedBuffer<float> host(n);
    float total = 0;

    cudag::GraphBuilder b;
    auto ones = b.memset(x, 1.0f).label("ones");
    auto twos = b.memset(y, 2.0f).label("twos");
    auto scaled = b.kernel(config, scale, n, 3.0f, x).label("scale").after(ones);
    auto added = b.kernel(config, add, n, x, y, sum).label("add").after(scaled, twos);
    auto down = b.memcpy(host, sum).label("download").after(added);
    b.host([&] { total = std::accumulate(host.begin(), host.end(), 0.0f); }).label("total").after(down);

    cudag::Graph graph = std::move(b).build();
    cudag::Exec exec = graph.instantiate();
    exec.launch(stream);
    stream.synchronize(); // total = 5 * n
    // nodes ends
    picture("nodes", graph.dot());
    expect(total, 5.0f * n, "total");
}

void loop() {
    cudag::Stream stream;
    // loop begins
    cudag::DeviceBuffer<float> value(1);
    cudag::PinnedBuffer<float> host(1);

    cudag::GraphBuilder b;
    auto start = b.memset(value, 100.0f).label("start");
    cudag::Condition again = b.condition(1); // 1 at the start of each launch
    auto loop = b.while_(again, [&](cudag::GraphBuilder& body) {
        body.kernel({}, halve, 1.0f, value, again).label("halve"); // sets `again` to 0 at last
    });
    loop.label("until 1").after(start);
    b.memcpy(host, value).label("download").after(loop);

    cudag::Graph graph = std::move(b).build();
    graph.instantiate().launch(stream);
    stream.synchronize(); // host[0] = 100 / 128
    // loop ends
    picture("loop", graph.dot());
    expect(host[0], 100.0f / 128, "the halved value");
}

void memory() {
    cudag::Stream stream;
    const int n = 1000;
    // memory begins
    cudag::PinnedBuffer<float> host(n);
    cudag::GraphBuilder b;
    auto scratch = b.alloc<float>(n); // allocated by each launch
    auto filled = b.memset(scratch.span(), 4.0f).after(scratch);
    auto down = b.memcpy(host, scratch.span()).after(filled);
    b.free(scratch).after(down);
    // memory ends
    cudag::Graph graph = std::move(b).build();
    picture("memory", graph.dot());
    graph.instantiate().launch(stream);
    stream.synchronize();
    expect(host[0], 4, "what graph memory held");
}

void composed() {
    cudag::Stream stream;
    const int n = 1000;
    const cudag::LaunchConfig config = cudag::grid_1d(n, 256);
    cudag::DeviceBuffer<float> x(n);
    cudag::PinnedBuffer<float> host(n);
    // composed begins
    cudag::GraphBuilder doubling;
    doubling.kernel(config, scale, n, 2.0f, x).label("double");
    const cudag::Graph twice = std::move(doubling).build();

    cudag::GraphBuilder b;
    auto ones = b.memset(x, 1.0f).label("ones");
    auto first = b.child(twice).label("first").after(ones);
    auto second = b.child(twice).label("second").after(first);
    auto wrong = b.kernel(config, scale, n, 0.0f, x).label("wrong").after(second);
    auto down = b.memcpy(host, x).label("download").after(second, wrong);
    b.remove(wrong);             // its edges go, too
    b.remove_edge(second, down); // the handles of both nodes stay valid
    down.after(second);
    // composed ends
    cudag::Graph graph = std::move(b).build();
    picture("composed", graph.dot());
    graph.instantiate().launch(stream);
    stream.synchronize();
    expect(host[0], 4, "what two children made");
}

} // namespace

void graphs() {
    nodes();
    loop();
    memory();
    composed();
}

} // namespace pages
