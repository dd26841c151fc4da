// Exec::update of a whole graph, and its report.
#include "cuda_version.hpp"
#include "gate.hpp"
#include "opaque.hpp"
#include "plan_graphs.hpp"
#include "stores.hpp"
#include "watched.hpp"

using cudag::arg;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::Stream;
using cudag::UpdateReport;
using cudag::UpdateVerdict;

TEST_CASE("a graph of the same shape updates the whole exec", "[exec][update][whole]") {
    const Stores stores;
    Exec exec = stores.build({0, 1, 2}).instantiate();
    const UpdateReport report = exec.update(stores.build({10, 1, 12}));
    CHECK(report.updated());
    CHECK_FALSE(report.needs_instantiate());
    CHECK(report.verdict() == UpdateVerdict::updated);
    CHECK(report.differences().empty());
    CHECK(report.to_string() == "updated");
    CHECK(stores.result(exec) == Cells{10, 1, 12});
}

TEST_CASE("handles of the exec's own graph build on an update of the whole", "[exec][update][whole]") {
    const Stores stores;
    const Graph graph = stores.build({0, 1, 2});
    Exec exec = graph.instantiate();
    REQUIRE(exec.update(stores.build({10, 11, 12})).updated());
    exec.update(graph.find(store).at(1), arg<0>(stores.cell(2)));
    exec.disable(graph.find(store).at(2));
    CHECK(stores.result(exec) == Cells{10, -1, 11});
}

TEST_CASE("handles of the updating graph are not the exec's", "[exec][update][whole]") {
    const Stores stores;
    Exec exec = stores.build({0, 1, 2}).instantiate();
    const Graph other = stores.build({10, 11, 12});
    REQUIRE(exec.update(other).updated());
    CHECK_THROWS_AS(exec.update(other.find(store).at(1), arg<1>(5)), cudag::UpdateError);
}

TEST_CASE("what Graph::update changed comes with an update of the whole", "[exec][update][whole]") {
    const Stores stores;
    Exec exec = stores.build({0, 1, 2}).instantiate();
    Graph other = stores.build({10, 11, 12});
    other.update(other.find(store).at(1), arg<1>(99));
    REQUIRE(exec.update(other).updated());
    CHECK(stores.result(exec) == Cells{10, 99, 12});
}

TEST_CASE("an update of the whole undoes updates of single nodes", "[exec][update][whole]") {
    const Stores stores;
    const Graph graph = stores.build({0, 1, 2});
    Exec exec = graph.instantiate();
    exec.update(graph.find(store).at(0), arg<1>(77));
    REQUIRE(exec.update(graph).updated());
    CHECK(stores.result(exec) == Cells{0, 1, 2});
    exec.update(graph.find(store).at(0), arg<0>(stores.cell(1)));
    exec.disable(graph.find(store).at(1));
    CHECK(stores.result(exec) == Cells{-1, 0, 2});
}

TEST_CASE("apply after an update of the whole pushes what changed in the exec's graph", "[exec][update][whole]") {
    const Stores stores;
    Graph graph = stores.build({0, 1, 2});
    Exec exec = graph.instantiate();
    graph.update(graph.find(store).at(2), arg<1>(22));
    REQUIRE(exec.update(stores.build({10, 11, 12})).updated());
    CHECK(exec.apply(graph) == 1);
    CHECK(stores.result(exec) == Cells{10, 11, 22});
}

TEST_CASE("after an update to its own graph, there is nothing to apply", "[exec][update][whole]") {
    const Stores stores;
    Graph graph = stores.build({0, 1, 2});
    Exec exec = graph.instantiate();
    graph.update(graph.find(store).at(2), arg<1>(22));
    REQUIRE(exec.update(graph).updated());
    CHECK(stores.result(exec) == Cells{0, 1, 22});
    CHECK(exec.apply(graph) == 0);
    graph.update(graph.find(store).at(0), arg<1>(20));
    CHECK(exec.apply(graph) == 1);
    CHECK(stores.result(exec) == Cells{20, 1, 22});
}

