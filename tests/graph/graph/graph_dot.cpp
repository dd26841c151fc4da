// The Graphviz text of a graph.
#include "cuda_version.hpp"
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

TEST_CASE("in DOT text each graph inside a node is a cluster in that of its node", "[graph][dot]") {
    GraphBuilder innermost, inner, b;
    innermost.host([] {}).label("innermost");
    add_child(inner, std::move(innermost).build());
    add_child(b, std::move(inner).build());
    b.host([] {}).label("beside");
    const std::string dot = std::move(b).build().dot();
    std::string clusters; // of lines, the first word and the last letter
    for (std::size_t at = 0; at < dot.size(); at = dot.find('\n', at) + 1) {
        const std::string line = dot.substr(at, dot.find('\n', at) - at);
        const std::string words = line.substr(line.find_first_not_of(' '));
        if (words.back() == '{') clusters += words.substr(0, words.find(' ')) + "{ ";
        if (words == "}") clusters += "} ";
        if (words.find("innermost") != std::string::npos) clusters += "innermost ";
        if (words.find("beside") != std::string::npos) clusters += "beside ";
    }
    CHECK(clusters == "digraph{ subgraph{ subgraph{ subgraph{ subgraph{ innermost } } } } beside } ");
}
