// How what cudag does grows with how much of it there is: each row is measured for n, 2n and 4n, and a doubling should
// take twice as long. `--check` refuses more than 2.6 times, and measures rows that are too short to be judged for
// larger n; what CUDA takes by itself is shown beside it where it is known to grow, and then no more is asked of cudag
// than of CUDA. All times are processor times of the calling thread: what else the machine does changes them little.
#include "kernels.hpp"
#include "options.hpp"
#include "report.hpp"

#include <cudag/cudag.hpp>

#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr double most_per_doubling = 2.6;
/// Shorter times say more about the machine than about the library.
constexpr double shortest_judged = 2'000; // microseconds
/// A row that fails is measured anew a few times: a machine that does something else for a while must not fail it.
constexpr int most_rounds = 12;

/// The processor time that this thread takes for `work`.
template <class F>
double microseconds(const F& work) {
    const auto now = [] {
        timespec time{};
        if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0) throw std::runtime_error("no clock of processor time");
        return 1e6 * static_cast<double>(time.tv_sec) + 1e-3 * static_cast<double>(time.tv_nsec);
    };
    const double begin = now();
    work();
    return now() - begin;
}

/// Does something `n` times, and returns the microseconds that this took; what comes before and after does not count.
using Work = double (*)(std::size_t n);

struct Row {
    const char* name;
    Work cudag;
    Work cuda = nullptr; ///< what CUDA takes alone
};

float* cells() {
    static cudag::DeviceBuffer<float> buffer(64);
    return buffer.data();
}

constexpr cudag::LaunchConfig one_warp{.block = 32};

cudag::KernelNode<float*, int, float, unsigned> touch_in(cudag::GraphBuilder& builder) {
    return builder.kernel(one_warp, touch, cells(), 0, 1.0f, 1U);
}

/// One kernel; `of(graph, node)` is what is to be measured.
template <class Use>
double with_one_node(const Use& use) {
    cudag::GraphBuilder builder;
    const auto node = touch_in(builder);
    cudag::Graph graph = std::move(builder).build();
    return use(graph, node);
}

double regions(std::size_t n) {
    const cudag::Stream stream;
    cudag::GraphBuilder builder;
    std::optional<cudag::CapturedNode> before;
    return microseconds([&] {
        for (std::size_t i = 0; i < n; ++i) {
            const cudag::CapturedNode region = builder.capture(stream, [&](cudaStream_t s) {
                for (int k = 0; k < 5; ++k)
                    cudag::launch(s, one_warp, touch, cells(), 0, 1.0f, 1U);
            });
            if (before) region.after(*before);
            before = region;
        }
        static_cast<void>(std::move(builder).build());
    });
}

double regions_of_cuda(std::size_t n) {
    const cudag::Stream stream;
    cudaGraph_t graph = nullptr;
    cudag::check(cudaGraphCreate(&graph, 0));
    const double taken = microseconds([&] {
        for (std::size_t i = 0; i < n; ++i) {
            cudag::check(cudaStreamBeginCaptureToGraph(stream.get(), graph, nullptr, nullptr, 0,
                                                       cudaStreamCaptureModeThreadLocal));
            for (int k = 0; k < 5; ++k)
                cudag::launch(stream, one_warp, touch, cells(), 0, 1.0f, 1U);
            cudaGraph_t same = nullptr;
            cudag::check(cudaStreamEndCapture(stream.get(), &same));
        }
    });
    cudag::check(cudaGraphDestroy(graph));
    return taken;
}

/// A graph of `n` children with one kernel each.
struct Children {
    explicit Children(std::size_t n) {
        cudag::GraphBuilder inner_builder;
        inside = touch_in(inner_builder);
        inner = std::move(inner_builder).build();
        cudag::GraphBuilder builder;
        made = microseconds([&] {
            for (std::size_t i = 0; i < n; ++i)
                children.push_back(builder.child(*inner));
            graph = std::move(builder).build();
        });
    }
    void find_nodes() {
        for (const cudag::ChildNode& child : children)
            nodes.push_back(child.inside(inside));
    }

    cudag::KernelNode<float*, int, float, unsigned> inside;
    std::optional<cudag::Graph> inner, graph;
    std::vector<cudag::ChildNode> children;
    std::vector<cudag::KernelNode<float*, int, float, unsigned>> nodes;
    double made = 0;
};

