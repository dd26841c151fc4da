// Batches of copies: added by one call, ordered as one, updated and disabled one by one.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <cudag/graph_text.hpp>

#include "cuda_version.hpp"
#include "memory_nodes.hpp"
#include "native.hpp"

using cudag::CopyBatch;
using cudag::CopyOperands;
using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::MemcpyBatchNode;
using cudag::MemcpyNode;
using cudag::Node;
using cudag::NodeKind;
using cudag::PinnedBuffer;
using cudag::RaceError;
using cudag::Stream;
using cudag::UpdateError;

namespace {

/// Whether CUDA has one node for several copies.
bool has_batches() {
    return cuda_here() >= 13050;
}

void run_once(Exec& exec) {
    const Stream stream;
    exec.launch(stream);
    stream.synchronize();
}

} // namespace

TEST_CASE("a batch copies ranges of different types and sizes, before what comes after it", "[memory]") {
    const auto from = device({1, 2, 3});
    const auto to = device({0, 0, 0});
    PinnedBuffer<double> host(1);
    host.data()[0] = 2.5;
    const DeviceBuffer<double> number(1);
    PinnedBuffer<double> back(1);
    GraphBuilder b;
    const auto filled = b.kernel({}, store, from.data(), 7);
    const CopyBatch batch = b.memcpy({{to, from}, {number, host}}).after(filled);
    b.memcpy({{back, number}}).after(batch);
    b.kernel({}, add, to.data() + 2, to.data(), 1).after(batch);
    REQUIRE(batch.size() == 2);
    CHECK(batch[1].bytes() == sizeof(double));
    Exec exec = std::move(b).build().instantiate();
    run_once(exec);
    CHECK(read(to) == std::vector{7, 2, 8});
    CHECK(back.data()[0] == 2.5);
}

TEST_CASE("a batch is one node since CUDA 13.5, before it one a copy and a join", "[memory]") {
    const auto x = device({1, 2, 3});
    const auto y = device({0, 0, 0});
    const auto z = device({0, 0, 0});
    GraphBuilder b;
    const std::vector<CopyOperands> operands{{y, x}, {z, x}};
    const CopyBatch batch = b.memcpy(operands).label("upload");
    const auto last = b.clear(y).after(batch);
    CHECK(last.predecessors() == std::vector<Node>{batch});
    const Graph graph = std::move(b).build();
    REQUIRE(batch.is_node() == has_batches());
    CHECK(graph.find_one("upload") == static_cast<const Node&>(batch));
    CHECK(batch[1].destination() == z.data());
    CHECK(batch[1].source() == x.data());
    CHECK(batch[1].bytes() == 3 * sizeof(int));
    if (batch.is_node()) {
        CHECK(graph.nodes().size() == 2);
        CHECK(graph.edge_count() == 1);
        CHECK(batch.device() == 0);
        CHECK(graph.find_one("upload").as<MemcpyBatchNode>().copies() == batch.copies());
        CHECK(std::string(to_string(batch.kind())) == "memcpy_batch");
        CHECK_THAT(graph.dot(), ContainsSubstring("2 copies, 24 bytes"));
    } else {
        REQUIRE(graph.nodes().size() == 4);
        CHECK(graph.nodes()[2].kind() == NodeKind::empty);
        CHECK(graph.find_one("upload/1").as<MemcpyNode>() == batch[1].node());
        CHECK(graph.edge_count() == 3);
    }
}

TEST_CASE("single copies of a batch get other sizes, and are disabled", "[memory][update]") {
    const auto x = device({1, 2, 3});
    const auto y = device({0, 0, 0});
    const auto z = device({0, 0, 0});
    GraphBuilder b;
    const CopyBatch batch = b.memcpy({{y, x}, {z, x}});
    Exec exec = std::move(b).build().instantiate();
    exec.update(batch[0], y.span().subspan(1, 1), x.span().subspan(2, 1));
    exec.disable(batch[1]);
    run_once(exec);
    CHECK(read(y) == std::vector{0, 3, 0});
    CHECK(read(z) == std::vector{0, 0, 0});
    exec.enable(batch[1]);
    run_once(exec);
    CHECK(read(z) == std::vector{1, 2, 3});
}

