// What CUDA is given of the edges that a graph is written with.
#include "graph/native_edges.hpp"
#include "graph/graph_edges.hpp"
#include "read/reader.hpp"

#include "catch.hpp"
#include "cuda_edges.hpp"

#include <cudag/error.hpp>

#include <cudag/plan.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

using cudag::EdgeKind;
using cudag::detail::EdgeRecord;
using cudag::detail::GraphEdges;
using cudag::detail::NativeEdges;
using List = std::vector<EdgeRecord>;

namespace {

/// A graph of CUDA's with empty nodes.
struct Native {
    explicit Native(std::size_t count) : nodes(count) {
        REQUIRE(cudaGraphCreate(&graph, 0) == cudaSuccess);
        for (cudaGraphNode_t& node : nodes)
            REQUIRE(cudaGraphAddEmptyNode(&node, graph, nullptr, 0) == cudaSuccess);
    }
    ~Native() { cudaGraphDestroy(graph); }
    Native(const Native&) = delete;
    Native& operator=(const Native&) = delete;

    /// An edge that CUDA makes by itself, as in a capture.
    void record(std::uint32_t from, std::uint32_t to, NativeEdges& edges) {
        REQUIRE(add_dependencies(graph, &nodes[from], &nodes[to], nullptr, 1) == cudaSuccess);
        edges.note({from, to});
    }
    void add_node() { REQUIRE(cudaGraphAddEmptyNode(&nodes.emplace_back(), graph, nullptr, 0) == cudaSuccess); }
    void add_alloc() {
        cudaMemAllocNodeParams params{};
        params.poolProps.allocType = cudaMemAllocationTypePinned;
        params.poolProps.location = {cudaMemLocationTypeDevice, 0};
        params.bytesize = 16;
        REQUIRE(cudaGraphAddMemAllocNode(&nodes.emplace_back(), graph, nullptr, 0, &params) == cudaSuccess);
    }
    template <typename Edges>
    void remove_last(Edges& edges) {
        REQUIRE(cudaGraphDestroyNode(nodes.back()) == cudaSuccess);
        nodes.pop_back();
        edges.forget_nodes(static_cast<std::uint32_t>(nodes.size()));
    }
    template <typename Edges>
    void remove(const std::vector<std::uint32_t>& gone, Edges& edges) {
        const cudag::detail::Renumbering next(nodes.size(), gone);
        for (const std::uint32_t node : gone)
            REQUIRE(cudaGraphDestroyNode(nodes[node]) == cudaSuccess);
        next.close_up(nodes);
        edges.renumber(next);
    }
    [[nodiscard]] List edges() const {
        std::size_t count = 0;
        REQUIRE(get_edges(graph, nullptr, nullptr, nullptr, &count) == cudaSuccess);
        std::vector<cudaGraphNode_t> from(count);
        std::vector<cudaGraphNode_t> to(count);
        REQUIRE(get_edges(graph, from.data(), to.data(), nullptr, &count) == cudaSuccess);
        List list;
        for (std::size_t i = 0; i < count; ++i)
            list.push_back({number(from[i]), number(to[i])});
        std::sort(list.begin(), list.end(), [](const EdgeRecord& a, const EdgeRecord& b) {
            return std::pair(a.to, a.from) < std::pair(b.to, b.from);
        });
        return list;
    }
    [[nodiscard]] std::uint32_t number(cudaGraphNode_t node) const {
        return static_cast<std::uint32_t>(std::find(nodes.begin(), nodes.end(), node) - nodes.begin());
    }

    cudaGraph_t graph = nullptr;
    std::vector<cudaGraphNode_t> nodes;
};

/// Whether CUDA updates an exec of `graph` by `changed`.
bool updates_exec_of(const Native& graph, const Native& changed) {
    cudaGraphExec_t exec = nullptr;
    REQUIRE(cudaGraphInstantiate(&exec, graph.graph, 0) == cudaSuccess);
    cudaGraphExecUpdateResultInfo info{};
    const cudaError_t status = cudaGraphExecUpdate(exec, changed.graph, &info);
    static_cast<void>(cudaGetLastError());
    REQUIRE(cudaGraphExecDestroy(exec) == cudaSuccess);
    return status == cudaSuccess;
}

/// The same, of a graph that has never had other edges.
bool is_like_new(const Native& changed, const List& wanted) {
    const Native fresh(changed.nodes.size());
    NativeEdges().become(wanted, 0, fresh.graph, fresh.nodes);
    return updates_exec_of(fresh, changed);
}

} // namespace

