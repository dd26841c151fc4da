// Updates of what stands inside child graph nodes.
#include "child.hpp"
#include "resource.hpp"

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace {

/// A parent whose only node is a child: store(0), then store(1).
struct Parent {
    explicit Parent(DeviceInts& data) : first(store, data.data(), 0, 1), second(store, data.data(), 1, 2) {}

    void build() {
        inner = {add_kernel(child, first)};
        inner.push_back(add_kernel(child, second, inner));
        node = add_child(graph, child);
        inside = {node_inside(node, inner[0]), node_inside(node, inner[1])};
    }

    Call<int*, int, int> first;
    Call<int*, int, int> second;
    Graph child;
    Nodes inner; // of the graph that was given
    Graph graph;
    cudaGraphNode_t node = nullptr;
    Nodes inside; // of the graph that the node owns
};

struct Fixture {
    Stream stream;
    DeviceInts data{3};
    Parent original{data};
    Parent changed{data};

    Fixture() { original.build(); }

    void require(const Exec& exec, const std::vector<int>& values) {
        exec.run(stream);
        REQUIRE(data.read() == values);
    }
};

struct Report {
    cudaError_t code;
    cudaGraphExecUpdateResult result;
    cudaGraphNode_t node;
};

Report update(cudaGraphExec_t exec, cudaGraph_t graph) {
    cudaGraphExecUpdateResultInfo info{};
    const cudaError_t code = cudaGraphExecUpdate(exec, graph, &info);
    REQUIRE(cudaGetLastError() == code);
    return {code, info.result, info.errorNode};
}

} // namespace

TEST_CASE("a node inside a child graph is updated by its own handle", "[child][exec_update]") {
    Fixture f;
    const Exec exec(f.original.graph);
    f.original.first.argument<2>() = 10;
    const cudaKernelNodeParams params = f.original.first.params();
    REQUIRE_CUDA(cudaGraphExecKernelNodeSetParams(exec, f.original.inside[0], &params));
    f.require(exec, {10, 2, poison});
}

TEST_CASE("a node inside a child graph is switched off and on by its own handle", "[child][enable]") {
    Fixture f;
    const Exec exec(f.original.graph);
    unsigned enabled = 7;
    REQUIRE_CUDA(cudaGraphNodeSetEnabled(exec, f.original.inside[0], 0));
    REQUIRE_CUDA(cudaGraphNodeGetEnabled(exec, f.original.inside[0], &enabled));
    REQUIRE(enabled == 0);
    f.require(exec, {poison, 2, poison});
    REQUIRE_CUDA(cudaGraphNodeSetEnabled(exec, f.original.inside[0], 1));
    f.require(exec, {1, 2, poison});
}

TEST_CASE("the nodes of the graph that a child was cloned from address no executable graph", "[child][exec_update]") {
    Fixture f;
    const Exec exec(f.original.graph);
    const cudaKernelNodeParams params = f.original.first.params();
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphExecKernelNodeSetParams(exec, f.original.inner[0], &params));
}

TEST_CASE("a child's parameters come from a graph of the same shape", "[child][exec_update]") {
    Fixture f;
    f.changed.first.argument<2>() = 10;
    f.changed.second.argument<2>() = 20;
    f.changed.build();
    const Exec exec(f.original.graph);
    SECTION("through the typed call") {
        REQUIRE_CUDA(cudaGraphExecChildGraphNodeSetParams(exec, f.original.node, f.changed.child));
    }
    SECTION("through the call for all kinds") {
        cudaGraphNodeParams params = child_params(f.changed.child);
        REQUIRE_CUDA(cudaGraphExecNodeSetParams(exec, f.original.node, &params));
    }
    SECTION("and the graph may be one that another node owns") {
        REQUIRE_CUDA(cudaGraphExecChildGraphNodeSetParams(exec, f.original.node, graph_inside(f.changed.node)));
    }
    f.require(exec, {10, 20, poison});
    f.data.write({poison, poison, poison});
    f.require(Exec(f.original.graph), {1, 2, poison});
}

TEST_CASE("a child's own graph, changed, updates the executable graph", "[child][exec_update]") {
    Fixture f;
    const Exec exec(f.original.graph);
    f.original.first.argument<2>() = 10;
    const cudaKernelNodeParams params = f.original.first.params();
    REQUIRE_CUDA(cudaGraphKernelNodeSetParams(f.original.inside[0], &params));
    f.require(exec, {1, 2, poison});
    REQUIRE_CUDA(cudaGraphExecChildGraphNodeSetParams(exec, f.original.node, graph_inside(f.original.node)));
    f.require(exec, {10, 2, poison});
}

