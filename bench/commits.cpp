// What it costs to run graphs whose pointers are others each time, as frameworks do that commit what a program has
// asked for whenever there is enough of it: built anew each time, for a hand-written store of executable graphs, beside
// cudag's, which keeps the graph and changes its arguments.
#include "hand_written.hpp"
#include "kernels.hpp"
#include "options.hpp"
#include "report.hpp"
#include "tokens.hpp"

#include <cstdio>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using bench::Comparison;
using Combine = cudag::KernelNode<const unsigned*, const unsigned*, const unsigned*, unsigned*, unsigned>;
using Kernel = void (*)(const unsigned*, const unsigned*, const unsigned*, unsigned*, unsigned);

struct Workload {
    const char* name;
    int structures;   ///< that each commit comes in, in turns
    int other_kernel; ///< every how many tokens kernels are the other ones; 0: never
    bool by_cache;    ///< whether cudag's execs are an ExecCache's, for which graphs are changed, not execs
    double goal;

    [[nodiscard]] int structure(int token) const { return token % structures; }
    [[nodiscard]] bool is_other(int token) const { return other_kernel != 0 && token % other_kernel == 0; }
    [[nodiscard]] Kernel kernel(int token) const { return is_other(token) ? combine_otherwise : combine; }
};

/// The operations of a token, in every structure, and where they write.
struct Work {
    Work(const std::vector<bench::Operation>& ops, const Workload& of)
        : workload(of), operations(ops), cells(ops.size()) {
        for (int i = 0; i < of.structures; ++i)
            commits.push_back(bench::commits_of(ops, i));
    }

    [[nodiscard]] const std::vector<bench::Commit>& commits_of(int token) const {
        return commits[static_cast<std::size_t>(workload.structure(token))];
    }
    [[nodiscard]] bench::Cells::Arguments arguments(const bench::Commit& commit, int i, int token) const {
        const int number = commit.first + i;
        return cells.arguments(operations[static_cast<std::size_t>(number)], number, token);
    }
    void verify(const char* who, int tokens) const {
        if (cells.contents() != bench::Cells::expected(operations, tokens, workload.other_kernel))
            throw std::logic_error(std::string(workload.name) + ": the results of " + who + " are wrong");
    }

    const Workload& workload;
    const std::vector<bench::Operation>& operations;
    std::vector<std::vector<bench::Commit>> commits; ///< of each structure
    bench::Cells cells;
};

/// Every operation as a launch.
struct InStream : Work {
    using Work::Work;

    void token(int token, cudaStream_t stream) {
        for (const bench::Commit& commit : commits_of(token))
            for (int i = 0; i < commit.count; ++i) {
                auto [in, out, salt] = arguments(commit, i, token);
                void* pointers[] = {&in[0], &in[1], &in[2], &out, &salt};
                cudag::check(cudaLaunchKernel(reinterpret_cast<const void*>(workload.kernel(token)), 1, 32, pointers, 0,
                                              stream));
            }
    }
};

/// As it is written by hand.
struct ByHand : Work {
    ByHand(const std::vector<bench::Operation>& ops, const Workload& of, std::size_t capacity)
        : Work(ops, of), store(capacity) {}

    void token(int token, cudaStream_t stream) {
        for (const bench::Commit& commit : commits_of(token)) {
            cudaGraph_t graph = nullptr;
            cudag::check(cudaGraphCreate(&graph, 0));
            std::vector<cudaGraphNode_t> nodes(static_cast<std::size_t>(commit.count));
            std::string key;
            for (int i = 0; i < commit.count; ++i) {
                auto [in, out, salt] = arguments(commit, i, token);
                void* pointers[] = {&in[0], &in[1], &in[2], &out, &salt};
                cudaKernelNodeParams params{};
                params.func = reinterpret_cast<void*>(workload.kernel(token));
                params.gridDim = {1, 1, 1};
                params.blockDim = {32, 1, 1};
                params.kernelParams = pointers;
                cudag::check(cudaGraphAddKernelNode(&nodes[static_cast<std::size_t>(i)], graph, nullptr, 0, &params));
                key += 'K';
            }
            std::vector<cudaGraphNode_t> from, to;
            for (const bench::Commit::Edge& edge : commit.edges) {
                from.push_back(nodes[static_cast<std::size_t>(edge.from)]);
                to.push_back(nodes[static_cast<std::size_t>(edge.to)]);
                key += static_cast<char>(edge.from);
                key += static_cast<char>(edge.to);
            }
#if CUDART_VERSION >= 13000
            cudag::check(cudaGraphAddDependencies(graph, from.data(), to.data(), nullptr, from.size()));
#else
            cudag::check(cudaGraphAddDependencies(graph, from.data(), to.data(), from.size()));
#endif
            store.launch(graph, key, stream);
            cudag::check(cudaGraphDestroy(graph));
        }
    }

    bench::HandWrittenStore store;
};

/// Through cudag: each graph is built once, and kept with its exec, or launched by a cache of execs.
struct ByCudag : Work {
    ByCudag(const std::vector<bench::Operation>& ops, const Workload& of, std::size_t capacity)
        : Work(ops, of), cache({.capacity = capacity}) {}

