// Which graph a handle is of, and what a graph has left of nodes, graphs inside and owners that have gone.
#include "graph/graph_state.hpp"
#include "graph/graph_locks.hpp"
#include "graph/read_nodes.hpp"

#include "catch.hpp"
#include "empty_graph.hpp"

#include <cudag/buffer.hpp>
#include <cudag/builder.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

using cudag::Node;
using cudag::NodeKind;
using cudag::detail::ArgumentAccess;
using cudag::detail::GraphIdentity;
using cudag::detail::GraphLocks;
using cudag::detail::GraphState;
using cudag::detail::Place;
using cudag::detail::ReadNodes;
using cudag::detail::UpdatedNode;

namespace {

std::shared_ptr<GraphState> graph_of(int count) {
    auto graph = empty_graph();
    for (int i = 0; i < count; ++i)
        add_node(*graph);
    return graph;
}

void attach(GraphState& outer, const std::shared_ptr<GraphState>& inner, std::uint32_t node) {
    outer.reserve_nested(*inner);
    outer.attach(inner, node, Place::child);
    inner->set_owns_native(true); // it is in no CUDA node
}

void change(GraphState& graph, std::uint32_t node) {
    graph.changes().reserve(1);
    graph.changes().count(graph.records().updated(node), {});
}

std::size_t changed_nodes(const GraphState& graph) {
    std::size_t count = 0;
    graph.changes().for_each_since(0, [&](const UpdatedNode&) { ++count; });
    return count;
}

std::size_t native_nodes(const GraphState& graph) {
    std::size_t count = 0;
    REQUIRE(cudaGraphGetNodes(graph.native(), nullptr, &count) == cudaSuccess);
    return count;
}

std::shared_ptr<GraphState> clone_of(const GraphState& origin) {
    cudaGraph_t native = nullptr;
    REQUIRE(cudaGraphCreate(&native, 0) == cudaSuccess);
    return std::make_shared<GraphState>(native, origin);
}

bool is_held(const GraphState& graph) {
    return !graph.lock(std::defer_lock).try_lock();
}

/// Tells of a graph that it has two empty nodes and an edge.
class TwoNodes : public cudag::detail::Unread {
  public:
    void read_nodes() override {
        if (!nodes()) return;
        ReadNodes read;
        for (int i = 0; i < 2; ++i) {
            read.natives.push_back(nullptr);
            read.records.push_back({NodeKind::empty, {}, {}, {}});
        }
        set_nodes_read();
        graph().append(std::move(read));
        graph().number_read_nodes();
    }
    void read_edges() override {
        set_edges_read();
        graph().edge_lists().take_native({{0, 1}});
    }
};

std::shared_ptr<GraphState> unread_graph() {
    cudaGraph_t native = nullptr;
    REQUIRE(cudaGraphCreate(&native, 0) == cudaSuccess);
    return std::make_shared<GraphState>(native, std::make_unique<TwoNodes>(), cudag::SourceLocation());
}

} // namespace

TEST_CASE("a graph is read when its nodes are and its edges", "[graph][read]") {
    const auto nodes_first = unread_graph(), edges_first = unread_graph();
    CHECK_FALSE(nodes_first->records().is_read());
    CHECK(nodes_first->records().nodes().size() == 2);
    CHECK_FALSE(nodes_first->records().is_read());
    CHECK(nodes_first->edges().size() == 1);
    CHECK(nodes_first->records().is_read());
    CHECK(edges_first->edges().size() == 1);
    CHECK_FALSE(edges_first->records().is_read());
    CHECK(edges_first->records().nodes().size() == 2);
    CHECK(edges_first->records().is_read());
    CHECK(graph_of(1)->records().is_read());
}

TEST_CASE("a node that is to be changed is read before", "[graph][read]") {
    const auto graph = unread_graph();
    CHECK(graph->records().updated(1).index == 1);
    CHECK(graph->records().has_known_nodes());
    CHECK(graph->records().updated().find(1) == &graph->records().updated(1));
}

TEST_CASE("an empty pointer is no owner for a graph to keep", "[graph][owners]") {
    const cudag::DeviceBuffer<int> cell(1);
    cudag::GraphBuilder b;
    const auto node = b.memset(cell.span(), 0); // which it does not own
    cudag::Graph graph = std::move(b).build();
    graph.retain(std::shared_ptr<int>());
    CHECK_FALSE(GraphIdentity::of(node).records().special().owners);
    const auto owner = std::make_shared<int>(0);
    graph.retain(std::shared_ptr<int>(), owner);
    CHECK(GraphIdentity::of(node).records().special().owners);
    CHECK(owner.use_count() == 2);
}

