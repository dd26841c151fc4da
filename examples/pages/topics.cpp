// docs/conditionals.md, graph-memory.md, caches.md and devices.md: what no other program of the pages shows.
#include "kernels.hpp"
#include "pages.hpp"

#include <cudag/cudag.hpp>

#include <cstdio>
#include <utility>

namespace pages {
namespace {

void nested() {
    const int n = 1000;
    const cudag::LaunchConfig config = cudag::grid_1d(n, 256);
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n), value(1);
    cudag::PinnedBuffer<float> host(n);
    // nested begins
    cudag::GraphBuilder b;
    auto ones = b.memset(x, 1.0f).label("ones");
    auto rounds = b.repeat(3, [&](cudag::GraphBuilder& round) {
        auto start = round.memset(value, 8.0f).label("start");
        cudag::Condition again = round.condition(1); // 1 at the start of each round
        auto loop = round.while_(
            again, [&](cudag::GraphBuilder& body) { body.kernel({}, halve, 1.0f, value, again).label("halve"); });
        loop.label("until 1").after(start);
        round.kernel(config, scale, n, 2.0f, x).label("double").after(loop);
    });
    rounds.label("rounds").after(ones);
    b.memcpy(host, x).label("download").after(rounds);
    // nested ends
    cudag::Graph graph = std::move(b).build();
    picture("nested", graph.dot());
    graph.instantiate().launch(stream);
    stream.synchronize();
    expect(host[n - 1], 8, "what nested loops made");
}

void kept() {
    const int n = 1000;
    cudag::Stream stream;
    cudag::PinnedBuffer<float> host(n);
    // kept begins
    cudag::GraphBuilder first;
    auto memory = first.alloc<float>(n); // stays allocated after the launch
    first.memset(memory.span(), 4.0f).after(memory);
    cudag::Exec fill = std::move(first).build().instantiate();

    cudag::GraphBuilder second;
    auto down = second.memcpy(host, memory.span());
    second.free(memory).after(down); // frees the memory of the other graph
    cudag::Exec use = std::move(second).build().instantiate();

    fill.launch(stream);
    use.launch(stream); // in this order, each time
    // kept ends
    stream.synchronize();
    expect(host[n - 1], 4, "memory of another graph");
}

void freed_by_launch() {
    const int n = 1000;
    cudag::Stream stream;
    // auto_free begins
    cudag::GraphBuilder b;
    auto memory = b.alloc<float>(n);
    b.memset(memory.span(), 4.0f).after(memory);
    cudag::Exec exec = std::move(b).build().instantiate({.auto_free_on_launch = true});
    exec.launch(stream);
    exec.launch(stream); // frees the memory of the first launch before it begins
    stream.synchronize();

    const cudag::GraphMemory used = cudag::graph_memory(0);
    std::printf("%zu KiB used, %zu KiB reserved\n", used.used / 1024, used.reserved / 1024);
    // auto_free ends
}

void policies() {
    const int n = 1000;
    const cudag::LaunchConfig config = cudag::grid_1d(n, 256);
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n);
    // policies begins
    cudag::ExecCache cache({.capacity = 8, .max_bytes = 64 << 20, .instantiate = {.upload_stream = stream}});
    const auto chain = [&](int length, float factor) {
        cudag::GraphBuilder b({.dependencies = cudag::Dependencies::inferred});
        for (int i = 0; i < length; ++i)
            b.kernel(config, scale, n, factor, x);
        return std::move(b).build();
    };
    const cudag::Graph same = chain(1, 2.0f);
    cache.launch(same, stream);           // a new instance
    cache.launch(same, stream);           // a hit: nothing has changed
    cache.launch(chain(1, 3.0f), stream); // an update: another value, the same structure
    cache.launch(chain(2, 3.0f), stream); // a new instance: another structure
    const cudag::ExecCacheStats stats = cache.stats();
    std::printf("%llu hits, %llu updates, %llu instantiations\n", static_cast<unsigned long long>(stats.hits),
                static_cast<unsigned long long>(stats.updates), static_cast<unsigned long long>(stats.instantiations));
    // policies ends
    stream.synchronize();
}

void several() {
    int count = 0;
    cudag::check(cudaGetDeviceCount(&count));
    const int n = 1000, other = count > 1 ? 1 : 0;
    const cudag::LaunchConfig config = cudag::grid_1d(n, 256);
    cudag::Stream stream; // of device 0
    cudag::PinnedBuffer<float> host(n);
    // devices begins
    cudag::DeviceBuffer<float> here(n);
    cudag::check(cudaSetDevice(other));
    cudag::DeviceBuffer<float> there(n); // memory of the current device
    cudag::check(cudaSetDevice(0));

    cudag::GraphBuilder b;
    cudag::GraphBuilder far = b.on(other); // adds to the same graph
    auto ones = b.memset(here, 1.0f).label("ones");
    auto left = b.kernel(config, scale, n, 2.0f, here).label("left").after(ones);
    auto twos = far.memset(there, 2.0f).label("twos");
    auto right = far.kernel(config, scale, n, 3.0f, there).label("right").after(twos);
    auto both = b.memcpy(here, there).label("from the other").after(left, right); // a copy between devices
    b.memcpy(host, here).label("download").after(both);
    // devices ends
    std::move(b).build().instantiate().launch(stream);
    stream.synchronize();
    expect(host[n - 1], 6, "what the other device made");
}

} // namespace

void topics() {
    nested();
    kept();
    freed_by_launch();
    policies();
    several();
}

} // namespace pages
