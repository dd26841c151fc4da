// Faults planted in each node of recorded graphs: the error names the node.
#include <cudart_cpu/control.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "conditional_kernels.hpp"
#include "cuda_version.hpp"
#include "gate.hpp"
#include "test.hpp"

using cudag::Error;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::Node;
using cudag::Stream;

namespace {

/// The end of the planted faults, also after a failing check.
struct Healed {
    Healed() = default;
    Healed(const Healed&) = delete;
    Healed& operator=(const Healed&) = delete;
    ~Healed() {
        cudart_cpu::fail_node(nullptr, cudaSuccess);
        cudart_cpu::forget_failure();
    }
};

/// One node at a time; afterwards as many as there are cores again.
struct OneAtATime {
    OneAtATime() { cudart_cpu::set_workers(1); }
    OneAtATime(const OneAtATime&) = delete;
    OneAtATime& operator=(const OneAtATime&) = delete;
    ~OneAtATime() { cudart_cpu::set_workers(0); }
};

/// Launches `exec` with a fault in run number `run` of `node`, and returns the error.
Error error_of(Exec& exec, const Stream& stream, const Node& node, cudaError_t code = cudaErrorIllegalAddress,
               std::uint64_t run = 1) {
    const Healed healed;
    cudart_cpu::fail_node(node.native(), code, run);
    std::optional<Error> found;
    try {
        exec.launch(stream);
        stream.synchronize();
    } catch (const Error& error) {
        found = error;
    }
    REQUIRE(found);
    CHECK(found->code() == cuda_code(code));
    return *found;
}

/// The nodes of a graph, and those inside its child nodes.
void list(const Graph& graph, std::vector<Node>& nodes) {
    for (const Node& node : graph.nodes()) {
        nodes.push_back(node);
        if (node.kind() == cudag::NodeKind::child) list(node.as<cudag::ChildNode>().graph(), nodes);
    }
}

} // namespace

TEST_CASE("a fault in each node of a graph with children, loops and captures is named", "[recorder][faults]") {
    if (older_than(12080)) return;
    const Stream stream;
    const auto cells = device({0, 0, 0, 0, 0, 0});
    int* const x = cells.data();
    GraphBuilder leaf;
    auto up = leaf.kernel({}, store, x, 1).label("leaf store");
    leaf.kernel({}, add, x + 1, x, 1).label("leaf add").after(up);
    GraphBuilder layer;
    auto deep = add_child(layer, std::move(leaf).build()).label("leaf");
    layer.memset(cells.span().subspan(2, 1), 3).label("layer fill").after(deep);
    GraphBuilder b;
    const auto more = b.condition(1), taken = b.condition(1);
    auto begin = b.kernel({}, store, x + 3, 2).label("begin");
    auto child = add_child(b, std::move(layer).build()).label("layer").after(begin);
    auto loop = b.while_(more,
                         [&](GraphBuilder& body) {
                             auto first = body.kernel({}, add, x + 4, x + 4, 1).label("turn");
                             body.kernel({}, count_down, x + 3, more).label("count").after(first);
                         })
                    .label("loop")
                    .after(child);
    auto branch = b.if_(taken, [&](GraphBuilder& body) { body.kernel({}, store, x + 5, 6).label("then"); })
                      .label("branch")
                      .after(begin);
    auto captured =
        b.capture(stream, [&](cudag::StreamCapture& capture) {
             capture.step("captured store", [&](cudaStream_t s) { cudag::launch(s, {}, store, x + 5, 1); });
             capture.step("captured add", [&](cudaStream_t s) { cudag::launch(s, {}, add, x + 5, x + 5, 1); });
         }).after(branch);
    auto all = b.join(loop, captured);
    b.memcpy(cells.span().subspan(0, 1), cells.span().subspan(5, 1)).label("end").after(all);
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate({.recorder = true});

    std::vector<Node> nodes;
    list(graph, nodes);
    list(loop.body(), nodes);
    list(branch.body(), nodes);
    std::size_t planted = 0;
    for (const Node& node : nodes) {
        if (node.kind() == cudag::NodeKind::empty) continue;
        const std::string label(node.label());
        INFO(label);
        const Error error = error_of(exec, stream, node);
        CHECK(std::ranges::count(error.labels(), label) == 1);
        CHECK_THAT(error.what(),
                   ContainsSubstring("nodes begun and not ended: ") && ContainsSubstring('"' + label + '"'));
        ++planted;
    }
    CHECK(planted >= 14);
    exec.launch(stream);
    stream.synchronize();
    CHECK(cudag::unfinished_nodes().empty());

    const Node count = loop.body().find("count").at(0);
    write(cells.span().subspan(4, 1), {0});
    const Error error = error_of(exec, stream, count, cudaErrorAssert, 2);
    CHECK(std::ranges::count(error.labels(), "count") == 1); // a node of the other branch may have begun, too
    CHECK(read(cells)[4] == 2);
}

