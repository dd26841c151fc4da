// Child nodes of an exec, updated by a graph.
#include <cstddef>
#include <optional>
#include <stdexcept>

#include "cuda_version.hpp"
#include "native.hpp"
#include "watched.hpp"

using cudag::arg;
using cudag::ChildNode;
using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::Stream;
using cudag::UpdateError;

namespace {

using AddNode = cudag::KernelNode<int*, const int*, int>;

/// *cell += value, then *cell += 10
Graph adds(int* cell, int value, AddNode* first = nullptr) {
    GraphBuilder b;
    const auto node = b.kernel({}, add, cell, cell, value).label("first");
    b.kernel({}, add, cell, cell, 10).after(node);
    if (first != nullptr) *first = node;
    return std::move(b).build();
}

/// An exec with adds(cell, 1) as its child.
struct Parent {
    DeviceBuffer<int> cell = device({0});
    AddNode first;
    Graph inner = adds(cell.data(), 1, &first);
    GraphBuilder b{};
    ChildNode child = b.child(inner).label("inner");
    Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    Stream stream{};

    int result() {
        write(cell.span(), {0});
        run(exec, stream);
        return read(cell).front();
    }
};

} // namespace

TEST_CASE("a child whose graph has many kernels side by side takes another such graph", "[child][update]") {
    constexpr int count = 20; // of a graph that is no child the ends would be joined
    const DeviceBuffer<int> cells(count);
    const auto side_by_side = [&](int value) {
        GraphBuilder b;
        for (int i = 0; i < count; ++i)
            b.kernel({}, store, cells.data() + i, value + i);
        return std::move(b).build();
    };
    const Graph inner = side_by_side(0);
    GraphBuilder b;
    const auto first = b.memset(cells, 1);
    const auto second = b.memset(cells, 0).after(first);
    const auto child = b.child(inner).after(first, second); // an edge for the plan to leave out
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    exec.update(child, side_by_side(100));
    const Stream stream;
    run(exec, stream);
    CHECK(read(cells).front() == 100);
    CHECK(read(cells).back() == 100 + count - 1);
}

TEST_CASE("a child node takes the parameters of another graph", "[child][update]") {
    Parent p;
    {
        const Graph other = adds(p.cell.data(), 100);
        p.exec.update(p.child, other);
    }
    CHECK(p.result() == 110);
    p.exec.update(p.child, p.inner);
    CHECK(p.result() == 11);
}

TEST_CASE("updates of nodes inside go on from those of the child", "[child][update]") {
    Parent p;
    const DeviceBuffer<int> elsewhere = device({0});
    p.exec.update(p.child, adds(elsewhere.data(), 100));
    p.exec.update(p.child.inside(p.first), arg<1>(p.cell.data()));
    write(p.cell.span(), {1000});
    run(p.exec, p.stream);
    CHECK(read(p.cell).front() == 1000);
    CHECK(read(elsewhere).front() == 1110);
}

TEST_CASE("a child node takes kernels of more argument bytes, beside nodes that were updated", "[child][update]") {
    const auto cells = device(std::vector<std::uint32_t>(4, 1));
    const auto numbers = device({0, 0});
    const Stream stream;
    GraphBuilder b;
    const auto first = b.kernel({}, store, numbers, 7);
    const Graph inner = std::move(b).build();
    GraphBuilder outer;
    const ChildNode child = outer.child(inner);
    const auto beside = outer.kernel({}, store, numbers.data() + 1, 5);
    Exec exec = std::move(outer).build().instantiate();
    exec.update(child.inside(first), arg<1>(8));
    exec.update(beside, arg<1>(6));

    GraphBuilder c;
    c.kernel({}, mix, cells, 3U, Inputs{}, 2U);
    exec.update(child, std::move(c).build());
    exec.update(beside, arg<0>(numbers.data()));
    run(exec, stream);
    CHECK(read(numbers) == std::vector{6, 0});
    CHECK(read(cells)[3] != 1);
}

