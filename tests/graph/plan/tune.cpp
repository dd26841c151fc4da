// tune: plans are timed on the device, and the best one stays.
#include <cudag/format.hpp>

#include "conditional_kernels.hpp"
#include "cuda_version.hpp"
#include "native.hpp"
#include "plan_graphs.hpp"

#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <optional>
#include <stdexcept>
#include <thread>

using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::Plan;
using cudag::Stream;
using cudag::tune;
using cudag::Tuned;
using cudag::TuneGoal;
using cudag::TuneRow;

namespace {

using Plans = std::vector<Plan>;

Graph graph_of(const std::function<void()>& task) {
    GraphBuilder b;
    b.host(task);
    return std::move(b).build();
}

std::vector<std::string> names_of(const std::vector<TuneRow>& rows) {
    std::vector<std::string> names;
    for (const TuneRow& row : rows)
        names.push_back(row.name);
    return names;
}

/// What a graph is refused with, and that nothing ran.
template <class E>
std::string refusal(const cudag::TuneOptions& options) {
    std::atomic<int> calls = 0;
    const Graph graph = graph_of([&] { ++calls; });
    const Stream stream;
    const E error = refused<E>([&] { static_cast<void>(tune(graph, stream, options)); });
    CHECK(calls == 0);
    return error.what();
}

} // namespace

TEST_CASE("a tuned exec gives the results of the graph as it is written", "[exec][tune]") {
    const Sums sums(10);
    const Graph graph = sums.graph();
    const Stream stream;
    Tuned tuned = tune(graph, stream);
    tuned.exec.launch(stream);
    stream.synchronize();
    const std::vector<std::uint32_t> values = read(sums.cells);
    CHECK(values == sums.expected());
    CHECK(sums.run_of(tuned.exec) == values);
}

TEST_CASE("the report of tune has a row for each plan, and lanes up to as many nodes as can run at once",
          "[exec][tune]") {
    if (older_than(12080)) return;
    const Graph graph = Sums(10).graph();
    const Tuned tuned = tune(graph, Stream(), {.repetitions = 2});
    const std::vector<TuneRow>& rows = tuned.report.rows();
    CHECK(names_of(rows) == std::vector<std::string>{"default", "as written", "reduce", "reduce + joins",
                                                     "default, 1 lane", "default, 2 lanes", "default, 4 lanes",
                                                     "default, 8 lanes"});
    for (const TuneRow& row : rows)
        for (const TuneGoal goal : {TuneGoal::interval, TuneGoal::gpu_time, TuneGoal::launch_call}) {
            CHECK(row.of(goal).median > 0);
            CHECK(row.of(goal).spread >= 0);
            CHECK(std::isfinite(row.of(goal).spread));
        }
    CHECK(rows[0].plan == Plan());
    CHECK(rows[1].edges == 20);
    CHECK(rows[1].nodes == 21);
    CHECK(rows[1].same_as == std::nullopt);
    CHECK(rows[2].same_as == 1U); // nothing to reduce
    CHECK(rows[2].interval == rows[1].interval);
    CHECK(rows[7].plan == Plan{.lanes = 8});
    CHECK(rows[7].same_as == std::nullopt);
}

TEST_CASE("the exec is what the report of tune says, and CUDA's graph is, too", "[exec][tune]") {
    const Graph graph = Sums(10).graph();
    for (const TuneGoal goal : {TuneGoal::interval, TuneGoal::gpu_time, TuneGoal::launch_call}) {
        const Tuned tuned = tune(graph, Stream(), {.goal = goal, .repetitions = 3});
        const TuneRow& chosen = tuned.report.chosen();
        CHECK(tuned.report.goal() == goal);
        CHECK(&chosen == &tuned.report.rows()[tuned.report.chosen_index()]);
        CHECK_FALSE(chosen.same_as);
        CHECK(tuned.exec.options().plan == chosen.plan);
        CHECK(tuned.exec.plan().edges_after() == chosen.edges);
        CHECK(native_edges(graph.native()).size() == chosen.edges);
        CHECK(native_nodes(graph.native()).size() == chosen.nodes);
        CHECK(graph.edge_count() == 20);
    }
}

TEST_CASE("the plan that is chosen is CUDA's graph also if it was not the last one", "[exec][tune]") {
    const Graph graph = Sums(10).graph();
    const Plans plans{{.lanes = 1}, Plan::as_written(), {.lanes = 2}};
    const Tuned tuned = tune(graph, Stream(), {.candidates = plans, .repetitions = 2});
    REQUIRE(tuned.report.rows().size() == 3);
    CHECK(tuned.report.rows()[1].edges == 20);
    CHECK(native_edges(graph.native()).size() == tuned.report.chosen().edges);
}

