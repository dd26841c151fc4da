// What it costs to run a language model's graph for a token, in the four ways in which such graphs change: a line of
// kernels, of which none, the targets of some, the grids of some or the kernels of most are others than before. Beside
// the plain Runtime API as programs use it by hand, and launches in a stream.
#include "kernels.hpp"
#include "options.hpp"
#include "raw_graph.hpp"
#include "report.hpp"

#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using bench::Comparison;
using Combine = cudag::KernelNode<const unsigned*, const unsigned*, const unsigned*, unsigned*, unsigned>;
using Kernel = void (*)(const unsigned*, const unsigned*, const unsigned*, unsigned*, unsigned);

constexpr std::size_t positions = 64; ///< tokens after which the cache begins anew

enum class Change { nothing, targets, grids, kernels };

struct Workload {
    const char* name;
    Change change;
    int changed; ///< of a thousand nodes
    double goal;
};

/// The line of a token, and what its kernels work on: each but a store changes the state, a store copies it to the
/// cache.
class Model {
  public:
    Model(int nodes, const Workload& workload) : nodes_(nodes), workload_(workload) {
        const int changed = nodes * workload.changed / 1000;
        for (int i = 0; i < changed; ++i)
            changed_.push_back((2 * i + 1) * nodes / (2 * changed));
        is_changed_.resize(static_cast<std::size_t>(nodes));
        for (const int i : changed_)
            is_changed_[static_cast<std::size_t>(i)] = true;
        cache_.emplace(changed_.size() * positions + 1);
        for (const auto* memory : {&state_, &*cache_})
            cudag::check(cudaMemset(memory->data(), 0, memory->size_bytes()));
        cudag::check(cudaStreamSynchronize(cudaStreamLegacy));
    }

    struct Call {
        Kernel kernel;
        unsigned grid;
        const unsigned* in;
        unsigned* out;
        unsigned salt;
    };
    [[nodiscard]] Call call(int node, int token) const {
        Call call{combine, 1, state_.data(), state_.data(), static_cast<unsigned>(node)};
        if (!is_changed(node)) return call;
        if (workload_.change == Change::targets) call.out = target(node, token);
        if (workload_.change == Change::grids) call.grid = 1 + static_cast<unsigned>(token % 4);
        if (workload_.change == Change::kernels && token % 2 != 0) call.kernel = combine_otherwise;
        return call;
    }
    [[nodiscard]] int nodes() const noexcept { return nodes_; }
    [[nodiscard]] const std::vector<int>& changed() const noexcept { return changed_; }

    /// Throws if the state, or what was stored, is not what `tokens` tokens make of it.
    void verify(const char* who, int tokens) const {
        unsigned state = 0;
        std::vector<unsigned> cache(cache_->size());
        for (int token = 0; token < tokens; ++token)
            for (int node = 0; node < nodes_; ++node) {
                const Call made = call(node, token);
                const unsigned salt = made.salt + (made.kernel == combine ? 0 : 1);
                const unsigned value = combined(state, 0, 0, salt * made.grid);
                if (made.out == state_.data())
                    state = value;
                else
                    cache[static_cast<std::size_t>(made.out - cache_->data())] = value;
            }
        if (read(state_).at(0) != state || read(*cache_) != cache)
            throw std::logic_error(std::string(workload_.name) + ": the results of " + who + " are wrong");
    }

  private:
    [[nodiscard]] bool is_changed(int node) const { return is_changed_[static_cast<std::size_t>(node)]; }
    [[nodiscard]] unsigned* target(int node, int token) const {
        const auto row = static_cast<std::size_t>(node) * changed_.size() / static_cast<std::size_t>(nodes_);
        return cache_->data() + row * positions + static_cast<std::size_t>(token) % positions;
    }
    static std::vector<unsigned> read(const cudag::DeviceBuffer<unsigned>& memory) {
        std::vector<unsigned> values(memory.size());
        cudag::check(cudaMemcpy(values.data(), memory.data(), memory.size_bytes(), cudaMemcpyDeviceToHost));
        return values;
    }