TEST_CASE("a child takes a graph from which nodes have been removed, as one has from its own", "[child][update]") {
    const Stream stream;
    const DeviceBuffer<int> cells = device({0, 0}), sources = device({1000, 2000});
    int seen = 0;
    const auto inner = [&](int value, std::size_t source, bool failed_region, const cudag::LaunchConfig& config = {}) {
        GraphBuilder b;
        const auto fail = [&](cudaStream_t s) {
            cudag::launch(s, {}, nothing);
            throw std::runtime_error("enough");
        };
        if (failed_region) CHECK_THROWS_AS(b.capture(stream, fail), std::runtime_error);
        const auto first = b.kernel(config, add, cells.data(), cells.data(), value);
        const auto host = b.host([&seen, value] { seen = value; }).after(first);
        b.memcpy(cells.span().subspan(1, 1), sources.span().subspan(source, 1)).after(host);
        return std::move(b).build();
    };
    const auto require = [&](Exec& exec, int value, int copied) {
        write(cells.span(), {0, 0});
        run(exec, stream);
        CHECK(read(cells) == std::vector{value, copied});
        CHECK(seen == value);
    };
    for (const bool had_failed : {false, true}) {
        GraphBuilder b;
        const Graph first = inner(1, 0, had_failed);
        const ChildNode child = b.child(first);
        Exec exec = std::move(b).build().instantiate();
        exec.update(child, inner(2, 1, !had_failed));
        require(exec, 2, 2000);
        exec.update(child, inner(3, 1, !had_failed));
        require(exec, 3, 2000);
        CHECK_THROWS_AS(exec.update(child, inner(4, 0, !had_failed, {.cooperative = true})), UpdateError);
        CHECK_THROWS_AS(exec.update(child, inner(4, 0, !had_failed, {.priority = -1})), UpdateError); // of a node alone
        require(exec, 3, 2000);
        exec.update(child, inner(5, 0, had_failed));
        require(exec, 5, 1000);
    }
}

TEST_CASE("a child that takes a graph node by node stays as it was where CUDA refuses one of them", "[child][update]") {
    const Stream stream;
    const DeviceBuffer<int> cells = device({0, 0}), plain = device({1000});
    cudag::CapturePool pool;
    const auto pooled = pool.allocate<int>(1);
    const auto inner = [&](int value, cudag::DeviceSpan<const int> source, bool failed_region) {
        GraphBuilder b;
        const auto fail = [](cudaStream_t s) {
            cudag::launch(s, {}, nothing);
            throw std::runtime_error("enough");
        };
        if (failed_region) CHECK_THROWS_AS(b.capture(stream, fail), std::runtime_error);
        const auto first = b.kernel({}, store, cells.data(), value);
        b.memcpy(cells.span().subspan(1, 1), source).after(first);
        return std::move(b).build();
    };
    GraphBuilder b;
    const Graph before = inner(1, plain.span(), false);
    const ChildNode child = b.child(before).label("inner");
    Exec exec = std::move(b).build().instantiate();
    const auto error = refused<UpdateError>([&] { exec.update(child, inner(2, pooled.span(), true)); });
    CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
    CHECK_THAT(error.what(), ContainsSubstring("inside child \"inner\"") && ContainsSubstring("kind of memory"));
    run(exec, stream);
    CHECK(read(cells) == std::vector{1, 1000});
    exec.update(child, inner(3, plain.span(), true));
    run(exec, stream);
    CHECK(read(cells) == std::vector{3, 1000});
}

TEST_CASE("what the graph of an update owns lives until the next one", "[child][update][owners]") {
    Parent p;
    Watched cell;
    {
        GraphBuilder b;
        const auto owned = cell.take();
        const auto node = b.kernel({}, add, owned, p.cell.data(), 5);
        b.kernel({}, add, p.cell, p.cell, 10).after(node);
        p.exec.update(p.child, std::move(b).build());
    }
    run(p.exec, p.stream);
    CHECK(cell.alive());
    CHECK(cell.value() == 5);
    p.exec.update(p.child, p.inner);
    p.stream.synchronize();
    run(p.exec, p.stream);
    CHECK(released(cell, p.stream));
}

TEST_CASE("a child that takes a graph node by node keeps what its equal nodes own", "[child][update][owners]") {
    const bool has_removed = GENERATE(false, true); // where it has, CUDA refuses the whole graph
    const DeviceBuffer<int> other = device({0, 0});
    const Stream stream;
    Watched cell;
    auto owner = cell.take();
    int* const memory = owner.get();
    cudag::KernelNode<int*, int> node;
    const auto inner = [&](bool with_removed) {
        GraphBuilder b;
        if (with_removed) b.remove(b.kernel({}, store, other.data(), 1));
        node = b.kernel({}, store, memory, 7);
        return std::move(b).build();
    };
    GraphBuilder b;
    const ChildNode child = add_child(b, inner(false));
    Exec exec = std::move(b).build().instantiate();
    Graph next = inner(has_removed);
    next.update(node, arg<0>(owner)); // the same memory, owned now
    owner.reset();
    exec.update(child, next);
    next.update(node, arg<0>(other.data() + 1)); // no longer by the graph
    CHECK(cell.alive());
    run(exec, stream);
    CHECK(cell.value() == 7);
    exec.update(child, inner(has_removed)); // borrowed again
    stream.synchronize();
    run(exec, stream);
    CHECK(released(cell, stream));
}