TEST_CASE("each plan of tune is launched as often as it says", "[exec][tune]") {
    std::atomic<int> calls = 0;
    const Graph graph = graph_of([&] { ++calls; });
    Tuned tuned = tune(graph, Stream(), {.repetitions = 3});
    CHECK(calls == 1 + 9 * 3); // all plans give a node without edges none
    CHECK(tuned.exec.replays() == 1 + 9 * 3);
    REQUIRE(tuned.report.rows().size() == 4);
    CHECK(tuned.report.chosen_index() == 0);
    CHECK(tuned.report.rows()[3].same_as == 0U);
    run(tuned.exec, Stream());
    CHECK(calls == 2 + 9 * 3);
}

TEST_CASE("a plan without rivals is launched in four rounds", "[exec][tune]") {
    std::atomic<int> calls = 0;
    const Graph graph = graph_of([&] { ++calls; });
    const Tuned tuned = tune(graph, Stream());
    CHECK(calls == 1 + 9 * 4);
    CHECK(tuned.report.chosen().rounds == 4);
    CHECK(tuned.report.rows()[3].rounds == 4); // the same edges
}

TEST_CASE("tune reports its progress after each nine launches", "[exec][tune]") {
    const Graph graph = Sums(10).graph();
    const Plans plans{Plan(), {.lanes = 1}, Plan()};
    std::vector<std::size_t> launches, contenders, candidates;
    std::chrono::duration<double> elapsed{0};
    const auto note = [&](const cudag::TuneProgress& now) {
        launches.push_back(now.launches);
        contenders.push_back(now.contenders);
        candidates.push_back(now.candidates);
        CHECK((now.best == "default" || now.best == "default, 1 lane"));
        CHECK(now.time.median > 0);
        CHECK(now.elapsed >= elapsed);
        elapsed = now.elapsed;
        return true;
    };
    const Tuned tuned = tune(graph, Stream(), {.candidates = plans, .repetitions = 2, .on_progress = note});
    CHECK(launches == std::vector<std::size_t>{11, 20, 29, 38});
    CHECK(contenders == std::vector<std::size_t>(4, 2));
    CHECK(candidates == std::vector<std::size_t>(4, 2));
    CHECK(tuned.report.rows().size() == 3);
}

TEST_CASE("tune stops after the callback has returned false, with the plans measured by then", "[exec][tune]") {
    const Sums sums(10);
    const Graph graph = sums.graph();
    const Plans plans{Plan(), {.lanes = 1}, Plan(), {.lanes = 2}, {.lanes = 1}};
    for (const std::size_t stop : {1U, 2U, 3U}) {
        std::size_t calls = 0;
        Tuned tuned =
            tune(graph, Stream(),
                 {.candidates = plans, .on_progress = [&](const cudag::TuneProgress&) { return ++calls != stop; }});
        CHECK(calls == stop);
        const std::vector<TuneRow>& rows = tuned.report.rows();
        REQUIRE(rows.size() == (stop == 1 ? 2 : stop == 2 ? 4 : 5));
        CHECK(rows[1].same_as == (stop == 1 ? std::optional<std::size_t>(0) : std::nullopt));
        if (stop == 2) CHECK(rows[3].same_as == 1U);
        for (const TuneRow& row : rows)
            CHECK(row.rounds == 1);
        CHECK(tuned.exec.options().plan == tuned.report.chosen().plan);
        CHECK(sums.run_of(tuned.exec) == sums.expected());
    }
}

TEST_CASE("a time limit ends tune: the first plan is measured in any case", "[exec][tune]") {
    const Sums sums(10);
    const Graph graph = sums.graph();
    Tuned tuned = tune(graph, Stream(), {.time_limit = std::chrono::nanoseconds(1)});
    CHECK(names_of(tuned.report.rows()) == std::vector<std::string>{"default"});
    CHECK(tuned.report.chosen().rounds == 1);
    CHECK(sums.run_of(tuned.exec) == sums.expected());
    std::atomic<int> calls = 0;
    const Graph slow = graph_of([&] {
        ++calls;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    });
    const Tuned limited = tune(slow, Stream(), {.repetitions = 1000, .time_limit = std::chrono::milliseconds(30)});
    CHECK(limited.report.chosen().rounds >= 1);
    CHECK(calls <= 1 + 9 * 4);
    const Tuned whole = tune(graph, Stream(), {.repetitions = 1, .time_limit = std::chrono::hours(1)});
    CHECK(whole.report.rows().size() >= 4);
}

