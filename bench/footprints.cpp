// The reported memory of graphs, pools and caches, against the loss of free memory on the device.
#include "kernels.hpp"
#include "options.hpp"

#include <cudag/cudag.hpp>

#include <algorithm>
#include <any>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::Stream;

constexpr std::size_t mib = std::size_t{1} << 20U;

/// Live objects, and their reported device memory.
struct Reported {
    std::size_t bytes = 0;
    std::vector<std::any> alive = {};

    template <class T>
    T& keep(T thing) {
        const auto kept = std::make_shared<T>(std::move(thing));
        alive.emplace_back(kept);
        return *kept;
    }
};

struct Shape {
    std::string name;
    std::function<Reported(std::size_t scale)> make; ///< `scale` for 100 percent: about 256 MiB
};

std::size_t free_memory() {
    std::size_t free = 0, all = 0;
    cudag::check(cudaDeviceSynchronize());
    cudag::check(cudaMemGetInfo(&free, &all));
    return free;
}

void launch_once(Exec& exec) {
    const Stream stream;
    exec.launch(stream);
    stream.synchronize();
}

/// Execs of one graph, until they report 256 MiB.
Reported execs_of(Graph&& built, std::size_t scale) {
    Reported reported;
    const Graph& graph = reported.keep(std::move(built));
    const std::size_t each = graph.memory().device();
    for (std::size_t i = 0; i < std::max<std::size_t>(256 * scale / each, 1); ++i) {
        Exec& exec = reported.keep(graph.instantiate());
        launch_once(exec);
        reported.bytes += exec.memory().device();
    }
    return reported;
}

/// One Exec of a graph, with what the graph keeps.
Reported exec_of(Graph&& built) {
    Reported reported;
    const Graph& graph = reported.keep(std::move(built));
    reported.bytes = graph.memory().device(); // before the first launch
    launch_once(reported.keep(graph.instantiate()));
    return reported;
}

DeviceBuffer<float>& cell() {
    static DeviceBuffer<float> memory(1024);
    return memory;
}

using Nodes = std::vector<cudag::Node>;

/// Chains of nodes; `add` adds one after the given nodes.
Graph line(std::size_t nodes, cudag::Node (*add)(GraphBuilder&, const Nodes&), std::size_t chains = 1) {
    GraphBuilder b({.races = cudag::Races::allowed});
    std::vector<Nodes> last(chains);
    for (std::size_t i = 0; i < nodes; ++i)
        last[i % chains] = {add(b, last[i % chains])};
    return std::move(b).build();
}

cudag::Node kernel(GraphBuilder& b, const Nodes& after = {}) {
    return b.kernel({}, touch, cell().data(), 0, 1.0f, 1U).after(after);
}
cudag::Node fill(GraphBuilder& b, const Nodes& after) {
    return b.memset(cell(), 1.0f).after(after);
}
cudag::Node copy(GraphBuilder& b, const Nodes& after) {
    return b.memcpy(cell().span().first(512), cell().span().last(512)).after(after);
}

/// Layers of 10 kernels, each after all of the layer before.
Graph layers(std::size_t count) {
    GraphBuilder b({.races = cudag::Races::allowed});
    Nodes before;
    for (std::size_t i = 0; i < count; ++i) {
        Nodes layer;
        for (int k = 0; k < 10; ++k)
            layer.push_back(kernel(b, before));
        before = layer;
    }
    return std::move(b).build();
}

Graph with_children(std::size_t count) {
    GraphBuilder b({.races = cudag::Races::allowed});
    for (std::size_t i = 0; i < count; ++i)
        b.child(line(100, kernel));
    return std::move(b).build();
}

/// Allocations of these sizes. Each is freed before the next if they take turns, else at the end.
Graph allocating(const std::vector<std::size_t>& sizes, bool take_turns) {
    GraphBuilder b;
    Nodes before, ends;
    for (const std::size_t size : sizes) {
        const auto memory = b.alloc<char>(size, {.after = before});
        const auto fill = b.memset(memory.span(), char{1}).after(memory);
        const auto freed = b.free(memory).after(fill);
        if (take_turns) before = {freed};
        ends.push_back(fill);
        if (!take_turns) freed.after(b.join(ends));
    }
    return std::move(b).build();
}

/// A captured function with scratch memory of the stream.
Graph captured(std::size_t bytes, int turns) {
    const Stream stream;
    return cudag::capture(stream, [&](cudaStream_t s) {
        for (int i = 0; i < turns; ++i) {
            void* scratch = nullptr;
            cudag::check(cudaMallocAsync(&scratch, bytes, s));
            cudag::check(cudaMemsetAsync(scratch, 1, bytes, s));
            cudag::check(cudaFreeAsync(scratch, s));
        }
    });
}

/// Buffers that the graph keeps, each used twice.
Graph keeping(std::size_t bytes, int count) {
    GraphBuilder b;
    for (int i = 0; i < count; ++i) {
        const auto buffer = std::make_shared<DeviceBuffer<char>>(bytes);
        b.memset(buffer, char{2}).after(b.memset(buffer, char{1}));
    }
    return std::move(b).build();
}

Graph with_pool(std::size_t bytes, int count) {
    cudag::CapturePool pool("scratch");
    GraphBuilder b;
    for (int i = 0; i < count; ++i)
        b.memset(pool.allocate<char>(bytes), char{1});
    return std::move(b).build();
}

