// docs/cookbook-check.md: recipes to measure, test and look at a graph.
#include "cookbook.hpp"

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace cookbook {
namespace {

void measured() {
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n);
    cudag::GraphBuilder b({.dependencies = cudag::Dependencies::inferred});
    b.memset(x, 1.0f);
    for (int i = 0; i < 20; ++i)
        b.kernel(config, scale, n, 1.0f, x);
    cudag::Exec exec = std::move(b).build().instantiate();
    // measured begins
    for (int i = 0; i < 3; ++i)
        exec.launch(stream); // the first launch uploads the graph and loads kernels
    stream.synchronize();

    const int launches = 50;
    cudag::Event begin, end;
    begin.record(stream);
    const auto call_begin = std::chrono::steady_clock::now();
    for (int i = 0; i < launches; ++i)
        exec.launch(stream); // many, without a wait between them
    const std::chrono::duration<double, std::micro> calls = std::chrono::steady_clock::now() - call_begin;
    end.record(stream);
    end.synchronize();
    const double call_us = calls.count() / launches;                                              // of this thread
    const double graph_us = static_cast<double>(end.milliseconds_since(begin)) * 1000 / launches; // on the device
    // measured ends
    expect(call_us > 0 && graph_us > 0, "a launch took no time");
    expect(x, 1);
}

void footprint() {
    cudag::Stream stream;
    cudag::CapturePool pool("activations");
    const cudag::DeviceBuffer<float> scratch = pool.allocate<float>(1 << 20);
    std::string before, after, holders;
    // footprint begins
    cudag::GraphBuilder b;
    auto filled = b.memset(scratch, 1.0f);
    auto work = b.alloc<float>(1 << 18, {.after = {filled}});
    b.free(work).after(work);
    const cudag::Graph graph = std::move(b).build();
    before =
        to_string(graph.memory()); // nothing was launched: "device: 5.2 MiB (executable ..., graph memory 1.0 MiB, ..."
    cudag::Exec exec = graph.instantiate();
    after = to_string(exec.memory()); // with the plan of the Exec, and with its updates
    try {
        const cudag::DeviceBuffer<float> more(std::size_t{1} << 50U);
    } catch (const cudag::Error& error) {
        holders = error.what(); // ...; held: CapturePool "activations" made at ...: 4.0 MiB, ...
    }
    // footprint ends
    exec.launch(stream);
    stream.synchronize();
    expect(before.find("graph memory") != std::string::npos, "the graph memory is not predicted");
    expect(after.find("activations") != std::string::npos, "the pool is not reported");
    expect(holders.find("activations") != std::string::npos, "the error does not tell who holds memory");
}

void missing() {
    cudag::DeviceBuffer<float> x(n);
    cudag::PinnedBuffer<float> host(n);
    std::vector<std::string> named;
    // missing begins
    cudag::GraphBuilder b;
    b.kernel(config, scale, n, 2.0f, x).label("double");
    b.memcpy(host, x).label("download"); // without .after: a race
    try {
        b.check(); // as build() does, and changes nothing
    } catch (const cudag::RaceError& race) {
        named = race.labels(); // "double" and "download"; what() names elements and remedy
    }
    // missing ends
    expect(named == std::vector<std::string>{"double", "download"}, "the race was not found");
}

// complete begins
/// For tests: throws if `graph` has races, or accesses that a search for races does not see.
void require_ordered(const cudag::Graph& graph) {
    for (const cudag::Race& race : graph.races())
        throw std::runtime_error(to_string(race));
    for (const cudag::UntrackedArgument& unknown : graph.untracked())
        throw std::runtime_error(to_string(unknown)); // pass a buffer or a span; a host node declares .reads, .writes
}
// complete ends

void complete() {
    cudag::DeviceBuffer<float> x(n);
    const auto check = [&](auto memory) {
        cudag::GraphBuilder b;
        b.kernel(config, scale, n, 2.0f, memory).label("double");
        require_ordered(std::move(b).build());
    };
    check(x.span());
    std::string text;
    try {
        check(x.data());
    } catch (const std::runtime_error& error) {
        text = error.what();
    }
    expect(text.find("double") != std::string::npos, "the raw pointer was not reported");
}

/// Sixteen kernels, all after sixteen others, with each edge written.
cudag::Graph crossed(const cudag::DeviceBuffer<float>& x) {
    cudag::GraphBuilder b;
    std::vector<cudag::KernelNode<int, float, float*>> before;
    for (std::size_t i = 0; i < 16; ++i)
        before.push_back(b.kernel({.grid = 1, .block = 32}, scale, 32, 2.0f, x.span().subspan(i * 32, 32)));
    for (std::size_t i = 0; i < 16; ++i)
        b.kernel({.grid = 1, .block = 32}, scale, 32, 3.0f, x.span().subspan(i * 32, 32)).after(before);
    return std::move(b).build();
}

void plan() {
    cudag::DeviceBuffer<float> x(n);
    const cudag::Graph graph = crossed(x);
    // plan begins
    cudag::Exec exec = graph.instantiate();
    const cudag::PlanReport report = exec.plan();
    std::printf("%zu edges became %zu\n", report.edges_before(), report.edges_after());
    for (const cudag::PlannedJoin& join : report.joins())
        std::puts(to_string(join).c_str()); // edges or an empty kernel, and the reason
    for (const std::string& advice : report.advice())
        std::puts(advice.c_str());
    // plan ends
    expect(report.edges_before() == 256, "the plan saw other edges");
}

void drawn() {
    cudag::DeviceBuffer<float> x(n);
    const cudag::Graph graph = crossed(x);
    std::ostringstream written, planned;
    // drawn begins
    written << graph.dot();               // the edges as written
    planned << graph.instantiate().dot(); // CUDA's edges; the omitted ones are grey
    // then: dot -Tsvg written.dot -o written.svg
    // drawn ends
    expect(written.str().find("digraph") != std::string::npos && planned.str().find("digraph") != std::string::npos,
           "nothing was drawn");
}

void adopted() {
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n);
    // adopted begins
    cudaGraph_t made = nullptr;
    cudaGraphNode_t fill = nullptr;
    cudag::check(cudaGraphCreate(&made, 0));
    cudaMemsetParams params{};
    params.dst = x.data();
    params.elementSize = 4;
    params.width = n;
    params.height = 1;
    cudag::check(cudaGraphAddMemsetNode(&fill, made, nullptr, 0, &params));

    cudag::Graph graph = cudag::Graph::adopt(made); // destroyed by cudag; Graph::view only borrows
    auto node = graph.nodes().front().as<cudag::MemsetNode>();
    cudag::Exec exec = graph.instantiate();
    exec.update(node, x, 6.0f);
    exec.launch(stream);
    stream.synchronize(); // x = 6
    // adopted ends
    expect(x, 6);
}

void named() {
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n);
    std::string text;
    // named begins
    cudag::GraphBuilder b;
    auto work = b.kernel(config, scale, n, 2.0f, x).label("double");
    cudag::Graph graph = std::move(b).build();
    cudag::Exec exec = graph.instantiate();
    try {
        exec.update(work, {.grid = 1, .block = 4096});
    } catch (const cudag::Error& error) { // UpdateError, RaceError, CaptureError, ...: all are an Error
        const cudag::Node culprit = graph.find_one(error.labels().at(0));
        text = to_string(culprit); // kernel "double" at check.cpp:...; error.what() has reason and remedy
    }
    exec.launch(stream); // as before the refused update
    // named ends
    stream.synchronize();
    expect(text.find("double") != std::string::npos, "the error does not name its node");
}

} // namespace

std::vector<Recipe> check_recipes() {
    return {{"Measure a graph right", measured},
            {"See who holds device memory", footprint},
            {"Test for a missing edge", missing},
            {"Test that every access is known", complete},
            {"See the plan", plan},
            {"Draw a graph", drawn},
            {"Take over a graph made with CUDA's functions", adopted},
            {"Find the node of an error", named}};
}

} // namespace cookbook