TEST_CASE("disabled copies of a batch stay disabled in updates of a copy, a graph, and nodes of a graph",
          "[memory][update]") {
    const auto x = device({1, 2, 3});
    const auto y = device({0, 0, 0});
    const auto z = device({0, 0, 0});
    const auto build = [&](const DeviceBuffer<int>& from) {
        GraphBuilder b;
        CopyBatch batch = b.memcpy({{y, from}, {z, from}});
        return std::pair(std::move(b).build(), batch);
    };
    auto [graph, batch] = build(x);
    Exec exec = graph.instantiate();
    exec.disable(batch[1]);
    exec.disable(batch[1]);
    CHECK(exec.is_enabled(batch[0]));
    CHECK(!exec.is_enabled(batch[1]));
    exec.update(batch[0], y.span().subspan(0, 1), x.span().subspan(1, 1));
    exec.update(batch[1], z.span().subspan(0, 2), x.span().subspan(1, 2));
    run_once(exec);
    CHECK(read(y) == std::vector{2, 0, 0});
    CHECK(read(z) == std::vector{0, 0, 0});

    graph.update(batch[1], z.span().subspan(0, 1), x.span().subspan(2, 1));
    CHECK(batch[1].bytes() == sizeof(int));
    CHECK(exec.apply(graph) == 1);
    run_once(exec);
    CHECK(read(z) == std::vector{0, 0, 0});

    const auto other = device({7, 8, 9});
    const auto [next, other_batch] = build(other);
    for (int i = 0; i < 2; ++i) {
        REQUIRE(exec.update(next).updated());
        run_once(exec);
        CHECK(read(y) == std::vector{7, 8, 9});
        CHECK(read(z) == std::vector{0, 0, 0});
    }
    exec.enable(batch[1]);
    CHECK(exec.is_enabled(batch[1]));
    run_once(exec);
    CHECK(read(z) == std::vector{7, 8, 9});
    CHECK(exec.update_or_instantiate(graph).updated());
    run_once(exec);
    CHECK(read(z) == std::vector{3, 8, 9});
}

TEST_CASE("updates that a copy of a batch cannot take are refused, and change nothing", "[memory][update]") {
    const auto x = device({1, 2, 3});
    const auto y = device({0, 0, 0});
    const auto z = device({0, 0, 0});
    GraphBuilder b;
    const CopyBatch batch = b.memcpy({{y, x}, {z, x}}).label("up");
    Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    CHECK_THAT(refused<UpdateError>([&] { exec.update(batch[0], y, x.span().subspan(0, 2)); }).what(),
               ContainsSubstring("the destination has 3 elements, the source 2") && ContainsSubstring("\"up"));
    CHECK_THAT(
        refused<UpdateError>([&] { graph.update(batch[0], y.span().subspan(0, 0), x.span().subspan(0, 0)); }).what(),
        ContainsSubstring("a copy of 0 elements"));
    const auto overlap = [&] { exec.update(batch[1], y, x); }; // what the other copy writes
    if (has_batches())
        CHECK_THAT(refused<UpdateError>(overlap).what(), ContainsSubstring("copies 0 and 1 of the batch share 12"));
    else
        static_cast<void>(refused<RaceError>(overlap));
    run_once(exec);
    CHECK(read(y) == std::vector{1, 2, 3});
    CHECK(read(z) == std::vector{1, 2, 3});
    GraphBuilder other;
    const CopyBatch foreign = other.memcpy({{y, x}});
    const Graph kept = std::move(other).build();
    CHECK_THAT(refused<UpdateError>([&] { exec.disable(foreign[0]); }).what(), ContainsSubstring("does not belong"));
    CHECK_THAT(refused<UpdateError>([&] { exec.update(foreign[0], y, x); }).what(),
               ContainsSubstring("does not belong"));
}

TEST_CASE("copies of one batch that write each other's memory are refused", "[memory][races]") {
    const auto x = device({1, 2, 3});
    const auto y = device({0, 0, 0});
    const auto part = [](const DeviceBuffer<int>& of, std::size_t first, std::size_t count) {
        return of.span().subspan(first, count);
    };
    for (const auto dependencies : {cudag::Dependencies::as_written, cudag::Dependencies::inferred}) {
        GraphBuilder b({.dependencies = dependencies});
        const auto text = [&](const auto& call) { return std::string(refused<GraphError>([&] { call(); }).what()); };
        CHECK_THAT(text([&] {
                       b.memcpy({{y, x}, {part(y, 0, 1), part(x, 1, 1)}});
                   }),
                   ContainsSubstring("copies 0 and 1 of the batch share 4 bytes"));
        CHECK_THAT(text([&] {
                       b.memcpy({{part(x, 0, 1), part(x, 2, 1)}, {part(y, 1, 2), part(x, 0, 2)}});
                   }),
                   ContainsSubstring("copies 0 and 1 of the batch share 4 bytes"));
        CHECK_THAT(text([&] {
                       b.memcpy({{part(y, 1, 1), part(x, 0, 1)}, {part(y, 0, 1), part(x, 0, 1)}, {y, x}});
                   }),
                   ContainsSubstring("copies ") && ContainsSubstring("and 2 of the batch share 4 bytes"));
        CHECK(b.node_count() == 0);
        b.memcpy({{part(y, 0, 1), part(x, 0, 1)}, {part(y, 1, 1), part(x, 0, 1)}, {part(y, 2, 1), part(y, 2, 1)}});
    }
}

