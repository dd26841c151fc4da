// What the report of a plan says: what was done and why, what it gains, and what would gain more.
#include <cudag/format.hpp>

#include "cuda_version.hpp"
#include "plan_graphs.hpp"

#include <algorithm>

using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::JoinForm;
using cudag::Plan;
using cudag::PlanReport;

namespace {

Graph joined(std::size_t width) {
    GraphBuilder b;
    add_join(b, width);
    return std::move(b).build();
}

std::size_t count(std::string_view text, std::string_view part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
        ++found;
    return found;
}

bool is_h200_kind() {
    int device = 0, major = 0, minor = 0;
    cudag::check(cudaGetDevice(&device));
    cudag::check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    cudag::check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    return major == 9 && minor == 0;
}

} // namespace

TEST_CASE("a report names copies of sizes that CUDA runs slowly in graphs", "[plan][report]") {
    constexpr std::size_t bytes = (std::size_t{16} << 20U) + 1;
    const cudag::DeviceBuffer<char> from(bytes), to(bytes);
    GraphBuilder slow, quick;
    slow.memcpy(to, from).label("large");
    const auto first = quick.memcpy(to.span().subspan(0, bytes - 1), from.span().subspan(0, bytes - 1));
    quick.memcpy_in_pieces(to, from).after(first);
    const std::string text = std::move(slow).build().instantiate().plan().to_string();
    const bool has_advice = text.find("memcpy_in_pieces avoids it") != std::string::npos;
    CHECK(has_advice == is_h200_kind());
    CHECK((text.find("\"large\"") != std::string::npos) == has_advice);
    CHECK((text.find(" of 16777217 bytes: CUDA copies this size up to 1.25 times as long") != std::string::npos) ==
          has_advice);
    const PlanReport none = std::move(quick).build().instantiate().plan();
    for (const std::string& advice : none.advice())
        CHECK_THAT(advice, !ContainsSubstring("memcpy_in_pieces"));
}

TEST_CASE("a report says why each join became what it is", "[plan][report]") {
    if (older_than(12080)) return;
    GraphBuilder b;
    add_join(b, 3, "narrow");
    add_join(b, 10, "wide");
    b.join(b.kernel({}, nothing), b.kernel({}, nothing)).label("last");
    const Kernels one = add_kernels(b, 1), many = add_kernels(b, 4);
    const auto fork = b.join(one).label("fork");
    for (const auto& node : many)
        node.after(fork);
    const Graph graph = std::move(b).build();
    const PlanReport plan = graph.instantiate({.plan = without_ends}).plan();
    REQUIRE(plan.joins().size() == 4);
    const auto why = [&](std::string_view label) {
        return std::ranges::find_if(plan.joins(),
                                    [&](const auto& join) { return join.name.find(label) != std::string::npos; })
            ->why;
    };
    CHECK(why("narrow") == "9 of them are quicker than a kernel between");
    CHECK(why("wide") == "quicker than 100 edges without it");
    CHECK(why("last") == "nothing comes after it");
    CHECK(why("fork") == "without it there are no more edges than with it");
    for (const auto& join : plan.joins())
        CHECK_THAT(to_string(plan), ContainsSubstring('\n' + to_string(join)));
}

TEST_CASE("a report says that few launches leave a join as it is", "[plan][report]") {
    const Graph graph = joined(10);
    const Exec exec = graph.instantiate({.plan = {.launches = 1}});
    REQUIRE(exec.plan().joins().size() == 1);
    CHECK(exec.plan().joins()[0].form == JoinForm::node);
    CHECK(exec.plan().joins()[0].why == "too few launches are expected to repay the instantiation of a quicker form");
    CHECK(exec.plan().kernels() == 0);
    CHECK(exec.plan().plan().launches == 1);
    if (!older_than(12080)) CHECK(graph.instantiate({.plan = without_ends}).plan().kernels() == 1);
}

