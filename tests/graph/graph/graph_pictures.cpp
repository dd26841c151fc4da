// Options of pictures, and lists of nodes.
#include <cstdio>

#include "cuda_version.hpp"
#include "dot_sample.hpp"

using cudag::DotColor;
using cudag::GraphBuilder;

namespace {

std::size_t count(const std::string& text, std::string_view part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++found;
    return found;
}

/// `layers` times a fill and two kernels side by side, with the layer in the label of the fill.
cudag::Graph layered(int layers) {
    const auto cells = std::make_shared<cudag::DeviceBuffer<int>>(8);
    GraphBuilder b({.races = cudag::Races::allowed});
    std::vector<cudag::Node> last;
    for (int layer = 0; layer < layers; ++layer) {
        const auto clear = b.memset(cells, 1).label("clear " + std::to_string(layer)).after(last);
        const auto left = b.kernel({}, store, cells, layer).after(clear);
        const auto right = b.kernel({}, nothing).after(clear);
        last = {left, right};
    }
    return std::move(b).build();
}

} // namespace

TEST_CASE("a folded picture has equal layers once, with their number", "[graph][dot]") {
    const std::string dot = layered(12).dot({.fold = true});
    CHECK(count(dot, "shape=") == 3);
    CHECK_THAT(dot, ContainsSubstring("label=\"x 12\"") && ContainsSubstring("clear #"));
}

TEST_CASE("a picture without folding has every node", "[graph][dot]") {
    const std::string dot = layered(12).dot();
    CHECK(count(dot, "shape=") == 36);
    CHECK_THAT(dot, ContainsSubstring("clear 11") && !ContainsSubstring("#"));
}

TEST_CASE("nodes with other values fold only while values are hidden", "[graph][dot]") {
    CHECK_THAT(layered(3).dot({.fold = true, .parameters = true}), !ContainsSubstring("x 3"));
}

TEST_CASE("a picture with parameters has the values of kernel arguments", "[graph][dot]") {
    const cudag::Graph graph = layered(1);
    CHECK_THAT(graph.dot({.parameters = true}), ContainsSubstring(", 0)"));
    CHECK_THAT(graph.dot(), !ContainsSubstring(", 0)\\n") && !ContainsSubstring("0x"));
}

TEST_CASE("a picture coloured by kind fills equal kinds with one colour, others with another", "[graph][dot]") {
    const std::string dot = layered(2).dot({.color = DotColor::kind});
    CHECK(count(dot, "fillcolor=") == 6);
    const std::size_t first = dot.find("fillcolor=");
    const std::string color = dot.substr(first, dot.find(']', first) - first);
    CHECK(count(dot, color) == 2); // of the fills
}

TEST_CASE("a picture coloured by race has both nodes in red, and a line between them", "[graph][dot]") {
    const auto cells = std::make_shared<cudag::DeviceBuffer<int>>(8);
    GraphBuilder b({.races = cudag::Races::allowed});
    b.memset(cells, 1);
    b.kernel({}, store, cells, 2);
    b.kernel({}, nothing);
    const std::string dot = std::move(b).build().dot({.color = DotColor::race});
    CHECK(count(dot, "fillcolor=") == 2);
    CHECK(count(dot, "n0 -> n1 [dir=none") == 1);
}

TEST_CASE("a picture coloured by duration is darkest at the longest node, and shows each duration", "[graph][dot]") {
    const std::string dot = layered(1).dot({.color = DotColor::duration, .durations = {1.5, 10, 0}});
    CHECK(count(dot, "fillcolor=") == 2);
    CHECK_THAT(dot, ContainsSubstring("1.5 us\", style=filled, fillcolor=\"#fff5eb\"") &&
                        ContainsSubstring("10 us\", style=filled, fillcolor=\"#e6550d\""));
}

TEST_CASE("a picture with data has an edge from the last writer to each user, with the bytes", "[graph][dot]") {
    const auto cells = std::make_shared<cudag::DeviceBuffer<int>>(8);
    const auto host = std::make_shared<std::vector<int>>(8);
    GraphBuilder b({.dependencies = cudag::Dependencies::inferred});
    b.memset(cells, 1);
    b.memset(cells->span().first(2), 3);
    b.memcpy(host, cells);
    const std::string dot = std::move(b).build().dot({.data = true});
    CHECK_THAT(dot, ContainsSubstring("n0 -> n2 [constraint=false, color=blue, fontcolor=blue, label=\"24 bytes\"]") &&
                        ContainsSubstring("label=\"8 bytes\""));
    CHECK(count(dot, "color=blue, fontcolor") == 2);
}

TEST_CASE("a picture of limited depth counts the nodes of deeper graphs", "[graph][dot]") {
    GraphBuilder inner, b;
    inner.host([] {}).label("within");
    add_child(b, std::move(inner).build());
    const cudag::Graph graph = std::move(b).build();
    CHECK_THAT(graph.dot({.depth = 0}), !ContainsSubstring("within") && ContainsSubstring("1 node (1 host)"));
    CHECK_THAT(graph.dot({.depth = 1}), ContainsSubstring("within"));
}

TEST_CASE("equal inner graphs fold, different ones do not", "[graph][dot]") {
    GraphBuilder b;
    std::vector<cudag::Node> last;
    for (const int hosts : {1, 1, 2}) {
        GraphBuilder inner;
        for (int i = 0; i < hosts; ++i)
            inner.host([] {});
        last = {add_child(b, std::move(inner).build()).after(last)};
    }
    const std::string dot = std::move(b).build().dot({.fold = true});
    CHECK(count(dot, "child") == 2);
    CHECK_THAT(dot, ContainsSubstring("x 2"));
}

TEST_CASE("a listing has each node with number, label, operation, place and predecessors", "[graph][dot]") {
    const std::string text = dot_sample::pipeline().listing();
    CHECK_THAT(text, StartsWith("graph of 5 nodes"));
    CHECK_THAT(text, ContainsSubstring("2: \"fill\" store <<<(3, 2, 1), (64, 1, 1)>>>") &&
                         ContainsSubstring("dot_sample.hpp:") && ContainsSubstring(", after 0, 1\n"));
}

TEST_CASE("a listing has the nodes of inner graphs below their node", "[graph][dot]") {
    GraphBuilder inner, b;
    inner.host([] {}).label("within");
    add_child(b, std::move(inner).build());
    b.host([] {}).label("beside");
    const std::string text = std::move(b).build().listing();
    CHECK(text.find("graph:\n") < text.find("\"within\""));
    CHECK(text.find("\"within\"") < text.find("1: \"beside\""));
}

TEST_CASE("print writes the listing to a file", "[graph][dot]") {
    const cudag::Graph graph = dot_sample::pipeline();
    std::FILE* const file = std::tmpfile();
    REQUIRE(file != nullptr);
    graph.print(file);
    std::rewind(file);
    std::string text(graph.listing().size() + 1, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file));
    std::fclose(file);
    CHECK(text == graph.listing());
}
