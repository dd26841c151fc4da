// What cudag costs beside the plain Runtime API: a line of kernel nodes, built, instantiated, launched and updated.
#include "kernels.hpp"
#include "report.hpp"

#include <cudag/cudag.hpp>

#include <fmt/format.h>

#include <cstdlib>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct Options {
    int nodes = 1000;
    int repeat = 200;
    std::string json;
    bool check = false;
};

struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

constexpr auto usage = "usage: overhead [--nodes N] [--repeat N] [--json FILE] [--check]\n"
                       "--check: exit with 1 if a ratio misses its goal\n";

int positive(std::string_view option, const char* text) {
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    if (*text == '\0' || *end != '\0' || value < 1 || value > 1'000'000)
        throw UsageError(fmt::format("{} takes a number from 1 to 1000000, not \"{}\"", option, text));
    return static_cast<int>(value);
}

Options parse(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string_view option = argv[i];
        if (option == "--check") {
            options.check = true;
            continue;
        }
        if (i + 1 == argc) throw UsageError(fmt::format("unknown option, or option without its value: {}", option));
        const char* value = argv[++i];
        if (option == "--nodes")
            options.nodes = positive(option, value);
        else if (option == "--repeat")
            options.repeat = positive(option, value);
        else if (option == "--json")
            options.json = value;
        else
            throw UsageError(fmt::format("unknown option {}", option));
    }
    return options;
}

using Touch = cudag::KernelNode<float*, int, float, unsigned>;

/// The same line of kernels, made by hand.
struct RawLine {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    std::vector<cudaGraphNode_t> nodes;

    RawLine() = default;
    RawLine(const RawLine&) = delete;
    RawLine& operator=(const RawLine&) = delete;
    ~RawLine() {
        if (exec != nullptr) static_cast<void>(cudaGraphExecDestroy(exec));
        if (graph != nullptr) static_cast<void>(cudaGraphDestroy(graph));
    }

    void build(int count, float* values) {
        nodes.resize(static_cast<std::size_t>(count));
        cudag::check(cudaGraphCreate(&graph, 0));
        for (int i = 0; i < count; ++i) {
            const auto n = static_cast<std::size_t>(i);
            Arguments arguments{values, i, 1.0f, 1};
            const cudaKernelNodeParams params = arguments.params();
            cudag::check(
                cudaGraphAddKernelNode(&nodes[n], graph, i == 0 ? nullptr : &nodes[n - 1], i == 0 ? 0 : 1, &params));
        }
    }

    void instantiate() { cudag::check(cudaGraphInstantiate(&exec, graph, 0)); }

    void update(std::size_t node, float* values, float amount) {
        Arguments arguments{values, static_cast<int>(node), amount, 1};
        const cudaKernelNodeParams params = arguments.params();
        cudag::check(cudaGraphExecKernelNodeSetParams(exec, nodes[node], &params));
    }

  private:
    struct Arguments {
        float* values;
        int index;
        float amount;
        unsigned count;
        void* pointers[4] = {&values, &index, &amount, &count};

        cudaKernelNodeParams params() {
            cudaKernelNodeParams result{};
            result.func = reinterpret_cast<void*>(touch);
            result.gridDim = {1, 1, 1};
            result.blockDim = {32, 1, 1};
            result.kernelParams = pointers;
            return result;
        }
    };
};

/// The line through cudag.
struct CudagLine {
    std::optional<cudag::Graph> graph;
    std::optional<cudag::Exec> exec;
    std::vector<Touch> nodes;

    /// `values`: float*, borrowed, or DeviceBuffer<float>, which the graph keeps.
    template <class Values>
    void build(int count, Values& values) {
        nodes.reserve(static_cast<std::size_t>(count));
        cudag::GraphBuilder builder;
        for (int i = 0; i < count; ++i) {
            const Touch node = builder.kernel({.block = 32}, touch, values, i, 1.0f, 1U);
            if (i > 0) node.after(nodes.back());
            nodes.push_back(node);
        }
        graph = std::move(builder).build();
    }

    void instantiate() { exec = graph->instantiate(); }
};

/// Runs `raw` and `cudag` in turns that alternate, and notes what each returns: its microseconds.
template <class Raw, class Cudag>
void compare(bench::Comparison& row, int round, Raw&& raw, Cudag&& cudag) {
    if (round % 2 == 0) row.raw.push_back(raw());
    row.cudag.push_back(cudag());
    if (round % 2 != 0) row.raw.push_back(raw());
}

