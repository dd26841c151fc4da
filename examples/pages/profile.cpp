// docs/profile.md: the times of nodes, as a table, a trace and a plan, and the comparison of two profiles.
#include "kernels.hpp"
#include "pages.hpp"

#include <cudag/cudag.hpp>
#include <cudag/profile.hpp>
#include <cudag/profile_diff.hpp>

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

namespace pages {
namespace {

constexpr int elements = 1 << 16;

/// Two branches, and a child after both.
cudag::Graph model(cudag::DeviceBuffer<float>& x, cudag::DeviceBuffer<float>& y, cudag::DeviceBuffer<float>& sum) {
    const cudag::LaunchConfig config = cudag::grid_1d(elements, 256);
    cudag::GraphBuilder layer;
    auto both = layer.kernel(config, add, elements, x, y, sum).label("add");
    layer.kernel(config, scale, elements, 0.5f, sum).label("halve").after(both);

    cudag::GraphBuilder b;
    auto ones = b.memset(x, 1.0f).label("ones");
    auto twos = b.memset(y, 2.0f).label("twos");
    auto left = b.kernel(config, scale, elements, 3.0f, x).label("left").after(ones);
    auto right = b.kernel(config, scale, elements, 2.0f, y).label("right").after(twos);
    b.child(std::move(layer).build()).label("mean").after(left, right);
    return std::move(b).build();
}

} // namespace

void profile() {
    const cudag::Stream stream;
    cudag::DeviceBuffer<float> x(elements), y(elements), sum(elements);
    const cudag::Graph graph = model(x, y, sum);
    const std::string folder = std::filesystem::temp_directory_path();
    cudag::Exec exec = graph.instantiate();
    // profile begins
    const cudag::Profile profile = cudag::profile(exec, stream, {.launches = 20});
    std::puts(profile.to_string().c_str());
    std::ofstream(folder + "/cudag-profile.json") << profile.chrome_trace();
    // profile ends
    expect(static_cast<float>(profile.nodes().size()), 7, "profiled nodes");
    // query begins
    const double add_us = profile.find("add")->duration.median;
    const double gaps_us = profile.critical_time() - profile.critical_busy_time();
    for (const cudag::NodeProfile& node : profile.nodes())
        if (node.is_critical) std::printf("%s takes %.1f us\n", node.description.c_str(), node.duration.median);
    // query ends
    picture("profile", profile.dot());
    expect(static_cast<float>(add_us > 0 && gaps_us >= 0), 1, "times");
    // plan begins
    cudag::Exec by_durations = graph.instantiate({.plan = {.durations = profile.durations()}});
    // plan ends
    // diff begins
    const cudag::Profile after = cudag::profile(by_durations, stream, {.launches = 20});
    std::puts(diff(profile, after).to_string().c_str());
    // diff ends
    std::filesystem::remove(folder + "/cudag-profile.json");
}

} // namespace pages