TEST_CASE("a report without kernels says that a newer CUDA has them", "[plan][report]") {
    if (!older_than(12080)) return;
    const Graph graph = joined(40);
    const PlanReport plan = graph.instantiate().plan();
    REQUIRE(plan.joins().size() == 1);
    CHECK(plan.joins()[0].form == JoinForm::node);
    CHECK(plan.joins()[0].why == "an empty kernel needs a driver and runtime for CUDA 12.8");
    REQUIRE(plan.advice().size() == 1);
    CHECK_THAT(plan.advice()[0],
               StartsWith("1 join as an empty node costs") &&
                   EndsWith("an empty kernel needs a driver and runtime for CUDA 12.8, which would be "
                            "quicker"));
}

TEST_CASE("a report without kernels says of few edges that an empty node is slower", "[plan][report]") {
    if (!older_than(12080)) return;
    const PlanReport plan = joined(10).instantiate().plan();
    REQUIRE(plan.joins().size() == 1);
    CHECK(plan.joins()[0].form == JoinForm::edges);
    CHECK(plan.joins()[0].why == "an empty kernel needs a driver and runtime for CUDA 12.8, and an empty node is "
                                 "slower than so few edges");
    CHECK(plan.advice().empty());
}

TEST_CASE("a report without kernels says that a newer CUDA has them for graphs with memory, too", "[plan][report]") {
    if (!older_than(12080)) return;
    GraphBuilder b;
    add_join(b, 40);
    const auto memory = b.alloc<int>(1);
    b.free(memory).after(memory);
    const PlanReport plan = std::move(b).build().instantiate().plan();
    REQUIRE(plan.advice().size() == 1);
    CHECK_THAT(plan.advice()[0], StartsWith("1 join as an empty node costs") && ContainsSubstring("CUDA 12.8"));
}

TEST_CASE("a report says what an empty kernel at the beginning is for", "[plan][report]") {
    if (!has_planned_ends()) return;
    const PlanReport plan = lines_of_two(10).instantiate().plan();
    REQUIRE(plan.joins().size() == 2);
    CHECK(to_string(plan.joins()[0]) ==
          "the beginning: 0 nodes before 10: kernel, the launch call starts one node instead of many");
    CHECK(fmt::format("{}", plan.joins()[1]) ==
          "the end: 10 nodes before 0: kernel, the launch call starts one node instead of many");
    CHECK(fmt::format("{}", plan.joins()[1].form) == "kernel");
    if (is_h200_kind()) CHECK(plan.gain()->launch_call == Approx(8));
}

TEST_CASE("a report predicts what an empty node that is gone gains", "[plan][report]") {
    if (older_than(12080)) return;
    const PlanReport plan = joined(10).instantiate({.plan = without_ends}).plan();
    CHECK(plan.gain().has_value() == is_h200_kind());
    if (!is_h200_kind()) return;
    CHECK(plan.gain()->launch_call == Approx(20 * .48));
    CHECK(plan.gain()->gpu == Approx(20 * .44));
    CHECK(plan.gain()->instantiate == 0);
    CHECK_THAT(
        to_string(plan),
        ContainsSubstring(
            "\npredicted from costs on an H200: launch call about 9.6 us shorter, GPU time about 8.8 us shorter"));
}

TEST_CASE("a report predicts less where each of many came before each of many others, and nothing for a fork",
          "[plan][report]") {
    if (older_than(12080) || !is_h200_kind()) return;
    GraphBuilder b;
    const Kernels before = add_kernels(b, 12), after = add_kernels(b, 12);
    for (const auto& to : after)
        for (const auto& from : before)
            to.after(from);
    const PlanReport block = std::move(b).build().instantiate({.plan = without_ends}).plan();
    REQUIRE(block.joins().size() == 1);
    CHECK(block.joins()[0].why == "quicker than 144 edges without it");
    CHECK(block.gain()->launch_call == Approx(24 * .024));
    CHECK(block.gain()->gpu == Approx(24 * .07));
    CHECK(block.gain()->instantiate == Approx(120 * .5));

    GraphBuilder forked;
    const auto fork = forked.join(add_kernels(forked, 1));
    for (const auto& node : add_kernels(forked, 6))
        node.after(fork);
    const PlanReport plan = std::move(forked).build().instantiate({.plan = without_ends}).plan();
    REQUIRE(plan.joins().size() == 1);
    CHECK(plan.gain()->launch_call == 0);
    CHECK(plan.gain()->gpu == 0);
}

