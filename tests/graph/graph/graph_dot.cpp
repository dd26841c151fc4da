// The Graphviz text of a graph.
#include "dot_sample.hpp"

using cudag::GraphBuilder;

using dot_sample::pipeline;

TEST_CASE("DOT text has every node with its label and action", "[graph][dot]") {
    const std::string dot = pipeline().dot();
    CHECK_THAT(dot, StartsWith("digraph") && EndsWith("}\n"));
    CHECK_THAT(dot, ContainsSubstring("fill") && ContainsSubstring("store") && ContainsSubstring("report") &&
                        ContainsSubstring("all done"));
    CHECK_THAT(dot, ContainsSubstring("(3, 2, 1)") && ContainsSubstring("(64, 1, 1)"));
    CHECK_THAT(dot, ContainsSubstring("memcpy 8 bytes") && ContainsSubstring("memset 2 x 4 bytes"));
}

TEST_CASE("DOT text has every edge once", "[graph][dot]") {
    const std::string dot = pipeline().dot();
    for (const char* edge : {"n0 -> n2;", "n1 -> n2;", "n2 -> n3;", "n3 -> n4;", "n2 -> n4;"}) {
        CAPTURE(edge);
        CHECK(dot.find(edge) != std::string::npos);
        CHECK(dot.find(edge) == dot.rfind(edge));
    }
}

TEST_CASE("quotes, backslashes and line ends in labels are escaped", "[graph][dot]") {
    CHECK_THAT(pipeline().dot(), ContainsSubstring(R"(upload \"a\\b\"\nof two)"));
}

TEST_CASE("DOT text of an empty graph is an empty digraph", "[graph][dot]") {
    const std::string dot = GraphBuilder().build().dot();
    CHECK_THAT(dot, StartsWith("digraph") && !ContainsSubstring("n0"));
}