double children_made(std::size_t n) {
    return Children(n).made;
}
double children_inside(std::size_t n) {
    Children all(n);
    return microseconds([&] { all.find_nodes(); });
}
double children_updated(std::size_t n) {
    Children all(n);
    all.find_nodes();
    cudag::Exec exec = all.graph->instantiate();
    return microseconds([&] {
        for (const auto& node : all.nodes)
            exec.update(node, cudag::arg<2>(2.0f));
    });
}
double children_dot(std::size_t n) {
    const Children all(n);
    return microseconds([&] { static_cast<void>(all.graph->dot()); });
}
double children_diff(std::size_t n) {
    const Children all(n);
    return microseconds([&] { static_cast<void>(cudag::diff(*all.graph, *all.graph)); });
}

double conditions(std::size_t n) {
    cudag::GraphBuilder builder;
    return microseconds([&] {
        for (std::size_t i = 0; i < n; ++i)
            static_cast<void>(builder.condition(1));
    });
}

double conditionals(std::size_t n) {
    cudag::GraphBuilder builder;
    return microseconds([&] {
        for (std::size_t i = 0; i < n; ++i)
            builder.if_(builder.condition(1), [](cudag::GraphBuilder& body) { touch_in(body); });
        static_cast<void>(std::move(builder).build());
    });
}

double bodies(std::size_t n) {
    cudag::GraphBuilder builder;
    const std::vector<void (*)(cudag::GraphBuilder&)> empty(n, [](cudag::GraphBuilder&) {});
    return microseconds([&] {
        const cudag::SwitchNode node = builder.switch_(builder.condition(0), empty);
        for (std::size_t i = 0; i < node.body_count(); ++i)
            continue;
    });
}

double forks(std::size_t n) {
    const cudag::Stream stream;
    const std::vector<cudag::Stream> others(32);
    double taken = 0;
    const cudag::Graph graph = cudag::capture(stream, [&](cudag::StreamCapture& capture) {
        cudag::launch(stream, one_warp, touch, cells(), 0, 1.0f, 1U);
        taken = microseconds([&] {
            for (std::size_t i = 0; i < n; ++i)
                capture.fork(others[i % others.size()]);
            for (std::size_t i = 0; i < n; ++i)
                capture.join(others[i % others.size()]);
        });
    });
    return taken;
}

double wide_forks(std::size_t n) {
    constexpr std::size_t captures = 8; // not one: a device has not as many streams as one would like
    const cudag::Stream stream;
    const std::vector<cudag::Stream> others((n + captures - 1) / captures);
    double taken = 0;
    for (std::size_t i = 0; i < captures; ++i)
        static_cast<void>(cudag::capture(stream, [&](cudag::StreamCapture& capture) {
            taken += microseconds([&] {
                for (const cudag::Stream& other : others)
                    capture.fork(other);
                for (const cudag::Stream& other : others)
                    cudag::launch(other, one_warp, touch, cells(), 0, 1.0f, 1U);
                for (const cudag::Stream& other : others)
                    capture.join(other);
            });
        }));
    return taken;
}

double nested_steps(std::size_t n) {
    struct Nested {
        cudag::StreamCapture& capture;
        void record(std::size_t depth) const {
            if (depth == 0) return;
            capture.step("level", [&] {
                cudag::launch(capture.stream(), one_warp, touch, cells(), 0, 1.0f, 1U);
                record(depth - 1);
            });
        }
    };
    const cudag::Stream stream;
    return microseconds([&] {
        const cudag::Graph graph =
            cudag::capture(stream, [&](cudag::StreamCapture& capture) { Nested{capture}.record(n); });
        static_cast<void>(graph.nodes());
    });
}

/// CUDA walks through a graph to tell how many nodes it has, which is asked where a step begins and ends.
double steps_of_cuda(std::size_t n) {
    const cudag::Stream stream;
    return microseconds([&] {
        cudaGraph_t graph = nullptr;
        cudag::check(cudaGraphCreate(&graph, 0));
        cudag::check(
            cudaStreamBeginCaptureToGraph(stream.get(), graph, nullptr, nullptr, 0, cudaStreamCaptureModeThreadLocal));
        const auto count = [&] {
            std::size_t nodes = 0;
            cudag::check(cudaGraphGetNodes(graph, nullptr, &nodes));
        };
        for (std::size_t i = 0; i < n; ++i) {
            count();
            cudag::launch(stream, one_warp, touch, cells(), 0, 1.0f, 1U);
        }
        for (std::size_t i = 0; i < n; ++i)
            count();
        cudag::check(cudaStreamEndCapture(stream.get(), &graph));
        cudag::check(cudaGraphDestroy(graph));
    });
}