std::vector<bench::Comparison> measure(const Options& options) {
    using bench::microseconds;
    bench::Comparison build{"build", 0.65, {}, {}};
    bench::Comparison build_owning{"build, DeviceBuffer as argument", 0, {}, {}};
    bench::Comparison instantiate{"instantiate", 1.05, {}, {}};
    bench::Comparison both{"build and instantiate", 0, {}, {}};
    bench::Comparison launch{"launch", 1.02, {}, {}};
    bench::Comparison update{"update of one node", 0.7, {}, {}};
    bench::Comparison update_argument{"update of one argument", 0.7, {}, {}};
    bench::Comparison update_each{"update of each node, per node", 0.7, {}, {}};

    cudag::Stream stream;
    cudag::DeviceBuffer<float> values(static_cast<std::size_t>(options.nodes));
    cudag::memset_async(stream, values, 0.0f);
    cudag::launch(stream, {.block = 32}, touch, values, 0, 1.0f, 1U);
    stream.synchronize();
    float* const data = values.data();
    const auto count = static_cast<std::size_t>(options.nodes);
    const std::size_t middle = count / 2;

    constexpr int warm_up = 5;
    const auto rounds = [&](const std::vector<bench::Comparison*>& rows, auto&& round) {
        for (int i = -warm_up; i < options.repeat; ++i) {
            if (i == 0)
                for (bench::Comparison* row : rows)
                    row->raw.clear(), row->cudag.clear();
            round(i);
        }
    };

    // A line is instantiated right after it was built, and destroyed before the next one, as programs do.
    const auto build_raw = [&] {
        RawLine line;
        build.raw.push_back(microseconds([&] { line.build(options.nodes, data); }));
        instantiate.raw.push_back(microseconds([&] { line.instantiate(); }));
    };
    const auto build_cudag = [&] {
        CudagLine line;
        build.cudag.push_back(microseconds([&] { line.build(options.nodes, data); }));
        instantiate.cudag.push_back(microseconds([&] { line.instantiate(); }));
    };
    rounds({&build, &build_owning, &instantiate, &both}, [&](int round) {
        if (round % 2 == 0) build_raw();
        build_cudag();
        if (round % 2 != 0) build_raw();
        build_owning.raw.push_back(build.raw.back());
        CudagLine owning;
        build_owning.cudag.push_back(microseconds([&] { owning.build(options.nodes, values); }));
        both.raw.push_back(build.raw.back() + instantiate.raw.back());
        both.cudag.push_back(build.cudag.back() + instantiate.cudag.back());
    });

    RawLine raw;
    raw.build(options.nodes, data);
    raw.instantiate();
    CudagLine ours;
    ours.build(options.nodes, data);
    ours.instantiate();
    constexpr int updates = 1000;
    const auto per_update = [&](auto&& one) {
        return microseconds([&] {
                   for (int i = 0; i < updates; ++i)
                       one(i);
               }) /
               updates;
    };
    const Touch node = ours.nodes[middle];
    const int index = static_cast<int>(middle);
    rounds({&launch, &update, &update_argument, &update_each}, [&](int round) {
        compare(
            launch, round,
            [&] {
                const double taken = microseconds([&] { cudag::check(cudaGraphLaunch(raw.exec, stream.get())); });
                stream.synchronize();
                return taken;
            },
            [&] {
                const double taken = microseconds([&] { ours.exec->launch(stream); });
                stream.synchronize();
                return taken;
            });
        compare(
            update, round, [&] { return per_update([&](int i) { raw.update(middle, data, static_cast<float>(i)); }); },
            [&] {
                return per_update([&](int i) { ours.exec->update(node, data, index, static_cast<float>(i), 1U); });
            });
        update_argument.raw.push_back(update.raw.back());
        update_argument.cudag.push_back(
            per_update([&](int i) { ours.exec->update(node, cudag::arg<2>(static_cast<float>(i))); }));
        compare(
            update_each, round,
            [&] {
                return microseconds([&] {
                           for (std::size_t i = 0; i < count; ++i)
                               raw.update(i, data, 2.0f);
                       }) /
                       static_cast<double>(count);
            },
            [&] {
                return microseconds([&] {
                           for (std::size_t i = 0; i < count; ++i)
                               ours.exec->update(ours.nodes[i], data, static_cast<int>(i), 2.0f, 1U);
                       }) /
                       static_cast<double>(count);
            });
    });
    return {build, build_owning, instantiate, both, launch, update, update_argument, update_each};
}

} // namespace

int main(int argc, char** argv) {
    try {
        const Options options = parse(argc, argv);
        const std::vector<bench::Comparison> rows = measure(options);
        const std::string title = fmt::format("a line of {} kernel nodes, {} rounds", options.nodes, options.repeat);
        bench::print_table(title, rows);
        if (!options.json.empty()) bench::write_json(options.json, title, rows);
        return options.check && !bench::meets_goals(rows) ? 1 : 0;
    } catch (const UsageError& error) {
        std::cerr << "overhead: " << error.what() << '\n' << usage;
        return 2;
    } catch (const std::exception& error) {
        std::cerr << "overhead: " << error.what() << '\n';
        return 1;
    }
}