TEST_CASE("an update of a child reaches the children inside it", "[child][exec_update]") {
    Fixture f;
    f.changed.first.argument<2>() = 10;
    f.changed.build();
    Graph outer;
    const cudaGraphNode_t node = add_child(outer, f.original.graph);
    const Exec exec(outer);
    REQUIRE_CUDA(cudaGraphExecChildGraphNodeSetParams(exec, node, f.changed.graph));
    f.require(exec, {10, 2, poison});
}

TEST_CASE("a child's shape cannot change in an update of its node", "[child][exec_update]") {
    Fixture f;
    f.changed.first.argument<2>() = 10;
    f.changed.build();
    SECTION("one node more") {
        add_empty(f.changed.child, {f.changed.inner[1]});
    }
    SECTION("an edge less") {
        REQUIRE_CUDA(
            cudaGraphRemoveDependencies(f.changed.child, &f.changed.inner[0], &f.changed.inner[1], nullptr, 1));
    }
    const Exec exec(f.original.graph);
    const cudaError_t code = cudaGraphExecChildGraphNodeSetParams(exec, f.original.node, f.changed.child);
    REQUIRE(code == cudaErrorGraphExecUpdateFailure);
    REQUIRE(cudaGetLastError() == code);
    f.require(exec, {1, 2, poison});
}

TEST_CASE("the kind of a node inside cannot change in an update of a child", "[child][exec_update]") {
    Fixture f;
    f.changed.build();
    Graph child;
    add_kernel(child, f.changed.second, {add_empty(child)});
    const Exec exec(f.original.graph);
    REQUIRE_CUDA_ERROR(cudaErrorGraphExecUpdateFailure,
                       cudaGraphExecChildGraphNodeSetParams(exec, f.original.node, child));
    f.require(exec, {1, 2, poison});
}

TEST_CASE("bad arguments of an update of a child are refused", "[child][exec_update]") {
    Fixture f;
    const cudaGraphNode_t empty = add_empty(f.original.graph);
    const Exec exec(f.original.graph);
    Graph other;
    const cudaGraphNode_t foreign = add_child(other, f.original.child);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphExecChildGraphNodeSetParams(exec, empty, f.original.child));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphExecChildGraphNodeSetParams(exec, foreign, f.original.child));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphExecChildGraphNodeSetParams(exec, f.original.node, nullptr));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue,
                       cudaGraphExecChildGraphNodeSetParams(nullptr, f.original.node, f.original.child));
}

TEST_CASE("a whole update takes the parameters inside children over", "[child][exec_update][whole]") {
    Fixture f;
    f.changed.first.argument<2>() = 10;
    f.changed.second.argument<2>() = 20;
    f.changed.build();
    const Exec exec(f.original.graph);
    const Report report = update(exec, f.changed.graph);
    REQUIRE(report.code == cudaSuccess);
    REQUIRE(report.result == cudaGraphExecUpdateSuccess);
    f.require(exec, {10, 20, poison});
    // The nodes of the first graph still address the executable graph.
    const cudaKernelNodeParams params = f.original.first.params();
    REQUIRE_CUDA(cudaGraphExecKernelNodeSetParams(exec, f.original.inside[0], &params));
    f.require(exec, {1, 20, poison});
}

TEST_CASE("a whole update is refused where a child's shape differs", "[child][exec_update][whole]") {
    Fixture f;
    f.changed.first.argument<2>() = 10;
    f.changed.build();
    SECTION("one node more") {
        add_empty(graph_inside(f.changed.node), {f.changed.inside[1]});
    }
    SECTION("an edge less") {
        REQUIRE_CUDA(cudaGraphRemoveDependencies(graph_inside(f.changed.node), &f.changed.inside[0],
                                                 &f.changed.inside[1], nullptr, 1));
    }
    const Exec exec(f.original.graph);
    const Report report = update(exec, f.changed.graph);
    REQUIRE(report.code == cudaErrorGraphExecUpdateFailure);
    REQUIRE(report.result == cudaGraphExecUpdateErrorTopologyChanged);
    f.require(exec, {1, 2, poison});
}