double labels(std::size_t n) {
    return with_one_node([&](const cudag::Graph&, const cudag::Node& node) {
        return microseconds([&] {
            for (std::size_t i = 0; i < n; ++i)
                node.label("a label that is longer than what a string holds by itself " + std::to_string(i));
        });
    });
}

double pool(std::size_t n) {
    cudag::CapturePool pool;
    std::vector<cudag::DeviceBuffer<int>> buffers;
    return microseconds([&] {
        for (std::size_t i = 0; i < n; ++i)
            buffers.push_back(pool.allocate<int>(64));
        for (std::size_t i = 0; i < n; i += 2)
            buffers[i] = cudag::DeviceBuffer<int>(0);
        for (std::size_t i = 0; i < n; i += 2)
            buffers[i] = pool.allocate<int>(64);
        buffers.clear();
    });
}

/// Owners that wait for one launch, while another stream is synchronised: that asks which of them may go.
double retired_owners(std::size_t n) {
    cudag::PinnedBuffer<int> gate(1);
    *const_cast<volatile int*>(gate.data()) = 0;
    cudag::GraphBuilder builder;
    const auto waits = builder.kernel({}, wait_for, gate.data());
    const auto node = builder.kernel({}, touch, static_cast<float*>(nullptr), 0, 1.0f, 0U).after(waits);
    cudag::Exec exec = std::move(builder).build().instantiate();
    const auto owner = [] { return std::make_shared<float>(1.0f); }; // of which the kernel touches nothing
    exec.update(node, owner(), 0, 1.0f, 0U);                         // launches are tracked from now on
    const cudag::Stream stream;
    const cudag::Stream idle;
    exec.launch(stream);
    const double taken = microseconds([&] {
        for (std::size_t i = 0; i < n; ++i) {
            exec.update(node, owner(), 0, 1.0f, 0U);
            idle.synchronize();
        }
    });
    *const_cast<volatile int*>(gate.data()) = 1;
    stream.synchronize();
    return taken;
}

/// A new owner and a launch in turns: as many launches in flight as the device takes.
double launches(std::size_t n) {
    return with_one_node([&](const cudag::Graph& graph, const auto& node) {
        cudag::Exec exec = graph.instantiate();
        const cudag::Stream stream;
        return microseconds([&] {
            for (std::size_t i = 0; i < n; ++i) {
                exec.update(node, cudag::DeviceBuffer<float>(1), 0, 1.0f, 1U);
                exec.launch(stream);
            }
            stream.synchronize();
        });
    });
}

double allocations(std::size_t n) {
    cudag::GraphBuilder builder;
    std::optional<cudag::FreeNode> before;
    return microseconds([&] {
        for (std::size_t i = 0; i < n; ++i) {
            cudag::AllocOptions options;
            if (before) options.after = {*before};
            const auto memory = builder.alloc<float>(64, options);
            const auto use = builder.kernel(one_warp, touch, memory.span(), 0, 1.0f, 1U).after(memory);
            before = builder.free(memory).after(use);
        }
        static_cast<void>(std::move(builder).build());
    });
}

double clones(std::size_t n) {
    return with_one_node([&](cudag::Graph& graph, const auto& node) {
        graph.update(node, cudag::arg<2>(2.0f));
        auto latest = node;
        return microseconds([&] {
            for (std::size_t i = 0; i < n; ++i) {
                cudag::Graph next = graph.clone();
                latest = next.counterpart(latest);
                next.update(latest, cudag::arg<2>(3.0f));
                graph = std::move(next);
            }
            const cudag::Graph last = std::move(graph);
        });
    });
}

/// A line of n kernels that write one parameter, each with another kernel beside the line.
struct Layers {
    enum class Use { write, atomic };

    Layers(std::size_t n, Use use) : out(n) {
        cudag::GraphBuilder builder;
        std::optional<cudag::KernelNode<float*, int, float, unsigned>> before;
        for (std::size_t i = 0; i < n; ++i) {
            const auto layer = use == Use::write ? builder.kernel(one_warp, touch, state, 0, 1.0f, 1U)
                                                 : builder.kernel(one_warp, touch, cudag::atomic(state), 0, 1.0f, 1U);
            if (before) layer.after(*before);
            builder.kernel(one_warp, touch, out.span().subspan(i, 1), 0, 1.0f, 1U).after(layer);
            before = layer;
        }
        exec = std::move(builder).build().instantiate();
        exec->bind(state, first); // looks for the uses
    }
    double bound() {
        return microseconds([&] { exec->bind(state, second); });
    }

