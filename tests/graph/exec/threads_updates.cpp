// A Graph on one thread beside its Execs on others, and one object looked at by several threads.
#include <atomic>
#include <future>
#include <initializer_list>
#include <thread>
#include <utility>

#include "scenario.hpp"

using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::Stream;

namespace {

constexpr int width = 64;
constexpr int rounds = 20;

using StoreNode = cudag::KernelNode<int*, int>;

/// A graph of kernels that store 1 in a cell each, and one in a child.
struct Sample {
    cudag::DeviceBuffer<int> cells = device(std::vector<int>(width, 0));
    cudag::DynamicParam<int> last{1};
    std::vector<StoreNode> nodes;
    Graph graph = build();

    [[nodiscard]] int* cell(int i) const { return cells.data() + i; }

  private:
    Graph build() {
        GraphBuilder inner;
        const StoreNode in_child = inner.kernel({}, store, cell(0), 1);
        const Graph child = std::move(inner).build();
        GraphBuilder b;
        nodes.push_back(b.child(child).inside(in_child));
        for (int i = 1; i < width - 1; ++i)
            nodes.push_back(b.kernel({}, store, cell(i), 1));
        nodes.push_back(b.kernel({}, store, cell(width - 1), last));
        return std::move(b).build();
    }
};

void start_all(std::initializer_list<CallRef<>> calls) {
    std::atomic<std::size_t> missing = calls.size();
    std::vector<std::future<void>> threads;
    for (const CallRef<>& call : calls)
        threads.push_back(std::async(std::launch::async, [&] {
            --missing;
            while (missing != 0)
                std::this_thread::yield();
            call();
        }));
    for (std::future<void>& thread : threads)
        thread.get();
}

/// Calls all of `calls` on threads of their own, at once. What they throw ends the test; their assertions are made
/// afterwards, since those of Catch2 belong to one thread.
template <class... Calls>
void at_once(Calls&&... calls) {
    start_all({CallRef<>(calls)...});
}

Graph record(const Stream& stream, int* cells) {
    return cudag::capture(stream, [&](cudaStream_t s) {
        for (int i = 0; i < width; ++i)
            cudag::launch(s, {}, store, cells + i, i);
    });
}

} // namespace

TEST_CASE("a thread updates the Graph while others update and launch its Execs", "[exec][threads]") {
    Sample sample;
    const Stream stream; // one, as both Execs write the same cells
    Exec execs[2] = {sample.graph.instantiate(), sample.graph.instantiate()};
    const auto use = [&](int number) {
        for (int round = 1; round <= rounds; ++round) {
            for (int i = number; i < width; i += 2)
                execs[number].update(sample.nodes[static_cast<std::size_t>(i)], cudag::arg<1>(100 * round + i));
            execs[number].launch(stream);
        }
        stream.synchronize();
    };
    at_once(
        [&] {
            for (int round = 0; round < rounds; ++round)
                for (const StoreNode& node : sample.nodes)
                    sample.graph.update(node, cudag::arg<1>(round));
        },
        [&] { use(0); }, [&] { use(1); });
    write(sample.cells.span(), std::vector<int>(width, 0));
    Exec fresh = sample.graph.instantiate();
    run(fresh, stream);
    CHECK(read(sample.cells) == std::vector<int>(width, rounds - 1));
    write(sample.cells.span(), std::vector<int>(width, 0));
    run(execs[0], stream);
    for (int i = 0; i < width; ++i)
        CHECK(read(sample.cells)[static_cast<std::size_t>(i)] == (i % 2 == 0 ? 100 * rounds + i : 1));
}

TEST_CASE("a thread declares what nodes do to memory while another updates their Execs", "[exec][threads][races]") {
    constexpr std::size_t count = 200;
    const cudag::DeviceBuffer<int> in(16), other(16), third(16), out(count);
    GraphBuilder b;
    std::vector<cudag::KernelNode<int*, const int*, int>> nodes;
    for (std::size_t i = 0; i < count; ++i)
        nodes.push_back(b.kernel({}, add, out.span().subspan(i, 1), in, 1));
    const Graph graph = std::move(b).build();
    const Graph next = graph.clone();
    const cudag::BufferParam<int> param = graph.parameter(in);
    at_once(
        [&] {
            for (std::size_t i = 0; i < 10 * count; ++i)
                nodes[i % 7].reads(other);
        },
        [&] {
            for (int round = 0; round < rounds; ++round) {
                Exec exec = graph.instantiate();
                exec.update(nodes.back(), cudag::arg<1>(third)); // looks at all nodes, the first time
                exec.bind(param, third);
                static_cast<void>(exec.update(next, {.match = cudag::Match::structure}));
            }
        },
        [&] {
            const Stream stream;
            cudag::ExecCache cache;
            for (int round = 0; round < rounds; ++round) {
                cache.launch(graph, stream);
                cache.launch(next, stream);
            }
            stream.synchronize();
        });
}

TEST_CASE("a thread instantiates, clones and looks at the Graph while another updates its Exec", "[exec][threads]") {
    Sample sample;
    const Stream stream;
    Exec exec = sample.graph.instantiate();
    std::size_t seen = 0;
    at_once(
        [&] {
            for (int round = 0; round < rounds; ++round) {
                static_cast<void>(sample.graph.instantiate());
                seen += sample.graph.clone().node_count();
                seen += sample.graph.find(store).size();
                seen += sample.graph.dot().size();
                static_cast<void>(sample.graph.native());
            }
        },
        [&] {
            for (int round = 0; round < rounds; ++round) {
                for (const StoreNode& node : sample.nodes)
                    exec.update(node, cudag::arg<1>(round));
                sample.last.set(round, exec);
                exec.disable(sample.nodes[1]);
                exec.launch(stream);
                exec.enable(sample.nodes[1]);
            }
            stream.synchronize();
        });
    CHECK(seen != 0);
    run(exec, stream);
    CHECK(read(sample.cells) == std::vector<int>(width, rounds - 1));
}