TEST_CASE("a report counts what joins of two and two nodes gain", "[plan][report]") {
    if (!is_h200_kind()) return;
    const PlanReport plan = joined(2).instantiate({.plan = without_ends}).plan();
    CHECK(plan.gain()->launch_call == Approx(4 * .48));
    CHECK(plan.gain()->gpu == Approx(4 * .44));
}

TEST_CASE("a report says of a join in which child it is", "[plan][report]") {
    GraphBuilder b;
    add_child(b, joined(2)).label("inner");
    const PlanReport plan = std::move(b).build().instantiate({.plan = without_ends}).plan();
    REQUIRE(plan.joins().size() == 1);
    CHECK_THAT(plan.joins()[0].name,
               StartsWith("empty \"meet\" inside child \"inner\" ") && ContainsSubstring(" in child \"inner\" at "));
}

TEST_CASE("a report says that events keep a join an empty node", "[plan][report]") {
    cudag::Event event;
    GraphBuilder b;
    const auto join = b.join(add_kernels(b, 2)).label("meet");
    b.record(event).after(join);
    b.kernel({}, nothing).after(join);
    const PlanReport plan = std::move(b).build().instantiate().plan();
    REQUIRE(plan.joins().size() == 1);
    CHECK(plan.joins()[0].form == JoinForm::node);
    CHECK(plan.joins()[0].why == "edges to events, and to the nodes after them, stay as they were written");
    REQUIRE(plan.advice().size() == 1);
    CHECK_THAT(plan.advice()[0], StartsWith("1 join as an empty node costs") &&
                                     ContainsSubstring("events, or nodes that wait for events, come after them"));
}

TEST_CASE("a report counts the joins that stay empty nodes, and what is around each", "[plan][report]") {
    cudag::Event event;
    const auto advice_for = [&](std::initializer_list<std::pair<std::size_t, std::size_t>> joins) {
        GraphBuilder b;
        for (const auto& [before, after] : joins) {
            const auto join = b.join(add_kernels(b, before));
            b.record(event).after(join);
            for (std::size_t i = 1; i < after; ++i)
                b.kernel({}, nothing).after(join);
        }
        const PlanReport plan = std::move(b).build().instantiate({.plan = without_ends}).plan();
        std::string text;
        for (const std::string& line : plan.advice())
            if (line.find("as empty node") != std::string::npos || line.find("as an empty node") != std::string::npos)
                text += line;
        return text;
    };
    CHECK(advice_for({{2, 1}}).empty()); // as many edges as without it
    CHECK_THAT(advice_for({{2, 2}, {4, 1}}), StartsWith("1 join as an empty node costs"));
    CHECK_THAT(advice_for({{2, 2}, {4, 3}, {5, 1}}), StartsWith("2 joins as empty nodes cost"));
    if (!is_h200_kind()) return;
    CHECK_THAT(advice_for({{2, 2}}), ContainsSubstring("about 2 us of a launch call"));
    CHECK_THAT(advice_for({{4, 4}}), ContainsSubstring("about 4 us of a launch call"));
    CHECK_THAT(advice_for({{4, 4}, {10, 10}}), ContainsSubstring("about 13 us of a launch call")); // of 28 nodes
    CHECK_THAT(advice_for({{10, 11}}), ContainsSubstring("about 10 us of a launch call"));
}

TEST_CASE("a report tells ten microseconds without a tenth, and less with one", "[plan][report]") {
    if (!is_h200_kind()) return;
    const auto text_for = [](std::size_t implied) {
        GraphBuilder b;
        const Kernels k = add_kernels(b, implied + 2);
        for (std::size_t i = 0; i + 1 < k.size(); ++i)
            k[i + 1].after(k[i]);
        for (std::size_t i = 2; i < k.size(); ++i)
            k[i].after(k[0]); // which the line implies
        return to_string(std::move(b).build().instantiate().plan());
    };
    CHECK_THAT(text_for(20), ContainsSubstring("instantiation about 10 us shorter"));
    CHECK_THAT(text_for(19), ContainsSubstring("instantiation about 9.5 us shorter"));
}