    int nodes_;
    const Workload& workload_;
    std::vector<int> changed_;
    std::vector<bool> is_changed_;
    cudag::DeviceBuffer<unsigned> state_{1};
    std::optional<cudag::DeviceBuffer<unsigned>> cache_;
};

/// The arguments of a call as CUDA takes them.
struct Arguments {
    explicit Arguments(const Model::Call& made) : call(made) {}
    Arguments(const Arguments&) = delete;
    Arguments& operator=(const Arguments&) = delete;

    [[nodiscard]] cudaKernelNodeParams params() {
        cudaKernelNodeParams result{};
        result.func = reinterpret_cast<void*>(call.kernel);
        result.gridDim = {call.grid, 1, 1};
        result.blockDim = {32, 1, 1};
        result.kernelParams = pointers;
        return result;
    }

    Model::Call call;
    const unsigned* none = nullptr;
    void* pointers[5] = {&call.in, &none, &none, &call.out, &call.salt};
};

/// Every kernel as a launch.
struct InStream {
    InStream(int nodes, const Workload& workload) : model(nodes, workload) {}

    void token(int token, cudaStream_t stream) const {
        for (int i = 0; i < model.nodes(); ++i) {
            Arguments arguments(model.call(i, token));
            const cudaKernelNodeParams params = arguments.params();
            cudag::check(cudaLaunchKernel(params.func, params.gridDim, params.blockDim, arguments.pointers, 0, stream));
        }
    }

    Model model;
};

/// As it is written by hand: what does not change is launched; new targets are given to the nodes of the graph, by
/// which the executable graph is updated; all else is captured anew for that.
struct ByHand : InStream {
    ByHand(int nodes, const Workload& of, cudaStream_t stream) : InStream(nodes, of), workload(of) {
        capture(0, stream);
        graph.instantiate();
        std::size_t count = static_cast<std::size_t>(nodes);
        in_order.resize(count);
        cudag::check(cudaGraphGetNodes(graph.graph, in_order.data(), &count));
    }

    void token(int token, cudaStream_t stream) {
        if (workload.change == Change::targets)
            for (const int i : model.changed()) {
                Arguments arguments(model.call(i, token));
                const cudaKernelNodeParams params = arguments.params();
                cudag::check(cudaGraphKernelNodeSetParams(in_order[static_cast<std::size_t>(i)], &params));
            }
        else if (workload.change != Change::nothing)
            capture(token, stream);
        if (workload.change != Change::nothing) update();
        cudag::check(cudaGraphLaunch(graph.exec, stream));
    }

    int instantiations = 0;

  private:
    void capture(int token, cudaStream_t stream) {
        if (graph.graph != nullptr) cudag::check(cudaGraphDestroy(std::exchange(graph.graph, nullptr)));
        cudag::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        InStream::token(token, stream);
        cudag::check(cudaStreamEndCapture(stream, &graph.graph));
    }
    void update() {
        cudaGraphExecUpdateResultInfo info{};
        if (cudaGraphExecUpdate(graph.exec, graph.graph, &info) == cudaSuccess) return;
        static_cast<void>(cudaGetLastError());
        cudag::check(cudaGraphExecDestroy(std::exchange(graph.exec, nullptr)));
        graph.instantiate();
        ++instantiations;
    }

    const Workload& workload;
    bench::RawGraph graph;
    std::vector<cudaGraphNode_t> in_order;
};

/// Through cudag: the nodes that change take what is new, and a graph of other kernels is another graph.
class ByCudag {
  public:
    ByCudag(int nodes, const Workload& workload) : model(nodes, workload), change_(workload.change) {
        lines_.push_back(build(0));
        if (change_ == Change::kernels) lines_.push_back(build(1));
    }