TEST_CASE("a child that takes a graph node by node calls its host functions, also unchanged ones", "[child][update]") {
    const DeviceBuffer<int> other = device({0});
    const Stream stream;
    int calls = 0;
    const auto inner = [&](bool with_removed) {
        GraphBuilder b;
        if (with_removed) b.remove(b.kernel({}, store, other.data(), 1));
        const auto node = b.kernel({}, store, other.data(), 1);
        b.host([&calls] { ++calls; }).after(node);
        return std::move(b).build();
    };
    const Graph next = inner(true);
    const Graph clone = next.clone(); // calls the same function, and has no removed node
    GraphBuilder b;
    const ChildNode child = add_child(b, inner(false));
    Exec exec = std::move(b).build().instantiate();
    for (const Graph* graph : {&clone, &next, &next, &clone}) {
        exec.update(child, *graph);
        for (int launches = 0; launches < 3; ++launches)
            run(exec, stream);
    }
    CHECK(calls == 12);
}

TEST_CASE("a graph with other nodes or edges is refused for a child node", "[child][update]") {
    Parent p;
    const auto check = [&](const char* what, const char* change, auto&& write_graph) {
        GraphBuilder b;
        write_graph(b);
        const Graph other = std::move(b).build();
        const auto error = refused<UpdateError>([&] { p.exec.update(p.child, other); });
        CHECK(error.code() == cuda_code(cudaErrorGraphExecUpdateFailure));
        CHECK(error.labels() == Labels{"inner"});
        CHECK_THAT(error.what(), ContainsSubstring("update of child \"inner\"") && ContainsSubstring(what) &&
                                     ContainsSubstring(change));
        CHECK(p.result() == 11);
    };
    int* const cell = p.cell.data();
    const auto write_chain = [&](GraphBuilder& b) {
        const auto first = b.kernel({}, add, cell, cell, 1);
        return b.kernel({}, add, cell, cell, 10).after(first);
    };
    check(": node", ": there -> missing", [&](GraphBuilder& b) { b.kernel({}, add, cell, cell, 1); });
    check("memset \"third\" at ", ": node: missing -> there",
          [&](GraphBuilder& b) { b.memset(p.cell, 1).label("third").after(write_chain(b)); });
    check("edge from kernel \"first\" ", ": there -> missing", [&](GraphBuilder& b) {
        b.kernel({}, add, cell, cell, 1);
        b.kernel({}, add, cell, cell, 10);
    });
    check("edge from kernel add (node 1)", ": missing -> there", [&](GraphBuilder& b) {
        const auto second = b.kernel({}, add, cell, cell, 1).label("now second");
        second.after(b.kernel({}, add, cell, cell, 10));
    });
    check("kernel add (node 1)", ": kind: kernel -> memset", [&](GraphBuilder& b) {
        const auto node = b.kernel({}, add, cell, cell, 1);
        b.memset(p.cell, 1).after(node);
    });
}

TEST_CASE("a child node is not updated by a graph that is inside another", "[child][update]") {
    Parent p;
    const auto error = refused<cudag::GraphError>([&] { p.exec.update(p.child, p.child.graph()); });
    CHECK_THAT(error.what(), ContainsSubstring("the graph is inside child \"inner\""));
}

TEST_CASE("a child node of another graph is refused", "[child][update]") {
    Parent p;
    Parent other;
    const auto error = refused<UpdateError>([&] { p.exec.update(other.child, other.inner); });
    CHECK_THAT(error.what(), ContainsSubstring("does not belong to the graph of this Exec"));
}

TEST_CASE("an update of the whole graph reaches into children", "[child][update]") {
    if (older_than(12090)) return;
    Parent p;
    GraphBuilder b;
    b.child(adds(p.cell.data(), 1000));
    const Graph other = std::move(b).build();
    CHECK(p.exec.update(other).updated());
    CHECK(p.result() == 1010);
    p.exec.update(p.child.inside(p.first), arg<2>(7));
    CHECK(p.result() == 17);
}

TEST_CASE("an update of the whole graph names what differs inside a child", "[child][update]") {
    if (older_than(12090)) return;
    Parent p;
    GraphBuilder inner;
    inner.kernel({}, nothing).label("only");
    GraphBuilder b;
    b.child(std::move(inner).build());
    const Graph other = std::move(b).build();
    const auto report = p.exec.update(other);
    CHECK(report.needs_instantiate());
    CHECK_THAT(report.to_string(), ContainsSubstring("inside child"));
    CHECK(p.result() == 11);
}