TEST_CASE("a whole update is refused where a node inside a child changes its kind", "[child][exec_update][whole]") {
    Fixture f;
    Graph child;
    const cudaGraphNode_t empty = add_empty(child);
    add_kernel(child, f.original.second, {empty});
    Graph graph;
    const cudaGraphNode_t node = add_child(graph, child);
    const Exec exec(f.original.graph);
    const Report report = update(exec, graph);
    REQUIRE(report.code == cudaErrorGraphExecUpdateFailure);
    REQUIRE(report.result == cudaGraphExecUpdateErrorNodeTypeChanged);
    REQUIRE(report.node == node_inside(node, empty));
    f.require(exec, {1, 2, poison});
}

TEST_CASE("after a whole update an executable graph holds the user objects of the children that it came from",
          "[child][exec_update][whole][user_objects]") {
    Resource before;
    Resource after;
    Fixture f;
    f.changed.build();
    give(graph_inside(f.original.node), before);
    give(graph_inside(f.changed.node), after);
    Exec exec(f.original.graph);
    REQUIRE(update(exec, f.changed.graph).code == cudaSuccess);
    f.original.graph.destroy();
    REQUIRE(before.destroyed == 1);
    f.changed.graph.destroy();
    REQUIRE(after.destroyed == 0);
    exec.destroy();
    REQUIRE(after.destroyed == 1);
}

TEST_CASE("the child graph of a node is replaced through the call for all kinds", "[child][generic]") {
    Fixture f;
    f.changed.first.argument<2>() = 10;
    f.changed.build();
    cudaGraphNodeParams params = child_params(f.changed.child);
    REQUIRE_CUDA(cudaGraphNodeSetParams(f.original.node, &params));
    f.require(Exec(f.original.graph), {10, 2, poison});
}

namespace {

using Counts = std::array<int, 3>;

/// A host node, beside a child with a host node, beside a child with one: each counts its runs.
struct HostNodes {
    explicit HostNodes(Counts& counts) {
        Graph middle;
        Graph inner;
        add_host(inner, counting(counts[2]));
        add_host(middle, counting(counts[1]));
        add_child(middle, inner);
        nodes[0] = add_host(graph, counting(counts[0]));
        child = add_child(graph, middle);
        const Nodes in_child = nodes_of(graph_inside(child));
        nodes[1] = in_child.at(0);
        nodes[2] = nodes_of(graph_inside(in_child.at(1))).at(0);
    }

    static cudaHostNodeParams counting(int& count) {
        return {[](void* data) { ++*static_cast<int*>(data); }, &count};
    }
    /// Sets the nodes from `first` on in the executable graph.
    void set(const Exec& exec, Counts& counts, std::size_t first = 0) const {
        for (std::size_t i = first; i < nodes.size(); ++i) {
            const cudaHostNodeParams params = counting(counts[i]);
            REQUIRE_CUDA(cudaGraphExecHostNodeSetParams(exec, nodes[i], &params));
        }
    }

    Graph graph;
    cudaGraphNode_t child = nullptr;
    std::array<cudaGraphNode_t, 3> nodes{};
};

} // namespace

TEST_CASE("host nodes in children are set by their own handles, by the child and by the whole, the latest counts",
          "[child][exec_update][host]") {
    Stream stream;
    Counts made{};
    Counts set{};
    Counts source{};
    Counts again{};
    const HostNodes nodes(made);
    const HostNodes other(source);
    const Exec exec(nodes.graph);
    exec.run(stream);
    REQUIRE(made == Counts{1, 1, 1});
    nodes.set(exec, set);
    exec.run(stream);
    REQUIRE(set == Counts{1, 1, 1});
    REQUIRE(update(exec, other.graph).code == cudaSuccess);
    exec.run(stream);
    REQUIRE(source == Counts{1, 1, 1});
    nodes.set(exec, again);
    exec.run(stream);
    REQUIRE(again == Counts{1, 1, 1});
    REQUIRE_CUDA(cudaGraphExecChildGraphNodeSetParams(exec, nodes.child, graph_inside(other.child)));
    exec.run(stream);
    REQUIRE(again == Counts{2, 1, 1});
    REQUIRE(source == Counts{1, 2, 2});
    nodes.set(exec, again, 1);
    exec.run(stream);
    REQUIRE(again == Counts{3, 2, 2});
    REQUIRE(made == Counts{1, 1, 1});
    REQUIRE(set == Counts{1, 1, 1});
    REQUIRE(source == Counts{1, 2, 2});
}

