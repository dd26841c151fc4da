// docs/plan.md: the report of a plan, other plans, and plans timed on the device.
#include "kernels.hpp"
#include "pages.hpp"

#include <cudag/cudag.hpp>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace pages {
namespace {

/// Sixteen chains of kernels, each on its 64 elements, all after one fill.
cudag::Graph chains(cudag::DeviceBuffer<float>& x) {
    constexpr int count = 16, length = 8, part = 64;
    cudag::GraphBuilder b;
    auto ones = b.memset(x, 1.0f);
    for (int chain = 0; chain < count; ++chain) {
        const auto range = x.span().subspan(static_cast<std::size_t>(chain * part), part);
        auto last = b.kernel(cudag::grid_1d(part, 64), scale, part, 1.5f, range).after(ones);
        for (int i = 1; i < length; ++i)
            last = b.kernel(cudag::grid_1d(part, 64), scale, part, 1.0f, range).after(last, ones); // `ones`: redundant
    }
    return std::move(b).build();
}

/// Three kernels, a join, three kernels; some edges are redundant.
cudag::Graph stages(cudag::DeviceBuffer<float>& x) {
    constexpr int count = 3, part = 64;
    const auto part_of = [&](int i) { return x.span().subspan(static_cast<std::size_t>(i * part), part); };
    // stages begins
    cudag::GraphBuilder b;
    auto ones = b.memset(x, 1.0f).label("ones");
    std::vector<cudag::Node> first;
    for (int i = 0; i < count; ++i)
        first.push_back(b.kernel(cudag::grid_1d(part, 64), scale, part, 2.0f, part_of(i)).label("first").after(ones));
    auto all = b.join(first).label("all");
    for (int i = 0; i < count; ++i)
        b.kernel(cudag::grid_1d(part, 64), scale, part, 3.0f, part_of(i)).label("second").after(all, ones);
    // stages ends
    return std::move(b).build();
}

/// A line of kernels that start early.
void early(cudag::DeviceBuffer<float>& x, const cudag::Stream& stream) {
    // early begins
    cudag::LaunchConfig config = cudag::grid_1d(x.size(), 64);
    config.waits_for_previous = true; // the code of the kernel calls wait_for_previous()
    cudag::GraphBuilder b;
    auto last = b.kernel(config, scale_after, 1024, 2.0f, x);
    for (int i = 1; i < 10; ++i)
        last = b.kernel(config, scale_after, 1024, 0.5f, x).after(last);
    cudag::Exec exec = std::move(b).build().instantiate();
    std::size_t programmatic = exec.plan().early_edges(); // 9: all
    // early ends
    expect(static_cast<float>(programmatic), 9.0f, "early edges");
    exec.launch(stream);
    stream.synchronize();
}

} // namespace

void plan() {
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(1024);
    cudag::Graph graph = chains(x);
    // plan begins
    cudag::Exec exec = graph.instantiate();
    std::puts(exec.plan().to_string().c_str()); // the changes to the edges, and possible further gains

    cudag::Exec plain = graph.instantiate({.plan = cudag::Plan::as_written()}); // CUDA gets the edges as they are
    cudag::Exec narrow = graph.instantiate({.plan = {.lanes = 8}});             // at most 8 nodes run at once
    cudag::Tuned tuned = cudag::tune(graph, stream);                            // times several plans on the device
    tuned.exec.launch(stream);
    // plan ends
    const cudag::Graph two = stages(x);
    picture("plan-written", two.dot());
    picture("plan-default", two.instantiate().dot());
    picture("plan-lanes", two.instantiate({.plan = {.lanes = 2}}).dot());
    // pieces begins
    cudag::DeviceBuffer<char> from(20'000'001), to(20'000'001); // not a whole number of pages
    cudag::GraphBuilder copies;
    auto cleared = copies.clear(from);
    auto copied = copies.memcpy_in_pieces(to, from).after(cleared); // one node; inside it, two copies
    copies.clear(from).after(copied);
    // pieces ends
    std::move(copies).build().instantiate().launch(stream);
    // saved begins
    std::string text = cudag::to_string(tuned.plan); // for a file

    // a later process, with the text of the file:
    cudag::TunedPlan saved = cudag::TunedPlan::parse(text);                 // refuses any other text
    cudag::Exec again = graph.instantiate({.plan = saved.plan_for(graph)}); // refuses a graph of another structure
    // saved ends
    again.launch(stream);
    // limits begins
    cudag::TuneOptions limits{.time_limit = std::chrono::seconds(2)};
    limits.on_progress = [](const cudag::TuneProgress& now) {
        std::fprintf(stderr, "%zu launches, %zu plans left\n", now.launches, now.contenders);
        return now.launches < 500; // false ends the measurements
    };
    cudag::Tuned sooner = cudag::tune(graph, stream, limits);
    // limits ends
    sooner.exec.launch(stream);
    early(x, stream);
    plain.launch(stream);
    narrow.launch(stream);
    exec.launch(stream);
    cudag::PinnedBuffer<float> first(1);
    cudag::memcpy_async(stream, first, x.span().first(1));
    stream.synchronize();
    expect(first[0], 1.5f, "a value under any plan");
}

} // namespace pages
