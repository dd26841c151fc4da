// What owners cost: graphs whose arguments are DeviceBuffers, beside the plain Runtime API, built and launched in a
// Stream of cudag's and in another one, alone and in a row.
#include "line.hpp"
#include "options.hpp"
#include "report.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using bench::Comparison;
using bench::microseconds;
using Buffer = cudag::DeviceBuffer<float>;

enum class Form { line, chains, after_copy };

const char* text(Form form) {
    switch (form) {
    case Form::line:
        return "line";
    case Form::chains:
        return "8 chains";
    case Form::after_copy:
        return "copy, 8 chains";
    }
    return "";
}

/// A graph of kernels, and where they stand in it.
struct Size {
    Form form;
    int kernels;

    [[nodiscard]] int chains() const noexcept { return form == Form::line ? 1 : 8; }
    /// The kernel before number `i` in its chain; -1 for none.
    [[nodiscard]] int before(int i) const noexcept { return i < chains() ? -1 : i - chains(); }
};

/// The graph through the Runtime API.
struct Raw : bench::RawGraph {
    std::vector<cudaGraphNode_t> nodes;

    void build(const Size& size, float* values, const float* from) {
        nodes.resize(static_cast<std::size_t>(size.kernels));
        cudag::check(cudaGraphCreate(&graph, 0));
        cudaGraphNode_t copy = nullptr;
        if (size.form == Form::after_copy)
            cudag::check(cudaGraphAddMemcpyNode1D(&copy, graph, nullptr, 0, values, from,
                                                  static_cast<std::size_t>(size.kernels) * sizeof(float),
                                                  cudaMemcpyHostToDevice));
        for (int i = 0; i < size.kernels; ++i) {
            int index = i;
            float amount = 1.0f;
            unsigned count = 1;
            void* arguments[4] = {&values, &index, &amount, &count};
            cudaKernelNodeParams params{};
            params.func = reinterpret_cast<void*>(touch);
            params.gridDim = {1, 1, 1};
            params.blockDim = {32, 1, 1};
            params.kernelParams = arguments;
            const int before = size.before(i);
            const cudaGraphNode_t* after = before >= 0 ? &nodes[static_cast<std::size_t>(before)] : &copy;
            cudag::check(cudaGraphAddKernelNode(&nodes[static_cast<std::size_t>(i)], graph, after,
                                                *after == nullptr ? 0 : 1, &params));
        }
    }
};

/// The same through cudag: `owners` of its kernels take the buffer, the others its address.
cudag::Graph build_owning(const Size& size, const Buffer& values, const cudag::PinnedBuffer<float>& from, int owners) {
    cudag::GraphBuilder builder({.races = cudag::Races::allowed});
    std::vector<bench::Touch> nodes;
    nodes.reserve(static_cast<std::size_t>(size.kernels));
    std::vector<cudag::Node> copy;
    if (size.form == Form::after_copy) copy.push_back(builder.memcpy(values, from));
    for (int i = 0; i < size.kernels; ++i) {
        const bench::Touch node = i < owners ? builder.kernel({.block = 32}, touch, values, i, 1.0f, 1U)
                                             : builder.kernel({.block = 32}, touch, values.data(), i, 1.0f, 1U);
        if (const int before = size.before(i); before >= 0)
            node.after(nodes[static_cast<std::size_t>(before)]);
        else if (!copy.empty())
            node.after(copy.front());
        nodes.push_back(node);
    }
    return std::move(builder).build();
}