namespace {

struct Shape {
    /// A node for each letter: kernel, memset, empty, or one that is (g)one again.
    explicit Shape(const char* kinds, const std::vector<std::pair<int, int>>& edges) {
        for (const char* kind = kinds; *kind != 0; ++kind) {
            if (*kind == 'k') nodes.push_back(add_kernel(graph, call));
            if (*kind == 'm') nodes.push_back(add_memset(graph, set_ints(data.data() + 1, 1, 2)));
            if (*kind == 'e') nodes.push_back(add_empty(graph));
            if (*kind == 'g') REQUIRE_CUDA(cudaGraphDestroyNode(add_empty(graph)));
        }
        for (const auto& [from, to] : edges)
            add_edge(graph, nodes[static_cast<std::size_t>(from)], nodes[static_cast<std::size_t>(to)]);
    }

    DeviceInts data{2};
    Call<int*, int, int> call{store, data.data(), 0, 1};
    Graph graph;
    Nodes nodes;
};

cudaError_t set_child(const Shape& original, const Shape& next) {
    Graph parent;
    const cudaGraphNode_t child = add_child(parent, original.graph);
    const Exec exec(parent);
    const cudaError_t code = cudaGraphExecChildGraphNodeSetParams(exec, child, next.graph);
    REQUIRE(cudaGetLastError() == code);
    return code;
}

const std::vector<std::pair<int, int>> diamond{{0, 1}, {0, 2}, {1, 3}, {2, 3}};
const std::vector<std::pair<int, int>> line{{0, 1}, {1, 2}, {2, 3}};
constexpr auto refused = cudaErrorGraphExecUpdateFailure;

} // namespace

TEST_CASE("the update of a child takes edges in any order, but no others", "[child][exec_update]") {
    const Shape original("kmek", diamond);
    REQUIRE(set_child(original, Shape("kmek", {{2, 3}, {1, 3}, {0, 2}, {0, 1}})) == cudaSuccess);
    REQUIRE(set_child(original, Shape("kmek", {{0, 1}, {0, 2}, {1, 3}})) == refused);
    REQUIRE(set_child(original, Shape("kmek", {{0, 1}, {0, 2}, {1, 3}, {0, 3}})) == refused);
    REQUIRE(set_child(original, Shape("kmmk", diamond)) == refused);
}

TEST_CASE("the update of a child pairs nodes by the order in which they were added", "[child][exec_update]") {
    const Shape original("kmek", line);
    REQUIRE(set_child(original, Shape("kemk", {{0, 2}, {2, 1}, {1, 3}})) == refused);
    REQUIRE(set_child(Shape("kkkk", line), Shape("kkkk", {{0, 2}, {2, 1}, {1, 3}})) == refused);
    cudaGraphExecUpdateResultInfo info{};
    REQUIRE_CUDA(cudaGraphExecUpdate(Exec(Shape("kkkk", line).graph), Shape("kkkk", {{0, 2}, {2, 1}, {1, 3}}).graph,
                                     &info)); // of a whole graph: by the edges
}

TEST_CASE("the update of a child counts nodes that are gone", "[child][exec_update]") {
    REQUIRE(set_child(Shape("kgmek", diamond), Shape("kgmek", diamond)) == cudaSuccess);
    REQUIRE(set_child(Shape("kgmek", diamond), Shape("kmgek", diamond)) == refused);
    REQUIRE(set_child(Shape("kgkkk", diamond), Shape("kkkkg", diamond)) == refused);
    REQUIRE(set_child(Shape("kgmek", diamond), Shape("kmek", diamond)) == refused);
    REQUIRE(set_child(Shape("kmek", diamond), Shape("kgmek", diamond)) == refused);
    const Shape original("kmek", diamond), next("kmekg", diamond);
    Graph parent;
    const cudaGraphNode_t child = add_child(parent, original.graph);
    REQUIRE_CUDA(cudaGraphDestroyNode(add_empty(graph_inside(child))));
    REQUIRE_CUDA(cudaGraphExecChildGraphNodeSetParams(Exec(parent), child, next.graph));
    cudaGraph_t clone = nullptr;
    REQUIRE_CUDA(cudaGraphClone(&clone, next.graph));
    REQUIRE_CUDA(cudaGraphExecChildGraphNodeSetParams(Exec(parent), child, clone)); // clones count them, too
    REQUIRE_CUDA(cudaGraphDestroy(clone));
}
