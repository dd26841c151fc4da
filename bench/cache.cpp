// What it costs to launch graphs by an ExecCache, beside the plain Runtime API that keeps one executable graph: a graph
// that was launched before, and graphs of one structure with other arguments. Hits of a CaptureCache, with and without
// verification.
#include "line.hpp"
#include "options.hpp"
#include "report.hpp"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using bench::Amounts;
using bench::Comparison;
using bench::microseconds;

/// Graphs of one structure, both ways, and what launches them: an executable graph, and a cache of execs. Each row has
/// its own, so that both sides find theirs in the CPU's caches alike.
class Graphs {
  public:
    Graphs(int nodes, float* values, const Amounts& amounts, const cudag::Stream& stream) : stream_(stream) {
        raw_.build(nodes, values);
        raw_.instantiate();
        ours_.build(nodes, values);
        other_raw_.build(nodes, values, amounts);
        other_ours_.build(nodes, values, amounts);
        cache_.launch(*ours_.graph, stream_);
        stream_.synchronize();
    }

    void compare_hits(Comparison& row, int repeat) {
        bench::rounds(repeat, {&row}, [&](int round) {
            bench::compare(
                row, round, [&] { return waited([&] { launch_raw(); }); },
                [&] { return waited([&] { cache_.launch(*ours_.graph, stream_); }); });
        });
    }
    void compare_updates(Comparison& row, int repeat) {
        bench::rounds(repeat, {&row}, [&](int round) {
            update_raw(raw_.graph);
            launch_raw();
            cache_.launch(*ours_.graph, stream_);
            stream_.synchronize();
            bench::compare(
                row, round,
                [&] {
                    return waited([&] {
                        update_raw(other_raw_.graph);
                        launch_raw();
                    });
                },
                [&] { return waited([&] { cache_.launch(*other_ours_.graph, stream_); }); });
        });
        if (cache_.stats().instantiations != 1)
            throw std::logic_error("graphs of one structure were instantiated twice");
    }

  private:
    void launch_raw() const { cudag::check(cudaGraphLaunch(raw_.exec, stream_.get())); }
    void update_raw(cudaGraph_t graph) const {
        cudaGraphExecUpdateResultInfo result{};
        cudag::check(cudaGraphExecUpdate(raw_.exec, graph, &result));
    }
    /// How long the calls take that `work` makes; what they have enqueued has ended then.
    template <class Work>
    [[nodiscard]] double waited(const Work& work) const {
        const double taken = microseconds(work);
        stream_.synchronize();
        return taken;
    }

    const cudag::Stream& stream_;
    bench::RawLine raw_, other_raw_;
    bench::CudagLine ours_, other_ours_;
    cudag::ExecCache cache_;
};

/// Caches of one captured line, by their `.verify`.
class CapturedLine {
  public:
    CapturedLine(int nodes, float* values, const cudag::Stream& stream, std::uint64_t verify)
        : nodes_(nodes), values_(values), stream_(stream), cache_({.warm_up = 0, .verify = verify}) {
        run();
        stream_.synchronize();
    }
    /// How long a call takes, without its work.
    [[nodiscard]] double time_run() {
        const double taken = microseconds([&] { run(); });
        stream_.synchronize();
        return taken;
    }

  private:
    void run() {
        cache_.run(stream_, nodes_, [nodes = nodes_, values = values_](cudaStream_t s) {
            for (int i = 0; i < nodes; ++i)
                cudag::launch(s, {.block = 32}, touch, values, i, 1.0f, 1U);
        });
    }

    int nodes_;
    float* values_;
    const cudag::Stream& stream_;
    cudag::CaptureCache cache_;
};

void measure_captured(std::vector<Comparison>& rows, const std::string& name, int nodes, float* values,
                      const cudag::Stream& stream, int repeat) {
    constexpr std::uint64_t never = std::uint64_t{1} << 40U; // no run has as many hits
    for (const auto& [verified, goal, verify] :
         {std::tuple("in a cache that verifies later ones, against one that never does", 1.05, never),
          std::tuple("verified, against one that is not", 0.0, std::uint64_t{1})}) {
        rows.push_back({name + "a CaptureCache hit " + verified, goal, {}, {}});
        CapturedLine plain(nodes, values, stream, 0);
        CapturedLine verifying(nodes, values, stream, verify);
        bench::rounds(repeat, {&rows.back()}, [&](int round) {
            bench::compare(
                rows.back(), round, [&] { return plain.time_run(); }, [&] { return verifying.time_run(); });
        });
    }
}

std::vector<Comparison> measure(int nodes, const cudag::Stream& stream, int repeat) {
    const std::string name = std::to_string(nodes) + " nodes: ";
    const cudag::DeviceBuffer<float> values(static_cast<std::size_t>(nodes));
    cudag::launch(stream, {.block = 32}, touch, values, 0, 1.0f, 1U); // the first use of a kernel loads it
    std::vector<Comparison> rows{{name + "a hit, against a launch", 1.05, {}, {}}};
    Graphs(nodes, values.data(), {}, stream).compare_hits(rows.back(), repeat);
    const int middle = nodes / 2;
    // The raw side of an update is whole update and launch.
    for (const auto& [differs, amounts] : {std::pair("an update in which nothing differs", Amounts{}),
                                           std::pair("in which one node differs", Amounts{2.0f, middle, middle}),
                                           std::pair("in which all differ", Amounts{2.0f, 0, nodes - 1})}) {
        rows.push_back({name + differs, 1.05, {}, {}});
        Graphs(nodes, values.data(), amounts, stream).compare_updates(rows.back(), repeat);
    }
    measure_captured(rows, name, nodes, values.data(), stream, repeat);
    return rows;
}

bool run(const bench::Options& options) {
    cudag::Stream stream;
    std::vector<Comparison> rows;
    for (const int nodes : options.nodes) {
        const std::vector<Comparison> measured = measure(nodes, stream, options.repeat);
        rows.insert(rows.end(), measured.begin(), measured.end());
    }
    bench::report("launches by a cache of execs, " + std::to_string(options.repeat) + " rounds", rows, options.json);
    return bench::meets_goals(rows);
}

} // namespace

int main(int argc, char** argv) {
    return bench::run_benchmark(argc, argv, {.nodes = {10, 100, 1000, 10'000}, .repeat = 50}, run);
}
