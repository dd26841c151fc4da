// What must not allocate: it happens in destructors, or after CUDA has done its part.
#include "graph/graph_slot.hpp"
#include "graph/graph_state.hpp"
#include "graph/node_indices.hpp"
#include "graph/read_nodes.hpp"
#include "owners/host_call.hpp"

#include "catch.hpp"
#include "printed.hpp"
#include "watched_nodes.hpp"

#include <cudag/detail/call_effects.hpp>

#include <cstdlib>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace {

thread_local std::size_t allocations = 0;
thread_local std::size_t last_allocation = 0; // after which they fail; 0 for none

/// How many times `call` allocates memory.
template <class Call>
std::size_t allocations_of(const Call& call) {
    const std::size_t before = allocations;
    call();
    return allocations - before;
}

/// Whether `call` is done though all but its first `count` allocations fail.
template <class Call>
bool is_done_with(std::size_t count, const Call& call) {
    last_allocation = allocations + count;
    try {
        call();
        last_allocation = 0;
        return true;
    } catch (const std::bad_alloc&) {
        last_allocation = 0;
        return false;
    }
}

bool may_allocate() {
    return ++allocations <= last_allocation || last_allocation == 0;
}

} // namespace

void* operator new(std::size_t size) {
    void* const memory = may_allocate() ? std::malloc(size == 0 ? 1 : size) : nullptr;
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return may_allocate() ? std::malloc(size == 0 ? 1 : size) : nullptr;
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

using cudag::NodeKind;
using cudag::detail::ArgumentAccess;
using cudag::detail::CallEffects;
using cudag::detail::Conditions;
using cudag::detail::DeclaredAccesses;
using cudag::detail::GraphSlot;
using cudag::detail::GraphState;
using cudag::detail::Place;
using cudag::detail::ReadNodes;
using cudag::detail::UpdatedNode;

namespace {

/// A graph of empty nodes that is not CUDA's to destroy.
struct Nodes {
    explicit Nodes(std::size_t count) {
        cudaGraph_t native = nullptr;
        REQUIRE(cudaGraphCreate(&native, 0) == cudaSuccess);
        graph = std::make_shared<GraphState>(native);
        for (std::size_t i = 0; i < count; ++i) {
            graph->reserve_node();
            append();
        }
    }
    void append(CallEffects&& effects = {}) const {
        graph->append(nullptr, {NodeKind::empty, {}, {}, {}}, std::move(effects));
    }

    std::shared_ptr<GraphState> graph;
};

} // namespace

TEST_CASE("what gives a graph's identity back allocates nothing, however many there are") {
    const Nodes nodes(0);
    std::vector<GraphSlot*> slots;
    for (int i = 0; i < 300; ++i)
        slots.push_back(cudag::detail::take_slot(*nodes.graph));
    CHECK(allocations_of([&] {
              for (GraphSlot* slot : slots)
                  cudag::detail::release_slot(slot);
          }) == 0);
    CHECK(cudag::detail::take_slot(*nodes.graph) == slots.back());
    cudag::detail::release_slot(slots.back());
}

TEST_CASE("however many identities there are, all are given back without an allocation") {
    const Nodes nodes(0);
    nodes.graph->invalidate_handles(); // its own
    std::vector<GraphSlot*> slots;
    while (slots.size() < 800) {
        slots.push_back(nullptr);
        for (GraphSlot*& slot : slots)
            slot = cudag::detail::take_slot(*nodes.graph);
        const std::size_t count = allocations_of([&] {
            for (GraphSlot* slot : slots)
                cudag::detail::release_slot(slot);
        });
        if (count != 0) FAIL_CHECK("of " << slots.size());
    }
}

TEST_CASE("conditions for which there is room are left over, and given out again, without an allocation") {
    Conditions conditions;
    for (unsigned i = 1; i <= 100; ++i) {
        conditions.reserve(i % 2, 0);
        CHECK(allocations_of([&] {
                  conditions.add({i, i % 2, 0, {}});
                  conditions.abandon_from(0);
                  while (conditions.take_abandoned(0U, 0) != nullptr) {
                  }
                  while (conditions.take_abandoned(1U, 0) != nullptr) {
                  }
              }) == 0);
        CHECK(conditions.count() == i);
    }
}

TEST_CASE("what a node declares is replaced as a whole, or not at all") {
    const auto accesses = [](std::uint32_t count) {
        std::vector<ArgumentAccess> list;
        for (std::uint32_t argument = 0; argument < count; ++argument)
            list.push_back({argument, cudag::detail::AccessMode::read, 1, {0x1000, 1}});
        return list;
    };
    const auto next = accesses(50);
    for (std::size_t count = 0;; ++count) {
        CAPTURE(count);
        DeclaredAccesses declared;
        declared.add(0, accesses(2));
        const bool done = is_done_with(count, [&] { declared.replace(0, next); });
        std::size_t found = 0;
        declared.for_each(0, [&](const ArgumentAccess&) { ++found; });
        CHECK(found == (done ? 50 : 2));
        if (done) break;
    }
}

TEST_CASE("a node for which there is room is appended without an allocation, with what its arguments bring") {
    const Nodes nodes(0);
    const auto owner = std::make_shared<int>(0);
    for (int i = 0; i < 300; ++i) {
        CallEffects effects;
        for (int k = 0; k < i % 5; ++k)
            cudag::detail::keep(effects, 0, owner);
        effects.bindings.push_back({1, 17});
        cudag::detail::touch(effects, 2, cudag::detail::AccessMode::read, 4, {0x1000, 64});
        nodes.graph->reserve_node(effects);
        CHECK(allocations_of([&] { nodes.append(std::move(effects)); }) == 0);
    }
    CHECK(nodes.graph->records().nodes().size() == 300);
}

TEST_CASE("a graph for which there is room is attached without an allocation, with its changes") {
    const Nodes outer(1);
    for (int i = 0; i < 100; ++i) {
        const Nodes inner(8);
        for (std::uint32_t node = 0; node < 8; ++node) {
            inner.graph->changes().reserve(1);
            UpdatedNode& updated = inner.graph->records().updated(node);
            CHECK(allocations_of([&] { inner.graph->changes().count(updated, {}); }) == 0);
        }
        outer.graph->reserve_nested(*inner.graph);
        CHECK(allocations_of([&] { outer.graph->attach(inner.graph, 0, Place::child); }) == 0);
    }
    CHECK(outer.graph->changes().version() == 800);
    outer.graph->reserve_nested(100);
    std::vector<std::shared_ptr<GraphState>> bodies;
    for (int i = 0; i < 100; ++i)
        bodies.push_back(Nodes(0).graph);
    CHECK(allocations_of([&] {
              for (const auto& body : bodies)
                  outer.graph->attach(body, 0, Place::body);
          }) == 0);
    CHECK(outer.graph->nested().size() == 200);
}

TEST_CASE("nodes that were read are appended as a whole, with their edges and the graphs inside, or not at all") {
    for (std::size_t count = 0;; ++count) {
        CAPTURE(count);
        const Nodes outer(2);
        const Nodes inner(1);
        ReadNodes read;
        for (std::uint32_t i = 0; i < 100; ++i) {
            read.natives.push_back(nullptr);
            read.records.push_back({NodeKind::empty, {}, {}, {}});
            read.edges.push_back({i, i + 1});
        }
        read.nested.push_back({2, inner.graph});
        const bool done = is_done_with(count, [&] { outer.graph->append(std::move(read)); });
        CHECK(outer.graph->records().nodes().size() == (done ? 102 : 2));
        CHECK(outer.graph->records().natives().size() == (done ? 102 : 2));
        CHECK(outer.graph->edges().size() == (done ? 100 : 0));
        CHECK(outer.graph->nested().size() == (done ? 1 : 0));
        if (done) break;
    }
}

TEST_CASE("an edge that CUDA has is noted without an allocation if there is room") {
    const Nodes nodes(301);
    for (std::uint32_t i = 0; i < 300; ++i) {
        nodes.graph->edge_lists().reserve_native(1);
        CHECK(allocations_of([&] { nodes.graph->edge_lists().add_native(i, i + 1); }) == 0);
    }
    CHECK(nodes.graph->edges().size() == 300);
}

TEST_CASE("to find nodes that a table has indexed allocates nothing, however many there are") {
    std::vector<cudaGraphNode_t> nodes;
    cudag::detail::NodeIndices indices;
    for (std::uintptr_t number = 1; number <= 300; ++number) {
        nodes.push_back(reinterpret_cast<cudaGraphNode_t>(number * 16));
        indices.extend(nodes);
        CHECK(allocations_of([&] { indices.extend(nodes); }) == 0);
    }
}

TEST_CASE("where many changes overlap each other, all accesses are searched once for all of them") {
    constexpr std::uint32_t many = 400;
    const auto atomic = [](std::uintptr_t begin) {
        return std::vector<cudag::detail::ArgumentAccess>{{0, cudag::detail::AccessMode::atomic, 1, {begin, 4}}};
    };
    const auto allocations_with = [&](std::uint32_t changed) {
        WatchedNodes nodes(many);
        for (std::uint32_t i = 0; i < many; ++i)
            nodes[i] = atomic(i < changed ? 0x100000 + 4 * i : 0x1000);
        for (std::uint32_t i = 0; i < changed; ++i)
            nodes.stage(i, atomic(0x1000));
        return allocations_of([&] { CHECK(nodes.find() == std::nullopt); });
    };
    CHECK(allocations_with(many) < 2 * allocations_with(10));
}

TEST_CASE("changes that move by one distance are not compared with each other") {
    constexpr std::uint32_t many = 400; // far more pairs than the visits after which all accesses are searched
    const auto atomic = [](std::uintptr_t begin) {
        return std::vector<cudag::detail::ArgumentAccess>{{0, cudag::detail::AccessMode::atomic, 1, {begin, 4}}};
    };
    WatchedNodes nodes(many);
    for (std::uint32_t i = 0; i < many; ++i)
        nodes[i] = atomic(0x1000);
    for (std::uint32_t i = 0; i < many; ++i)
        nodes.stage(i, atomic(0x2000));
    CHECK(allocations_of([&] { CHECK(nodes.find() == std::nullopt); }) == 0);
}

TEST_CASE("a launch with host nodes for which there is room is noted without an allocation, however many there were") {
    const auto claim = std::make_shared<cudag::detail::HostClaim>();
    cudag::detail::HostLaunches launches(claim);
    const auto in_flight =
        GENERATE(std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{20}); // before the next one is launched
    std::size_t allocated = 0;
    for (std::uint64_t number = 1; number <= 500; ++number) {
        allocated += allocations_of([&] { launches.prepare(); });
        CHECK(allocations_of([&] { launches.launched({nullptr, 7}); }) == 0);
        if (number > in_flight) launches.note_run(number - in_flight);
    }
    CHECK(allocated < 5); // those that have ended make room
    CHECK(launches.count() == 500);
}

TEST_CASE("a host node that throws where there is no memory to keep what is printed all the same") {
    using namespace cudag::detail;
    const HostTask task{nullptr, [](void*) { throw 7; }};
    HostRun run{std::make_shared<HostLaunches>(std::make_shared<HostClaim>()), &task, "host node", {}, {}, 0, 0};
    CHECK(printed([&] { CHECK(is_done_with(0, [&] { run_host_node(&run); })); }) ==
          "cudag: a host node threw, and there is no memory to keep what\n");
    CHECK(run.launch == 1);
    CHECK(printed([&] { CHECK(is_done_with(0, [&] { run_host_task(const_cast<HostTask*>(&task)); })); }) ==
          "cudag: a host node threw; its graph was instantiated without cudag, so no synchronisation throws it\n");
}