TEST_CASE("another kernel with the same parameters updates the whole", "[exec][update][whole]") {
    auto cells = device({1, 2, 3});
    const auto build = [&](bool adds) {
        GraphBuilder b;
        if (adds)
            b.kernel({}, add, cells.data(), cells.data() + 1, 10);
        else
            b.kernel({}, subtract, cells.data(), cells.data() + 1, 10);
        return std::move(b).build();
    };
    const Graph graph = build(true);
    Exec exec = graph.instantiate();
    REQUIRE(exec.update(build(false)).updated());
    run(exec, Stream());
    CHECK(read(cells) == Cells{-8, 2, 3});
    exec.update(graph.find(add).front(), arg<2>(1)); // the handle's parameters fit; the kernel stays what it is
    run(exec, Stream());
    CHECK(read(cells) == Cells{1, 2, 3});
}

TEST_CASE("a missing node refuses the update and is named", "[exec][update][whole]") {
    const Stores stores;
    Exec exec = stores.build({0, 1, 2}).instantiate();
    const UpdateReport report = exec.update(stores.build({10, 11}));
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    CHECK_FALSE(report.updated());
    CHECK(report.needs_instantiate());
    CHECK(report.verdict() == UpdateVerdict::topology_changed);
    REQUIRE(report.differences().size() == 1);
    CHECK_THAT(report.to_string(), ContainsSubstring("not updated: topology_changed") &&
                                       ContainsSubstring("kernel \"store 2\"") &&
                                       ContainsSubstring("there -> missing") && ContainsSubstring("instantiate it"));
    CHECK(stores.result(exec) == Cells{0, 1, 2});
}

TEST_CASE("a node of another kind refuses the update and is named", "[exec][update][whole]") {
    const Stores stores;
    Exec exec = stores.build({0}).instantiate();
    GraphBuilder b;
    b.memset(cudag::DeviceSpan<int>(stores.cell(0), 1), 5).label("fill");
    const UpdateReport report = exec.update(std::move(b).build());
    CHECK(report.verdict() == UpdateVerdict::node_kind_changed);
    CHECK_THAT(report.to_string(), ContainsSubstring("kernel \"store 0\"") && ContainsSubstring("now \"fill\"") &&
                                       ContainsSubstring("kind: kernel -> memset"));
    CHECK(stores.result(exec) == Cells{0, -1, -1});
}

TEST_CASE("a changed direction of a copy refuses the update; both are named", "[exec][update][whole]") {
    auto cells = device({1, 2});
    cudag::PinnedBuffer<int> pinned(1);
    const auto build = [&](bool down) {
        GraphBuilder b;
        const cudag::DeviceSpan<int> first(cells.data(), 1);
        (down ? b.memcpy(pinned, first) : b.memcpy(first, pinned)).label(down ? "down" : "up");
        return std::move(b).build();
    };
    Exec exec = build(true).instantiate();
    const UpdateReport report = exec.update(build(false));
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    CHECK(report.verdict() == UpdateVerdict::parameters_changed);
    CHECK(report.needs_instantiate());
    REQUIRE_FALSE(report.differences().empty());
    CHECK(report.differences().front().field == "direction");
    CHECK_THAT(report.to_string(), ContainsSubstring("memcpy \"down\"") && ContainsSubstring("now \"up\"") &&
                                       ContainsSubstring("device to host -> host to device"));
    run(exec, Stream());
    CHECK(pinned.data()[0] == 1);
}

TEST_CASE("what refuses an update of the whole is told first, whatever else differs", "[exec][update][whole]") {
    const auto cells = device({1, 2});
    cudag::PinnedBuffer<int> pinned(1);
    const auto build = [&](int value, unsigned cluster, bool down) {
        GraphBuilder b;
        b.kernel({}, store, cells.data() + 1, value).label("first");
        b.kernel({.grid = 4, .block = 32, .cluster = cluster}, nothing).label("clustered");
        const cudag::DeviceSpan<int> first(cells.data(), 1);
        (down ? b.memcpy(pinned, first) : b.memcpy(first, pinned)).label("copy");
        b.kernel({}, store, cells.data() + 1, value).label("last");
        return std::move(b).build();
    };
    Exec exec = build(1, 2, true).instantiate();
    const UpdateReport of_cluster = exec.update(build(2, 4, true));
    REQUIRE(of_cluster.differences().size() == 3);
    CHECK(of_cluster.differences().front().field == "cluster");
    const UpdateReport of_direction = exec.update(build(2, 2, false));
    REQUIRE(of_direction.differences().size() > 3);
    CHECK(of_direction.differences().front().field == "direction");
    for (std::size_t i = 0; i < of_direction.differences().size(); ++i) // all of the node that CUDA names
        CHECK((of_direction.differences()[i].node.find("\"copy\"") != std::string::npos) ==
              (i + 2 < of_direction.differences().size()));
}