class RawStream {
  public:
    RawStream() { cudag::check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
    ~RawStream() { static_cast<void>(cudaStreamDestroy(stream_)); }
    RawStream(const RawStream&) = delete;
    RawStream& operator=(const RawStream&) = delete;
    [[nodiscard]] cudaStream_t get() const noexcept { return stream_; }

  private:
    cudaStream_t stream_ = nullptr;
};

/// A launch by itself: the call, in microseconds.
template <class Launch>
double alone(cudaStream_t stream, const Launch& launch) {
    constexpr int launches = 20;
    double sum = 0;
    for (int i = 0; i < launches; ++i) {
        sum += microseconds(launch);
        cudag::check(cudaStreamSynchronize(stream));
    }
    return sum / launches;
}

/// Launches in a row, until the last has ended: each, in microseconds.
template <class Launch>
double in_a_row(cudaStream_t stream, const Launch& launch) {
    constexpr int launches = 50;
    const double all = microseconds([&] {
        for (int i = 0; i < launches; ++i)
            launch();
        cudag::check(cudaStreamSynchronize(stream));
    });
    return all / launches;
}

/// The goals: in a Stream, and in another one.
struct Goal {
    const char* stream;
    double ratio;
};

std::vector<Comparison> measure(const Size& size, bool all, int repeat) {
    const int owners = all ? size.kernels : 1;
    const std::string name =
        std::string(text(size.form)) + " of " + std::to_string(size.kernels) + (all ? ", all own" : ", one owns");
    std::vector<Comparison> rows;
    rows.push_back({name + ": build", size.kernels >= 100 && all ? 0.70 : 0, {}, {}});
    for (const Goal& goal : {Goal{"Stream", 1.02}, Goal{"raw stream", 1.05}}) {
        rows.push_back({name + ": launch call, " + goal.stream, goal.ratio, {}, {}});
        rows.push_back({name + ": in a row, " + goal.stream, goal.ratio, {}, {}});
    }
    rows.push_back({name + ": end of the exec, raw stream", 0, {}, {}});

    // Plans are another benchmark's matter.
    const cudag::InstantiateOptions as_written{.plan = cudag::Plan::as_written()};
    const Buffer values(static_cast<std::size_t>(size.kernels));
    const cudag::PinnedBuffer<float> from(static_cast<std::size_t>(size.kernels));
    std::fill(from.begin(), from.end(), 0.0f);
    const cudag::Stream own;
    const RawStream other;
    float* const data = values.data();
    std::vector<Comparison*> each;
    for (Comparison& row : rows)
        each.push_back(&row);

    Raw raw_in_own;
    Raw raw_in_other;
    for (Raw* const raw : {&raw_in_own, &raw_in_other}) {
        raw->build(size, data, from.data());
        raw->instantiate();
    }
    cudag::Exec in_own = build_owning(size, values, from, owners).instantiate(as_written);
    cudag::Exec in_other = build_owning(size, values, from, owners).instantiate(as_written);
    bench::rounds(repeat, each, [&](int round) {
        bench::compare(
            rows[0], round,
            [&] {
                Raw made;
                return microseconds([&] { made.build(size, data, from.data()); });
            },
            [&] {
                std::optional<cudag::Graph> made; // destroyed after the measurement, as the other
                return microseconds([&] { made = build_owning(size, values, from, owners); });
            });
        for (int kind = 0; kind < 2; ++kind) {
            const cudaStream_t stream = kind == 0 ? own.get() : other.get();
            cudag::Exec& exec = kind == 0 ? in_own : in_other;
            const Raw& raw = kind == 0 ? raw_in_own : raw_in_other;
            const auto launch_raw = [&] { cudag::check(cudaGraphLaunch(raw.exec, stream)); };
            const auto launch = [&] { exec.launch(stream); };
            const auto row = static_cast<std::size_t>(2 * kind);
            bench::compare(
                rows[row + 1], round, [&] { return alone(stream, launch_raw); }, [&] { return alone(stream, launch); });
            bench::compare(
                rows[row + 2], round, [&] { return in_a_row(stream, launch_raw); },
                [&] { return in_a_row(stream, launch); });
        }
        bench::compare(
            rows.back(), round,
            [&] {
                Raw made;
                made.build(size, data, from.data());
                made.instantiate();
                cudag::check(cudaGraphLaunch(made.exec, other.get()));
                cudag::check(cudaStreamSynchronize(other.get()));
                return microseconds(
                    [&] { static_cast<void>(cudaGraphExecDestroy(std::exchange(made.exec, nullptr))); });
            },
            [&] {
                const cudag::Graph graph = build_owning(size, values, from, owners);
                std::optional<cudag::Exec> made = graph.instantiate(as_written);
                made->launch(other.get());
                cudag::check(cudaStreamSynchronize(other.get()));
                return microseconds([&] { made.reset(); });
            });
    });
    return rows;
}

bool run(const bench::Options& options) {
    std::vector<Comparison> rows;
    for (const Form form : {Form::line, Form::chains, Form::after_copy}) {
        if (std::string(text(form)).find(*options.shape) == std::string::npos) continue;
        for (const int kernels : options.nodes)
            for (const bool all : {false, true}) {
                if (all && kernels == 1) continue;
                std::vector<Comparison> more = measure({form, kernels}, all, options.repeat);
                std::move(more.begin(), more.end(), std::back_inserter(rows));
            }
    }
    std::erase_if(rows, [&](const Comparison& row) { return row.name.find(*options.only) == std::string::npos; });
    bench::report("graphs that own their memory, " + std::to_string(options.repeat) + " rounds", rows, options.json);
    return bench::meets_goals(rows);
}

} // namespace

int main(int argc, char** argv) {
    return bench::run_benchmark(argc, argv, {.nodes = {1, 10, 100, 200, 1000}, .repeat = 31, .only = "", .shape = ""},
                                run);
}