TEST_CASE("a report predicts more instantiation for more edges, and less for less", "[plan][report]") {
    if (!is_h200_kind()) return;
    const PlanReport more = joined(3).instantiate().plan();
    CHECK(more.gain()->instantiate == Approx(-1.5));
    CHECK_THAT(to_string(more), ContainsSubstring("instantiation about 1.5 us longer"));
    CHECK(to_string(line_with_shortcut().instantiate().plan()) ==
          "3 edges became 2\npredicted from costs on an H200: instantiation about 0.5 us shorter");
}

TEST_CASE("a report of edges as they were written says what a plan would make of them", "[plan][report]") {
    const Graph graph = line_with_shortcut();
    const PlanReport plan = graph.instantiate({.plan = Plan::as_written()}).plan();
    CHECK(fmt::format("{}", plan) ==
          "3 edges, as they were written\nthe plan has these off: reduce, joins, ends; with them, 3 edges would be "
          "2 edges");
    CHECK(graph.instantiate().plan().advice().empty());
    if (older_than(12080)) return;
    const PlanReport part = joined(10).instantiate({.plan = {.joins = false, .ends = false}}).plan();
    REQUIRE(part.advice().size() == 1);
    CHECK_THAT(part.advice()[0], StartsWith("the plan has these off: joins, ends; with them, 20 edges would be ") &&
                                     ContainsSubstring("empty kernel"));
}

TEST_CASE("a report gives no advice where nothing would gain", "[plan][report]") {
    GraphBuilder b;
    const Kernels k = add_kernels(b, 2);
    k[1].after(k[0]);
    const Graph graph = std::move(b).build();
    for (const Plan& plan : {Plan(), Plan::as_written()})
        CHECK(to_string(graph.instantiate({.plan = plan}).plan()) == "1 edge, as they were written");
}

TEST_CASE("a report of a captured graph that was not planned says how it would be", "[plan][report]") {
    const Graph unread = captured_line_with_shortcut();
    const Exec exec = unread.instantiate();
    for (int i = 0; i < 2; ++i) { // to ask for the plan is to ask something
        const PlanReport plan = exec.plan();
        REQUIRE(plan.advice().size() == 1);
        CHECK(plan.advice()[0] == "the graph was captured and not read before instantiate(), so its edges are as they "
                                  "were recorded: 3 edges would be 2 edges if it were read first, as by edge_count()");
    }
    const std::vector<std::string> some_off =
        captured_line_with_shortcut().instantiate({.plan = {.reduce = false, .ends = false}}).plan().advice();
    REQUIRE(some_off.size() == 1);
    CHECK_THAT(some_off[0], EndsWith("as by edge_count(), and with reduce, ends on"));
    const Graph asked = captured_line_with_shortcut();
    REQUIRE(asked.edge_count() == 3);
    CHECK(asked.instantiate().plan().advice().empty());
}

TEST_CASE("a report of many joins names the first of them", "[plan][report]") {
    const auto text_for = [](std::size_t joins) {
        GraphBuilder b;
        for (std::size_t i = 0; i < joins; ++i)
            add_join(b, 2);
        const PlanReport plan = std::move(b).build().instantiate({.plan = without_ends}).plan();
        CHECK(plan.joins().size() == joins);
        return to_string(plan);
    };
    const std::string all = text_for(20), some = text_for(21), few = text_for(30);
    CHECK(count(all, "\"meet\"") == 20);
    CHECK_THAT(all, !ContainsSubstring(" more join"));
    CHECK(count(some, "\"meet\"") == 20);
    CHECK_THAT(some, ContainsSubstring("\nand 1 more join") && !ContainsSubstring("more joins"));
    CHECK(count(few, "\"meet\"") == 20);
    CHECK_THAT(few, ContainsSubstring("\nand 10 more joins"));
}