TEST_CASE("a node that CUDA refuses for what cudag cannot compare is named", "[exec][update][whole][adopt]") {
    if (reads_conditionals()) return; // then it is known
    const auto cells = device({0, 0});
    const auto build = [&](int value, cudaGraphConditionalNodeType type) {
        cudaGraph_t raw = nullptr;
        cudag::check(cudaGraphCreate(&raw, 0));
        add_raw_store(raw, {}, cells.data(), value);
        add_raw_conditional(raw, {}, cells.data() + 1, 1, type);
        return Graph::adopt(raw);
    };
    Exec exec = build(1, cudaGraphCondTypeIf).instantiate();
    const UpdateReport report = exec.update(build(2, cudaGraphCondTypeWhile));
    CHECK_FALSE(report.updated());
    CHECK_THAT(report.reason(), ContainsSubstring("CUDA names conditional"));
    CHECK_FALSE(report.differences().empty());
    const UpdateReport alone = exec.update(build(1, cudaGraphCondTypeWhile));
    CHECK_THAT(alone.reason(), ContainsSubstring("CUDA names conditional"));
    CHECK(alone.differences().empty());
}

TEST_CASE("an update of the whole reads no captured graph that CUDA takes", "[exec][update][whole]") {
    const Graph graph = captured_line_with_shortcut(), next = captured_line_with_shortcut();
    const Graph other = captured_line_with_shortcut(), read = captured_line_with_shortcut();
    const auto is_read = [](const Graph& each) { return each.instantiate().plan().advice().empty(); };
    Exec exec = graph.instantiate();
    REQUIRE(exec.update(next).updated());
    REQUIRE(exec.update(graph).updated());
    CHECK_FALSE(is_read(next));
    CHECK_FALSE(is_read(graph));
    Exec of_other = other.instantiate();
    REQUIRE(read.edge_count() == 3);
    REQUIRE(of_other.update(read).updated());
    CHECK_FALSE(is_read(other));
}

TEST_CASE("a refused update leaves what updates had set", "[exec][update][whole]") {
    const Stores stores;
    const Graph graph = stores.build({0, 1, 2});
    Exec exec = graph.instantiate();
    exec.update(graph.find(store).at(0), arg<1>(50));
    REQUIRE_FALSE(exec.update(stores.build({10, 11})).updated());
    exec.update(graph.find(store).at(0), arg<0>(stores.cell(1)));
    exec.disable(graph.find(store).at(1));
    CHECK(stores.result(exec) == Cells{-1, 50, 2});
}

TEST_CASE("owners of an update of the whole live as long as the exec uses them", "[exec][update][whole][owners]") {
    const Stores stores;
    Watched first;
    Watched second;
    Exec exec = stores.build({0}).instantiate();
    const auto build = [](std::shared_ptr<int> cell, int value) {
        GraphBuilder b;
        b.kernel({}, store, std::move(cell), value);
        return std::move(b).build();
    };
    REQUIRE(exec.update(build(first.take(), 21)).updated());
    CHECK(first.alive());
    run(exec, stores.stream());
    CHECK(first.value() == 21);
    {
        Graph graph = stores.build({0});
        graph.update(graph.find(store).at(0), second.take(), 22);
        REQUIRE(exec.update(graph).updated());
    }
    CHECK(released(first, stores.stream()));
    run(exec, stores.stream());
    CHECK(second.alive());
    CHECK(second.value() == 22);
    REQUIRE(exec.update(stores.build({3})).updated());
    CHECK(released(second, stores.stream()));
}