    cudag::BufferParam<float> state{64};
    cudag::DeviceBuffer<float> first{64}, second{64}, out;
    std::optional<cudag::Exec> exec;
};

double writers_bound(std::size_t n) {
    return Layers(n, Layers::Use::write).bound();
}
double atomics_bound(std::size_t n) {
    return Layers(n, Layers::Use::atomic).bound();
}

double readers_and_writers(std::size_t n) {
    const cudag::DeviceBuffer<float> shared(n), out(n);
    cudag::GraphBuilder builder({.dependencies = cudag::Dependencies::inferred});
    return microseconds([&] {
        for (std::size_t i = 0; i < n; ++i)
            builder.kernel(one_warp, touch, out.span().subspan(i, 1), 0, 1.0f, 1U).reads(shared);
        for (std::size_t i = 0; i < n; ++i)
            builder.kernel(one_warp, touch, shared.span().subspan(i, 1), 0, 1.0f, 1U);
        static_cast<void>(std::move(builder).build());
    });
}

/// Of nodes that are not the last ones.
double declarations(std::size_t n) {
    const cudag::DeviceBuffer<float> more(64);
    cudag::GraphBuilder builder;
    std::vector<cudag::KernelNode<float*, int, float, unsigned>> nodes;
    for (std::size_t i = 0; i < n; ++i)
        nodes.push_back(touch_in(builder).reads(more));
    return microseconds([&] {
        for (const auto& node : nodes)
            node.reads(more);
        for (auto node = nodes.rbegin(); node != nodes.rend(); ++node)
            node->reads(more);
    });
}

/// The first bind of a parameter for each node.
double first_binds(std::size_t n) {
    const cudag::DeviceBuffer<float> memory(n), other(n);
    cudag::GraphBuilder builder({.races = cudag::Races::allowed});
    std::vector<cudag::BufferParam<float>> params;
    for (std::size_t i = 0; i < n; ++i) {
        params.emplace_back(memory.span().subspan(i, 1));
        builder.kernel(one_warp, touch, memory.data() + i, 0, 1.0f, 1U);
    }
    cudag::Exec exec = std::move(builder).build().instantiate();
    return microseconds([&] {
        for (std::size_t i = 0; i < n; ++i)
            exec.bind(params[i], other.span().subspan(i, 1));
    });
}

/// A child of n kernels takes another graph node by node: in a child that has lost a node CUDA pairs none.
double child_updated(std::size_t n) {
    const auto inner = [&](bool has_lost_one, float factor) {
        cudag::GraphBuilder builder;
        if (has_lost_one) builder.remove(touch_in(builder));
        for (std::size_t i = 0; i < n; ++i)
            builder.kernel(one_warp, touch, cells(), 0, factor, 1U);
        return std::move(builder).build();
    };
    cudag::GraphBuilder builder;
    const cudag::ChildNode child = builder.child(inner(false, 1.0f));
    cudag::Exec exec = std::move(builder).build().instantiate();
    const cudag::Graph next = inner(true, 2.0f);
    return microseconds([&] { exec.update(child, next); });
}

/// Updates of nodes that declare memory, of an exec that looks for races.
double declaring_updated(std::size_t n) {
    const cudag::DeviceBuffer<float> out(n), other(n);
    cudag::GraphBuilder builder;
    std::vector<cudag::KernelNode<float*, int, float, unsigned>> nodes;
    for (std::size_t i = 0; i < n; ++i)
        nodes.push_back(builder.kernel(one_warp, touch, cells(), 0, 1.0f, 1U).writes(out.span().subspan(i, 1)));
    const cudag::Graph graph = std::move(builder).build();
    cudag::Exec exec = graph.instantiate();
    return microseconds([&] {
        for (std::size_t i = 0; i < n; ++i)
            exec.update(nodes[i], other.span().subspan(i, 1), 0, 1.0f, 1U);
    });
}