TEST_CASE("tune throws what its callback throws, and the graph stays as it was", "[exec][tune]") {
    const Sums sums(10);
    const Graph graph = sums.graph();
    const auto fail = [](const cudag::TuneProgress&) -> bool { throw std::runtime_error("enough"); };
    CHECK_THROWS_AS(static_cast<void>(tune(graph, Stream(), {.on_progress = fail})), std::runtime_error);
    CHECK(graph.edge_count() == 20);
    Exec exec = graph.instantiate();
    CHECK(sums.run_of(exec) == sums.expected());
}

TEST_CASE("the first launch of a plan is not measured", "[exec][tune]") {
    std::atomic<int> calls = 0;
    const Graph graph = graph_of([&] {
        if (++calls == 1) std::this_thread::sleep_for(std::chrono::milliseconds(200));
    });
    const Tuned tuned = tune(graph, Stream(), {.candidates = Plans{Plan()}, .repetitions = 1});
    CHECK(tuned.report.chosen().gpu_time.median < 1e5);
    CHECK(tuned.report.chosen().launch_call.median < 1e5);
    CHECK(tuned.report.chosen().interval.median < 1e5);
}

TEST_CASE("tune waits for what is in the stream before it measures", "[exec][tune]") {
    const Stream stream;
    const Graph slow = graph_of([] { std::this_thread::sleep_for(std::chrono::milliseconds(100)); });
    Exec before = slow.instantiate();
    before.launch(stream);
    std::atomic<int> calls = 0;
    const Graph graph = graph_of([&] { ++calls; });
    const Tuned tuned = tune(graph, stream, {.repetitions = 1});
    CHECK(calls == 10);
    CHECK(tuned.report.chosen().gpu_time.median < 9e4);
}

TEST_CASE("times that tune measures are microseconds of one launch", "[exec][tune]") {
    const Graph graph = graph_of([] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); });
    const Tuned tuned = tune(graph, Stream(), {.repetitions = 3});
    const TuneRow& row = tuned.report.chosen();
    CHECK(row.gpu_time.median > 4.9e3);
    CHECK(row.gpu_time.median < 3e4);
    CHECK(row.interval.median > 4.9e3);
    CHECK(row.interval.median < 3e4);
    CHECK(row.launch_call.median < 4.9e3);
}

TEST_CASE("tune measures in the legacy default stream, and in streams of CUDA's own", "[exec][tune]") {
    const Sums sums(4);
    const cudaStream_t legacy = nullptr;
    Tuned tuned = tune(sums.graph(), legacy, {.repetitions = 1});
    CHECK(sums.run_of(tuned.exec) == sums.expected());
    Tuned other = tune(sums.graph(), cudaStreamPerThread, {.repetitions = 1});
    CHECK(sums.run_of(other.exec) == sums.expected());
}

TEST_CASE("tune tries the plans that it is given, and instantiates as it is told, but for the plan", "[exec][tune]") {
    const Graph graph = Sums(10).graph();
    const Plans plans{Plan::as_written(), {.lanes = 3}, Plan::as_written()};
    const Tuned tuned =
        tune(graph, Stream(),
             {.candidates = plans, .repetitions = 1, .instantiate = {.use_node_priority = true, .plan = {.lanes = 7}}});
    const std::vector<TuneRow>& rows = tuned.report.rows();
    CHECK(names_of(rows) == std::vector<std::string>{"as written", "default, 3 lanes", "as written"});
    CHECK(rows[2].same_as == 0U);
    CHECK(tuned.exec.options().use_node_priority);
    CHECK(tuned.exec.options().plan == tuned.report.chosen().plan);
}