TEST_CASE("CUDA gets the edges that it lacks, and each once") {
    Native cuda(4);
    NativeEdges edges;
    List wanted{{0, 1}, {1, 2}};
    edges.become(wanted, 0, cuda.graph, cuda.nodes);
    CHECK(cuda.edges() == wanted);
    wanted.push_back({2, 3});
    edges.become(wanted, 2, cuda.graph, cuda.nodes); // CUDA refuses what it has
    CHECK(cuda.edges() == wanted);
    edges.become(wanted, 0, cuda.graph, cuda.nodes);
    CHECK(edges.list() == wanted);
}

TEST_CASE("a line is written to CUDA as it grows, until there is another edge") {
    Native cuda(6);
    GraphEdges edges;
    const auto write = [&](std::uint32_t from, std::uint32_t to) {
        edges.logical().add({from, to});
        edges.write_line(cuda.graph, cuda.nodes);
    };
    write(0, 1);
    CHECK(cuda.edges() == List{{0, 1}});
    edges.logical().add({1, 2});
    write(2, 3);
    CHECK(cuda.edges() == List{{0, 1}, {1, 2}, {2, 3}});
    edges.write_line(cuda.graph, cuda.nodes); // nothing is new
    write(0, 3);
    write(3, 4);
    CHECK(cuda.edges() == List{{0, 1}, {1, 2}, {2, 3}});
    CHECK(edges.native() == cuda.edges());
    edges.plan_by({}, nullptr);
    edges.become_planned(cuda.graph, cuda.nodes);
    CHECK(cuda.edges() == List{{0, 1}, {1, 2}, {0, 3}, {2, 3}, {3, 4}});
}

TEST_CASE("a line is not written beside edges that CUDA has recorded, or without some of its own") {
    Native cuda(4);
    GraphEdges recorded;
    REQUIRE(add_dependencies(cuda.graph, &cuda.nodes[2], &cuda.nodes[3], nullptr, 1) == cudaSuccess);
    recorded.reserve_native(1);
    recorded.add_native(2, 3);
    recorded.logical().add({0, 1});
    recorded.write_line(cuda.graph, cuda.nodes);
    CHECK(cuda.edges() == List{{2, 3}});
    Native other(4);
    GraphEdges early;
    early.logical().add({0, 1, EdgeKind::launch_completion});
    early.write_line(other.graph, other.nodes);
    CHECK(other.edges().empty());
}

TEST_CASE("edges that CUDA has recorded between those that it lacks are not added again") {
    Native cuda(5);
    NativeEdges edges;
    edges.become(List{{0, 1}}, 0, cuda.graph, cuda.nodes);
    cuda.record(2, 3, edges);
    const List wanted{{0, 1}, {0, 2}, {2, 3}, {3, 4}};
    edges.become(wanted, 1, cuda.graph, cuda.nodes);
    CHECK(cuda.edges() == wanted);
    CHECK(edges.list() == wanted);
}

TEST_CASE("after edges were forgotten with their nodes, CUDA gets the others that it lacks") {
    Native cuda(4);
    NativeEdges edges;
    edges.become(List{{0, 1}, {1, 3}, {0, 2}}, 0, cuda.graph, cuda.nodes);
    cuda.remove_last(edges);
    CHECK(edges.list() == List{{0, 1}, {0, 2}});
    const List wanted{{0, 1}, {0, 2}, {1, 2}};
    edges.become(wanted, 0, cuda.graph, cuda.nodes);
    CHECK(cuda.edges() == wanted);
}

TEST_CASE("an edge that CUDA refuses leaves those of calls before it noted") {
    Native cuda(3);
    NativeEdges edges;
    const List wanted{{0, 1}, {1, 2, EdgeKind::programmatic}};
    CHECK_THROWS_AS(edges.become(wanted, 0, cuda.graph, cuda.nodes),
                    cudag::GraphError); // not between empty nodes
    CHECK(edges.list() == List{{0, 1}});
    CHECK(cuda.edges() == List{{0, 1}});
}

