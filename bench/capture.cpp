// What it costs to capture a line of kernel launches as a cudag::Graph, beside the plain Runtime API's capture of the
// same launches. The typed records of a captured graph are made when they are first asked for: the rows "with records"
// ask for all of them, by listing the nodes and finding the kernel's.
#include "line.hpp"
#include "options.hpp"
#include "report.hpp"

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using bench::Comparison;
using bench::microseconds;

class Captures {
  public:
    explicit Captures(int nodes) : nodes_(nodes), values_(static_cast<std::size_t>(nodes)) {
        cudag::memset_async(stream_, values_, 0.0f);
        cudag::launch(stream_, {.block = 32}, touch, values_, 0, 1.0f, 1U); // the first use of a kernel loads it
        stream_.synchronize();
    }

    /// Microseconds, as those below.
    [[nodiscard]] double raw() const {
        cudaGraph_t graph = nullptr;
        const double taken = microseconds([&] {
            cudag::check(cudaStreamBeginCapture(stream_.get(), cudaStreamCaptureModeThreadLocal));
            launch_plainly(stream_.get());
            cudag::check(cudaStreamEndCapture(stream_.get(), &graph));
        });
        cudag::check(cudaGraphDestroy(graph));
        return taken;
    }

    enum class Launches { plain, cudag, tracked };
    enum class Records { none, all };

    [[nodiscard]] double ours(Launches launches, Records records) const {
        std::optional<cudag::Graph> graph;
        std::size_t found = 0;
        const double taken = microseconds([&] {
            graph = cudag::capture(stream_, [&](cudaStream_t stream) {
                if (launches == Launches::plain)
                    launch_plainly(stream);
                else if (launches == Launches::cudag)
                    launch_by_cudag(stream, values_.data());
                else
                    launch_by_cudag(stream, values_.span());
            });
            if (records == Records::all) found = graph->nodes().size() + graph->find(touch).size();
        });
        if (records == Records::all && found != 2 * values_.size())
            throw std::runtime_error("the captured graph does not have the kernels that were launched");
        return taken;
    }

  private:
    void launch_plainly(cudaStream_t stream) const {
        for (int i = 0; i < nodes_; ++i)
            bench::RawLine::launch(stream, i, values_.data(), 1.0f);
    }
    template <class Memory>
    void launch_by_cudag(cudaStream_t stream, const Memory& values) const {
        for (int i = 0; i < nodes_; ++i)
            cudag::launch(stream, {.block = 32}, touch, values, i, 1.0f, 1U);
    }

    int nodes_;
    cudag::Stream stream_;
    cudag::DeviceBuffer<float> values_;
};

std::vector<Comparison> measure(int nodes, int repeat) {
    using Launches = Captures::Launches;
    using Records = Captures::Records;
    struct Row {
        Comparison comparison;
        Launches launches;
        Records records;
    };
    const std::string launches = " of " + std::to_string(nodes);
    std::vector<Row> rows{
        {{"capture" + launches + " cudaLaunchKernel", 1.05, {}, {}}, Launches::plain, Records::none},
        {{"the same, with records", 0, {}, {}}, Launches::plain, Records::all},
        {{"capture" + launches + " cudag::launch", 1.05, {}, {}}, Launches::cudag, Records::none},
        {{"the same, with records", 1.05, {}, {}}, Launches::cudag, Records::all},
        {{"with a span, which is tracked", 0, {}, {}}, Launches::tracked, Records::none},
    };
    const Captures captures(nodes);
    std::vector<Comparison*> all;
    for (Row& row : rows)
        all.push_back(&row.comparison);
    bench::rounds(repeat, all, [&](int round) {
        for (Row& row : rows)
            bench::compare(
                row.comparison, round, [&] { return captures.raw(); },
                [&] { return captures.ours(row.launches, row.records); });
    });
    std::vector<Comparison> measured;
    for (Row& row : rows)
        measured.push_back(std::move(row.comparison));
    return measured;
}

bool run(const bench::Options& options) {
    std::vector<Comparison> rows;
    for (const int nodes : options.nodes)
        for (Comparison& row : measure(nodes, options.repeat))
            rows.push_back(std::move(row));
    bench::report("capture of a line of kernels, " + std::to_string(options.repeat) + " rounds", rows, options.json);
    return bench::meets_goals(rows);
}

} // namespace

int main(int argc, char** argv) {
    return bench::run_benchmark(argc, argv, {.nodes = {1000}}, run);
}