namespace {

/// Plants a fault in each `stride`-th node of a decoder of 700 nodes, and expects its name in the error.
void check_decoder(std::size_t stride) {
    constexpr int length = 700;
    const Stream stream;
    const auto cells = device({0, 0, 0, 0});
    int* const x = cells.data();
    GraphBuilder b;
    std::optional<Node> state;
    int count = 0;
    const auto put = [&](cudag::KernelNode<int*, const int*, int> node) {
        return node.label("kernel " + std::to_string(count++));
    };
    while (count < length) { // a layer: norm, three projections, attention, and two more in line
        auto norm = put(b.kernel({}, add, x, x, 1));
        if (state) norm.after(*state);
        auto q = put(b.kernel({}, add, x + 1, x, 1)).after(norm);
        auto k = put(b.kernel({}, add, x + 2, x, 1)).after(norm);
        auto v = put(b.kernel({}, add, x + 3, x, 1)).after(norm);
        auto attention = put(b.kernel({}, add, x, x + 1, 1)).after(q, k, v);
        auto up = put(b.kernel({}, add, x, x, 1)).after(attention);
        state = put(b.kernel({}, add, x, x, 1)).after(up);
    }
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate({.recorder = true});
    const OneAtATime one_at_a_time; // faster: the nodes do nothing
    std::size_t planted = 0, named = 0, alone = 0;
    const std::vector<Node> nodes = graph.nodes();
    for (std::size_t i = 0; i < nodes.size(); i += stride) {
        const Error error = error_of(exec, stream, nodes[i]);
        ++planted;
        named += std::ranges::count(error.labels(), nodes[i].label()) == 1;
        alone += error.labels().size() == 1;
    }
    CHECK(planted == length / stride);
    CHECK(named == planted);
    CHECK(alone >= planted / 2); // others may have ended while the order has not marked it yet
}

} // namespace

TEST_CASE("a fault in a node of a decoder of 700 nodes is named", "[recorder][faults]") {
    // CUDAG_EVERY_FAULT=1 plants one in each node, which takes some seconds; 25 is no multiple of a layer.
    check_decoder(std::getenv("CUDAG_EVERY_FAULT") != nullptr ? 1 : 25);
}

TEST_CASE("a fault is named by whichever call reports it", "[recorder][faults]") {
    const Stream stream;
    const auto cell = device({0});
    GraphBuilder b;
    const auto node = b.kernel({}, store, cell.data(), 1).label("faulty");
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate({.recorder = true});
    cudag::Event mark;
    const auto fail_and = [&](CallRef<> call) {
        const Healed healed;
        mark.record(stream);
        cudart_cpu::fail_node(node.native(), cudaErrorLaunchFailure);
        exec.launch(stream);
        static_cast<void>(cudaStreamSynchronize(stream.get()));
        try {
            call();
        } catch (const Error& error) {
            CHECK(error.labels() == Labels{"faulty"});
            CHECK_THAT(error.what(), ContainsSubstring("nodes begun and not ended: kernel \"faulty\" at "));
            return;
        }
        FAIL("no error");
    };
    fail_and([&] { stream.synchronize(); });
    fail_and([&] { stream.synchronize(std::chrono::seconds(1)); });
    fail_and([&] { static_cast<void>(stream.query()); });
    fail_and([&] { mark.synchronize(); });
    fail_and([&] { cudag::check(cudaDeviceSynchronize()); });
    fail_and([&] { cudag::clear_async(stream, cell); });
    fail_and([&] { const cudag::DeviceBuffer<int> more(1); });
    run(exec, stream);
    CHECK(read(cell) == std::vector{1});
}

TEST_CASE("a fault outside of recorded Execs names none of their nodes", "[recorder][faults]") {
    const Stream stream;
    const auto cell = device({0});
    GraphBuilder b;
    b.kernel({}, store, cell.data(), 1).label("sound");
    Exec sound = std::move(b).build().instantiate({.recorder = true});
    run(sound, stream);
    GraphBuilder other;
    const auto node = other.kernel({}, store, cell.data(), 2).label("unrecorded");
    const Graph graph = std::move(other).build();
    Exec exec = graph.instantiate();
    const Error error = error_of(exec, stream, node);
    CHECK(error.labels().empty());
    CHECK_THAT(error.what(), ContainsSubstring("no node of a recorded Exec has begun and not ended"));
}

namespace {

/// The labels of a deadline that has passed.
Labels late(const Stream& stream) {
    return refused<cudag::DeadlineError>([&] { stream.synchronize(std::chrono::milliseconds(5)); }).labels();
}

} // namespace

// On a GPU, host nodes of one graph run one at a time.
TEST_CASE("of several nodes at once, a deadline names those that have begun and not ended", "[recorder]") {
    const Stream stream;
    Gate left, right;
    GraphBuilder b;
    auto begin = b.host([] {}).label("begin");
    auto one = b.host(left.node()).label("left").after(begin);
    auto other = b.host(right.node()).label("right").after(begin);
    auto both = b.join(one, other);
    b.host([] {}).label("end").after(both);
    Exec exec = std::move(b).build().instantiate({.recorder = true});
    exec.launch(stream);
    left.wait_until_entered();
    right.wait_until_entered();
    CHECK(late(stream) == Labels{"left", "right"});
    right.open();
    while (cudag::unfinished_nodes().size() > 1)
        static_cast<void>(late(stream));
    CHECK(late(stream) == Labels{"left"});
    left.open();
    stream.synchronize();
}