TEST_CASE("a thread updates the Graph while others apply it to their Execs", "[exec][threads][apply]") {
    Sample sample;
    const Stream stream; // one, as both Execs write the same cells
    Exec execs[2] = {sample.graph.instantiate(), sample.graph.instantiate()};
    const auto use = [&](int number) {
        for (int round = 0; round < rounds; ++round) {
            execs[number].apply(sample.graph);
            execs[number].launch(stream);
        }
        stream.synchronize();
    };
    at_once(
        [&] {
            for (int round = 0; round < rounds; ++round)
                for (std::size_t i = 0; i < sample.nodes.size(); ++i)
                    sample.graph.update(sample.nodes[i], sample.cells.data() + i, round);
        },
        [&] { use(0); }, [&] { use(1); });
    for (int number : {0, 1}) {
        execs[number].apply(sample.graph);
        CHECK(execs[number].apply(sample.graph) == 0);
        write(sample.cells.span(), std::vector<int>(width, -1));
        run(execs[number], stream);
        CHECK(read(sample.cells) == std::vector<int>(width, rounds - 1));
    }
}

TEST_CASE("a thread updates a Graph while others take it over as a whole", "[exec][threads][update]") {
    Sample sample;
    Sample other;
    Exec mine = sample.graph.instantiate();
    Exec theirs = other.graph.instantiate();
    bool refused = false;
    at_once(
        [&] {
            for (int round = 0; round < rounds; ++round)
                for (const StoreNode& node : other.nodes)
                    other.graph.update(node, cudag::arg<1>(round));
        },
        [&] {
            for (int round = 0; round < rounds; ++round) {
                if (!mine.update(other.graph).updated()) refused = true;
                mine.update(sample.nodes[2], cudag::arg<1>(7));
            }
        },
        [&] {
            for (int round = 0; round < rounds; ++round)
                if (!theirs.update(sample.graph).updated()) refused = true;
        },
        [&] {
            for (int round = 0; round < rounds; ++round)
                static_cast<void>(cudag::diff(sample.graph, other.graph));
        },
        [&] {
            for (int round = 0; round < rounds; ++round)
                static_cast<void>(cudag::diff(other.graph, sample.graph));
        });
    CHECK_FALSE(refused);
    const Stream stream;
    REQUIRE(mine.update(other.graph).updated());
    run(mine, stream);
    CHECK(read(other.cells) == std::vector<int>(width, rounds - 1));
}

TEST_CASE("threads ask one captured graph at once, the first time, too", "[graph][threads][capture]") {
    const auto cells = device(std::vector<int>(width, 0));
    for (int round = 0; round < rounds; ++round) {
        const Stream stream;
        const Graph graph = record(stream, cells.data());
        Exec exec = graph.instantiate();
        std::size_t found[4] = {};
        at_once([&] { found[0] = graph.find(store).size(); }, [&] { found[1] = graph.find(store).size(); },
                [&] {
                    const auto node = graph.nodes().front().as(store);
                    found[2] = static_cast<std::size_t>(node.kernel_info().arguments.size());
                    static_cast<void>(node.kind());
                    static_cast<void>(node.label());
                },
                [&] { found[3] = graph.edges().size() + graph.dot().size() + graph.find("label").size(); },
                [&] { exec.launch(stream); });
        stream.synchronize();
        CHECK(found[0] == width);
        CHECK(found[1] == width);
        CHECK(found[2] == 2);
        CHECK(found[3] != 0);
        exec.update(graph.find(store).at(1), cudag::arg<1>(5));
    }
}

TEST_CASE("a captured graph is first read on one thread while its Exec is updated on another",
          "[exec][threads][capture]") {
    const auto cells = device(std::vector<int>(width, 0));
    const Stream stream;
    for (int round = 0; round < rounds; ++round) {
        Graph graph = record(stream, cells.data());
        Exec exec = graph.instantiate();
        const Graph next = record(stream, cells.data());
        at_once([&] { graph.update(graph.find(store).at(1), cudag::arg<1>(3)); },
                [&] {
                    static_cast<void>(exec.update(next).updated());
                    exec.update(graph.find(store).at(2), cudag::arg<1>(4));
                });
        run(exec, stream);
        CHECK(read(cells)[1] == 1);
        CHECK(read(cells)[2] == 4);
    }
}

TEST_CASE("threads ask one Exec at once", "[exec][threads]") {
    Sample sample;
    Exec exec = sample.graph.instantiate();
    exec.disable(sample.nodes[3]);
    const auto ask = [&] {
        for (const StoreNode& node : sample.nodes)
            static_cast<void>(exec.is_enabled(node));
        static_cast<void>(exec.replays());
        static_cast<void>(exec.update_counts());
        static_cast<void>(exec.options());
        static_cast<void>(exec.native());
    };
    at_once(ask, ask, ask);
    CHECK_FALSE(exec.is_enabled(sample.nodes[3]));
}

TEST_CASE("an Exec goes on one thread while its Graph is updated, and dropped, on another", "[exec][threads]") {
    for (int round = 0; round < rounds; ++round) {
        Sample sample;
        const Stream stream;
        auto exec = std::make_unique<Exec>(sample.graph.instantiate());
        exec->update(sample.nodes[1], sample.cell(1), 2);
        exec->launch(stream);
        at_once([&] { exec.reset(); },
                [&] {
                    sample.graph.update(sample.nodes[1], cudag::arg<1>(3));
                    Graph dropped = std::move(sample.graph);
                });
        stream.synchronize();
    }
}
