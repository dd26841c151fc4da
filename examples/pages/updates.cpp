// docs/updates.md: the ladder of updates, from the cheapest to a new instance, and a cache of Execs.
#include "kernels.hpp"
#include "pages.hpp"

#include <cudag/cudag.hpp>

#include <cstdio>
#include <utility>

namespace pages {
namespace {

void ladder() {
    const int n = 64;
    const cudag::LaunchConfig one_block{.grid = 1, .block = n};
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n), other(n);
    cudag::PinnedBuffer<float> host(n);
    // made begins
    cudag::BufferParam<float> input(x);      // memory that later launches may replace
    cudag::DynamicParam<float> factor(1.0f); // one value in many places
    const auto write = [&](int times) {
        cudag::GraphBuilder b;
        auto filled = b.memset(input, 1.0f).label("fill");
        auto scaled = b.kernel(one_block, scale, n, 2.0f, input).label("scale").after(filled);
        auto last = b.kernel(one_block, scale, n, factor, input).label("factor").after(scaled);
        for (int i = 1; i < times; ++i)
            last = b.kernel(one_block, scale, n, 10.0f, input).after(last);
        b.memcpy(host, input).label("download").after(last);
        return std::move(b).build();
    };
    cudag::Graph graph = write(1);
    cudag::Exec exec = graph.instantiate();
    const auto node = graph.find_one("scale").as(scale); // a handle with the kernel's parameter types
    // made ends
    picture("updates", graph.dot());
    const auto result = [&] {
        exec.launch(stream);
        stream.synchronize();
        return host[0];
    };
    expect(result(), 2, "the first launch");
    cudag::Graph next = write(1), longer = write(2);
    // ladder begins
    exec.disable(node); // and enable: kernels, copies and fills
    // ladder ends
    expect(result(), 1, "the launch with a disabled node");
    // ladder begins
    exec.enable(node);
    exec.update(node, cudag::arg<1>(3.0f)); // one argument; or all, the configuration, operands, events, callables
    factor.set(5.0f, exec);                 // every argument, launch shape and size that follows the DynamicParam
    // ladder ends
    expect(result(), 15, "the launch after updates of two nodes");
    // ladder begins
    graph.update(node, n, 4.0f, input); // in the graph ...
    exec.apply(graph);                  // ... and then in its Exec: exactly the changed nodes
    exec.bind(input, other);            // all uses of a BufferParam's memory: sub-spans, copies and fills, too
    // ladder ends
    expect(result(), 20, "the launch after apply and bind");
    // ladder begins
    if (cudag::UpdateReport report = exec.update(next); !report.updated()) // all nodes at once
        std::puts(report.to_string().c_str());                             // the nodes that CUDA refuses, and why
    cudag::UpdateReport matched = exec.update(next, {.match = cudag::Match::structure}); // nodes in any order
    // ladder ends
    if (!matched.updated()) throw std::runtime_error(matched.to_string());
    expect(result(), 2, "the launch after a whole update");
    // ladder begins
    exec.update_or_instantiate(longer); // a new instance where no update is possible
    std::printf("new instances: %llu\n", static_cast<unsigned long long>(exec.update_counts().instantiated));
    // ladder ends
    expect(result(), 20, "the launch after all updates");
}

void cached_execs() {
    const int n = 64;
    const cudag::LaunchConfig one_block{.grid = 1, .block = n};
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n);
    const auto make_graph = [&](int i) {
        cudag::GraphBuilder b;
        auto filled = b.memset(x, 1.0f);
        b.kernel(one_block, scale, n, static_cast<float>(i), x).after(filled);
        return std::move(b).build();
    };
    // cache begins
    cudag::ExecCache cache({.capacity = 64});
    for (int i = 0; i < 10; ++i)
        cache.launch(make_graph(i), stream); // launched, updated or instantiated: the cheapest possible way
    std::puts(to_string(cache.stats()).c_str());
    // cache ends
    stream.synchronize();
    expect(static_cast<float>(cache.stats().instantiations), 1, "the number of instantiations");
}

} // namespace

void updates() {
    ladder();
    cached_execs();
}

} // namespace pages