/// Kernels, graph memory and buffers of one step of a model.
Graph mixed(std::size_t bytes) {
    GraphBuilder b({.races = cudag::Races::allowed});
    const auto weights = std::make_shared<DeviceBuffer<char>>(bytes);
    cudag::Node last = b.memset(weights, char{0});
    for (int layer = 0; layer < 8; ++layer) {
        const auto scratch = b.alloc<char>(bytes, {.after = {last}});
        last = b.memcpy(scratch.span(), weights).after(scratch);
        for (int i = 0; i < 40; ++i)
            last = kernel(b, {last});
        last = b.free(scratch).after(last);
    }
    return std::move(b).build();
}

Reported exec_cache(std::size_t scale) {
    Reported reported;
    const Stream stream;
    auto& cache = *reported.keep(std::make_shared<cudag::ExecCache>(cudag::ExecCacheOptions{.capacity = 1000}));
    for (std::size_t nodes = 1; cache.memory().memory.device() < 64 * scale; nodes += 7) {
        cache.launch(line(nodes, kernel), stream);
        stream.synchronize();
    }
    reported.bytes = cache.memory().memory.device();
    return reported;
}

Reported capture_cache(std::size_t scale) {
    Reported reported;
    const Stream stream;
    cudag::CapturePool pool("activations");
    auto& cache =
        *reported.keep(std::make_shared<cudag::CaptureCache>(cudag::CaptureCacheOptions{.warm_up = 0, .capacity = 8}));
    for (std::size_t key = 1; key <= 4; ++key) {
        cache.run(stream, key, [&](cudag::Steps& steps) {
            const auto scratch = pool.allocate<char>(16 * scale * key);
            steps.step("fill", [&](cudaStream_t s) { cudag::memset_async(s, scratch, char{1}); });
        });
        stream.synchronize();
    }
    reported.bytes = cache.memory().memory.device();
    return reported;
}

std::vector<Shape> all_shapes() {
    return {
        {"1 kernel, many Execs", [](std::size_t s) { return execs_of(line(1, kernel), s); }},
        {"10 kernels, many Execs", [](std::size_t s) { return execs_of(line(10, kernel), s); }},
        {"100 kernels, many Execs", [](std::size_t s) { return execs_of(line(100, kernel), s); }},
        {"1000 kernels, many Execs", [](std::size_t s) { return execs_of(line(1000, kernel), s); }},
        {"1000 kernels in 8 chains, many Execs", [](std::size_t s) { return execs_of(line(1000, kernel, 8), s); }},
        {"20 layers of 10 kernels, many Execs", [](std::size_t s) { return execs_of(layers(20), s); }},
        {"10 children of 100 kernels, many Execs", [](std::size_t s) { return execs_of(with_children(10), s); }},
        {"1000 fills, many Execs", [](std::size_t s) { return execs_of(line(1000, fill), s); }},
        {"1000 copies, many Execs", [](std::size_t s) { return execs_of(line(1000, copy), s); }},
        {"one allocation", [](std::size_t s) { return exec_of(allocating({256 * s}, true)); }},
        {"four allocations at once",
         [](std::size_t s) {
             return exec_of(allocating({64 * s, 64 * s, 64 * s, 64 * s}, false));
         }},
        {"eight allocations in turns",
         [](std::size_t s) { return exec_of(allocating(std::vector(8, 256 * s), true)); }},
        {"allocations of three sizes in turns",
         [](std::size_t s) {
             return exec_of(allocating({64 * s, 256 * s, 128 * s}, true));
         }},
        {"captured scratch memory", [](std::size_t s) { return exec_of(captured(256 * s, 3)); }},
        {"four buffers", [](std::size_t s) { return exec_of(keeping(64 * s, 4)); }},
        {"one buffer", [](std::size_t s) { return exec_of(keeping(256 * s, 1)); }},
        {"a pool of three buffers", [](std::size_t s) { return exec_of(with_pool(96 * s, 3)); }},
        {"a step of a model", [](std::size_t s) { return exec_of(mixed(128 * s)); }},
        {"an ExecCache", exec_cache},
        {"a CaptureCache", capture_cache},
    };
}

bool run(const bench::Options& options) {
    const std::size_t scale = mib * static_cast<std::size_t>(*options.percent) / 100;
    Exec first = line(1, kernel).instantiate(); // what the first graph of a process costs is no graph's
    launch_once(first);
    std::printf("%-42s %14s %14s %8s\n", "shape", "reported, MiB", "measured, MiB", "ratio");
    std::size_t met = 0, all = 0;
    std::vector<Reported> alive; // the driver gives the memory of former Execs to later ones
    for (const Shape& shape : all_shapes()) {
        if (shape.name.find(*options.only) == std::string::npos) continue;
        cudag::trim_graph_memory(0);
        const std::size_t before = free_memory();
        alive.push_back(shape.make(scale));
        const Reported& reported = alive.back();
        const std::size_t after = free_memory();
        const double measured = static_cast<double>(before - std::min(before, after));
        const double ratio = static_cast<double>(reported.bytes) / std::max(measured, 1.0);
        std::printf("%-42s %14.1f %14.1f %8.3f\n", shape.name.c_str(), static_cast<double>(reported.bytes) / mib,
                    measured / mib, ratio);
        std::fflush(stdout);
        ++all;
        met += ratio >= 0.9 && ratio <= 1.1 ? 1 : 0;
    }
    std::printf("%zu of %zu within 10 %%\n", met, all);
    return met == all;
}

} // namespace

int main(int argc, char** argv) {
    return bench::run_benchmark(argc, argv, {.only = "", .percent = 100}, run);
}