    void token(int token, cudag::Stream& stream) {
        for (const bench::Commit& commit : commits_of(token)) {
            Kept& kept = graph_of(commit, token);
            const auto update = [&](auto& target) {
                for (int i = 0; i < commit.count; ++i) {
                    const auto [in, out, salt] = arguments(commit, i, token);
                    target.update(kept.nodes[static_cast<std::size_t>(i)], in[0], in[1], in[2], out, salt);
                }
            };
            if (workload.by_cache) {
                update(kept.graph);
                cache.launch(kept.graph, stream);
            } else {
                update(*kept.exec);
                kept.exec->launch(stream);
            }
        }
    }
    [[nodiscard]] std::uint64_t instantiations() const {
        return workload.by_cache ? cache.stats().instantiations : graphs_.size();
    }

  private:
    struct Kept {
        cudag::Graph graph;
        std::vector<Combine> nodes;
        std::optional<cudag::Exec> exec;
    };
    using Key = std::pair<const bench::Commit*, bool>; ///< and whether of the other kernel

    Kept& graph_of(const bench::Commit& commit, int token) {
        const Key key{&commit, workload.is_other(token)};
        if (const auto known = graphs_.find(key); known != graphs_.end()) return known->second;
        cudag::GraphBuilder b;
        std::vector<Combine> nodes;
        for (int i = 0; i < commit.count; ++i) {
            const auto [in, out, salt] = arguments(commit, i, token);
            nodes.push_back(b.kernel({.block = 32}, workload.kernel(token), in[0], in[1], in[2], out, salt));
        }
        for (const bench::Commit::Edge& edge : commit.edges)
            nodes[static_cast<std::size_t>(edge.to)].after(nodes[static_cast<std::size_t>(edge.from)]);
        Kept kept{std::move(b).build(), std::move(nodes), std::nullopt};
        if (!workload.by_cache) kept.exec = kept.graph.instantiate();
        return graphs_.emplace(key, std::move(kept)).first->second;
    }

    cudag::ExecCache cache;
    std::map<Key, Kept> graphs_;
};

std::vector<Comparison> measure(const Workload& workload, const std::vector<bench::Operation>& operations,
                                cudag::Stream& stream, int repeat) {
    // Room for 400 where a token is six commits, in 70 structures.
    const std::size_t capacity = bench::commits_of(operations).size() * 400 / 6;
    const std::string name = std::string(workload.name) + ": ";
    Comparison by_hand{name + "by hand", workload.goal, {}, {}};
    Comparison in_stream{name + "launches", 0, {}, {}};
    InStream launches(operations, workload);
    ByHand raw(operations, workload, capacity);
    ByCudag ours(operations, workload, capacity);

    const auto host_time = [&](auto&& work) {
        const double taken = bench::microseconds(work);
        stream.synchronize();
        return taken;
    };
    int token = 0;
    const auto launch_all = [&] { return host_time([&] { launches.token(token, stream.get()); }); };
    const auto run_raw = [&] { return host_time([&] { raw.token(token, stream.get()); }); };
    const auto run_ours = [&] { return host_time([&] { ours.token(token, stream); }); };
    for (; token < 2 * workload.structures; ++token)
        launch_all(), run_raw(), run_ours();
    const std::uint64_t raw_before = raw.store.instantiations(), ours_before = ours.instantiations();
    bench::rounds(repeat, {&by_hand, &in_stream}, [&](int round) {
        double taken = 0;
        bench::compare(by_hand, round, run_raw, [&] { return taken = run_ours(); });
        bench::compare(in_stream, round, launch_all, [&] { return taken; });
        ++token;
    });
    launches.verify("launches", token);
    raw.verify("the hand-written store", token);
    ours.verify("cudag", token);
    const std::uint64_t instantiations = ours.instantiations() - ours_before;
    if (workload.structures == 1 && instantiations != 0)
        throw std::logic_error("graphs that were launched before were instantiated again");
    std::printf("%s: the hand-written store instantiated %llu times, cudag %llu times\n", workload.name,
                static_cast<unsigned long long>(raw.store.instantiations() - raw_before),
                static_cast<unsigned long long>(instantiations));
    return {by_hand, in_stream};
}

bool run(const bench::Options& options) {
    constexpr Workload workloads[] = {
        {"same commits", 1, 0, false, 0.7},
        {"the same by an ExecCache", 1, 0, true, 0},
        {"70 structures, room for 66", 70, 0, true, 0},
        {"other kernels each time", 1, 2, false, 0.7},
    };
    cudag::Stream stream;
    const cudag::DeviceBuffer<unsigned> cell(1);
    for (const Kernel kernel : {combine, combine_otherwise}) // the first use of a kernel loads it
        cudag::launch(stream, {}, kernel, nullptr, nullptr, nullptr, cell, 0U);
    stream.synchronize();
    std::vector<Comparison> rows;
    for (const int nodes : options.nodes) {
        const std::vector<bench::Operation> operations = bench::operations_of((nodes - 6) / 18);
        for (const Workload& workload : workloads) {
            const std::vector<Comparison> measured = measure(workload, operations, stream, options.repeat);
            rows.insert(rows.end(), measured.begin(), measured.end());
        }
    }
    bench::report("commits, " + std::to_string(options.repeat) + " tokens", rows, options.json);
    return bench::meets_goals(rows);
}

} // namespace

int main(int argc, char** argv) {
    return bench::run_benchmark(argc, argv, {.nodes = {582}, .repeat = 50}, run);
}