TEST_CASE("a graph that had other edges updates execs of one that had not") {
    Native cuda(6);
    NativeEdges edges;
    const List wanted{{0, 2}, {1, 2}, {0, 3}};
    for (const List& others :
         {List{{3, 4}, {4, 5}, {5, 0}}, List{{3, 2}, {5, 4}}, List{{1, 2}, {0, 2}, {0, 3}}, List{}}) {
        edges.become(others, 0, cuda.graph, cuda.nodes);
        edges.become(wanted, 0, cuda.graph, cuda.nodes);
        edges.restore_sinks(cuda.graph, cuda.nodes);
        CHECK(cuda.edges() == wanted);
        CHECK(edges.list() == wanted);
        CHECK(is_like_new(cuda, wanted));
    }
}

TEST_CASE("a graph that had other nodes updates execs of one that had not") {
    Native cuda(6);
    NativeEdges edges;
    const List wanted{{0, 2}, {1, 2}, {0, 3}};
    edges.become(List{{0, 2}, {1, 2}, {0, 3}, {3, 5}}, 0, cuda.graph, cuda.nodes);
    cuda.remove_last(edges);
    edges.become(wanted, 3, cuda.graph, cuda.nodes);
    edges.restore_sinks(cuda.graph, cuda.nodes);
    CHECK(is_like_new(cuda, wanted));
}

TEST_CASE("a graph from which nodes went updates execs of one that had not had them") {
    Native cuda(7);
    NativeEdges edges;
    const List with{{0, 1}, {0, 2}, {2, 3}, {1, 4}, {4, 5}, {3, 6}, {4, 6}};
    edges.become(with, 0, cuda.graph, cuda.nodes);
    cuda.remove({6, 4, 1}, edges); // 0 2 3 5 are left
    const List left{{0, 1}, {1, 2}};
    CHECK(edges.list() == left);
    CHECK(cuda.edges() == left);
    const List wanted{{0, 1}, {1, 2}, {0, 3}};
    edges.become(wanted, 2, cuda.graph, cuda.nodes);
    edges.restore_sinks(cuda.graph, cuda.nodes);
    CHECK(is_like_new(cuda, wanted));
}

TEST_CASE("the order in which sinks came about is restored after nodes went that led on from them") {
    Native cuda(5);
    NativeEdges edges;
    edges.become(List{{0, 4}, {1, 4}}, 0, cuda.graph, cuda.nodes);
    cuda.remove({4, 2}, edges); // 0 1 3 are sinks
    edges.restore_sinks(cuda.graph, cuda.nodes);
    CHECK(is_like_new(cuda, {}));
}

TEST_CASE("sinks are restored where only nodes that went were what sinks led on to") {
    for (const List& with : {List{{0, 4}, {1, 4}, {2, 3}}, List{{2, 1}, {0, 4}}}) {
        Native cuda(5);
        NativeEdges edges;
        edges.become(with, 0, cuda.graph, cuda.nodes);
        cuda.remove({4}, edges);
        edges.restore_sinks(cuda.graph, cuda.nodes);
        CHECK(is_like_new(cuda, edges.list()));
    }
}

TEST_CASE("sinks are restored where all edges led to nodes that went") {
    Native cuda(5);
    NativeEdges edges;
    edges.become(List{{0, 4}, {1, 4}}, 0, cuda.graph, cuda.nodes);
    cuda.remove({4}, edges); // 2 3 0 1 are sinks
    edges.restore_sinks(cuda.graph, cuda.nodes);
    const List wanted{{0, 1}};
    edges.become(wanted, 0, cuda.graph, cuda.nodes);
    CHECK(is_like_new(cuda, wanted));
}

TEST_CASE("edges to a node that come in another order are so at it, wherever they stand in the list") {
    Native cuda(5);
    NativeEdges edges;
    edges.become(List{{0, 4}, {1, 2}, {3, 2}, {0, 1}}, 0, cuda.graph, cuda.nodes);
    const List wanted{{3, 2}, {0, 4}, {1, 2}, {0, 1}};
    edges.become(wanted, 0, cuda.graph, cuda.nodes);
    edges.restore_sinks(cuda.graph, cuda.nodes);
    CHECK(edges.list() == wanted);
    CHECK(is_like_new(cuda, wanted));
}

TEST_CASE("the end of a capture is forgotten with nodes that it had") {
    Native cuda(5);
    NativeEdges edges;
    edges.note_front(5, {4, 1, 0});
    cuda.remove_last(edges);
    cuda.add_node();
    cuda.add_node();
    edges.become(List{{3, 0}, {0, 2}}, 0, cuda.graph, cuda.nodes);
    const List wanted{{3, 0}};
    edges.become(wanted, 0, cuda.graph, cuda.nodes);
    edges.restore_sinks(cuda.graph, cuda.nodes);
    CHECK(is_like_new(cuda, wanted));
}