TEST_CASE("a handle is of its own graph only, whichever others live or have lived", "[graph][handles]") {
    std::vector<std::shared_ptr<GraphState>> graphs;
    for (int i = 0; i < 100; ++i) // more than have gone before: some are the first with their identity
        graphs.push_back(graph_of(1));
    for (const auto& graph : graphs) {
        std::size_t own = 0;
        for (const auto& other : graphs)
            if (graph->identity().is_own(other->identity().handle(0))) ++own;
        CHECK(own == 1);
        CHECK(graph->identity().is_own(graph->identity().handle(0)));
    }
    const Node dead = graphs.back()->identity().handle(0);
    graphs.back() = nullptr;
    const auto next = graph_of(1); // with the same identity
    CHECK_FALSE(next->identity().is_own(dead));
    CHECK_FALSE(next->identity().is_own(Node()));
}

TEST_CASE("a clone is one of its origin only", "[graph][handles]") {
    std::vector<std::shared_ptr<GraphState>> graphs;
    for (int i = 0; i < 100; ++i)
        graphs.push_back(graph_of(1));
    for (const std::size_t origin : {0U, 50U, 99U}) {
        const auto clone = clone_of(*graphs[origin]);
        std::size_t origins = 0;
        for (const auto& graph : graphs)
            if (clone->identity().is_clone_of(graph->identity())) ++origins;
        CHECK(origins == 1);
        CHECK(clone->identity().is_clone_of(graphs[origin]->identity()));
        CHECK_FALSE(graphs[origin]->identity().is_clone_of(clone->identity()));
    }
    const auto clone = clone_of(*graphs.back());
    graphs.back() = nullptr;
    CHECK_FALSE(clone->identity().is_clone_of(graph_of(1)->identity())); // with the identity that the origin had
}

TEST_CASE("two graphs are locked together, also where they are one", "[graph][locks]") {
    const auto one = graph_of(1), other = graph_of(1), inner = graph_of(1);
    attach(*one, inner, 0);
    {
        const GraphLocks locks(*one, *other);
        CHECK((is_held(*one) && is_held(*other)));
    }
    CHECK_FALSE(is_held(*one));
    CHECK_FALSE(is_held(*other));
    {
        const GraphLocks locks(*inner, *one);
        CHECK(is_held(*one));
        CHECK_FALSE(is_held(*other));
    }
    CHECK_FALSE(is_held(*one));
}

TEST_CASE("handles are dead before the owners of a graph go", "[graph][handles]") {
    bool was_alive = true;
    auto graph = graph_of(1);
    const Node node = graph->identity().handle(0);
    keep_owners(*graph, {std::shared_ptr<void>(nullptr, [&](void*) { was_alive = GraphIdentity::is_alive(node); })});
    CHECK(GraphIdentity::is_alive(node));
    graph = nullptr;
    CHECK_FALSE(was_alive);
}

TEST_CASE("graphs inside a graph whose handles end stand for themselves, and theirs end", "[graph][handles]") {
    const auto outer = graph_of(1), inner = graph_of(1), innermost = graph_of(1);
    attach(*inner, innermost, 0);
    attach(*outer, inner, 0);
    SECTION("told so") {
        outer->invalidate_handles();
    }
    SECTION("their CUDA graph is lost") {
        outer->set_destroyed_by({});
        CHECK(outer->is_borrowed());
        CHECK(outer->construction().destroyed_by.has_value());
        CHECK(innermost->construction().destroyed_by.has_value());
        for (const auto& graph : {outer, inner, innermost}) // in this test they are still there
            graph->set_owns_native(true);
    }
    CHECK((outer->identity().is_orphan() && inner->identity().is_orphan() && innermost->identity().is_orphan()));
    CHECK(inner->tree().parent() == nullptr);
    CHECK(innermost->tree().parent() == nullptr);
}

