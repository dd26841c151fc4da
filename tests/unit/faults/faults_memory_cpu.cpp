// Every allocation of host memory that fails while a node is added, in cudag and in the CUDA Runtime.
#include <sys/mman.h>

#include "allocation_faults.hpp"
#include "kernels.hpp"
#include "printed.hpp"

#include <catch.hpp>
#include <cudag/cudag.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using cudag::Condition;
using cudag::DeviceBuffer;
using cudag::Event;
using cudag::ExternalSemaphore;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::Node;

namespace {

constexpr std::size_t full = 64; ///< nodes, with which all lists of a graph must grow for one more

void nothing() {}

/// A graph that is full, and what nodes are made of.
struct Target {
    Target() {
        for (std::size_t i = 0; i < full; ++i)
            nodes.push_back(builder.host(nothing));
    }

    DeviceBuffer<int> cells{4};
    std::shared_ptr<DeviceBuffer<int>> owned = std::make_shared<DeviceBuffer<int>>(4);
    Event event;
    cudag::Stream stream;
    ExternalSemaphore semaphore = ExternalSemaphore::import_timeline(memfd_create("timeline", MFD_CLOEXEC));
    GraphBuilder builder;
    std::vector<Node> nodes;
    GraphBuilder other;
    cudag::AllocNode<int> others = other.alloc<int>(1);
    std::optional<Condition> condition;
    Graph inner = [this] {
        GraphBuilder b;
        const auto first = b.memset(cells, 1);
        b.memset(cells, 2).after(first);
        return std::move(b).build();
    }();
};

/// One way to add a node: what it needs, and how it is called.
struct Addition {
    std::string name;
    std::function<void(Target&)> prepare;
    std::function<void(Target&)> add;
};

bool is_lost(const GraphBuilder& builder) {
    try {
        builder.check();
        return false;
    } catch (const cudag::GraphError& error) {
        CHECK_THAT(error.what(), ContainsSubstring("was lost when the capture"));
        return true;
    }
}

/// Each failure must add nothing, and leave a graph that takes the node then; or lose the graph, where `may_lose` says
/// that the end of a capture may be what fails.
void check_adding(const Addition& addition, bool may_lose = false) {
    CAPTURE(addition.name);
    unsigned failures = 0;
    unsigned lost = 0;
    for (std::size_t n = 1;; ++n) {
        CAPTURE(n);
        Target target;
        if (addition.prepare) addition.prepare(target);
        std::optional<bool> failed;
        const std::string told = printed([&] { failed = fails_without_allocation(n, [&] { addition.add(target); }); });
        CHECK_THAT(told, !ContainsSubstring("owned by another graph")); // of a child, whose end is that of its node
        if (!failed) break;
        CHECK(cudaGetLastError() == cudaSuccess);
        if (*failed) {
            ++failures;
            if (may_lose && is_lost(target.builder)) {
                ++lost;
                continue;
            }
            addition.add(target);
        }
        const Graph graph = std::move(target.builder).build();
        CHECK(graph.node_count() == full + 1);
        std::size_t count = 0;
        REQUIRE(cudaGraphGetNodes(graph.native(), nullptr, &count) == cudaSuccess);
        CHECK(count == full + 1);
    }
    CHECK(failures > lost);
}

} // namespace

TEST_CASE("a node for which there is no memory is not in the graph, and can be added again", "[unit][faults]") {
    const auto with_condition = [](Target& t) { t.condition = t.builder.condition(0); };
    const auto fill = [](Target& t) { return [&t](GraphBuilder& body) { body.memset(t.cells, 1); }; };
    const std::vector<Addition> additions{
        {"kernel", {}, [](Target& t) { t.builder.kernel({}, multiply_add, t.cells, t.cells, 1, 1); }},
        {"kernel with owners", {}, [](Target& t) { t.builder.kernel({}, multiply_add, t.owned, t.owned, 1, 1); }},
        {"memcpy", {}, [](Target& t) { t.builder.memcpy(t.cells, t.cells); }},
        {"memcpy with an owner", {}, [](Target& t) { t.builder.memcpy(t.owned, t.cells); }},
        {"memcpy2d",
         {},
         [](Target& t) {
             const cudag::DeviceSpan2D<int> plane(t.cells, 2, 2);
             t.builder.memcpy2d(plane, plane);
         }},
        {"memset", {}, [](Target& t) { t.builder.memset(t.cells, 1); }},
        {"memset with an owner", {}, [](Target& t) { t.builder.memset(t.owned, 1); }},
        {"host", {}, [](Target& t) { t.builder.host(nothing); }},
        {"join", {}, [](Target& t) { t.builder.join(t.nodes); }},
        {"record", {}, [](Target& t) { t.builder.record(t.event); }},
        {"wait", {}, [](Target& t) { t.builder.wait(t.event); }},
        {"signal",
         {},
         [](Target& t) {
             t.builder.signal({t.semaphore, 1});
         }},
        {"wait for a semaphore",
         {},
         [](Target& t) {
             t.builder.wait({t.semaphore, 1});
         }},
        {"alloc", {}, [](Target& t) { t.builder.alloc<int>(1); }},
        {"alloc after others", {}, [](Target& t) { t.builder.alloc<int>(1, {.after = t.nodes}); }},
        {"free", {}, [](Target& t) { t.builder.free(t.others); }},
        {"child by clone", {}, [](Target& t) { t.builder.child(t.inner); }},
        {"child by move", {}, [](Target& t) { t.builder.child(std::move(t.inner)); }},
        {"if", with_condition, [&](Target& t) { t.builder.if_(*t.condition, fill(t), fill(t)); }},
        {"switch", with_condition,
         [&](Target& t) {
             t.builder.switch_(*t.condition, {fill(t), fill(t), fill(t), fill(t)});
         }},
        {"while with a condition inside", with_condition,
         [&](Target& t) {
             t.builder.while_(*t.condition, [&](GraphBuilder& body) { body.if_(body.condition(1), fill(t)); });
         }},
    };
    for (const Addition& addition : additions)
        check_adding(addition);
}

TEST_CASE("a region for which there is no memory is not in the graph, and only the end of its capture loses that",
          "[unit][faults]") {
    const auto capture = [](auto work) {
        return [work](Target& t) {
            t.builder.capture(t.stream, [&](cudaStream_t s) { work(t, s); }, {.allow_empty = true});
        };
    };
    check_adding({"region", {}, capture([](Target& t, cudaStream_t s) { cudag::memset_async(s, t.cells, 1); })}, true);
    check_adding({"region without work", {}, capture([](Target&, cudaStream_t) {})}, true);
}