TEST_CASE("a batch races with other nodes, and inferred edges order it with them", "[memory][races]") {
    const auto x = device({1, 2, 3});
    const auto y = device({0, 0, 0});
    const auto z = device({0, 0, 0});
    {
        GraphBuilder b;
        b.memcpy({{z, x}, {y, x}}).label("twice");
        b.clear(y).label("clear");
        const auto error = refused<RaceError>([&] { static_cast<void>(std::move(b).build()); });
        CHECK_THAT(error.what(), ContainsSubstring("\"twice") && ContainsSubstring("the destination"));
        if (has_batches()) CHECK_THAT(error.what(), ContainsSubstring("the destination of copy 1"));
    }
    GraphBuilder b({.dependencies = cudag::Dependencies::inferred});
    b.kernel({}, store, x.data(), 9).writes(x);
    b.memcpy({{y.span().subspan(0, 1), x.span().subspan(0, 1)}, {y.span().subspan(1, 2), x.span().subspan(1, 2)}});
    b.kernel({}, add, y.data() + 2, y.data(), 1).writes(y);
    Exec exec = std::move(b).build().instantiate();
    run_once(exec);
    CHECK(read(y) == std::vector{9, 2, 10});
}

TEST_CASE("batches are compared, cloned, written again, adopted, and loaded from a text", "[memory][text]") {
    const auto x = device({1, 2, 3});
    const auto y = device({0, 0, 0});
    const auto z = device({0, 0, 0});
    const auto build = [&](std::size_t count) {
        GraphBuilder b;
        b.memcpy({{y, x}, {z.span().subspan(0, count), x.span().subspan(0, count)}}).label("up");
        return std::move(b).build();
    };
    Graph graph = build(3);
    CHECK(diff(graph, build(3)).empty());
    const auto changes = diff(graph, build(2));
    REQUIRE(changes.size() == 1);
    CHECK_THAT(to_string(changes[0]), ContainsSubstring("bytes") && ContainsSubstring("12 -> 8"));
    if (has_batches()) CHECK(changes[0].field == "bytes 1");
    CHECK(!changes[0].needs_instantiate);
    CHECK(diff(graph.clone(), graph).empty());
    cudag::GraphNames names;
    names.memory("x", x);
    names.memory("y", y);
    names.memory("z", z);
    const std::string text = to_text(graph, names);
    if (has_batches())
        CHECK_THAT(text, ContainsSubstring("memcpy_batch \"up\"") && ContainsSubstring("destination 1: z") &&
                             ContainsSubstring("bytes 1: 12") && !ContainsSubstring("attributes"));
    const Graph loaded = cudag::load(text, names).graph;
    CHECK(diff(loaded, graph).empty());
    GraphBuilder b;
    static_cast<void>(b.inline_graph(graph));
    CHECK(diff(std::move(b).build(), graph).empty());
    Exec exec = loaded.instantiate();
    CHECK(exec.update(graph).updated());
    run_once(exec);
    CHECK(read(z) == std::vector{1, 2, 3});
    if (!has_batches()) return;
    cudaGraph_t copied = nullptr;
    cudag::check(cudaGraphClone(&copied, graph.native()));
    const Graph adopted = Graph::adopt(copied);
    for (const auto& difference : diff(adopted, graph))
        CHECK(difference.field == "label");
    Exec of_adopted = adopted.instantiate();
    of_adopted.disable(adopted.nodes()[0].as<MemcpyBatchNode>().copies()[1]);
    CHECK(of_adopted.update(graph).updated());
}