TEST_CASE("the report of tune is a table", "[text]") {
    const cudag::TuneReport report(cudag::detail::Passkey(),
                                   {{.name = "default",
                                     .plan = {},
                                     .nodes = 5,
                                     .edges = 4,
                                     .launch_call = {1.25, 0.5},
                                     .gpu_time = {20, 1},
                                     .interval = {18, 0}},
                                    {.name = "default, 4 lanes",
                                     .plan = {.lanes = 4},
                                     .nodes = 4,
                                     .edges = 3,
                                     .launch_call = {1, 0},
                                     .gpu_time = {10, 1},
                                     .interval = {9, 0.25}},
                                    {.name = "reduce",
                                     .plan = {},
                                     .nodes = 5,
                                     .edges = 4,
                                     .launch_call = {1.25, 0.5},
                                     .gpu_time = {20, 1},
                                     .interval = {18, 0},
                                     .same_as = 0}},
                                   1, TuneGoal::gpu_time);
    const std::string text = to_string(report);
    CHECK(fmt::format("{}", report) == text);
    CHECK(text ==
          "plan                nodes    edges        launch call           GPU time           interval  (microseconds; "
          "least GPU time)\n"
          "default                 5        4         1.2 +- 0.5        20.0 +- 1.0        18.0 +- 0.0\n"
          "default, 4 lanes        4        3         1.0 +- 0.0        10.0 +- 1.0         9.0 +- 0.2  chosen\n"
          "reduce                  5        4  the same edges as \"default\"");
    CHECK(fmt::format("{} {} {}", TuneGoal::interval, TuneGoal::gpu_time, TuneGoal::launch_call) ==
          "interval GPU time launch call");
}

TEST_CASE("tune refuses options that leave nothing to measure", "[exec][tune]") {
    CHECK_THAT(refusal<GraphError>({.candidates = Plans()}), ContainsSubstring("tune: candidates is an empty list"));
    CHECK_THAT(refusal<GraphError>({.repetitions = 0}), ContainsSubstring("tune: repetitions is 0"));
    CHECK_THAT(refusal<GraphError>({.time_limit = std::chrono::seconds(0)}),
               ContainsSubstring("tune: time_limit is 0 ns; it must be positive"));
    CHECK_THAT(refusal<GraphError>({.time_limit = std::chrono::seconds(-1)}),
               ContainsSubstring("tune: time_limit is -1000000000 ns"));
}

TEST_CASE("tune refuses what instantiate refuses, before anything has run", "[exec][tune]") {
    CHECK_THAT(refusal<cudag::InstantiateError>({.candidates = Plans{{.durations = {1, 2, 3}}}}),
               ContainsSubstring("3 durations for 1 nodes"));
    CHECK_THAT(refusal<cudag::InstantiateError>({.instantiate = {.auto_free_on_launch = true, .device_launch = true}}),
               ContainsSubstring("exclude each other"));
}

TEST_CASE("a plan that is refused after others have run leaves the graph as it was", "[exec][tune]") {
    const Sums sums(10);
    const Graph graph = sums.graph();
    const Plans plans{Plan(), {.lanes = 2, .durations = {1}}};
    static_cast<void>(refused<cudag::InstantiateError>(
        [&] { static_cast<void>(tune(graph, Stream(), {.candidates = plans, .repetitions = 1})); }));
    CHECK(graph.edge_count() == 20);
    Exec exec = graph.instantiate();
    CHECK(sums.run_of(exec) == sums.expected());
}

TEST_CASE("tune refuses a stream that is being captured, and the capture goes on", "[capture][tune]") {
    std::atomic<int> calls = 0;
    const Graph graph = graph_of([&] { ++calls; });
    const Stream stream;
    const Graph captured = cudag::capture(stream, [&](cudaStream_t s) {
        cudag::launch(s, {}, nothing);
        const auto error = refused<cudag::CaptureError>([&] { static_cast<void>(tune(graph, stream)); });
        CHECK_THAT(error.what(), ContainsSubstring("tune: the stream is being captured"));
        CHECK(error.code() == cuda_code(cudaErrorStreamCaptureUnsupported));
        cudag::launch(s, {}, nothing);
    });
    CHECK(captured.node_count() == 2);
    CHECK(calls == 0);
}

TEST_CASE("tune refuses a moved-from graph, and one inside another", "[exec][tune]") {
    const Stream stream;
    Graph graph = Sums(4).graph();
    const Graph moved = std::move(graph);
    const auto gone = refused<GraphError>([&] { static_cast<void>(tune(graph, stream)); }); // NOLINT
    CHECK_THAT(gone.what(), ContainsSubstring("a moved-from Graph was used"));
    GraphBuilder b;
    const auto child = b.child(moved);
    const Graph around = std::move(b).build();
    const Graph inner = child.graph();
    const auto inside = refused<GraphError>([&] { static_cast<void>(tune(inner, stream)); });
    CHECK_THAT(inside.what(), ContainsSubstring("tune: the graph is inside"));
}