TEST_CASE("changes inside of nodes that go are forgotten, the others are not", "[graph][changes]") {
    const auto outer = graph_of(3), stays = graph_of(1), goes = graph_of(2), inside = graph_of(1);
    change(*outer, 0);
    change(*stays, 0);
    change(*goes, 0);
    change(*goes, 1);
    change(*inside, 0);
    attach(*goes, inside, 0);
    attach(*outer, stays, 1);
    attach(*outer, goes, 2);
    CHECK(changed_nodes(*outer) == 5);
    outer->remove_last();
    CHECK(changed_nodes(*outer) == 2);
    CHECK(outer->nested().size() == 1);
    CHECK((goes->identity().is_orphan() && inside->identity().is_orphan()));
    CHECK_FALSE(stays->identity().is_orphan());
}

TEST_CASE("the last node is removed from CUDA's graph, but not from one that is lost or captured into", "[graph]") {
    const auto graph = graph_of(3);
    graph->remove_last();
    CHECK(native_nodes(*graph) == 2);
    graph->construction().is_captured_into = true;
    graph->remove_last();
    CHECK(graph->records().nodes().size() == 1);
    CHECK(native_nodes(*graph) == 2);
    graph->construction().is_captured_into = false;
    graph->construction().destroyed_by = cudag::SourceLocation();
    graph->remove_last();
    CHECK(graph->records().nodes().empty());
    CHECK(native_nodes(*graph) == 2);
}

TEST_CASE("of the last nodes, which CUDA has removed, nothing is left", "[graph]") {
    const auto graph = graph_of(4);
    const ArgumentAccess access{0, cudag::detail::AccessMode::read, 1, {0x1000, 1}};
    graph->records().allocations().add({0x1000, 16, 0U, 2U});
    graph->records().allocations().add({0x2000, 16, 3U});
    for (const std::uint32_t node : {1U, 2U}) {
        graph->records().initial_accesses().add(node, {&access, 1});
        graph->records().units().reserve();
        graph->records().units().add(node, 1, node + 1);
    }
    graph->edge_lists().logical().add({0, 1});
    graph->edge_lists().logical().add({1, 2});
    graph->forget_from(2);
    CHECK(graph->records().nodes().size() == 2);
    CHECK(graph->edges().size() == 1);
    REQUIRE(graph->records().allocations().list().size() == 1);
    CHECK(graph->records().allocations().list().front().free == std::nullopt);
    CHECK(graph->records().initial_accesses().size() == 1);
    CHECK(graph->records().units().of(1) == 2);
    CHECK(graph->records().units().of(2) == 0);
}

TEST_CASE("a graph knows whether there are empty nodes in it", "[graph]") {
    const auto graph = empty_graph();
    CHECK_FALSE(graph->records().special().joins);
    add_node(*graph, {NodeKind::host, {}, {}, {}});
    CHECK_FALSE(graph->records().special().joins);
    add_node(*graph);
    CHECK(graph->records().special().joins);
    graph->forget_from(1);
    CHECK_FALSE(graph->records().special().joins);
    ReadNodes read;
    read.natives.push_back(nullptr);
    read.records.push_back({NodeKind::empty, {}, {}, {}});
    read.has_joins = true;
    graph->append(std::move(read));
    CHECK(graph->records().special().joins);
}

TEST_CASE("an owner that comes after others were given to CUDA goes with its node", "[graph][owners]") {
    const auto graph = graph_of(2);
    const auto first = std::make_shared<int>(0), second = std::make_shared<int>(0);
    keep_owners(*graph, {first}, 0);
    graph->complete_native();
    CHECK(first.use_count() == 2);
    keep_owners(*graph, {second}, 1);
    CHECK(second.use_count() == 2);
    const std::uint32_t gone[] = {1};
    graph->remove(gone, {});
    CHECK(first.use_count() == 2);
    CHECK(second.use_count() == 1);
}

TEST_CASE("a clone has what its origin's nodes declare by now, and nothing else", "[graph][declared]") {
    const auto origin = graph_of(2);
    const ArgumentAccess accesses[]{{0, cudag::detail::AccessMode::read, 1, {0x1000, 1}},
                                    {1, cudag::detail::AccessMode::read, 1, {0x2000, 1}}};
    origin->records().initial_accesses().add(0, accesses);
    origin->records().initial_accesses().add(1, accesses);
    origin->records().updated(0).accesses.resize(1);
    const auto clone = clone_of(*origin);
    CHECK(origin->records().initial_accesses().size() == 4);
    CHECK(clone->records().initial_accesses().size() == 3);
    CHECK(clone->construction().is_built);
}
