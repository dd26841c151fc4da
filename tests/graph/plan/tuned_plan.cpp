// TunedPlan: the choice of tune, as a text for later processes.
#include <cudag/format.hpp>

#include "cuda_version.hpp"
#include "plan_graphs.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::Plan;
using cudag::Stream;
using cudag::tune;
using cudag::Tuned;
using cudag::TunedPlan;
using cudag::TuneGoal;

namespace {

Tuned tuned_by(const Graph& graph, const Plan& plan, TuneGoal goal = TuneGoal::interval) {
    return tune(graph, Stream(), {.candidates = std::vector<Plan>{plan}, .goal = goal, .repetitions = 1});
}

/// A text as `to_string` writes it, with one line replaced.
std::string with_line(std::size_t number, const std::string& line) {
    std::vector<std::string> lines{"cudag plan 1", "goal: interval", "parts: reduce, joins, ends, early", "lanes: 4",
                                   "graph: 21 nodes, 20 edges, structure 0123456789abcdef"};
    lines.at(number - 1) = line;
    std::string text;
    for (const std::string& each : lines)
        text += each + '\n';
    return text;
}

std::string refused_text(const std::string& text) {
    return refused<cudag::Error>([&] { static_cast<void>(TunedPlan::parse(text)); }).what();
}

} // namespace

TEST_CASE("a saved plan instantiates an equal graph as the tuned one", "[exec][tune]") {
    const Sums sums(10);
    for (const Plan& plan :
         {Plan(), Plan::as_written(), Plan{.lanes = 3}, Plan{.joins = false, .ends = false}, Plan{.launches = 1}}) {
        const Graph graph = sums.graph();
        const Tuned tuned = tuned_by(graph, plan);
        CHECK(tuned.plan.plan() == plan);
        const Graph next = sums.graph(2); // the same structure, other values
        Exec exec = next.instantiate({.plan = TunedPlan::parse(tuned.plan.to_string()).plan_for(next)});
        CHECK(exec.options().plan == plan);
        CHECK(exec.plan().edges_after() == tuned.exec.plan().edges_after());
        CHECK(sums.run_of(exec) == sums.expected(2));
    }
}

TEST_CASE("the text of a tuned plan has its goal, plan, lanes and structure", "[text]") {
    const Plan plan{.joins = false, .lanes = 8, .durations = {1.5, 0, 2e-3}};
    const TunedPlan tuned(cudag::detail::Passkey(), plan, TuneGoal::gpu_time, {3, 2, 0x1fU});
    CHECK(to_string(tuned) == "cudag plan 1\n"
                              "goal: GPU time\n"
                              "parts: reduce, ends, early\n"
                              "lanes: 8\n"
                              "durations: 1.5, 0, 0.002\n"
                              "graph: 3 nodes, 2 edges, structure 000000000000001f\n");
    CHECK(fmt::format("{}", tuned) == to_string(tuned));
    CHECK(TunedPlan::parse(to_string(tuned)) == tuned);
}

TEST_CASE("every tuned plan equals the one read from its text", "[text]") {
    for (const TuneGoal goal : {TuneGoal::interval, TuneGoal::gpu_time, TuneGoal::launch_call})
        for (unsigned parts = 0; parts < 16; ++parts)
            for (const std::vector<double>& durations : {std::vector<double>(), {0.1, 1e300}}) {
                const Plan plan{.reduce = (parts & 1U) != 0,
                                .joins = (parts & 2U) != 0,
                                .ends = (parts & 4U) != 0,
                                .early = (parts & 8U) != 0,
                                .lanes = parts == 3 ? ~0U : parts,
                                .durations = durations};
                const TunedPlan tuned(cudag::detail::Passkey(), plan, goal, {2, ~std::size_t{0}, ~std::uint64_t{0}});
                const TunedPlan read = TunedPlan::parse(tuned.to_string());
                CHECK(read == tuned);
                CHECK(read.goal() == goal);
                CHECK(read.plan() == plan);
            }
    CHECK(TunedPlan::parse(with_line(4, "lanes: 4")).plan() == Plan{.lanes = 4});
    CHECK(TunedPlan::parse(with_line(4, "lanes: 4\nlaunches: 1")).plan() == Plan{.lanes = 4, .launches = 1});
}

