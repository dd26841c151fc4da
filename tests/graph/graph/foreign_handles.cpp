// Handles of other graphs and builders that are built: the refusal names both graphs, and the way out.
#include "native.hpp"

using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::UpdateError;

namespace {

std::string line(unsigned number) {
    return "foreign_handles.cpp:" + std::to_string(number);
}

} // namespace

TEST_CASE("a node of the graph that a clone was made from is refused with a word on counterpart", "[graph][handles]") {
    GraphBuilder b;
    const auto node = b.kernel({}, nothing);
    const Graph graph = std::move(b).build();
    Graph clone = graph.clone();
    Exec exec = clone.instantiate();
    const auto error = refused<UpdateError>([&] { exec.disable(node); });
    CHECK_THAT(error.what(), ContainsSubstring("does not belong to the graph of this Exec") &&
                                 ContainsSubstring("the clone's counterpart(node) is the handle here"));
    CHECK_THAT(refused<UpdateError>([&] { clone.update(node, cudag::LaunchConfig()); }).what(),
               ContainsSubstring("counterpart(node)"));
    exec.disable(clone.counterpart(node));

    Exec original = graph.instantiate();
    CHECK_THAT(refused<UpdateError>([&] { original.disable(clone.counterpart(node)); }).what(),
               ContainsSubstring("to a clone of this one; use the handle that the clone's counterpart() was given"));
}

TEST_CASE("a node of a graph that became a child by a clone is refused with a word on inside", "[graph][handles]") {
    GraphBuilder i;
    const auto node = i.kernel({}, nothing);
    const Graph inner = std::move(i).build();
    GraphBuilder m;
    const auto middle = m.child(inner);
    const Graph between = std::move(m).build();
    GraphBuilder b;
    const auto child = b.child(between).label("outer child");
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    CHECK_THAT(refused<UpdateError>([&] { exec.disable(middle.inside(node)); }).what(),
               ContainsSubstring("to the one of which child \"outer child\" at ") &&
                   EndsWith("has a clone inside; its inside(node) is the handle here"));
    exec.update(child.inside(middle.inside(node)), cudag::LaunchConfig());
}

TEST_CASE("a node of another graph is refused with the names of both graphs", "[graph][handles]") {
    GraphBuilder a;
    const auto node = a.kernel({}, nothing);
    const unsigned built = __LINE__ + 1;
    const Graph other = std::move(a).build();

    GraphBuilder b;
    const auto own = b.kernel({}, nothing).label("own");
    const auto after = refused<GraphError>([&] { own.after(node); });
    CHECK_THAT(after.what(), ContainsSubstring("the node belongs to another graph: to the graph made at ") &&
                                 ContainsSubstring(line(built)) &&
                                 ContainsSubstring("this is the graph under construction that begins with kernel "
                                                   "\"own\" at "));
    GraphBuilder empty;
    CHECK_THAT(refused<GraphError>([&] { empty.join(node); }).what(),
               EndsWith("this is the graph under construction without nodes"));

    const unsigned rebuilt = __LINE__ + 1;
    Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    CHECK_THAT(refused<UpdateError>([&] { exec.disable(node); }).what(),
               ContainsSubstring(line(built)) && EndsWith(line(rebuilt)));
    CHECK_THAT(refused<UpdateError>([&] { graph.update(node, cudag::LaunchConfig()); }).what(),
               ContainsSubstring(line(built)) && EndsWith(line(rebuilt)));
    CHECK_THAT(refused<UpdateError>([&] { exec.apply(other); }).what(),
               ContainsSubstring(line(built)) && ContainsSubstring(line(rebuilt)));
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(graph.counterpart(node)); }).what(),
               ContainsSubstring(line(built)) && EndsWith("which is no clone"));
}

