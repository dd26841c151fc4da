// Small versions of programs that use graphs, beside the same programs written by hand with the Runtime API.
#include "line.hpp"
#include "options.hpp"
#include "report.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using bench::Comparison;
using bench::microseconds;
using bench::RawLine;

/// A step of molecular dynamics: a kernel before and after `width` streams with `depth` kernels each.
struct Step {
    static constexpr int width = 4;
    int depth;

    [[nodiscard]] int kernels() const noexcept { return width * depth + 2; }
};

/// One client with everything that both of its programs need.
class StepCapture {
  public:
    explicit StepCapture(Step step) : step_(step), values_(static_cast<std::size_t>(step.kernels())) {
        for (cudaEvent_t& event : events_)
            cudag::check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
        cudag::launch(stream_, {.block = 32}, touch, values_, 0, 1.0f, 1U); // the first use of a kernel loads it
        stream_.synchronize();
        const cudaGraph_t first = capture_raw(1.0f);
        cudag::check(cudaGraphInstantiate(&exec_.exec, first, 0));
        cudag::check(cudaGraphDestroy(first));
        plain_ = capture_plain(1.0f).instantiate();
        trusting_ = capture_plain(1.0f).instantiate();
        labelled_ = capture_labelled(1.0f).instantiate();
    }
    ~StepCapture() {
        for (const cudaEvent_t event : events_)
            static_cast<void>(cudaEventDestroy(event));
    }
    StepCapture(const StepCapture&) = delete;
    StepCapture& operator=(const StepCapture&) = delete;

    double raw(float amount) {
        return microseconds([&] {
            const cudaGraph_t graph = capture_raw(amount);
            cudaGraphExecUpdateResultInfo result{};
            cudag::check(cudaGraphExecUpdate(exec_.exec, graph, &result));
            cudag::check(cudaGraphDestroy(graph));
        });
    }
    double by_order(float amount) {
        return microseconds([&] { require(plain_->update(capture_plain(amount))); });
    }
    double by_order_trusting(float amount) {
        return microseconds([&] { require(trusting_->update(capture_plain(amount), {.trust_attributes = true})); });
    }
    double by_structure(float amount) {
        return microseconds(
            [&] { require(labelled_->update(capture_labelled(amount), {.match = cudag::Match::structure})); });
    }

  private:
    static void require(const cudag::UpdateReport& report) {
        if (!report.updated()) throw std::logic_error(report.to_string());
    }
    void launch(cudaStream_t stream, int kernel, float amount) const {
        RawLine::launch(stream, kernel, values_.data(), amount);
    }
    void launch_chain(cudaStream_t stream, int chain, float amount) const {
        for (int i = 0; i < step_.depth; ++i)
            launch(stream, 1 + chain * step_.depth + i, amount);
    }
    [[nodiscard]] cudaStream_t side(int chain) const {
        return chain == 0 ? stream_.get() : sides_[static_cast<std::size_t>(chain - 1)].get();
    }
    [[nodiscard]] cudaEvent_t event(int chain) const { return events_[static_cast<std::size_t>(chain)]; }

    [[nodiscard]] cudaGraph_t capture_raw(float amount) const {
        cudag::check(cudaStreamBeginCapture(stream_.get(), cudaStreamCaptureModeThreadLocal));
        launch(stream_.get(), 0, amount);
        cudag::check(cudaEventRecord(event(0), stream_.get()));
        for (int chain = 1; chain < Step::width; ++chain)
            cudag::check(cudaStreamWaitEvent(side(chain), event(0), 0));
        for (int chain = 0; chain < Step::width; ++chain)
            launch_chain(side(chain), chain, amount);
        for (int chain = 1; chain < Step::width; ++chain) {
            cudag::check(cudaEventRecord(event(chain), side(chain)));
            cudag::check(cudaStreamWaitEvent(stream_.get(), event(chain), 0));
        }
        launch(stream_.get(), step_.kernels() - 1, amount);
        cudaGraph_t graph = nullptr;
        cudag::check(cudaStreamEndCapture(stream_.get(), &graph));
        return graph;
    }

