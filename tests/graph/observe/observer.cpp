// set_observer: events of instantiations, whole updates, refusals, caches and fallbacks; names of graphs in them.
#include <cudag/capture_cache.hpp>
#include <cudag/capture_or_run.hpp>
#include <cudag/exec_cache.hpp>
#include <cudag/format.hpp>
#include <cudag/observer.hpp>

#include "printed.hpp"
#include "test.hpp"

#include <atomic>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

using cudag::DeviceBuffer;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::Observation;
using cudag::Observer;
using cudag::Stream;

namespace {

/// Observes while it lives.
class Observing {
  public:
    explicit Observing(Observer observer) : former_(cudag::set_observer(std::move(observer))) {}
    ~Observing() { cudag::set_observer(std::move(former_)); }
    Observing(const Observing&) = delete;
    Observing& operator=(const Observing&) = delete;

  private:
    Observer former_;
};

/// The texts of all events during `call`.
template <class Call>
std::vector<std::string> events_of(const Call& call) {
    std::vector<std::string> texts;
    const Observing observing([&](const Observation& event) { texts.push_back(to_string(event)); });
    call();
    return texts;
}

bool has(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

Graph fills(DeviceBuffer<int>& x, int count) {
    GraphBuilder b;
    cudag::MemsetNode last = b.memset(x, 0).label("fill");
    for (int i = 1; i < count; ++i)
        last = b.memset(x, i).after(last);
    return std::move(b).build();
}

} // namespace

TEST_CASE("an event is one line of text, whatever its parts have", "[graph][observer]") {
    CHECK(to_string(Observation{cudag::ObservedFailure{"first line\nsecond\tline"}}) == "first line; second line");
}

TEST_CASE("an instantiation is observed with the graph's name, counts and plan", "[graph][observer]") {
    DeviceBuffer<int> x(4);
    const Graph graph = fills(x, 3).name("decode");
    std::size_t nodes = 0, edges = 0;
    double milliseconds = -1;
    const Observing observing([&](const Observation& event) {
        const auto* made = event.find<cudag::ObservedInstantiation>();
        REQUIRE(made != nullptr);
        CHECK(&made->graph == &graph);
        CHECK(made->exec.replays() == 0);
        CHECK(has(to_string(event), "instantiated the graph \"decode\" made at"));
        CHECK(has(to_string(event), "3 nodes, 2 edges; plan: edges as written"));
        nodes = made->nodes;
        edges = made->edges;
        milliseconds = made->milliseconds;
    });
    cudag::Exec exec = graph.instantiate();
    CHECK(nodes == 3);
    CHECK(edges == 2);
    CHECK(milliseconds > 0);
    CHECK(exec.replays() == 0);
}

TEST_CASE("launches and updates of nodes are no events", "[graph][observer]") {
    DeviceBuffer<int> x(4);
    const Stream stream;
    Graph graph = fills(x, 1);
    cudag::Exec exec = graph.instantiate();
    const auto node = graph.find_one("fill").as<cudag::MemsetNode>();
    CHECK(events_of([&] {
              exec.update(node, x, 7);
              graph.update(node, x, 8);
              exec.apply(graph);
              run(exec, stream);
          }).empty());
    CHECK(read(x) == std::vector{8, 8, 8, 8});
}

TEST_CASE("whole updates are observed by method, and refused ones with the reason", "[graph][observer]") {
    DeviceBuffer<int> x(4);
    const Graph first = fills(x, 2), same = fills(x, 2).name("same"), longer = fills(x, 3).name("longer");
    cudag::Exec exec = first.instantiate();
    const auto texts = events_of([&] {
        CHECK(exec.update(same).updated());
        CHECK(exec.update(same, {.match = cudag::Match::structure}).updated());
        CHECK_FALSE(exec.update(longer).updated());
    });
    REQUIRE(texts.size() == 3);
    CHECK(has(texts[0], "updated an exec to the graph \"same\""));
    CHECK(has(texts[0], " by order in "));
    CHECK(has(texts[1], " by structure in "));
    CHECK(has(texts[2], "refused: update of the graph \"longer\""));
    CHECK(has(texts[2], "the nodes or edges differ"));
    CHECK_FALSE(has(texts[2], "\n"));
}

TEST_CASE("refused builds and instantiations are observed, and throw as before", "[graph][observer]") {
    DeviceBuffer<int> x(4);
    const auto texts = events_of([&] {
        GraphBuilder b;
        b.memset(x, 1).label("one");
        b.memset(x, 2).label("two");
        refused<cudag::RaceError>([&] { static_cast<void>(std::move(b).build()); });
        const Graph graph = fills(x, 1);
        refused<cudag::InstantiateError>(
            [&] { static_cast<void>(graph.instantiate({.auto_free_on_launch = true, .device_launch = true})); });
    });
    REQUIRE(texts.size() == 2);
    CHECK(has(texts[0], "refused: build of a graph at "));
    CHECK(has(texts[0], "\"one\""));
    CHECK(has(texts[1], "refused: instantiate of the graph made at "));
}

TEST_CASE("an ExecCache is observed: consecutive misses, updates and evictions", "[graph][observer]") {
    DeviceBuffer<int> x(4);
    const Stream stream;
    const Graph one = fills(x, 1).name("one"), two = fills(x, 2).name("two");
    cudag::ExecCache cache({.capacity = 1});
    std::vector<std::uint64_t> misses;
    std::vector<std::string> evicted;
    const Observing observing([&](const Observation& event) {
        if (const auto* miss = event.find<cudag::ObservedMiss>()) misses.push_back(miss->consecutive);
        if (const auto* gone = event.find<cudag::ObservedEviction>()) evicted.push_back(gone->entry);
    });
    const auto launch = [&](const Graph& graph) {
        cache.launch(graph, stream);
        stream.synchronize();
    };
    launch(one);
    launch(two);
    launch(two); // a hit
    launch(one);
    CHECK(misses == std::vector<std::uint64_t>{1, 2, 1});
    REQUIRE(evicted.size() == 2);
    CHECK(has(evicted[0], "\"one\""));
    CHECK(has(evicted[1], "\"two\""));
}

TEST_CASE("fallbacks from capture to eager runs are observed with step and reason", "[graph][observer]") {
    const Stream stream;
    DeviceBuffer<int> x(4);
    const auto breaks = [&](cudag::Steps& steps) {
        steps.step("wait", [&](cudaStream_t s) { static_cast<void>(cudaStreamSynchronize(s)); });
    };
    const auto texts = events_of([&] {
        CHECK_FALSE(capture_or_run(stream, breaks).exec);
        static_cast<void>(cudaGetLastError());
        cudag::CaptureCache cache({.warm_up = 0});
        cache.run(stream, 1, breaks);
        static_cast<void>(cudaGetLastError());
    });
    REQUIRE(texts.size() == 3);
    CHECK(has(texts[0], "capture_or_run at "));
    CHECK(has(texts[0], "ran eagerly, because of step \"wait\": "));
    CHECK(has(texts[1], "CaptureCache at "));
    CHECK(has(texts[2], "CaptureCache missed 1; consecutive misses: 1"));
}

TEST_CASE("an observer may throw: the observed call continues", "[graph][observer]") {
    DeviceBuffer<int> x(4);
    const Graph graph = fills(x, 1);
    const Observing observing([](const Observation&) { throw std::runtime_error("no disk"); });
    const std::string text = printed([&] { CHECK(graph.instantiate().replays() == 0); });
    CHECK(text == "cudag: an observer threw: no disk; the observed call continues\n");
}

TEST_CASE("an observer may call cudag, without events for its own calls", "[graph][observer]") {
    DeviceBuffer<int> x(4);
    const Graph graph = fills(x, 1);
    int calls = 0;
    const Observing observing([&](const Observation& event) {
        ++calls;
        const auto* made = event.find<cudag::ObservedInstantiation>();
        REQUIRE(made != nullptr);
        CHECK_FALSE(made->graph.dot().empty());
        static_cast<void>(made->graph.instantiate());
        cudag::set_observer({}); // itself: this call goes on
    });
    static_cast<void>(graph.instantiate());
    CHECK(calls == 1);
    static_cast<void>(graph.instantiate());
    CHECK(calls == 1);
}

TEST_CASE("set_observer returns the former observer", "[graph][observer]") {
    int first = 0;
    const Observing outer([&](const Observation&) { ++first; });
    Observer former = cudag::set_observer({});
    REQUIRE(former);
    DeviceBuffer<int> x(4);
    const Graph graph = fills(x, 1);
    static_cast<void>(graph.instantiate());
    CHECK(first == 0);
    CHECK_FALSE(cudag::set_observer(std::move(former)));
    static_cast<void>(graph.instantiate());
    CHECK(first == 1);
}

TEST_CASE("threads call an observer concurrently while it is replaced", "[graph][observer]") {
    constexpr int threads = 4, rounds = 20;
    std::atomic<int> calls = 0;
    const Observing observing([&](const Observation&) { ++calls; });
    std::vector<std::thread> running;
    for (int i = 0; i < threads; ++i)
        running.emplace_back([&] {
            DeviceBuffer<int> x(4);
            const Graph graph = fills(x, 1);
            for (int round = 0; round < rounds; ++round) {
                static_cast<void>(graph.instantiate());
                cudag::set_observer([&](const Observation&) { ++calls; });
            }
        });
    for (std::thread& thread : running)
        thread.join();
    CHECK(calls == threads * rounds);
}

TEST_CASE("a graph's name appears in texts and pictures, and its clones keep it", "[graph][observer]") {
    DeviceBuffer<int> x(4);
    Graph graph = fills(x, 1);
    CHECK(graph.name().empty());
    const std::string unnamed = graph.dot();
    CHECK_FALSE(has(unnamed, "label=\"decode"));
    CHECK(&graph.name("decode \"1\"") == &graph);
    CHECK(graph.name() == "decode \"1\"");
    CHECK(graph.clone().name() == "decode \"1\"");
    CHECK(has(to_string(graph), "graph \"decode \"1\"\" of 1 node"));
    CHECK(has(to_string(graph.instantiate()), "exec \"decode \"1\"\" of 1 node"));
    CHECK(has(graph.listing(), "graph \"decode"));
    CHECK(has(graph.dot(), "    label=\"decode \\\"1\\\"\";\n"));
    graph.name("");
    CHECK(graph.dot() == unnamed);
    const Graph moved = std::move(graph).name("moved");
    CHECK(moved.name() == "moved");
    refused<cudag::GraphError>([&] { static_cast<void>(graph.name()); });
}

TEST_CASE("errors name the graph", "[graph][observer]") {
    DeviceBuffer<int> x(4);
    const Graph graph = fills(x, 1).name("decode"), other = fills(x, 1).name("other");
    cudag::Exec exec = graph.instantiate();
    const auto error = refused<cudag::UpdateError>([&] { exec.apply(other); });
    CHECK(has(error.what(), "the graph \"decode\" made at "));
    CHECK(has(error.what(), "the graph \"other\" made at "));
}