TEST_CASE("tune throws what host nodes throw", "[host][tune]") {
    std::atomic<int> calls = 0;
    const Stream stream;
    for (const int last : {1, 2, 5}) { // the first launch, one alone, one of those in a row
        calls = 0;
        const Graph graph = graph_of([&] {
            if (++calls == last) throw std::runtime_error("too cold");
        });
        const auto error = refused<cudag::HostError>([&] { static_cast<void>(tune(graph, stream)); });
        CHECK_THAT(error.what(), ContainsSubstring("too cold"));
        CHECK_NOTHROW(stream.synchronize());
        CHECK(calls <= 10);
        calls = 100;
        CHECK_NOTHROW(static_cast<void>(tune(graph, stream, {.repetitions = 1})));
    }
}

TEST_CASE("what was thrown in the stream before is told before a graph that is tuned runs", "[host][tune]") {
    const Stream stream;
    Exec before = graph_of([] { throw std::runtime_error("too warm"); }).instantiate();
    before.launch(stream);
    std::atomic<int> calls = 0;
    const Graph graph = graph_of([&] { ++calls; });
    const auto error = refused<cudag::HostError>([&] { static_cast<void>(tune(graph, stream)); });
    CHECK_THAT(error.what(), ContainsSubstring("too warm"));
    CHECK(calls == 0);
    CHECK_NOTHROW(static_cast<void>(tune(graph, stream, {.repetitions = 1})));
}

TEST_CASE("a graph with memory nodes is tuned by its only plan, and its memory is free again", "[memory][tune]") {
    const auto sum = device({0});
    GraphBuilder b;
    const auto memory = b.alloc<int>(1);
    const auto set = b.memset(memory.span(), 0).after(memory);
    const auto one = b.kernel({}, store, memory.span().data(), 5).after(set);
    const auto copy = b.memcpy(sum.span(), memory.span()).after(set, one);
    b.free(memory).after(copy);
    const Graph graph = std::move(b).build();
    Tuned tuned = tune(graph, Stream(), {.repetitions = 2});
    for (std::size_t i = 1; i < tuned.report.rows().size(); ++i)
        CHECK(tuned.report.rows()[i].same_as == 0U);
    CHECK(tuned.report.chosen_index() == 0);
    run(tuned.exec, Stream());
    CHECK(read(sum) == std::vector{5});
    const auto error = refused<cudag::InstantiateError>([&] { static_cast<void>(tune(graph, Stream())); });
    CHECK_THAT(error.what(), ContainsSubstring("one Exec at a time"));
    run(tuned.exec, Stream());
}

TEST_CASE("a graph that leaves its memory to others is tuned where each launch frees it", "[memory][tune]") {
    GraphBuilder b;
    b.alloc<int>(4);
    const Graph graph = std::move(b).build();
    const Tuned tuned = tune(graph, Stream(), {.repetitions = 2, .instantiate = {.auto_free_on_launch = true}});
    CHECK(tuned.exec.options().auto_free_on_launch);
    CHECK(tuned.exec.replays() == 0); // made once more, after the others
}

TEST_CASE("a graph with a loop has its plans timed one after the other", "[conditional][tune]") {
    const Sums sums(10);
    const auto turns = device({0, 0});
    GraphBuilder b;
    const auto condition = b.condition(1);
    const auto set = b.kernel({}, store, turns.span().data(), 3);
    const auto loop = b.while_(condition, [&](GraphBuilder& body) {
                           const auto first = body.kernel({}, nothing);
                           const auto second =
                               body.kernel({}, add, turns.span().data() + 1, turns.span().data() + 1, 1).after(first);
                           body.kernel({}, count_down, turns.span().data(), condition).after(first, second);
                       }).after(set);
    const auto last = b.kernel({}, nothing).after(loop);
    b.kernel({}, nothing).after(set, loop, last);
    const Graph graph = std::move(b).build();
    Tuned tuned = tune(graph, Stream(), {.repetitions = 2});
    CHECK(read(turns)[0] == 0);
    const std::vector<TuneRow>& rows = tuned.report.rows();
    REQUIRE(rows.size() >= 4);
    CHECK(rows[1].edges == rows[0].edges + 3); // two around the loop, and one in it
    CHECK_FALSE(rows[1].same_as);
    CHECK(tuned.exec.options().plan == tuned.report.chosen().plan);
    write(turns.span(), {0, 0});
    run(tuned.exec, Stream());
    CHECK(read(turns) == std::vector{0, 3});
    tuned.exec.update(graph.find(nothing)[0]);
    run(tuned.exec, Stream());
    CHECK(read(turns) == std::vector{0, 6});
}