    [[nodiscard]] cudag::Graph capture_plain(float amount) const {
        return cudag::capture(stream_, [&](cudag::StreamCapture& capture) {
            launch(stream_.get(), 0, amount);
            for (int chain = 1; chain < Step::width; ++chain)
                capture.fork(side(chain));
            for (int chain = 0; chain < Step::width; ++chain)
                launch_chain(side(chain), chain, amount);
            for (int chain = 1; chain < Step::width; ++chain)
                capture.join(side(chain));
            launch(stream_.get(), step_.kernels() - 1, amount);
        });
    }

    [[nodiscard]] cudag::Graph capture_labelled(float amount) const {
        static constexpr std::array<const char*, Step::width> forces{"bonds", "angles", "pairs", "lattice"};
        return cudag::capture(stream_, [&](cudag::StreamCapture& capture) {
            launch(stream_.get(), 0, amount);
            capture.mark("positions");
            for (int chain = 1; chain < Step::width; ++chain)
                capture.fork(side(chain));
            for (int chain = 0; chain < Step::width; ++chain) {
                launch_chain(side(chain), chain, amount);
                capture.mark(forces[static_cast<std::size_t>(chain)]);
            }
            for (int chain = 1; chain < Step::width; ++chain)
                capture.join(side(chain));
            launch(stream_.get(), step_.kernels() - 1, amount);
            capture.mark("velocities");
        });
    }

    Step step_;
    cudag::Stream stream_;
    std::array<cudag::Stream, Step::width - 1> sides_;
    std::array<cudaEvent_t, Step::width> events_{};
    cudag::DeviceBuffer<float> values_;
    bench::RawGraph exec_;
    std::optional<cudag::Exec> plain_;
    std::optional<cudag::Exec> trusting_;
    std::optional<cudag::Exec> labelled_;
};

void add_captures(std::vector<Comparison>& rows, int repeat) {
    for (const int depth : {4, 12, 24}) {
        const Step step{depth};
        const std::string name = "a step of " + std::to_string(step.kernels()) + " kernels in 4 streams: capture, ";
        Comparison order{name + "update", 1.2, {}, {}};
        Comparison trusting{name + "update, attributes trusted", 1.2, {}, {}};
        Comparison structure{name + "update by structure", 1.6, {}, {}};
        StepCapture client(step);
        float amount = 1.0f;
        bench::rounds(repeat, {&order, &trusting, &structure}, [&](int round) {
            amount += 1.0f;
            bench::compare(
                order, round, [&] { return client.raw(amount); }, [&] { return client.by_order(amount); });
            amount += 1.0f;
            bench::compare(
                trusting, round, [&] { return client.raw(amount); }, [&] { return client.by_order_trusting(amount); });
            amount += 1.0f;
            bench::compare(
                structure, round, [&] { return client.raw(amount); }, [&] { return client.by_structure(amount); });
        });
        for (Comparison* row : {&order, &trusting, &structure})
            rows.push_back(std::move(*row));
    }
}

/// Captures of a few kernels, for the costs that do not grow with them.
void add_small_captures(std::vector<Comparison>& rows, int repeat) {
    for (const int kernels : {1, 10}) {
        Comparison row{"capture of " + std::to_string(kernels) + " kernels", 0, {}, {}};
        const cudag::Stream stream;
        const cudag::DeviceBuffer<float> values(static_cast<std::size_t>(kernels));
        const auto launch_all = [&](cudaStream_t into) {
            for (int i = 0; i < kernels; ++i)
                RawLine::launch(into, i, values.data(), 1.0f);
        };
        bench::rounds(repeat, {&row}, [&](int round) {
            bench::compare(
                row, round,
                [&] {
                    bench::RawGraph made;
                    return microseconds([&] {
                        cudag::check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal));
                        launch_all(stream.get());
                        cudag::check(cudaStreamEndCapture(stream.get(), &made.graph));
                    });
                },
                [&] {
                    std::optional<cudag::Graph> made;
                    return microseconds([&] { made = cudag::capture(stream, launch_all); });
                });
        });
        rows.push_back(std::move(row));
    }
}

/// Some of many kernels, which take another index and another grid in each step.
struct Changes {
    bench::RawLine raw;
    bench::CudagLine ours;
    std::vector<std::size_t> places;
    cudag::DeviceBuffer<float> values;