TEST_CASE("a text that is no tuned plan is refused with its wrong line", "[text]") {
    CHECK_THAT(refused_text(""), ContainsSubstring("cudag: TunedPlan::parse: the text ends before line 1; expected "
                                                   "\"cudag plan 1\"; tune the graph anew"));
    CHECK_THAT(refused_text(with_line(1, "cudag plan 2")),
               ContainsSubstring("line 1 is \"cudag plan 2\"; expected \"cudag plan 1\", the only known version"));
    CHECK_THAT(refused_text(std::string(1000, 'x')), ContainsSubstring("\"" + std::string(60, 'x') + "...\""));
    CHECK_THAT(refused_text(std::string("a\0b", 3)), ContainsSubstring("\"a\\0b\""));
    for (const char* line : {"goal: speed", "goal:interval", "goal: ", "", "Goal: interval", "lanes: 4"})
        CHECK_THAT(refused_text(with_line(2, line)),
                   ContainsSubstring("parse: line 2 is \"" + std::string(line) + '"'));
    for (const char* parts : {"", "all", "joins, reduce", "reduce,joins", "reduce, ", "reduce, reduce", "none, ends",
                              "reduce ends", ", ends", "reduce, joins, ends, early "})
        CHECK_THAT(refused_text(with_line(3, "parts: " + std::string(parts))),
                   ContainsSubstring("expected \"parts: \" and some of"));
    for (const char* lanes : {"", "-1", "4.5", " 4", "4 ", "many", "4294967296"})
        CHECK_THAT(refused_text(with_line(4, "lanes: " + std::string(lanes))),
                   ContainsSubstring("expected \"lanes: \" and a number"));
    for (const char* durations : {"", "-1", "inf", "nan", "1,2", "1, ", "1, x", "1 2"})
        CHECK_THAT(refused_text(with_line(4, "lanes: 4\ndurations: " + std::string(durations))),
                   ContainsSubstring("line 5 is \"durations: " + std::string(durations) + "\"; expected"));
    for (const char* launches : {"", "-1", "1.5", "many", "1, 2"})
        CHECK_THAT(refused_text(with_line(4, "lanes: 4\nlaunches: " + std::string(launches))),
                   ContainsSubstring("expected \"launches: \" and a number"));
    for (const char* graph : {"", "21 nodes", "x nodes, 20 edges, structure 1", "21 nodes, 20 edges, structure ",
                              "21 nodes, 20 edges, structure 0x1", "21 nodes, 20 edges, structure 10123456789abcdef"})
        CHECK_THAT(refused_text(with_line(5, "graph: " + std::string(graph))),
                   ContainsSubstring("line 5 is \"graph: "));
    const std::string whole = with_line(1, "cudag plan 1");
    CHECK_NOTHROW(TunedPlan::parse(whole));
    CHECK_THAT(refused_text(whole + "more\n"), ContainsSubstring("line 6 is \"more\"; expected the end of the text"));
    CHECK_THAT(refused_text(whole + '\n'), ContainsSubstring("line 6 is \"\""));
    for (std::size_t size = 0; size + 2 < whole.size(); ++size) { // `structure` may have fewer digits, never none
        if (whole.substr(0, size).find("structure 0") != std::string::npos) break;
        CHECK_THAT(refused_text(whole.substr(0, size)), ContainsSubstring("TunedPlan::parse: "));
    }
}

TEST_CASE("a saved plan refuses graphs of another structure by their counts", "[exec][tune]") {
    const TunedPlan plan = tuned_by(Sums(10).graph(), {.lanes = 2}).plan;
    const auto text_for = [&](const Graph& graph) -> std::string {
        return refused<GraphError>([&] { static_cast<void>(plan.plan_for(graph)); }).what();
    };
    CHECK_THAT(
        text_for(Sums(11).graph()),
        ContainsSubstring("TunedPlan::plan_for: the graph has 23 nodes and 22 edges, and the plan was measured on "
                          "a graph of 21 nodes and 20 edges; tune this graph anew"));
    CHECK_THAT(text_for(GraphBuilder().build()), ContainsSubstring("the graph has 0 nodes and 0 edges"));
}

TEST_CASE("a saved plan refuses as many nodes of other kinds, and other edges", "[exec][tune]") {
    const auto cells = device({0, 0});
    const auto line = [&](bool ends_in_fill, bool is_fork) {
        GraphBuilder b;
        const auto first = b.kernel({}, nothing);
        const auto second = b.kernel({}, nothing).after(first);
        if (ends_in_fill)
            b.memset(cells.span(), 0).after(second);
        else if (is_fork)
            b.kernel({}, nothing).after(first);
        else
            b.kernel({}, nothing).after(second);
        return std::move(b).build();
    };
    const TunedPlan plan = tuned_by(line(false, false), {}).plan;
    CHECK(plan.plan_for(line(false, false)) == Plan());
    for (const Graph& other : {line(true, false), line(false, true)})
        CHECK_THAT(refused<GraphError>([&] { static_cast<void>(plan.plan_for(other)); }).what(),
                   ContainsSubstring("3 nodes and 2 edges, other kinds of nodes or other edges; tune this graph anew"));
}

TEST_CASE("the structure of a saved plan includes the graphs inside", "[child][tune]") {
    const auto around = [](std::size_t width) {
        GraphBuilder b;
        add_child(b, Sums(width).graph());
        return std::move(b).build();
    };
    const TunedPlan plan = tuned_by(around(4), {}).plan;
    CHECK(plan.plan_for(around(4)) == Plan());
    static_cast<void>(refused<GraphError>([&] { static_cast<void>(plan.plan_for(around(5))); }));
}

TEST_CASE("a saved plan fits the next capture of the same work", "[capture][tune]") {
    const TunedPlan plan = tuned_by(captured_line_with_shortcut(), {.lanes = 1}).plan;
    CHECK(plan.plan_for(captured_line_with_shortcut()) == Plan{.lanes = 1});
}

TEST_CASE("a saved plan refuses a moved-from graph, and one inside another", "[exec][tune]") {
    Graph graph = Sums(4).graph();
    const TunedPlan plan = tuned_by(graph, {}).plan;
    const Graph moved = std::move(graph);
    const auto gone = refused<GraphError>([&] { static_cast<void>(plan.plan_for(graph)); }); // NOLINT
    CHECK_THAT(gone.what(), ContainsSubstring("a moved-from Graph was used"));
    GraphBuilder b;
    const auto child = b.child(moved);
    const Graph whole = std::move(b).build();
    const Graph inner = child.graph();
    const auto inside = refused<GraphError>([&] { static_cast<void>(plan.plan_for(inner)); });
    CHECK_THAT(inside.what(), ContainsSubstring("TunedPlan::plan_for: the graph is inside"));
}