TEST_CASE("nodes that went are none of the sinks of a capture") {
    Native cuda(4);
    NativeEdges edges;
    edges.note_front(4, {3, 1, 2});
    cuda.add_node();
    edges.become(List{{1, 4}, {2, 4}}, 0, cuda.graph, cuda.nodes);
    cuda.remove({1}, edges); // 0 2 3 4 are left; the capture ended with 3 and 2
    const List wanted{{0, 3}};
    edges.become(wanted, 0, cuda.graph, cuda.nodes);
    edges.restore_sinks(cuda.graph, cuda.nodes);
    Native fresh(3);
    for (const std::size_t node : {std::size_t{2}, std::size_t{1}}) { // as CUDA's end of the capture makes them sinks
        cudaGraphNode_t last = nullptr;
        REQUIRE(cudaGraphAddEmptyNode(&last, fresh.graph, &fresh.nodes[node], 1) == cudaSuccess);
        REQUIRE(cudaGraphDestroyNode(last) == cudaSuccess);
    }
    fresh.add_node();
    NativeEdges().become(wanted, 0, fresh.graph, fresh.nodes);
    CHECK(updates_exec_of(fresh, cuda));
}

TEST_CASE("sinks of captures are those that are left, in the same order") {
    const auto end_capture = [](Native& cuda, const std::vector<std::size_t>& front) {
        for (const std::size_t node : front) {
            cudaGraphNode_t last = nullptr;
            REQUIRE(cudaGraphAddEmptyNode(&last, cuda.graph, &cuda.nodes[node], 1) == cudaSuccess);
            REQUIRE(cudaGraphDestroyNode(last) == cudaSuccess);
        }
        cuda.add_node();
        cuda.add_node();
    };
    Native cuda(4);
    end_capture(cuda, {3, 1, 2});
    NativeEdges edges;
    edges.note_front(4, {3, 1, 2});
    edges.become(List{{1, 4}, {2, 5}}, 0, cuda.graph, cuda.nodes);
    cuda.remove({0}, edges);
    const List wanted{{1, 3}};
    edges.become(wanted, 0, cuda.graph, cuda.nodes);
    edges.restore_sinks(cuda.graph, cuda.nodes);
    Native fresh(3);
    end_capture(fresh, {2, 0, 1});
    NativeEdges().become(wanted, 0, fresh.graph, fresh.nodes);
    CHECK(updates_exec_of(fresh, cuda));
}

TEST_CASE("an edge that others implied is there again without one of those") {
    Native cuda(4);
    GraphEdges edges;
    for (const EdgeRecord& edge : List{{0, 1}, {1, 2}, {0, 1}, {0, 2}, {1, 3}})
        edges.logical().add(edge);
    edges.merge(4);
    edges.remove(List{{1, 2}});
    CHECK(edges.logical().list() == List{{0, 1}, {0, 2}, {1, 3}});
    edges.write_needed(cuda.graph, cuda.nodes);
    CHECK(cuda.edges() == List{{0, 1}, {0, 2}, {1, 3}});
}

TEST_CASE("a captured graph that had other edges updates execs of one that had not") {
    const auto end_capture = [](const Native& cuda) { // CUDA's end of one whose stream has joined these
        for (const std::size_t node : std::vector<std::size_t>{3, 1, 2}) {
            cudaGraphNode_t last = nullptr;
            REQUIRE(cudaGraphAddEmptyNode(&last, cuda.graph, &cuda.nodes[node], 1) == cudaSuccess);
            REQUIRE(cudaGraphDestroyNode(last) == cudaSuccess);
        }
    };
    Native cuda(4);
    end_capture(cuda);
    cuda.add_node();
    NativeEdges edges;
    edges.note_front(4, {3, 1, 2});
    const List wanted{{0, 2}};
    const auto is_like_new_capture = [&] {
        Native fresh(4);
        end_capture(fresh);
        fresh.add_node();
        NativeEdges().become(wanted, 0, fresh.graph, fresh.nodes);
        return updates_exec_of(fresh, cuda);
    };
    edges.become(List{{1, 2}, {2, 4}}, 0, cuda.graph, cuda.nodes);
    edges.become(wanted, 0, cuda.graph, cuda.nodes);
    edges.restore_sinks(cuda.graph, cuda.nodes);
    CHECK(is_like_new_capture());
    edges.become(List{{3, 1}}, 0, cuda.graph, cuda.nodes);
    cuda.remove_last(edges);
    cuda.add_node();
    edges.become(wanted, 0, cuda.graph, cuda.nodes);
    edges.restore_sinks(cuda.graph, cuda.nodes);
    CHECK(is_like_new_capture());
}