    Changes(int kernels, int changed) : values(static_cast<std::size_t>(kernels)) {
        for (int i = 0; i < changed; ++i)
            places.push_back(static_cast<std::size_t>((2 * i + 1) * kernels / (2 * changed)));
        raw.build(kernels, values.data());
        raw.instantiate();
        ours.build(kernels, values.data());
        ours.instantiate();
    }
    [[nodiscard]] static cudag::LaunchConfig config(int step) {
        return {.grid = static_cast<unsigned>(1 + step % 8), .block = 32};
    }

    double by_hand(int step) {
        return microseconds([&] {
            for (const std::size_t place : places)
                raw.update(place, values.data(), step, static_cast<unsigned>(1 + step % 8));
        });
    }
    double by_update(int step) {
        return microseconds([&] {
            for (const std::size_t place : places)
                ours.exec->update(ours.nodes[place], config(step), cudag::arg<1>(step));
        });
    }
    double by_apply(int step) {
        return microseconds([&] {
            for (const std::size_t place : places)
                ours.graph->update(ours.nodes[place], config(step), cudag::arg<1>(step));
            if (ours.exec->apply(*ours.graph) != places.size()) throw std::logic_error("apply pushed other nodes");
        });
    }
};

/// The same by a parameter that drives the grids.
class Driven {
  public:
    explicit Driven(const Changes& changes) {
        cudag::GraphBuilder builder;
        std::vector<bool> is_driven(changes.ours.nodes.size());
        for (const std::size_t place : changes.places)
            is_driven[place] = true;
        float* const values = changes.values.data();
        std::optional<bench::Touch> last;
        for (std::size_t i = 0; i < is_driven.size(); ++i) {
            const bench::Touch node = is_driven[i]
                                          ? builder.kernel({.block = 32}, touch, values, step_, 1.0f, 1U)
                                          : builder.kernel({.block = 32}, touch, values, static_cast<int>(i), 1.0f, 1U);
            if (is_driven[i]) step_.drive(node, [](int step) { return Changes::config(step); });
            if (last) node.after(*last);
            last = node;
        }
        exec_ = std::move(builder).build().instantiate();
    }
    double set(int step) {
        return microseconds([&] { step_.set(step, *exec_); });
    }

  private:
    cudag::DynamicParam<int> step_{0};
    std::optional<cudag::Exec> exec_;
};

void add_changes(std::vector<Comparison>& rows, int repeat) {
    constexpr int kernels = 600, changed = 128;
    const std::string name =
        std::to_string(changed) + " of " + std::to_string(kernels) + " kernels, an int and a grid: ";
    Comparison update{name + "update(config, arg)", 1.0, {}, {}};
    Comparison dynamic{name + "DynamicParam", 1.0, {}, {}};
    Comparison apply{name + "Graph::update, apply", 1.0, {}, {}};
    Changes changes(kernels, changed);
    Driven driven(changes);
    int step = 0;
    bench::rounds(repeat, {&update, &dynamic, &apply}, [&](int round) {
        const auto by_hand = [&] { return changes.by_hand(++step); };
        bench::compare(update, round, by_hand, [&] { return changes.by_update(step + 1); });
        bench::compare(dynamic, round, by_hand, [&] { return driven.set(step + 1); });
        bench::compare(apply, round, by_hand, [&] { return changes.by_apply(step + 1); });
    });
    for (Comparison* row : {&update, &dynamic, &apply})
        rows.push_back(std::move(*row));
}

/// A graph of kernels over two buffers: one for the first kernels, the other for the last. The buffers take turns: in
/// two Execs, or by `bind` in one.
class Alternation {
  public:
    Alternation() {
        cudag::launch(stream_, {.block = 32}, touch, inner_, 0, 1.0f, 1U);
        for (std::size_t i = 0; i < raw_.size(); ++i) {
            raw_[i].build(kernels, i == 0 ? a_.data() : b_.data()); // for a launch it is all the same which
            raw_[i].instantiate();
        }
        one_.build(kernels, inner_.data());
        one_.instantiate();
    }

