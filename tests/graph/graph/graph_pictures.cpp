// Options of pictures, and lists of nodes.
#include <cstdio>

#include "conditional_kernels.hpp"
#include "cuda_version.hpp"
#include "dot_sample.hpp"
#include "native_nodes.hpp"

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

TEST_CASE("a folded picture connects the parts that remain, and leaves single labels as they are", "[graph][dot]") {
    GraphBuilder b;
    const auto a = b.host([] {}).label("a 1");
    const auto c = b.kernel({}, nothing).label("c 2").after(a);
    const auto d = b.join(c).label("d 3");
    const auto e = b.memset(std::make_shared<cudag::DeviceBuffer<int>>(1), 0).label("e 4").after(a);
    b.host([] {}).label("f 5").after(d, e);
    b.host([] {}).label("g 6").after(e);
    const std::string dot = std::move(b).build().dot({.fold = true});
    for (const char* text : {"\"a 1", "\"c 2", "\"d 3", "\"e 4", "\"f 5", "\"g 6", "n0 -> n1;", "n1 -> n2;",
                             "n0 -> n3;", "n2 -> n4;", "n3 -> n4;", "n3 -> n5;"})
        CHECK(count(dot, text) == 1);
    CHECK(count(dot, "->") == 6);
}

TEST_CASE("a folded layer has its own edges once, and none to the next layer", "[graph][dot]") {
    const std::string dot = layered(4).dot({.fold = true});
    CHECK(count(dot, "n0 -> n1;") == 1);
    CHECK(count(dot, "n0 -> n2;") == 1);
    CHECK(count(dot, "->") == 2);
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

TEST_CASE("a picture coloured by duration leaves nodes without one uncoloured", "[graph][dot]") {
    CHECK(count(layered(1).dot({.color = DotColor::duration, .durations = {1.5, 10}}), "fillcolor=") == 2);
}

TEST_CASE("data flows from the last writer of each byte, also where it wrote a part", "[graph][dot]") {
    const auto cells = std::make_shared<cudag::DeviceBuffer<int>>(8);
    const auto host = std::make_shared<std::vector<int>>(8);
    GraphBuilder b({.dependencies = cudag::Dependencies::inferred});
    b.memset(cells, 1);                                          // n0
    b.memset(cells->span().subspan(2, 2), 2);                    // n1
    b.memcpy(host, cells);                                       // n2: 16 + 8 bytes before, and 8
    b.memcpy(cells->span().first(4), std::span(*host).first(4)); // n3: needs nothing of what it overwrites
    b.kernel({}, add, cells->span().subspan(4, 1),               // n4: reads and writes cell 4, reads cell 3
             cells->span().subspan(3, 1), 1);
    const std::string dot = std::move(b).build().dot({.data = true});
    const auto flow = [&](const std::string& edge, int bytes) {
        return count(dot, edge + " [constraint=false, color=blue, fontcolor=blue, label=\"" + std::to_string(bytes) +
                              " bytes\"]") == 1;
    };
    CHECK(flow("n0 -> n2", 24));
    CHECK(flow("n1 -> n2", 8));
    CHECK(flow("n2 -> n3", 16));
    CHECK(flow("n3 -> n4", 4));
    CHECK(flow("n0 -> n4", 4));
    CHECK(count(dot, "color=blue, fontcolor") == 5);
}

TEST_CASE("a condition is no data", "[graph][dot]") {
    GraphBuilder b;
    const auto condition = b.condition(0);
    const auto set = b.kernel({}, set_condition, condition, 1U);
    b.if_(condition, [](GraphBuilder& body) { body.kernel({}, nothing); }).after(set);
    CHECK(count(std::move(b).build().dot({.data = true}), "color=blue") == 0);
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

TEST_CASE("inner graphs of other edges do not fold", "[graph][dot]") {
    GraphBuilder b;
    cudag::Node last = b.host([] {});
    for (const bool is_chain : {false, true}) {
        GraphBuilder inner;
        const auto first = inner.host([] {});
        const auto second = inner.host([] {});
        if (is_chain) second.after(first);
        last = add_child(b, std::move(inner).build()).after(last);
    }
    CHECK(count(std::move(b).build().dot({.fold = true}), "child") == 2);
}

TEST_CASE("a listing has predecessors as ranges, apart by the kind of the edge", "[graph][dot]") {
    GraphBuilder b;
    std::vector<decltype(b.kernel({}, nothing))> kernels;
    for (int i = 0; i < 7; ++i)
        kernels.push_back(b.kernel({}, nothing));
    const auto last = b.kernel({}, nothing);
    for (const std::size_t i : {0U, 1U, 2U, 4U, 5U})
        last.after(kernels[i]);
    last.after(cudag::programmatic(kernels[6]));
    const cudag::Graph graph = std::move(b).build();
    CHECK_THAT(graph.listing(), ContainsSubstring(", after 0 to 2, 4, 5, 6 (programmatic)\n"));
    CHECK_THAT(graph.listing(), ContainsSubstring("graph_pictures.cpp:"));
}

TEST_CASE("a listing of a graph that CUDA made has no places", "[graph][dot]") {
    cudaGraph_t native = nullptr;
    cudag::check(cudaGraphCreate(&native, 0));
    add_native_empty(native);
    CHECK_THAT(cudag::Graph::adopt(native).listing(), ContainsSubstring("  0: empty\n"));
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