/// A parameter for each bind, gone after it.
double passing_params(std::size_t n) {
    const cudag::DeviceBuffer<float> first(64), second(64);
    cudag::GraphBuilder builder;
    for (int i = 0; i < 16; ++i)
        builder.kernel(one_warp, touch, first.data(), 0, 1.0f, 1U);
    cudag::Exec exec = std::move(builder).build().instantiate();
    return microseconds([&] {
        for (std::size_t i = 0; i < n; ++i)
            exec.bind(cudag::BufferParam<float>(first), i % 2 == 0 ? second.span() : first.span());
    });
}

/// Each capture has a stream of its own, which it destroys.
double captures(std::size_t n) {
    const cudag::Stream stream;
    return microseconds([&] {
        for (std::size_t i = 0; i < n; ++i) {
            static_cast<void>(cudag::capture_or_run(
                stream, [&](cudaStream_t s) { cudag::launch(s, one_warp, touch, cells(), 0, 1.0f, 1U); }));
            stream.synchronize();
        }
    });
}

double streams(std::size_t n) {
    return microseconds([&] {
        for (std::size_t i = 0; i < n; ++i)
            const cudag::Stream stream;
    });
}

/// A line of kernels and fills that no other number has.
cudag::Graph numbered_graph(std::size_t number) {
    constexpr int digits = 16;
    cudag::GraphBuilder builder;
    std::optional<cudag::Node> before;
    const auto add = [&](const auto& node) {
        if (before) node.after(*before);
        before = node;
    };
    for (int digit = 0; digit < digits; ++digit) {
        if ((number >> static_cast<unsigned>(digit) & 1U) != 0)
            add(builder.memset(cudag::DeviceSpan<float>(cells(), 1), 0.0f));
        else
            add(touch_in(builder));
    }
    return std::move(builder).build();
}

/// More execs than the cache is to keep, all in flight, each launched twice.
double execs_in_flight(std::size_t n) {
    cudag::PinnedBuffer<int> gate(1);
    *const_cast<volatile int*>(gate.data()) = 0;
    std::vector<cudag::Graph> graphs;
    for (std::size_t i = 0; i < (n + 15) / 16; ++i) // not n: a device has not room for as many launches
        graphs.push_back(numbered_graph(i));
    const std::vector<cudag::Stream> waiting(8);
    for (const cudag::Stream& stream : waiting)
        cudag::launch(stream, {}, wait_for, gate.data());
    cudag::ExecCache cache({.capacity = 4});
    const double taken = microseconds([&] {
        for (int turn = 0; turn < 2; ++turn)
            for (std::size_t i = 0; i < graphs.size(); ++i)
                cache.launch(graphs[i], waiting[i % waiting.size()]);
    });
    *const_cast<volatile int*>(gate.data()) = 1;
    for (const cudag::Stream& stream : waiting)
        stream.synchronize();
    return taken;
}

constexpr Row all_rows[] = {
    {"regions of 5 kernels in a line", regions, regions_of_cuda},
    {"children: made", children_made},
    {"children: inside() of each", children_inside},
    {"children: update of each", children_updated},
    {"children: dot()", children_dot},
    {"children: diff()", children_diff},
    {"conditions", conditions},
    {"conditionals", conditionals},
    {"bodies of a switch, body_count() for each", bodies},
    {"forks and joins of 32 streams", forks},
    {"forks of n / 8 streams, a kernel in each", wide_forks},
    {"steps inside each other", nested_steps, steps_of_cuda},
    {"labels of one node", labels},
    {"buffers of a CapturePool", pool},
    {"owners that wait for a launch", retired_owners},
    {"launches with new owners", launches},
    {"allocations that reuse memory", allocations},
    {"clones of clones", clones},
    {"bind of what n nodes write", writers_bound},
    {"bind of what n nodes change atomically", atomics_bound},
    {"inferred edges: n readers, then n writers", readers_and_writers},
    {"reads() of each node, up and down", declarations},
    {"first bind of a parameter of each node", first_binds},
    {"child updated node by node", child_updated},
    {"updates of nodes that declare memory", declaring_updated},
    {"BufferParams that come and go", passing_params},
    {"captures, each with a stream of its own", captures},
    {"streams made and destroyed", streams},
    {"execs of a cache that are all in flight", execs_in_flight},
};

/// The shortest times of one side, by size.
struct Times {
    explicit Times(std::size_t sizes) : of_size(sizes, std::numeric_limits<double>::infinity()) {}