    void token(int token, cudag::Stream& stream) {
        Line& line = lines_[static_cast<std::size_t>(token) % lines_.size()];
        for (const int i : model.changed()) {
            const Combine& node = line.nodes[static_cast<std::size_t>(i)];
            const Model::Call call = model.call(i, token);
            if (change_ == Change::targets) line.exec.update(node, cudag::arg<3>(call.out));
            if (change_ == Change::grids) line.exec.update(node, cudag::LaunchConfig{.grid = call.grid, .block = 32});
        }
        line.exec.launch(stream);
    }

    Model model;

  private:
    struct Line {
        std::vector<Combine> nodes;
        cudag::Exec exec;
    };

    [[nodiscard]] Line build(int token) const {
        cudag::GraphBuilder b;
        std::vector<Combine> nodes;
        for (int i = 0; i < model.nodes(); ++i) {
            const Model::Call call = model.call(i, token);
            nodes.push_back(b.kernel({.grid = call.grid, .block = 32}, call.kernel, call.in, nullptr, nullptr, call.out,
                                     call.salt));
            if (i != 0) nodes.back().after(nodes[nodes.size() - 2]);
        }
        return {nodes, std::move(b).build().instantiate()};
    }

    Change change_;
    std::vector<Line> lines_;
};

std::vector<Comparison> measure(const Workload& workload, int nodes, cudag::Stream& stream, int repeat) {
    const std::string name = std::string(workload.name) + ": ";
    Comparison by_hand{name + "by hand", workload.goal, {}, {}};
    Comparison until_done{name + "by hand, until it is done", 0, {}, {}};
    Comparison in_stream{name + "launches, until they are done", 0, {}, {}};
    InStream launches(nodes, workload);
    ByHand raw(nodes, workload, stream.get());
    ByCudag ours(nodes, workload);

    int token = 0;
    const auto timed = [&](Comparison& all, std::vector<double> Comparison::*side, auto&& work) {
        const auto start = std::chrono::steady_clock::now();
        const double host = bench::microseconds(work);
        stream.synchronize();
        const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - start;
        (all.*side).push_back(taken.count());
        return host;
    };
    bench::rounds(repeat, {&by_hand, &until_done, &in_stream}, [&](int round) {
        bench::compare(
            by_hand, round,
            [&] { return timed(until_done, &Comparison::raw, [&] { raw.token(token, stream.get()); }); },
            [&] { return timed(until_done, &Comparison::cudag, [&] { ours.token(token, stream); }); });
        timed(in_stream, &Comparison::raw, [&] { launches.token(token, stream.get()); });
        in_stream.cudag.push_back(until_done.cudag.back());
        ++token;
    });
    launches.model.verify("launches", token);
    raw.model.verify("the loop by hand", token);
    ours.model.verify("cudag", token);
    if (raw.instantiations != 0) std::printf("%s: by hand, %d instantiations\n", workload.name, raw.instantiations);
    return {by_hand, until_done, in_stream};
}

bool run(const bench::Options& options) {
    constexpr Workload workloads[] = {
        {"nothing changes", Change::nothing, 0, 1.02},
        {"9 % have new targets", Change::targets, 91, 0.5},
        {"9 % have new grids", Change::grids, 91, 1},
        {"60 % are other kernels", Change::kernels, 600, 1},
    };
    cudag::Stream stream;
    const cudag::DeviceBuffer<unsigned> cell(1);
    for (const Kernel kernel : {combine, combine_otherwise}) // the first use of a kernel loads it
        cudag::launch(stream, {}, kernel, nullptr, nullptr, nullptr, cell, 0U);
    stream.synchronize();
    std::vector<Comparison> rows;
    for (const int nodes : options.nodes)
        for (const Workload& workload : workloads) {
            const std::vector<Comparison> measured = measure(workload, nodes, stream, options.repeat);
            rows.insert(rows.end(), measured.begin(), measured.end());
        }
    bench::report("a line of kernels for each token, " + std::to_string(options.repeat) + " tokens", rows,
                  options.json);
    return bench::meets_goals(rows);
}

} // namespace

int main(int argc, char** argv) {
    return bench::run_benchmark(argc, argv, {.nodes = {709}, .repeat = 100}, run);
}
