// What the fault recorder costs: the launch call, the GPU time and the instantiation of lines and decoders, with and
// without marks. `recorder fault N` has node N of a decoder write to a wrong address, and expects its name in the
// error: one process for each fault, since it ends CUDA's context.
#include "kernels.hpp"
#include "launch_timer.hpp"
#include "options.hpp"
#include "report.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using Combine = cudag::KernelNode<const unsigned*, const unsigned*, const unsigned*, unsigned*, unsigned>;

/// A line of kernels of `microseconds` each.
cudag::Graph line(int nodes, int microseconds) {
    cudag::GraphBuilder b;
    std::optional<cudag::Node> last;
    for (int i = 0; i < nodes; ++i) {
        auto node =
            b.kernel({}, spin, 1000U * static_cast<unsigned>(microseconds)).label("kernel " + std::to_string(i));
        if (last) node.after(*last);
        last = node;
    }
    return std::move(b).build();
}

/// Calls `add(predecessors)`, which returns the new node, for layers of a language model: queries, keys and values;
/// attention; its output; two projections; their sum.
template <class Add>
void add_layers(int nodes, const Add& add) {
    auto last = add({});
    for (int count = 1; count < nodes; count += 8) {
        const auto q = add({last}), k = add({last}), v = add({last});
        const auto output = add({add({q, k, v})});
        const auto gate = add({output}), up = add({output});
        last = add({gate, up});
    }
}

cudag::Graph decoder(int nodes, int microseconds) {
    cudag::GraphBuilder b;
    int count = 0;
    add_layers(nodes, [&](const std::vector<cudag::Node>& after) -> cudag::Node {
        auto node =
            b.kernel({}, spin, 1000U * static_cast<unsigned>(microseconds)).label("kernel " + std::to_string(count++));
        for (const cudag::Node& before : after)
            node.after(before);
        return node;
    });
    return std::move(b).build();
}

struct Costs {
    double instantiate, call, gpu;
};

Costs measure(const cudag::Graph& graph, bool recorder, int repeat) {
    std::optional<cudag::Exec> exec;
    Costs costs{bench::microseconds([&] { exec.emplace(graph.instantiate({.recorder = recorder})); }), 0, 0};
    bench::LaunchTimer timer;
    std::vector<double> calls, times;
    for (int i = 0; i < repeat + 3; ++i) {
        const bench::LaunchTimes once = timer([&] { exec->launch(timer.stream()); });
        if (i < 3) continue;
        calls.push_back(once.call);
        times.push_back(once.gpu);
    }
    std::ranges::sort(calls);
    std::ranges::sort(times);
    costs.call = calls[calls.size() / 2];
    costs.gpu = times[times.size() / 2];
    return costs;
}

bool print_costs(const bench::Options& options) {
    std::puts("shape      nodes  kernel us | instantiate us, with, ratio | launch call us, with, ratio | GPU us, with, "
              "ratio");
    for (const int duration : options.durations)
        for (const int nodes : options.nodes)
            for (const bool is_line : {true, false}) {
                const cudag::Graph graph = is_line ? line(nodes, duration) : decoder(nodes, duration);
                const Costs without = measure(graph, false, options.repeat),
                            with = measure(graph, true, options.repeat);
                std::printf("%-8s %7d %10d | %9.0f %9.0f %5.2f | %8.1f %8.1f %5.2f | %9.1f %9.1f %5.2f\n",
                            is_line ? "line" : "decoder", nodes, duration, without.instantiate, with.instantiate,
                            with.instantiate / without.instantiate, without.call, with.call, with.call / without.call,
                            without.gpu, with.gpu, with.gpu / without.gpu);
            }
    return true;
}

/// Returns 0 if the fault of node `faulty` is named, and prints the error otherwise.
int name_fault(int faulty, int nodes) {
    const cudag::Stream stream;
    const cudag::DeviceBuffer<unsigned> cell(1);
    cudag::GraphBuilder b;
    std::vector<Combine> all;
    add_layers(nodes, [&](const std::vector<cudag::Node>& after) -> cudag::Node {
        Combine node = b.kernel({}, combine, nullptr, nullptr, nullptr, cell.data(), 1U);
        node.label("kernel " + std::to_string(all.size()));
        for (const cudag::Node& before : after)
            node.after(before);
        all.push_back(node);
        return node;
    });
    const cudag::Graph graph = std::move(b).build();
    cudag::Exec exec = graph.instantiate({.recorder = true});
    exec.launch(stream);
    stream.synchronize();
    const Combine& node = all.at(static_cast<std::size_t>(faulty));
    const std::string label(node.label());
    constexpr std::uintptr_t nowhere = 0x1000;
    exec.update(node, cudag::arg<3>(reinterpret_cast<unsigned*>(nowhere)));
    try {
        exec.launch(stream);
        stream.synchronize(std::chrono::seconds(20));
        std::puts("no error");
    } catch (const cudag::Error& error) {
        const auto named = std::ranges::count(error.labels(), label);
        if (named == 1 && error.labels().size() <= 3) return 0;
        std::printf("%s: %s\n", label.c_str(), error.what());
    }
    return 1;
}

} // namespace

int main(int argc, char** argv) {
    if (argc >= 3 && std::string_view(argv[1]) == "fault") return name_fault(std::atoi(argv[2]), 700);
    return bench::run_benchmark(argc, argv, {.nodes = {256, 700}, .durations = {0, 5}, .repeat = 100}, print_costs);
}