TEST_CASE("a tuned exec is updated like any other", "[exec][tune]") {
    const Sums sums(10);
    for (const Plan& plan : {Plan(), Plan::as_written(), Plan{.lanes = 3}}) {
        Graph graph = sums.graph();
        const Plans plans{plan, {.lanes = 1}, plan};
        Tuned tuned = tune(graph, Stream(), {.candidates = plans, .repetitions = 1});
        Exec& exec = tuned.exec;
        CHECK(exec.update(graph).updated());
        CHECK(sums.run_of(exec) == sums.expected());
        CHECK(exec.update(sums.graph(2)).updated());
        CHECK(sums.run_of(exec) == sums.expected(2));
        const Graph third = sums.graph(3);
        const Tuned other = tune(third, Stream(), {.candidates = Plans{{.lanes = 2}}, .repetitions = 1});
        CHECK(exec.update(third).updated());
        CHECK(sums.run_of(exec) == sums.expected(3));
        CHECK(exec.update(graph).updated());
        for (const auto& node : graph.find(mix))
            exec.update(node, cudag::arg<3>(7U));
        for (const auto& node : graph.find(mix))
            graph.update(node, cudag::arg<3>(8U));
        const std::vector<std::uint32_t> values = sums.run_of(exec);
        CHECK(exec.apply(graph) == 20);
        CHECK(sums.run_of(exec) != values);
        CHECK(exec.options().plan == tuned.report.chosen().plan);
    }
}

TEST_CASE("a tuned exec outlives its graph, and other execs of that serve on", "[exec][tune]") {
    const Sums sums(10);
    std::optional<Graph> graph = sums.graph();
    Exec before = graph->instantiate({.plan = {.lanes = 5}});
    Tuned tuned = tune(*graph, Stream(), {.repetitions = 1});
    CHECK(before.update(*graph).updated());
    CHECK(sums.run_of(before) == sums.expected());
    graph.reset();
    CHECK(sums.run_of(tuned.exec) == sums.expected());
}

TEST_CASE("tune reads a captured graph, and plans it", "[capture][tune]") {
    const Stream stream;
    const Graph graph = captured_line_with_shortcut();
    Tuned tuned = tune(graph, stream, {.repetitions = 1});
    CHECK(tuned.report.rows()[0].edges == 2);
    CHECK(tuned.report.rows()[1].edges == 3);
    CHECK(tuned.exec.update(graph).updated());
    run(tuned.exec, stream);
}

TEST_CASE("graphs inside child nodes are tuned with the graph around them", "[child][tune]") {
    const Sums sums(10);
    const Graph inner = sums.graph();
    GraphBuilder b;
    const auto child = b.child(inner);
    b.kernel({}, nothing).after(child);
    const Graph graph = std::move(b).build();
    Tuned tuned = tune(graph, Stream(), {.repetitions = 1});
    CHECK(tuned.report.rows()[1].edges == 21);
    CHECK(tuned.report.rows()[1].nodes == 23);
    CHECK(tuned.report.rows().back().name == "default, 8 lanes");
    CHECK(sums.run_of(tuned.exec) == sums.expected());
    tuned.exec.update(child, sums.graph(2));
    CHECK(sums.run_of(tuned.exec) == sums.expected(2));
}

TEST_CASE("of a graph that has one exec at a time, the one of the best plan stays, whichever was tried last",
          "[exec][tune]") {
    const auto slow = [] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); };
    GraphBuilder b;
    for (int i = 0; i < 4; ++i)
        b.host(slow);
    b.if_(b.condition(1), [](GraphBuilder& body) { body.kernel({}, nothing); });
    const Graph graph = std::move(b).build();
    const Plans plans{Plan(), {.lanes = 1}};
    const bool is_last = GENERATE(false, true);
    {
        const auto stop = [](const cudag::TuneProgress&) { return false; };
        const Tuned stopped = tune(graph, Stream(), {.candidates = plans, .on_progress = stop});
        CHECK(stopped.report.rows().size() == 1);
        CHECK(stopped.exec.replays() == 10);
    }
    Tuned tuned = tune(graph, Stream(), {.candidates = is_last ? Plans{plans[1], plans[0]} : plans, .repetitions = 3});
    CHECK(tuned.exec.options().plan == tuned.report.chosen().plan);
    run(tuned.exec, Stream());
}
