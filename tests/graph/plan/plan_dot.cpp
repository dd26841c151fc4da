// The Graphviz text of a plan: the edges that were written, and those that CUDA has.
#include "cuda_version.hpp"
#include "plan_graphs.hpp"

using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::Plan;

namespace {

constexpr const char* left_out = "[style=dashed, color=gray, fontcolor=gray];";

} // namespace

TEST_CASE("DOT text of an Exec has edges that were left out grey and dashed", "[plan][dot]") {
    const Graph graph = line_with_shortcut();
    const std::string written = graph.dot();
    CHECK_THAT(written, ContainsSubstring("n0 -> n2;\n") && !ContainsSubstring("gray"));
    const std::string dot = graph.instantiate().dot();
    CHECK_THAT(dot, ContainsSubstring("    n0 -> n1;\n") && ContainsSubstring("    n1 -> n2;\n") &&
                        ContainsSubstring(std::string("    n0 -> n2 ") + left_out));
    CHECK_THAT(dot, !ContainsSubstring("n0 -> n2;") && !ContainsSubstring(std::string("n1 -> n2 ") + left_out));
    CHECK(graph.dot() == written);
    CHECK(graph.instantiate({.plan = Plan::as_written()}).dot() == written);
}

TEST_CASE("DOT text of an Exec has the plan's kernels as points, and the joins that they replace grey", "[plan][dot]") {
    if (older_than(12080)) return;
    GraphBuilder b;
    add_join(b, 10);
    const Exec exec = std::move(b).build().instantiate({.plan = without_ends});
    const std::string dot = exec.dot();
    CHECK_THAT(dot, ContainsSubstring("    k0 [shape=point];\n") && ContainsSubstring("    n9 -> k0;\n") &&
                        ContainsSubstring("    k0 -> n19;\n") && !ContainsSubstring("k1"));
    CHECK_THAT(dot, ContainsSubstring(std::string("n9 -> n20 ") + left_out) &&
                        ContainsSubstring("meet\\nempty\", style=dashed, color=gray, fontcolor=gray];\n"));
}

TEST_CASE("DOT text of an Exec leaves out no join that stays a node", "[plan][dot]") {
    GraphBuilder b;
    cudag::Event event; // edges to its node stay as they were written
    const auto join = b.join(add_kernels(b, 2)).label("stays");
    b.record(event).after(join);
    b.kernel({}, nothing).after(join);
    const Exec exec = std::move(b).build().instantiate();
    REQUIRE(exec.plan().joins().size() == 1);
    REQUIRE(exec.plan().joins()[0].form == cudag::JoinForm::node);
    CHECK_THAT(exec.dot(), ContainsSubstring("stays\\nempty\"];\n"));
}

TEST_CASE("DOT text of an Exec tells the kernels of graphs inside others apart", "[plan][dot]") {
    if (older_than(12080)) return;
    GraphBuilder inner;
    add_join(inner, 10);
    const Graph child = std::move(inner).build();
    GraphBuilder b;
    b.child(child);
    b.child(child);
    add_join(b, 10);
    const std::string dot = std::move(b).build().instantiate({.plan = without_ends}).dot();
    for (const char* kernel : {"k0 [shape=point]", "k1 [shape=point]", "k2 [shape=point]"}) {
        CAPTURE(kernel);
        CHECK(dot.find(kernel) != std::string::npos);
        CHECK(dot.find(kernel) == dot.rfind(kernel));
    }
}

TEST_CASE("DOT text of an Exec keeps edges that are not full", "[plan][dot]") {
    if (older_than(12030)) return;
    GraphBuilder b;
    const Kernels k = add_kernels(b, 4);
    k[1].after(k[0]);
    k[2].after(k[0], k[1]);
    k[3].after(programmatic(k[2]));
    const std::string dot = std::move(b).build().instantiate().dot();
    CHECK_THAT(dot, ContainsSubstring("n2 -> n3 [style=dashed, label=\"programmatic\"];\n") &&
                        ContainsSubstring(std::string("n0 -> n2 ") + left_out));
}