TEST_CASE("a graph of which CUDA removes no edges becomes what was planned, after nodes were taken away, too") {
    Native cuda(3);
    GraphEdges edges;
    cuda.remove_last(edges);
    cuda.add_alloc();
    edges.logical().add({0, 1});
    edges.plan().is_fixed = true;
    edges.plan_by(cudag::Plan(), nullptr);
    edges.become_planned(cuda.graph, cuda.nodes);
    CHECK(cuda.edges() == List{{0, 1}});
}

TEST_CASE("of edges that are written early CUDA gets those that no others imply, and those that it refused again") {
    Native cuda(4);
    GraphEdges edges;
    const auto add = [&](const List& list) {
        for (const EdgeRecord& edge : list)
            edges.logical().add(edge);
    };
    add({{0, 1}, {0, 2}, {1, 2}});
    edges.write_needed(cuda.graph, cuda.nodes);
    CHECK(cuda.edges() == List{{0, 1}, {1, 2}});
    add({{0, 3}, {1, 3, EdgeKind::programmatic}});
    CHECK_THROWS_AS(edges.write_needed(cuda.graph, cuda.nodes), cudag::GraphError); // not between empty nodes
    edges.logical().take_back(4);
    add({{2, 3}});
    edges.write_needed(cuda.graph, cuda.nodes);
    CHECK(cuda.edges() == List{{0, 1}, {1, 2}, {0, 3}, {2, 3}});
    CHECK(edges.native() == List{{0, 1}, {1, 2}, {0, 3}, {2, 3}});
}

TEST_CASE("edges that CUDA has recorded are not written early again") {
    Native cuda(4);
    GraphEdges edges;
    edges.logical().add({0, 1});
    edges.write_needed(cuda.graph, cuda.nodes);
    REQUIRE(add_dependencies(cuda.graph, &cuda.nodes[1], &cuda.nodes[2], nullptr, 1) == cudaSuccess);
    edges.reserve_native(1);
    edges.add_native(1, 2);
    edges.logical().add({2, 3});
    edges.write_needed(cuda.graph, cuda.nodes);
    CHECK(cuda.edges() == List{{0, 1}, {1, 2}, {2, 3}});
}

TEST_CASE("what a capture ends with are its sinks, in this order, if it is more than one node") {
    for (const std::vector<std::size_t>& front :
         {std::vector<std::size_t>{2}, std::vector<std::size_t>{2, 0}, std::vector<std::size_t>{2, 0, 1}}) {
        const auto end_capture = [&](Native& cuda) {
            for (const std::size_t node : front) {
                cudaGraphNode_t last = nullptr;
                REQUIRE(cudaGraphAddEmptyNode(&last, cuda.graph, &cuda.nodes[node], 1) == cudaSuccess);
                REQUIRE(cudaGraphDestroyNode(last) == cudaSuccess);
            }
            cuda.add_node();
        };
        Native cuda(3);
        GraphEdges edges;
        std::vector<cudaGraphNode_t> last;
        for (const std::size_t node : front)
            last.push_back(cuda.nodes[node]);
        cudag::detail::note_front(edges, cuda.nodes, last);
        end_capture(cuda);
        for (const List& wanted : {List{{0, 3}}, List{{1, 0}}}) { // the latter leaves as many sinks as CUDA had
            edges.rewrite(List(wanted));
            edges.plan_by(cudag::Plan(), nullptr);
            edges.become_planned(cuda.graph, cuda.nodes);
        }
        Native fresh(3);
        end_capture(fresh);
        NativeEdges().become(List{{1, 0}}, 0, fresh.graph, fresh.nodes);
        CHECK(updates_exec_of(fresh, cuda));
    }
}

namespace {

/// Plans nothing: CUDA gets the edges as they were written.
void write_all(GraphEdges& edges, const Native& cuda) {
    edges.plan_by(cudag::Plan::as_written(), nullptr);
    edges.become_planned(cuda.graph, cuda.nodes);
}
void add_all(GraphEdges& edges, const List& list) {
    for (const EdgeRecord& edge : list)
        edges.logical().add(edge);
}

} // namespace