TEST_CASE("graphs of batches share an exec of a cache if memory and sizes alone differ", "[memory][cache]") {
    const auto x = device({1, 2, 3});
    const auto y = device({0, 0, 0});
    const auto z = device({0, 0, 0});
    const auto graph = [&](const DeviceBuffer<int>& to, std::size_t size, bool two) {
        GraphBuilder b;
        std::vector<CopyOperands> copies{{to.span().subspan(0, size), x.span().subspan(0, size)}};
        if (two) copies.emplace_back(z, x);
        b.memcpy(copies);
        return std::move(b).build();
    };
    cudag::ExecCache cache;
    const Stream stream;
    const auto instantiated = [&](const Graph& each) {
        cache.launch(each, stream);
        stream.synchronize();
        return cache.stats().instantiations;
    };
    CHECK(instantiated(graph(y, 3, false)) == 1);
    CHECK(instantiated(graph(z, 2, false)) == 1);
    CHECK(read(y) == std::vector{1, 2, 3});
    CHECK(read(z) == std::vector{1, 2, 0});
    CHECK(instantiated(graph(y, 3, true)) == 2);
}

TEST_CASE("bind gives copies of a batch other memory", "[memory][bind]") {
    const auto x = device({1, 2, 3});
    const auto y = device({0, 0, 0});
    const auto z = device({0, 0, 0});
    GraphBuilder b;
    const CopyBatch batch = b.memcpy({{y, x}, {z, x}});
    const Graph graph = std::move(b).build();
    const auto from = graph.parameter(x);
    const auto to = graph.parameter(z);
    REQUIRE(graph.uses(from).size() == 2);
    if (has_batches()) CHECK_THAT(to_string(graph.uses(to)[0]), ContainsSubstring("destination of copy 1 at offset 0"));
    Exec exec = graph.instantiate();
    exec.disable(batch[0]);
    const auto other = device({4, 5, 6});
    const auto w = device({0, 0, 0});
    CHECK(exec.bind(from, other) == (has_batches() ? 1 : 2));
    CHECK(exec.bind(to, w) == 1);
    run_once(exec);
    CHECK(read(y) == std::vector{0, 0, 0});
    CHECK(read(z) == std::vector{0, 0, 0});
    CHECK(read(w) == std::vector{4, 5, 6});
}

TEST_CASE("a captured launch of an Exec leaves disabled copies of a batch out", "[memory][capture]") {
    const auto x = device({1, 2, 3});
    const auto y = device({0, 0, 0});
    const auto z = device({0, 0, 0});
    GraphBuilder b;
    const CopyBatch batch = b.memcpy({{y, x}, {z, x}});
    Exec exec = std::move(b).build().instantiate();
    exec.disable(batch[0]);
    const Stream stream;
    const Graph captured = cudag::capture(stream, [&](cudaStream_t s) { exec.launch(s); });
    Exec again = captured.instantiate();
    run_once(again);
    CHECK(read(y) == std::vector{0, 0, 0});
    CHECK(read(z) == std::vector{1, 2, 3});
}

TEST_CASE("the body of a conditional has a node for each copy of a batch", "[memory][conditional]") {
    const auto x = device({1, 2, 3});
    const auto y = device({0, 0, 0});
    const auto z = device({0, 0, 0});
    GraphBuilder b;
    const auto condition = b.condition(1);
    b.if_(condition, [&](GraphBuilder& body) { CHECK(!body.memcpy({{y, x}, {z, x}}).is_node()); });
    Exec exec = std::move(b).build().instantiate();
    run_once(exec);
    CHECK(read(z) == std::vector{1, 2, 3});
}

TEST_CASE("a batch copies graph memory, in the graph and in one that inlines it", "[memory][memory_nodes]") {
    const auto x = device({1, 2, 3});
    const auto y = device({0, 0, 0});
    GraphBuilder inner;
    const auto memory = inner.alloc<int>(3);
    const CopyBatch in = inner.memcpy({{memory.span(), x}}).after(memory);
    const CopyBatch out = inner.memcpy({{y, memory.span()}}).after(in);
    inner.free(memory).after(out);
    const Graph graph = std::move(inner).build();
    GraphBuilder b;
    static_cast<void>(b.inline_graph(graph));
    Exec exec = std::move(b).build().instantiate();
    run_once(exec);
    CHECK(read(y) == std::vector{1, 2, 3});
    GraphBuilder wrong;
    const auto gone = wrong.alloc<int>(3);
    wrong.free(gone);
    CHECK_THAT(refused<GraphError>([&] { wrong.memcpy({{gone.span(), x}}); }).what(), ContainsSubstring("free"));
}

