// Graph::find_one: the one node, or an error that says what there is.
#include "native.hpp"

using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;

namespace {

Graph labelled(const std::vector<std::string>& labels) {
    GraphBuilder b;
    for (const std::string& label : labels)
        b.host([] {}).label(label);
    return std::move(b).build();
}

} // namespace

TEST_CASE("find_one finds the one node by its label and by its kernel", "[graph][find]") {
    const cudag::DeviceBuffer<int> cell(1);
    GraphBuilder b;
    const auto kernel = b.kernel({}, store, cell, 1).label("store");
    b.host([] {}).label("host").after(kernel);
    const Graph graph = std::move(b).build();
    CHECK(graph.find_one("store") == kernel);
    const cudag::KernelNode<int*, int> found = graph.find_one(store);
    CHECK(found == kernel);
}

TEST_CASE("find_one looks into the graphs inside nodes", "[graph][find]") {
    const Graph inner = labelled({"inside"});
    GraphBuilder b;
    const auto child = b.child(inner);
    const Graph graph = std::move(b).build();
    CHECK(graph.find_one("inside") == child.inside(inner.nodes().at(0)));
    CHECK(child.graph().find_one("inside") == graph.find_one("inside"));
}

TEST_CASE("a label that no node has is refused with those that there are, the nearest first", "[graph][find]") {
    const Graph graph = labelled({"download", "scale", "upload x", "upload x", ""});
    const auto error = refused<GraphError>([&] { static_cast<void>(graph.find_one("uplaod x")); });
    CHECK_THAT(error.what(), ContainsSubstring("find_one: no node has the label \"uplaod x\"; the labels are "
                                               "\"upload x\", \"scale\", \"download\""));
}

TEST_CASE("letters that were changed, added or left out count alike for what is near", "[graph][find]") {
    const auto labels_near = [](const std::vector<std::string>& labels, const std::string& wanted) {
        return std::string(refused<GraphError>([&] { static_cast<void>(labelled(labels).find_one(wanted)); }).what());
    };
    CHECK_THAT(labels_near({"scale", "scale_abz"}, "scale_xyz"), EndsWith("are \"scale_abz\", \"scale\""));
    CHECK_THAT(labels_near({"scale_xyz", "scope"}, "scale"), EndsWith("are \"scope\", \"scale_xyz\""));
    CHECK_THAT(labels_near({"calex", "scalx"}, "scale"), EndsWith("are \"scalx\", \"calex\""));
    const std::string begin(64, 'x'); // of long ones, the begins count
    CHECK_THAT(labels_near({std::string(60, 'x') + "yyyy", begin + "z"}, begin + std::string(20, 'y')),
               ContainsSubstring("are \"" + begin + "z\""));
    const std::string same_begin = begin + std::string(40, 'z');
    CHECK_THAT(labels_near({std::string(60, 'x') + "yyyy", same_begin}, begin + std::string(20, 'y')),
               ContainsSubstring("are \"" + same_begin + "\""));
}

TEST_CASE("ten labels are named, and the others counted", "[graph][find]") {
    std::vector<std::string> labels;
    for (int i = 0; i < 25; ++i)
        labels.push_back("node " + std::to_string(i));
    const auto error = refused<GraphError>([&] { static_cast<void>(labelled(labels).find_one("node 33")); });
    CHECK_THAT(error.what(), ContainsSubstring("\"node 3\"") && EndsWith(" and 15 more"));
    labels.resize(10);
    const auto all = refused<GraphError>([&] { static_cast<void>(labelled(labels).find_one("node 33")); });
    CHECK_THAT(all.what(), ContainsSubstring("\"node 9\"") && !ContainsSubstring(" more"));
}

TEST_CASE("a label in a graph without labels is refused", "[graph][find]") {
    const auto error = refused<GraphError>([&] { static_cast<void>(labelled({"", ""}).find_one("a")); });
    CHECK_THAT(error.what(), EndsWith("no node has the label \"a\", nor any other label"));
}

TEST_CASE("a label that several nodes have is refused with their places", "[graph][find]") {
    const auto error = refused<GraphError>([&] { static_cast<void>(labelled({"a", "b", "a"}).find_one("a")); });
    CHECK_THAT(error.what(), ContainsSubstring("find_one: 2 nodes have the label \"a\": host \"a\" at ") &&
                                 ContainsSubstring("find_one.cpp:") && EndsWith("find() gives all of them"));
    CHECK(error.labels() == std::vector<std::string>{"a", "a"});
}

TEST_CASE("ten of the nodes that have a label are named, and the others counted", "[graph][find]") {
    const auto why = [](std::size_t count) {
        const std::vector<std::string> labels(count, "a");
        return std::string(refused<GraphError>([&] { static_cast<void>(labelled(labels).find_one("a")); }).what());
    };
    CHECK_THAT(why(10), ContainsSubstring("10 nodes have the label \"a\"") && !ContainsSubstring(" more"));
    CHECK_THAT(why(12), ContainsSubstring("12 nodes have the label \"a\"") && ContainsSubstring(" and 2 more; find()"));
}

TEST_CASE("a kernel that no node launches is refused with those that there are", "[graph][find]") {
    const cudag::DeviceBuffer<int> cell(1);
    GraphBuilder b;
    b.kernel({}, store, cell, 1);
    const Graph graph = std::move(b).build();
    const auto error = refused<GraphError>([&] { static_cast<void>(graph.find_one(nothing)); });
    CHECK_THAT(error.what(), EndsWith("find_one: no node launches nothing; the kernels are store"));
    const auto none = refused<GraphError>([&] { static_cast<void>(labelled({"a"}).find_one(nothing)); });
    CHECK_THAT(none.what(), EndsWith("find_one: no node launches nothing, nor any other kernel"));
}

TEST_CASE("a kernel that several nodes launch is refused", "[graph][find]") {
    GraphBuilder b;
    b.kernel({}, nothing).label("first");
    b.kernel({}, nothing).label("second");
    const auto error = refused<GraphError>([&] { static_cast<void>(std::move(b).build().find_one(nothing)); });
    CHECK_THAT(error.what(), ContainsSubstring("2 nodes launch nothing: kernel \"first\" at ") &&
                                 ContainsSubstring("kernel \"second\""));
}