TEST_CASE("edges that others imply are written when all are") {
    Native cuda(4);
    GraphEdges edges;
    add_all(edges, {{0, 1}, {1, 2}, {0, 2}});
    edges.write_needed(cuda.graph, cuda.nodes);
    CHECK(cuda.edges() == List{{0, 1}, {1, 2}});
    write_all(edges, cuda);
    CHECK(cuda.edges() == List{{0, 1}, {0, 2}, {1, 2}});
}

TEST_CASE("an edge that CUDA records leaves those before it to be written") {
    Native cuda(4);
    GraphEdges edges;
    add_all(edges, {{0, 1}});
    edges.reserve_native(1);
    REQUIRE(add_dependencies(cuda.graph, &cuda.nodes[2], &cuda.nodes[3], nullptr, 1) == cudaSuccess);
    edges.add_native(2, 3);
    write_all(edges, cuda);
    CHECK(cuda.edges() == List{{0, 1}, {2, 3}});
}

TEST_CASE("edges that are read take the place of those that were known") {
    Native cuda(4);
    GraphEdges edges;
    edges.reserve_native(3);
    for (const std::uint32_t from : {0U, 1U, 2U})
        edges.add_native(from, from + 1); // which CUDA has not
    REQUIRE(add_dependencies(cuda.graph, &cuda.nodes[0], &cuda.nodes[3], nullptr, 1) == cudaSuccess);
    edges.take_native({{0, 3}});
    add_all(edges, {{0, 1}, {0, 2}});
    write_all(edges, cuda);
    CHECK(cuda.edges() == List{{0, 1}, {0, 2}, {0, 3}});
}

TEST_CASE("a plan is followed until the edges are others, however many there are") {
    Native cuda(4);
    GraphEdges edges;
    const cudag::Plan plan = cudag::Plan::as_written();
    add_all(edges, {{0, 1}, {1, 2}});
    CHECK_FALSE(edges.follow(plan));
    write_all(edges, cuda);
    CHECK(edges.follow(plan));
    CHECK_FALSE(edges.follow(cudag::Plan()));
    SECTION("one is added") {
        add_all(edges, {{2, 3}});
    }
    SECTION("one goes, and another comes") {
        edges.remove(List{{0, 1}});
        add_all(edges, {{0, 2}});
    }
    SECTION("they are written anew") {
        edges.rewrite({{0, 2}, {1, 2}});
    }
    SECTION("they are read") {
        edges.take_native({{0, 2}, {1, 2}});
    }
    SECTION("what was planned may not be what would be now") {
        edges.unplan();
    }
    CHECK_FALSE(edges.follow(plan));
}

TEST_CASE("edges that only a plan had go with it, also where the first edge comes after it") {
    Native cuda(4);
    GraphEdges edges;
    edges.plan_by({}, std::make_shared<const cudag::detail::PlannedEdges>(cudag::detail::PlannedEdges{{{0, 1}}}));
    edges.become_planned(cuda.graph, cuda.nodes);
    CHECK(cuda.edges() == List{{0, 1}});
    edges.reserve_native(1);
    REQUIRE(add_dependencies(cuda.graph, &cuda.nodes[2], &cuda.nodes[3], nullptr, 1) == cudaSuccess);
    edges.add_native(2, 3);
    write_all(edges, cuda);
    CHECK(cuda.edges() == List{{2, 3}});
}

TEST_CASE("merging edges leaves those that CUDA has in front") {
    for (const bool is_implied : {false, true}) {
        Native cuda(5);
        GraphEdges edges;
        add_all(edges, {{1, 2}, {0, 1}, {is_implied ? 0U : 3U, 2}});
        edges.write_needed(cuda.graph, cuda.nodes);
        const List first = cuda.edges();
        CHECK(first.size() == (is_implied ? 2 : 3));
        add_all(edges, {{3, 4}, {0, 1}, {1, 4}, {1, 2}, {3, 4}});
        edges.merge(5);
        CHECK(edges.logical().size() == 5);
        edges.write_needed(cuda.graph, cuda.nodes);
        CHECK(cuda.edges().size() == first.size() + 2);
        write_all(edges, cuda);
        CHECK(cuda.edges().size() == 5);
        CHECK(edges.native() == edges.logical().list());
    }
}