TEST_CASE("a wrong copy of a batch is refused by its number, and nothing is added", "[memory]") {
    const auto x = device({1, 2, 3});
    const auto y = device({0, 0});
    GraphBuilder b;
    const auto text = [&](const auto& call) { return std::string(refused<GraphError>([&] { call(); }).what()); };
    CHECK_THAT(text([&] {
                   b.memcpy({{y, x.span().subspan(0, 2)}, {y, x}});
               }),
               ContainsSubstring("copy 1 of 2: the destination has 2 elements, the source 3"));
    CHECK_THAT(text([&] { b.memcpy(std::vector<CopyOperands>()); }), ContainsSubstring("a batch of 0 copies"));
    CHECK(b.node_count() == 0);
    const auto z = device({0, 0, 0});
    const auto pageable = std::vector<int>(3);
    const auto condition = b.condition(1);
    b.if_(condition, [&](GraphBuilder& body) {
        static_cast<void>(refused<GraphError>([&] { body.memcpy({{z, x}, {z, pageable}}); }));
        CHECK(body.node_count() == 0);
        body.memset(z, 1);
    });
    CHECK(std::move(b).build().node_count() == 1);
}

TEST_CASE("a batch keeps buffers that it gets by shared_ptr", "[memory][owners]") {
    auto from = std::make_shared<DeviceBuffer<int>>(1);
    cudag::check(cudaMemset(from->data(), 0, sizeof(int)));
    cudag::check(cudaDeviceSynchronize());
    const auto to = device({5});
    const std::weak_ptr<DeviceBuffer<int>> watched = from;
    GraphBuilder b;
    b.memcpy({{to, from}});
    from.reset();
    Exec exec = std::move(b).build().instantiate();
    run_once(exec);
    CHECK(read(to) == std::vector{0});
}

#if CUDART_VERSION >= 13050

namespace {

/// A graph of other code: y = x, z = x, by copies with attributes of their own; the second has `order`.
Graph with_attributes(const DeviceBuffer<int>& x, const DeviceBuffer<int>& y, const DeviceBuffer<int>& z,
                      cudaMemcpySrcAccessOrder order) {
    void* destinations[] = {y.data(), z.data()};
    void* sources[] = {x.data(), x.data()};
    std::size_t bytes[] = {x.size() * sizeof(int), x.size() * sizeof(int)};
    cudaMemcpyAttributes attributes[2] = {};
    attributes[0].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    attributes[1].srcAccessOrder = order;
    attributes[1].flags = cudaMemcpyFlagPreferOverlapWithCompute;
    attributes[1].dstLocHint = {cudaMemLocationTypeDevice, {0}};
    std::size_t first[] = {0, 1};
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeMemcpyBatch;
    params.memcpyBatch = {2, destinations, sources, bytes, attributes, first, 2, nullptr};
    cudaGraph_t graph = nullptr;
    cudaGraphNode_t node = nullptr;
    cudag::check(cudaGraphCreate(&graph, 0));
    cudag::check(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
    return Graph::adopt(graph);
}

} // namespace

TEST_CASE("a batch of other code keeps the attributes of its copies", "[memory][adopt][text]") {
    if (!has_batches()) return;
    const auto x = device({1, 2, 3});
    const auto y = device({0, 0, 0});
    const auto z = device({0, 0, 0});
    Graph graph = with_attributes(x, y, z, cudaMemcpySrcAccessOrderAny);
    const auto copies = graph.nodes().at(0).as<MemcpyBatchNode>().copies();
    REQUIRE(copies.size() == 2);
    CHECK(copies[1].destination() == z.data());
    cudag::GraphNames names;
    names.memory("x", x).memory("y", y).memory("z", z);
    const std::string text = to_text(graph, names);
    CHECK_THAT(text, ContainsSubstring("attributes 1: order 3, flags 1, source at 0 0, destination at 1 0") &&
                         ContainsSubstring("list of attributes 1: 1") && !ContainsSubstring("attributes 0"));
    CHECK(diff(cudag::load(text, names).graph, graph).empty());
    CHECK(diff(graph.clone(), graph).empty());

    Exec exec = graph.instantiate();
    exec.update(copies[1], z.span().subspan(0, 1), x.span().subspan(1, 1));
    exec.disable(copies[0]);
    run_once(exec);
    CHECK(read(y) == std::vector{0, 0, 0});
    CHECK(read(z) == std::vector{2, 0, 0});
    graph.update(copies[1], z.span().subspan(0, 1), x.span().subspan(2, 1));
    CHECK(exec.apply(graph) == 1);
    run_once(exec);
    CHECK(read(z) == std::vector{3, 0, 0});

    const Graph other = with_attributes(x, y, z, cudaMemcpySrcAccessOrderStream);
    const auto changes = diff(with_attributes(x, y, z, cudaMemcpySrcAccessOrderAny), other);
    REQUIRE(changes.size() == 1);
    CHECK(changes[0].field == "attributes 1");
    CHECK(changes[0].needs_instantiate);
    CHECK(!exec.update(other).updated());
}

#endif
