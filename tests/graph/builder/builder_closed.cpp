// Graphs that take no nodes: whatever would be added, the call says so, and CUDA's graph stays as it is.
#include <functional>
#include <string>
#include <vector>

#include "native.hpp"

using cudag::DeviceSpan2D;
using cudag::DeviceSpan3D;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;

namespace {

constexpr cudaExternalSemaphore_t semaphore = nullptr; // is not looked at

void empty(GraphBuilder&) {}

/// Every way to add a node, and what each needs, from before the graph took no more.
struct Calls {
    struct Call {
        std::string kind; ///< of the node
        bool in_body;     ///< whether the body of a conditional takes it
        std::function<void(GraphBuilder&)> add;
    };

    explicit Calls(GraphBuilder& b) : alloc(b.alloc<int>(1)), condition(b.condition(0)), nodes{b.host([] {}), alloc} {}

    [[nodiscard]] std::vector<Call> all() {
        return {
            {"kernel", true, [this](GraphBuilder& b) { b.kernel({}, store, cells, 1); }},
            {"memcpy", true, [this](GraphBuilder& b) { b.memcpy(pinned, cells); }},
            {"memcpy", true, [this](GraphBuilder& b) { b.memcpy2d(plane(), plane()); }},
            {"memcpy", true, [this](GraphBuilder& b) { b.memcpy3d(box(), box()); }},
            {"memset", true, [this](GraphBuilder& b) { b.memset(cells, 1); }},
            {"memset", true, [this](GraphBuilder& b) { b.memset2d(plane(), 1); }},
            {"host", false, [](GraphBuilder& b) { b.host([] {}); }},
            {"empty", true, [this](GraphBuilder& b) { b.join(nodes); }},
            {"record_event", false, [this](GraphBuilder& b) { b.record(event); }},
            {"wait_event", false, [this](GraphBuilder& b) { b.wait(event); }},
            {"signal_semaphore", false,
             [](GraphBuilder& b) {
                 b.signal({semaphore, 1});
             }},
            {"wait_semaphore", false,
             [](GraphBuilder& b) {
                 b.wait(cudag::SemaphoreWait{semaphore, 1});
             }},
            {"alloc", false, [](GraphBuilder& b) { b.alloc<int>(1); }},
            {"free", false, [this](GraphBuilder& b) { b.free(alloc); }},
            {"free", false, [this](GraphBuilder& b) { b.free(alloc.span()); }},
            {"child", true, [this](GraphBuilder& b) { b.child(inner); }},
            {"child", true, [this](GraphBuilder& b) { b.child(std::move(inner)); }},
            {"conditional", true, [this](GraphBuilder& b) { b.if_(condition, empty); }},
            {"conditional", true, [this](GraphBuilder& b) { b.while_(condition, empty); }},
        };
    }

    [[nodiscard]] DeviceSpan2D<int> plane() const { return {cells, 2, 2}; }
    [[nodiscard]] DeviceSpan3D<int> box() const { return {cells, 2, 2, 1}; }

    cudag::DeviceBuffer<int> cells{4};
    cudag::PinnedBuffer<int> pinned{4};
    cudag::Event event;
    Graph inner = GraphBuilder().build();
    cudag::AllocNode<int> alloc;
    cudag::Condition condition;
    std::vector<cudag::Node> nodes;
};

void check_refused(const Calls::Call& call, GraphBuilder& b, const std::string& text) {
    CAPTURE(call.kind);
    const auto error = refused<GraphError>([&] { call.add(b); });
    CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
    CHECK_THAT(error.what(), StartsWith("cudag: " + call.kind) && ContainsSubstring(text));
}

} // namespace

TEST_CASE("a built graph takes no node of any kind", "[builder]") {
    GraphBuilder b;
    GraphBuilder view = b.on(0);
    Calls calls(b);
    b.if_(calls.condition, empty);
    const Graph graph = std::move(b).build();
    for (const Calls::Call& call : calls.all())
        check_refused(call, view, "its Graph is built");
    CHECK(native_nodes(graph.native()).size() == 3);
}

TEST_CASE("a body takes no node of a kind that CUDA has not in bodies", "[builder][conditional]") {
    GraphBuilder outside;
    Calls calls(outside);
    GraphBuilder b;
    b.if_(b.condition(1), [&](GraphBuilder& body) {
        for (const Calls::Call& call : calls.all())
            if (!call.in_body) check_refused(call, body, "CUDA allows no " + call.kind + " node in the body of if");
    });
    CHECK(std::move(b).build().node_count() == 1);
}

TEST_CASE("a builder takes no node of any kind while a body inside its graph is written", "[builder][conditional]") {
    GraphBuilder b;
    Calls calls(b);
    b.if_(b.condition(1), [&](GraphBuilder&) {
        for (const Calls::Call& call : calls.all())
            check_refused(call, b, "use the body's builder");
    });
    b.if_(calls.condition, empty);
    CHECK(std::move(b).build().node_count() == 4);
}

TEST_CASE("where a builder takes no nodes, a copy is refused for that, whatever it copies", "[builder][conditional]") {
    const cudag::DeviceBuffer<int> cells(4);
    GraphBuilder b;
    b.if_(b.condition(0), [&](GraphBuilder&) {
        const auto error =
            refused<GraphError>([&] { b.memcpy2d(DeviceSpan2D<int>(cells, 2, 2), DeviceSpan2D<int>(cells, 1, 1)); });
        CHECK_THAT(error.what(), ContainsSubstring("with the builder outside of it; use the body's builder"));
    });
    CHECK(std::move(b).build().node_count() == 1);
}
