// docs/cookbook.md: recipes for the structure of a graph, its memory, and its neighbours.
#include "cookbook.hpp"

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace cookbook {
namespace {

void branches() {
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n), y(n), sum(n);
    cudag::PinnedBuffer<float> host(n);
    // branches begins
    cudag::GraphBuilder b;
    auto ones = b.memset(x, 1.0f);
    auto left = b.kernel(config, scale, n, 2.0f, x).after(ones);
    auto twos = b.memset(y, 2.0f);
    auto right = b.kernel(config, scale, n, 5.0f, y).after(twos); // no edge to `left`: both may run at once
    auto both = b.kernel(config, add, n, x, y, sum).after(left, right);
    b.memcpy(host, sum).after(both);

    cudag::Exec exec = std::move(b).build().instantiate();
    exec.launch(stream);
    stream.synchronize(); // host = 2 * 1 + 5 * 2
    // branches ends
    expect(host, 12);
}

void barrier() {
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n);
    // barrier begins
    const std::size_t parts = 10, part = n / parts;
    cudag::GraphBuilder b;
    std::vector<cudag::KernelNode<int, float, float*>> before;
    auto ones = b.memset(x, 1.0f);
    for (std::size_t i = 0; i < parts; ++i)
        before.push_back(b.kernel({.grid = 1, .block = 100}, scale, 100, 2.0f, x.span().subspan(i * part, part)));
    for (const auto& node : before)
        node.after(ones);
    auto all = b.join(before);
    for (std::size_t i = 0; i < parts; ++i)
        b.kernel({.grid = 1, .block = 100}, scale, 100, 3.0f, x.span().subspan(i * part, part)).after(all);
    // barrier ends
    std::move(b).build().instantiate().launch(stream);
    stream.synchronize();
    expect(x, 6);
}

void inferred() {
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n);
    cudag::PinnedBuffer<float> host(n);
    // inferred begins
    const int half = n / 2;
    cudag::GraphBuilder b({.dependencies = cudag::Dependencies::inferred});
    b.memset(x, 1.0f);
    b.kernel(config, scale, half, 2.0f, x.span().first(half)); // after the fill
    b.kernel(config, scale, half, 2.0f, x.span().last(half));  // after the fill, beside the other half
    b.memcpy(host, x);                                         // after both halves
    cudag::Graph graph = std::move(b).build();
    for (const cudag::UntrackedArgument& unknown : graph.untracked()) // here: none
        throw std::runtime_error(to_string(unknown));
    // inferred ends
    graph.instantiate().launch(stream);
    stream.synchronize();
    expect(host, 2);
    expect(graph.edge_count() == 4, "another number of inferred edges than 4");
}

void child() {
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n);
    // child begins
    cudag::GraphBuilder step;
    auto factor = step.kernel(config, scale, n, 2.0f, x);
    const cudag::Graph twice = std::move(step).build();

    cudag::GraphBuilder b;
    auto first = b.child(twice).after(b.memset(x, 1.0f));
    auto second = b.child(twice).after(first); // another clone
    cudag::Exec exec = std::move(b).build().instantiate();
    exec.update(second.inside(factor), cudag::arg<1>(5.0f)); // the kernel in the second clone only
    exec.launch(stream);
    stream.synchronize(); // x = 1 * 2 * 5
    // child ends
    expect(x, 10);
}

void allocated() {
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n), sum(n);
    // allocated begins
    cudag::GraphBuilder b;
    auto scratch = b.alloc<float>(n); // in each launch
    auto filled = b.memset(scratch.span(), 4.0f).after(scratch);
    auto ones = b.memset(x, 1.0f);
    auto added = b.kernel(config, add, n, x, scratch.span(), sum).after(filled, ones);
    b.free(scratch).after(added); // without it: instantiate({.auto_free_on_launch = true})

    cudag::Exec exec = std::move(b).build().instantiate();
    exec.launch(stream);
    stream.synchronize();        // sum = 1 + 4
    cudag::trim_graph_memory(0); // back to the system, if no launch needs it soon
    // allocated ends
    expect(sum, 5);
}

void kept() {
    cudag::Stream stream;
    cudag::DeviceBuffer<float> sum(n);
    // kept begins
    const auto make = [&] {
        cudag::DeviceBuffer<float> given(n), borrowed(n); // end with this function
        const auto weights = std::make_shared<std::vector<float>>(n, 3.0f);
        cudag::GraphBuilder b;
        auto ones = b.memset(given, 1.0f);                // a buffer: the graph keeps it
        auto upload = b.memcpy(borrowed.span(), weights); // a span borrows; a shared_ptr is kept
        b.kernel(config, add, n, given, borrowed.span(), sum)
            .retain(borrowed) // so that the graph keeps the memory of the span, too
            .after(ones, upload);
        return std::move(b).build().instantiate();
    };
    make().launch(stream); // the Exec ends at once, the memory after the launch
    stream.synchronize();  // sum = 1 + 3
    // kept ends
    expect(sum, 4);
}

void events() {
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n);
    cudag::PinnedBuffer<float> host(n), result(n);
    for (float& value : host)
        value = 7.0f;
    // events begins
    cudag::Stream uploads, downloads;
    cudag::Event uploaded, computed;
    cudag::GraphBuilder b;
    auto arrived = b.wait(uploaded); // the mark at the time of the launch
    auto work = b.kernel(config, scale, n, 2.0f, x).after(arrived);
    b.record(computed).after(work); // anew in each launch
    cudag::Exec exec = std::move(b).build().instantiate();

    cudag::memcpy_async(uploads, x, host);
    uploaded.record(uploads); // before the launch
    exec.launch(stream);
    downloads.wait(computed);
    cudag::memcpy_async(downloads, result, x);
    downloads.synchronize(); // result = 2 * host
    // events ends
    expect(result, 14);
}

void host_exception() {
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n);
    cudag::PinnedBuffer<float> host(n);
    std::string label, reason;
    // host begins
    cudag::GraphBuilder b;
    auto down = b.memcpy(host, x).after(b.memset(x, -1.0f));
    b.host([&] {
         if (host[0] < 0) throw std::domain_error("a negative value");
     })
        .label("check the sign")
        .after(down);
    cudag::Exec exec = std::move(b).build().instantiate();
    exec.launch(stream);
    try {
        stream.synchronize(); // or exec.rethrow(), after a wait without cudag
    } catch (const cudag::HostError& error) {
        label = error.failures().front().label; // "check the sign"
        try {
            error.rethrow_nested(); // the exception itself
        } catch (const std::domain_error& cause) {
            reason = cause.what();
        }
    }
    // host ends
    expect(label == "check the sign" && reason == "a negative value", "the exception did not arrive");
}

} // namespace

std::vector<Recipe> build_recipes() {
    return {{"Fork into branches and join them", branches},
            {"Order many nodes after many others", barrier},
            {"Let cudag infer the edges", inferred},
            {"Use one graph several times in another", child},
            {"Allocate memory inside a graph", allocated},
            {"Keep memory alive as long as a launch", kept},
            {"Order with another stream by an event", events},
            {"Run a host function and catch its exception", host_exception}};
}

} // namespace cookbook