    /// Each returns the host's time of one step.
    double by_hand() {
        return steps([&](std::size_t which) { cudag::check(cudaGraphLaunch(raw_[which].exec, stream_.get())); });
    }
    double by_two_execs() {
        return steps([&](std::size_t which) { two_[which].launch(stream_); });
    }
    /// Gives the nodes at both ends the other memory, in one graph.
    double by_hand_in_one() {
        return steps([&](std::size_t which) {
            for (int i = 0; i < 2 * at_each_end; ++i) {
                const int node = i < at_each_end ? i : kernels - 2 * at_each_end + i;
                one_.update(static_cast<std::size_t>(node), (i < at_each_end) == (which == 0) ? a_.data() : b_.data(),
                            1.0f);
            }
            cudag::check(cudaGraphLaunch(one_.exec, stream_.get()));
        });
    }
    double by_bind() {
        return steps([&](std::size_t which) {
            if (which == 0)
                bound_.bind({{in_, a_}, {out_, b_}});
            else
                bound_.bind({{in_, b_}, {out_, a_}});
            bound_.launch(stream_);
        });
    }

  private:
    static constexpr int kernels = 64;
    static constexpr int at_each_end = 2;

    template <class Memory>
    cudag::Exec make(const Memory& in, const Memory& out) {
        cudag::GraphBuilder builder;
        std::optional<bench::Touch> last;
        const auto add = [&](const auto& memory, int index) {
            const bench::Touch node = builder.kernel({.block = 32}, touch, memory, index, 1.0f, 1U);
            if (last) node.after(*last);
            last = node;
        };
        for (int i = 0; i < at_each_end; ++i)
            add(in, i);
        for (int i = 2 * at_each_end; i < kernels; ++i)
            add(inner_, i);
        for (int i = 0; i < at_each_end; ++i)
            add(out, i);
        return std::move(builder).build().instantiate();
    }

    template <class Run>
    double steps(const Run& step) {
        constexpr std::size_t count = 10;
        const double taken = microseconds([&] {
            for (std::size_t i = 0; i < count; ++i)
                step(i % 2);
        });
        stream_.synchronize();
        return taken / count;
    }

    cudag::Stream stream_;
    cudag::DeviceBuffer<float> a_{kernels}, b_{kernels}, inner_{kernels};
    cudag::BufferParam<float> in_{a_}, out_{b_};
    std::array<RawLine, 2> raw_;
    RawLine one_;
    std::array<cudag::Exec, 2> two_{make(a_, b_), make(b_, a_)};
    cudag::Exec bound_ = make(in_, out_);
};

void add_alternation(std::vector<Comparison>& rows, int repeat) {
    Comparison two{"two buffers in turns: two Execs", 1.02, {}, {}};
    Comparison one{"two buffers in turns: one Exec and bind", 1.3, {}, {}};
    Comparison nodes{"two buffers in turns: one Exec and bind, against updates of its nodes", 1.0, {}, {}};
    Alternation client;
    bench::rounds(repeat, {&two, &one, &nodes}, [&](int round) {
        bench::compare(
            two, round, [&] { return client.by_hand(); }, [&] { return client.by_two_execs(); });
        bench::compare(
            one, round, [&] { return client.by_hand(); }, [&] { return client.by_bind(); });
        bench::compare(
            nodes, round, [&] { return client.by_hand_in_one(); }, [&] { return client.by_bind(); });
    });
    for (Comparison* row : {&two, &one, &nodes})
        rows.push_back(std::move(*row));
}

bool run(const bench::Options& options) {
    std::vector<Comparison> rows;
    add_captures(rows, options.repeat);
    add_small_captures(rows, options.repeat);
    add_changes(rows, options.repeat);
    add_alternation(rows, options.repeat);
    std::erase_if(rows, [&](const Comparison& row) { return row.name.find(*options.only) == std::string::npos; });
    bench::report("clients of graphs, " + std::to_string(options.repeat) + " rounds", rows, options.json);
    return bench::meets_goals(rows);
}

} // namespace

int main(int argc, char** argv) {
    return bench::run_benchmark(argc, argv, {.repeat = 50, .only = ""}, run);
}