TEST_CASE("a captured graph is named by its capture", "[graph][handles][capture]") {
    const cudag::Stream stream;
    const unsigned captured = __LINE__ + 1;
    const Graph graph = cudag::capture(stream, [](cudaStream_t s) { cudag::launch(s, {}, nothing); });
    Exec exec = graph.clone().instantiate();
    GraphBuilder b;
    const auto node = b.kernel({}, nothing);
    CHECK_THAT(refused<UpdateError>([&] { exec.disable(node); }).what(),
               ContainsSubstring("while this is the clone of the graph made at ") && EndsWith(line(captured)));
}

TEST_CASE("a builder that was built says where", "[builder][handles]") {
    GraphBuilder b;
    const auto node = b.host([] {});
    const auto last = b.host([] {});
    const unsigned built = __LINE__ + 1;
    const Graph graph = std::move(b).build();
    const auto error = refused<GraphError>([&] { b.host([] {}); });
    CHECK_THAT(error.what(), ContainsSubstring("a GraphBuilder was used after it was built, at ") &&
                                 ContainsSubstring(line(built)) && ContainsSubstring("needs a new GraphBuilder"));
    CHECK(error.location().line == built);
    CHECK_THAT(refused<GraphError>([&] { last.after(node); }).what(),
               ContainsSubstring("its Graph is built, at ") && ContainsSubstring(line(built)));
}

TEST_CASE("a cycle of many nodes is shown by its first and last ones", "[builder][edges][many]") {
    constexpr int count = 100000;
    GraphBuilder b;
    std::vector<cudag::HostNode> nodes;
    for (int i = 0; i < count; ++i)
        nodes.push_back(b.host([] {}).label(std::to_string(i)));
    for (std::size_t i = 1; i < nodes.size(); ++i)
        nodes[i].after(nodes[i - 1]);
    nodes.front().after(nodes.back());
    const auto error = refused<GraphError>([&] { b.check(); });
    CHECK_THAT(error.what(), ContainsSubstring(" -> 99990 more nodes -> "));
    CHECK(std::string_view(error.what()).size() < 2000);
    CHECK(error.labels().size() == 10);
}

TEST_CASE("a cycle of eleven nodes is shown as a whole", "[builder][edges]") {
    GraphBuilder b;
    std::vector<cudag::HostNode> nodes;
    for (int i = 0; i < 11; ++i)
        nodes.push_back(b.host([] {}));
    for (std::size_t i = 1; i < nodes.size(); ++i)
        nodes[i].after(nodes[i - 1]);
    nodes.front().after(nodes.back());
    const auto error = refused<GraphError>([&] { b.check(); });
    CHECK_THAT(error.what(), !ContainsSubstring("more nodes"));
    CHECK(error.labels().size() == 11);
}

TEST_CASE("an update of a child by a graph that differs much names ten differences", "[exec][child]") {
    GraphBuilder i;
    i.host([] {});
    GraphBuilder b;
    const Graph inner = std::move(i).build();
    const auto child = b.child(inner);
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    GraphBuilder n;
    for (int k = 0; k < 101; ++k)
        n.host([] {});
    const Graph next = std::move(n).build();
    const auto error = refused<UpdateError>([&] { exec.update(child, next); });
    const std::string text = error.what();
    CHECK(std::count(text.begin(), text.end(), '\n') == 11);
    CHECK_THAT(text, EndsWith("\n  and 90 more"));
}

TEST_CASE("a NUL in a label shows in texts, and ends none", "[builder][labels]") {
    const std::string label("a\0b", 3);
    GraphBuilder b;
    const auto node = b.host([] {}).label(label);
    CHECK(node.label() == label);
    CHECK_THAT(refused<GraphError>([&] { node.after(node); }).what(),
               ContainsSubstring("\"a\\0b\"") && ContainsSubstring("foreign_handles.cpp"));
    const Graph graph = std::move(b).build();
    CHECK(graph.find_one(label) == node);
    const std::string dot = graph.dot();
    CHECK(dot.find('\0') == std::string::npos);
    CHECK_THAT(dot, ContainsSubstring("a\\\\0b"));
}
