// Batches of copies: added by one call, ordered as one, updated and disabled one by one.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "native.hpp"

using cudag::CopyBatch;
using cudag::CopyOperands;
using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::JoinNode;
using cudag::MemcpyNode;
using cudag::NodeKind;
using cudag::PinnedBuffer;
using cudag::RaceError;
using cudag::Stream;

namespace {

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

TEST_CASE("a batch has one node a copy and a join, labelled after it", "[memory]") {
    const auto x = device({1, 2, 3});
    const auto y = device({0, 0, 0});
    const auto z = device({0, 0, 0});
    GraphBuilder b;
    const std::vector<CopyOperands> operands{{y, x}, {z, x}};
    const CopyBatch batch = b.memcpy(operands).label("upload");
    const auto last = b.clear(y).after(batch);
    CHECK(last.predecessors() == std::vector<cudag::Node>{batch});
    const Graph graph = std::move(b).build();
    REQUIRE(graph.nodes().size() == 4);
    CHECK(graph.nodes()[2].kind() == NodeKind::empty);
    CHECK(graph.find_one("upload").as<JoinNode>() == batch);
    CHECK(graph.find_one("upload/1").as<MemcpyNode>() == batch[1]);
    CHECK(graph.edge_count() == 3);
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

TEST_CASE("copies of one batch race with each other, and inferred edges order them with others", "[memory][races]") {
    const auto x = device({1, 2, 3});
    const auto y = device({0, 0, 0});
    {
        GraphBuilder b;
        b.memcpy({{y, x}, {y.span().subspan(0, 1), x.span().subspan(1, 1)}}).label("twice");
        const auto error = refused<RaceError>([&] { static_cast<void>(std::move(b).build()); });
        CHECK_THAT(error.what(), ContainsSubstring("\"twice/0\"") && ContainsSubstring("\"twice/1\""));
    }
    GraphBuilder b({.dependencies = cudag::Dependencies::inferred});
    b.kernel({}, store, x.data(), 9).writes(x);
    b.memcpy({{y.span().subspan(0, 1), x.span().subspan(0, 1)}, {y.span().subspan(1, 2), x.span().subspan(1, 2)}});
    b.kernel({}, add, y.data() + 2, y.data(), 1).writes(y);
    Exec exec = std::move(b).build().instantiate();
    run_once(exec);
    CHECK(read(y) == std::vector{9, 2, 10});
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