    void measure(Work work, const std::vector<int>& sizes) {
        for (std::size_t i = 0; i < sizes.size(); ++i)
            of_size[i] = std::min(of_size[i], work(static_cast<std::size_t>(sizes[i])));
    }
    /// By how much the last doubling of those that can be judged grows most; 0 if none can.
    [[nodiscard]] double growth() const {
        double most = 0;
        for (std::size_t i = 1; i < of_size.size(); ++i)
            if (of_size[i - 1] >= shortest_judged) most = std::max(most, of_size[i] / of_size[i - 1]);
        return most;
    }

    std::vector<double> of_size;
};

/// Sizes for which a row takes long enough to be judged: `sizes`, or so many times as much.
std::vector<int> sizes_to_judge(const Row& row, std::vector<int> sizes) {
    constexpr int most_times = 64;
    for (int times = 1; times < most_times; times *= 2) {
        if (row.cudag(static_cast<std::size_t>(sizes.front())) >= 1.5 * shortest_judged) break;
        for (int& size : sizes)
            size *= 2;
    }
    return sizes;
}

/// Prints a row, for other sizes than from `first` on with a note, and adds it to `json`; whether it grows as it
/// should.
bool run_row(const Row& row, const std::vector<int>& sizes, int first, int repeat, std::string& json) {
    Times ours(sizes.size());
    Times cudas(sizes.size());
    const auto is_good = [&] {
        const double allowed = row.cuda == nullptr ? 0 : 1.1 * cudas.growth();
        return ours.growth() <= std::max(most_per_doubling, allowed);
    };
    for (int round = 0; round < repeat || (round < std::max(repeat, most_rounds) && repeat > 1 && !is_good());
         ++round) {
        ours.measure(row.cudag, sizes);
        if (row.cuda != nullptr) cudas.measure(row.cuda, sizes);
    }
    const auto print = [&](const char* name, const Times& times) {
        std::printf("%-44s", name);
        json += std::string(json.empty() ? "\n" : ",\n") + "  {\"name\": \"" + name + "\", \"times\": [";
        for (const double time : times.of_size) {
            std::printf(" %12.0f", time);
            json += std::to_string(time) + (&time == &times.of_size.back() ? "" : ", ");
        }
        json += "], \"growth\": " + std::to_string(times.growth()) + "}";
        if (times.growth() > 0) std::printf(" %8.3g", times.growth());
        if (sizes.front() != first) std::printf("  n from %d", sizes.front());
        std::printf("\n");
    };
    print(row.name, ours);
    if (row.cuda != nullptr) print("    of which CUDA alone", cudas);
    std::fflush(stdout);
    return is_good();
}

bool run_all(const bench::Options& options) {
    static_cast<void>(cells()); // not within a capture
    std::vector<int> sizes;
    for (const int n : {1, 2, 4})
        sizes.push_back(n * options.nodes.front());
    std::printf("%-44s", "shortest, microseconds, by n");
    for (const int size : sizes)
        std::printf(" %12d", size);
    std::printf(" %8s\n", "growth");
    bool good = true;
    std::string json;
    for (const Row& row : all_rows)
        if (std::string(row.name).find(*options.only) != std::string::npos)
            good =
                run_row(row, options.check ? sizes_to_judge(row, sizes) : sizes, sizes.front(), options.repeat, json) &&
                good;
    if (options.json.empty()) return good;
    std::ofstream file(options.json);
    file << "{\"title\": \"shortest times for n, 2n and 4n\", \"unit\": \"us\", \"n\": " << sizes.front()
         << ", \"rows\": [" << json << "\n]}\n";
    if (!file.flush()) throw std::runtime_error("cannot write " + options.json);
    return good;
}

/// On a thread of its own, whose stack has room for 32000 steps inside each other.
bool run(const bench::Options& options) {
    struct Call {
        const bench::Options& options;
        bool good = false;
        std::exception_ptr error = nullptr;
    } call{options};
    const auto body = [](void* argument) -> void* {
        Call& own = *static_cast<Call*>(argument);
        try {
            own.good = run_all(own.options);
        } catch (...) {
            own.error = std::current_exception();
        }
        return nullptr;
    };
    pthread_attr_t attributes{};
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, std::size_t{512} << 20U);
    pthread_t thread{};
    if (pthread_create(&thread, &attributes, body, &call) != 0) throw std::runtime_error("cannot start a thread");
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
    if (call.error) std::rethrow_exception(call.error);
    return call.good;
}

} // namespace

int main(int argc, char** argv) {
    return bench::run_benchmark(argc, argv, {.nodes = {8000}, .repeat = 3, .only = ""}, run);
}
