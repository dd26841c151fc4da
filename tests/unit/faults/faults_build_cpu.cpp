// Every runtime call that fails while a graph is built, cloned, adopted or instantiated.
#include <sys/mman.h>

#include "allocation_faults.hpp"
#include "cuda_edges.hpp"
#include "faults.hpp"
#include "live_counts.hpp"
#include "pipeline.hpp"

#include <catch.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

void check_whole(const cudag::Graph& graph) {
    CHECK(graph.node_count() == 6);
    CHECK(graph.edge_count() == 5);
}

/// Makes the calls that a process or a thread makes once, so that no walk meets them.
void warm_up() {
    Pipeline pipeline;
    static_cast<void>(pipeline.build().instantiate());
}

/// A call that asks for the thread's CUDA context is made good by the next one; no other failure may be ignored.
void check_only_context_ignored(const Faults& faults) {
    CHECK(faults.ignored <= 1);
}

/// Adds a node in a builder that has one already; each failure must add nothing.
template <class AddNode>
void check_adding(AddNode&& add_node) {
    warm_up();
    const NothingLeft check;
    cudag::GraphBuilder builder({.races = cudag::Races::allowed});
    const cudag::HostNode first = builder.host([] {});
    const Faults faults = for_every_call_failing([&] { static_cast<void>(add_node(builder, first)); });
    CHECK(faults.thrown > 0);
    check_only_context_ignored(faults);
    const cudag::Graph graph = std::move(builder).build();
    const std::size_t count = 1 + faults.ignored + 1;
    CHECK(graph.node_count() == count);
    std::size_t native_count = 0;
    REQUIRE(cudaGraphGetNodes(graph.native(), nullptr, &native_count) == cudaSuccess);
    CHECK(native_count == count);
}

} // namespace

TEST_CASE("a graph that fails to build at any call leaves nothing behind", "[unit][faults]") {
    warm_up();
    const NothingLeft check;
    Pipeline pipeline;
    const Faults faults = for_every_call_failing([&] { return pipeline.build(); });
    CHECK(faults.thrown >= 10);
    check_only_context_ignored(faults);

    const cudag::Graph graph = pipeline.build();
    check_whole(graph);
    cudag::Exec exec = graph.instantiate();
    CHECK(pipeline.run(exec) == pipeline.expected());
}

TEST_CASE("a node whose call fails is not in the graph", "[unit][faults]") {
    std::vector<int> host(4);
    const cudag::DeviceBuffer<int> x(4);
    const cudag::DeviceBuffer<int> y(4);
    SECTION("kernel") {
        check_adding(
            [&](auto& builder, auto) { return builder.kernel(cudag::grid_1d(4, 4), multiply_add, x, y, 4, 1); });
    }
    SECTION("function") {
        cudaKernel_t kernel = nullptr;
        REQUIRE(cudaGetKernel(&kernel, cudag::detail::kernel_symbol(multiply_add)) == cudaSuccess);
        check_adding(
            [&](auto& builder, auto) { return builder.kernel({.block = 4}, cudag::Function(kernel), x, y, 4, 1); });
    }
    SECTION("memcpy") {
        check_adding([&](auto& builder, auto) { return builder.memcpy(x, host); });
    }
    SECTION("memset") {
        check_adding([&](auto& builder, auto) { return builder.memset(x, 1); });
    }
    SECTION("host") {
        check_adding([&](auto& builder, auto) { return builder.host([] {}); });
    }
    SECTION("event") {
        cudag::Event event;
        check_adding([&](auto& builder, auto) { return builder.record(event); });
        check_adding([&](auto& builder, auto) { return builder.wait(event); });
    }
    SECTION("semaphores") {
        const auto semaphore = cudag::ExternalSemaphore::import_timeline(memfd_create("timeline", MFD_CLOEXEC));
        check_adding([&](auto& builder, auto) { return builder.signal({semaphore, 1}); });
        check_adding([&](auto& builder, auto) { return builder.wait({semaphore, 1}); });
    }
    SECTION("memory operations") {
        const cudag::PinnedBuffer<unsigned> flag(1);
        check_adding([&](auto& builder, auto) { return builder.write_value(flag, 1U); });
        check_adding([&](auto& builder, auto) { return builder.wait_value(flag, 1U); });
    }
    SECTION("alloc") {
        check_adding(
            [&](auto& builder, auto first) { return builder.template alloc<int>(4, {.device = 0, .after = {first}}); });
    }
    SECTION("join") {
        check_adding([&](auto& builder, auto first) { return builder.join(first); });
    }
}

TEST_CASE("a batch of copies whose call fails is not in the graph, nor part of it", "[unit][faults]") {
    warm_up();
    const NothingLeft check;
    const cudag::DeviceBuffer<int> x(4);
    const cudag::DeviceBuffer<int> y(4);
    cudag::GraphBuilder builder({.races = cudag::Races::allowed});
    const auto copy_halves = [&] {
        builder.memcpy({{x.span().first(2), y.span().first(2)}, {x.span().subspan(2), y.span().subspan(2)}});
    };
    const Faults faults = for_every_call_failing(copy_halves);
    const cudag::Graph graph = std::move(builder).build();
    const bool is_one_node = graph.nodes().front().kind() == cudag::NodeKind::memcpy_batch;
    CHECK(faults.thrown >= (is_one_node ? 1 : 3));
    check_only_context_ignored(faults);
    CHECK(graph.node_count() == (is_one_node ? 1 : 3) * (faults.ignored + 1));
    CHECK(graph.edge_count() == (is_one_node ? 0 : 2) * (faults.ignored + 1));
}

TEST_CASE("a kernel node whose attributes fail is not in the graph", "[unit][faults]") {
    warm_up();
    const NothingLeft check;
    const cudag::DeviceBuffer<int> x(4);
    const cudag::LaunchConfig config{.grid = 4, .cluster = 2, .priority = -1};
    cudag::GraphBuilder builder({.races = cudag::Races::allowed});
    const auto add = [&] { return builder.kernel(config, multiply_add, x, x, 4, 1); };
    const Faults faults = for_every_call_failing(add);
    CHECK(faults.thrown >= 3); // the node and both attributes; what only looks for a reason may fail
    const cudag::Graph graph = std::move(builder).build();
    const std::size_t count = faults.ignored + 1;
    CHECK(graph.node_count() == count);
    std::size_t native_count = 0;
    REQUIRE(cudaGraphGetNodes(graph.native(), nullptr, &native_count) == cudaSuccess);
    CHECK(native_count == count);
}

TEST_CASE("a kernel node with attributes for which there is no memory is not in the graph", "[unit][faults]") {
    warm_up();
    const cudag::DeviceBuffer<int> x(4);
    const cudag::LaunchConfig config{.grid = 4, .cluster = 2, .priority = -1};
    for (std::size_t n = 1;; ++n) {
        CAPTURE(n);
        cudag::GraphBuilder builder({.races = cudag::Races::allowed});
        const auto failed =
            fails_without_allocation(n, [&] { static_cast<void>(builder.kernel(config, multiply_add, x, x, 4, 1)); });
        const std::size_t count = failed && *failed ? 0 : 1;
        const cudag::Graph graph = std::move(builder).build();
        CHECK(graph.node_count() == count);
        std::size_t native_count = 0;
        REQUIRE(cudaGraphGetNodes(graph.native(), nullptr, &native_count) == cudaSuccess);
        CHECK(native_count == count);
        if (!failed) return;
    }
}

TEST_CASE("an attribute that CUDA refuses leaves no node in a graph with allocations, of which CUDA removes none",
          "[unit][faults]") {
    warm_up();
    const cudag::DeviceBuffer<int> x(4);
    for (std::uint64_t call = 1;; ++call) {
        cudag::GraphBuilder builder;
        static_cast<void>(builder.alloc<int>(1));
        std::string failed;
        cudart_cpu::fail_call(call, cudaErrorNotSupported);
        try {
            builder.kernel({.priority = -1}, multiply_add, x, x, 4, 1);
        } catch (const cudag::Error& error) {
            detail::check_injected(error, cudaErrorNotSupported);
            failed = error.operation();
        }
        cudart_cpu::fail_call(0, cudaSuccess);
        if (failed != "cudaGraphKernelNodeSetAttribute") continue; // the first of them
        std::size_t count = 0;
        const cudag::Graph graph = std::move(builder).build();
        REQUIRE(cudaGraphGetNodes(graph.native(), nullptr, &count) == cudaSuccess);
        CHECK(count == 1);
        return;
    }
}

TEST_CASE("where CUDA tells no limit of clusters, it decides itself on one that its kernel allows", "[unit][faults]") {
    warm_up();
    const void* const kernel = cudag::detail::kernel_symbol(multiply_add);
    const auto allow = [&](int allowed) {
        REQUIRE(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, allowed) == cudaSuccess);
    };
    allow(1);
    const cudag::DeviceBuffer<int> x(16);
    cudag::GraphBuilder builder;
    CHECK(builder.kernel({.grid = 16, .cluster = 16}, multiply_add, x, x, 16, 1).kind() == cudag::NodeKind::kernel);
    allow(0);
    CHECK(std::move(builder).build().node_count() == 1);
}

TEST_CASE("a free node whose call fails can be added again", "[unit][faults]") {
    warm_up();
    const NothingLeft check;
    cudag::GraphBuilder builder;
    const auto alloc = builder.alloc<int>(1);
    const Faults faults = for_every_call_failing([&] { builder.free(alloc).after(alloc); });
    CHECK(faults.thrown == 1);
    CHECK(faults.ignored == 0);
    CHECK(std::move(builder).build().node_count() == 2);
}

TEST_CASE("building makes no call that could fail", "[unit][faults]") {
    warm_up();
    const NothingLeft check;
    Pipeline pipeline;
    cudag::GraphBuilder builder;
    pipeline.write(builder);
    const Faults faults = for_every_call_failing([&] {
        builder.check();
        return std::move(builder).build();
    });
    CHECK(faults.thrown == 0);
    CHECK(faults.ignored == 0);
}

TEST_CASE("a Graph is as it was when its clone fails", "[unit][faults]") {
    warm_up();
    const NothingLeft check;
    Pipeline pipeline;
    const cudag::Graph graph = pipeline.build();
    const Faults faults = for_every_call_failing([&] { return graph.clone(); }, [&] { check_whole(graph); });
    CHECK(faults.thrown > 6); // each node is looked up in the clone
    CHECK(faults.ignored == 0);

    cudag::Exec exec = graph.clone().instantiate();
    CHECK(pipeline.run(exec) == pipeline.expected());
}

TEST_CASE("a Graph is as it was when its native graph cannot be completed", "[unit][faults]") {
    warm_up();
    const NothingLeft check;
    Pipeline pipeline;
    const cudag::Graph graph = pipeline.build();
    const Faults faults =
        for_every_call_failing([&] { static_cast<void>(graph.native()); }, [&] { check_whole(graph); });
    CHECK(faults.thrown == 2); // edges added, user object retained
    CHECK(faults.ignored == 0);
    const cudag::Graph complete = graph.clone();
    cudart_cpu::fail_call(1, cudaErrorMemoryAllocation); // user object made
    CHECK_THROWS_AS(static_cast<void>(complete.native()), cudag::GraphError);
    check_whole(complete);

    std::size_t edges = 0;
    REQUIRE(get_edges(graph.native(), nullptr, nullptr, nullptr, &edges) == cudaSuccess);
    CHECK(edges == 4); // others imply one
    cudag::Exec exec = graph.instantiate();
    CHECK(pipeline.run(exec) == pipeline.expected());
}

TEST_CASE("a Graph is as it was when instantiation fails", "[unit][faults]") {
    warm_up();
    const NothingLeft check;
    Pipeline pipeline;
    const cudag::Graph graph = pipeline.build();
    const Faults faults = for_every_call_failing([&] { return graph.instantiate(); }, [&] { check_whole(graph); });
    CHECK(faults.thrown == 2); // edges added, the host node given what it calls
    CHECK(faults.ignored == 0);

    cudag::Exec exec = graph.instantiate();
    CHECK(pipeline.run(exec) == pipeline.expected());
    CHECK(pipeline.runs == 1);
}

TEST_CASE("CUDA's refusal to instantiate is an InstantiateError", "[unit][faults]") {
    warm_up();
    const NothingLeft check;
    Pipeline pipeline;
    const cudag::Graph graph = pipeline.build();
    static_cast<void>(graph.instantiate()); // the next has edges, and the instantiation itself is its first call
    cudart_cpu::fail_call(1, cudaErrorMemoryAllocation);
    CHECK_THROWS_MATCHES(static_cast<void>(graph.instantiate()), cudag::InstantiateError,
                         MessageMatches(StartsWith("cudag: instantiate: ") && ContainsSubstring("out of memory")));
    CHECK_NOTHROW(static_cast<void>(graph.instantiate()));
}

TEST_CASE("looking for a kernel fails without changing the graph", "[unit][faults]") {
    warm_up();
    const NothingLeft check;
    Pipeline pipeline;
    const cudag::Graph graph = pipeline.build();
    for_every_call_failing([&] { return graph.find(multiply_add); }, [&] { check_whole(graph); });
    CHECK(graph.find(multiply_add).size() == 1);
}

TEST_CASE("a graph that cannot be adopted stays the caller's", "[unit][faults]") {
    warm_up();
    const NothingLeft check;
    Pipeline pipeline;
    const cudag::Graph original = pipeline.build();
    static_cast<void>(original.instantiate({.plan = cudag::Plan::as_written()}));
    cudaGraph_t native = nullptr;
    const auto make = [&] {
        if (native == nullptr) REQUIRE(cudaGraphClone(&native, original.native()) == cudaSuccess);
    };
    const auto still_whole = [&] {
        if (native == nullptr) return;
        std::size_t nodes = 0;
        std::size_t edges = 0;
        REQUIRE(cudaGraphGetNodes(native, nullptr, &nodes) == cudaSuccess);
        REQUIRE(get_edges(native, nullptr, nullptr, nullptr, &edges) == cudaSuccess);
        CHECK(nodes == 6);
        CHECK(edges == 5);
    };
    const auto adopt = [&] {
        cudag::Graph graph = cudag::Graph::adopt(native);
        native = nullptr;
        check_whole(graph);
        return graph;
    };
    const Faults faults = for_every_call_failing(adopt, still_whole, make);
    CHECK(faults.thrown > 12); // each node's kind and parameters are read
    check_only_context_ignored(faults);
}

TEST_CASE("a plan whose first kernel cannot be loaded has none, and the next plan has", "[.][first-kernel]") {
    const cudag::DeviceBuffer<int> cells(40);
    const auto joined = [&](std::size_t count) { // as many fills before a join as after it
        cudag::GraphBuilder b;
        std::vector<cudag::Node> first;
        for (std::size_t i = 0; i < count; ++i)
            first.push_back(b.memset(cells.span().subspan(i, 1), 1));
        const auto join = b.join(first);
        for (std::size_t i = 0; i < count; ++i)
            b.memset(cells.span().subspan(20 + i, 1), 2).after(join);
        return std::move(b).build();
    };
    CHECK(joined(2).instantiate().plan().kernels() == 0); // what CUDA is asked once, it is from here on
    const cudag::Graph graph = joined(20);
    cudart_cpu::fail_call(2, cudaErrorMemoryAllocation); // the first one lets captures go on meanwhile
    const cudag::Exec exec = graph.instantiate();
    cudart_cpu::fail_call(0, cudaSuccess);
    CHECK(exec.plan().kernels() == 0);
    CHECK(cudaGetLastError() == cudaSuccess);
    const auto text_over = [&](int driver) {
        cudart_cpu::set_driver_version(driver);
        const std::string text = to_string(exec.plan());
        cudart_cpu::set_driver_version(0);
        return text;
    };
    CHECK_THAT(text_over(0), ContainsSubstring("the empty kernel cannot be loaded on this device"));
    CHECK_THAT(text_over(12080), ContainsSubstring("the empty kernel cannot be loaded on this device"));
    CHECK_THAT(text_over(12060), ContainsSubstring("an empty kernel needs a driver and runtime for CUDA 12.8"));
    CHECK(joined(20).instantiate().plan().kernels() == 1);
}

TEST_CASE("a builder whose inference fails has no edges and joins but its own", "[unit][faults]") {
    constexpr int n = 40;
    const cudag::DeviceBuffer<int> from(n), to(n * n);
    const auto write = [&](cudag::GraphBuilder& b) {
        for (std::size_t i = 0; i < n; ++i)
            b.memcpy(to.span().subspan(i * n, n), from.span());
        for (std::size_t i = 0; i < n; ++i)
            b.memset(from.span().subspan(i, 1), 7);
    };
    std::optional<cudag::GraphBuilder> builder;
    cudag::IfNode branch;
    const auto prepare = [&] {
        builder.emplace(cudag::BuilderOptions{.dependencies = cudag::Dependencies::inferred});
        write(*builder);
        branch = builder->if_(builder->condition(1), write);
    };
    prepare();
    const cudag::Graph undisturbed = std::move(*builder).build();
    CHECK(undisturbed.node_count() == 2 * n + 2);
    unsigned refused = 0;
    const auto verify = [&] {
        try {
            const cudag::Graph graph = std::move(*builder).build();
            CHECK(graph.node_count() == undisturbed.node_count());
            CHECK(graph.edge_count() == undisturbed.edge_count());
            CHECK(branch.body().node_count() == 2 * n + 1);
        } catch (const cudag::GraphError& error) { // taking a join back was what failed
            CHECK_THAT(error.what(), ContainsSubstring("a node could not be removed"));
            ++refused;
        }
    };
    const Faults faults = for_every_call_failing([&] { builder->check(); }, verify, prepare);
    CHECK(faults.thrown >= 2); // a join in the graph, one in the body
    CHECK(refused <= faults.ignored);
}

TEST_CASE("a native node that cannot be read is not in the graph", "[unit][faults]") {
    const cudag::DeviceBuffer<int> x(4);
    std::optional<cudag::GraphBuilder> builder;
    cudaGraphNodeParams params{};
    const auto prepare = [&] {
        builder.emplace();
        params = {};
        params.type = cudaGraphNodeTypeMemset;
        params.memset.dst = x.data();
        params.memset.value = 7;
        params.memset.elementSize = sizeof(int);
        params.memset.width = 4;
        params.memset.height = 1;
    };
    prepare();
    builder->native(params); // the calls that a process makes once
    unsigned kept = 0;
    const auto verify = [&] {
        const cudag::Graph graph = std::move(*builder).build();
        std::size_t count = 0;
        cudag::check(cudaGraphGetNodes(graph.native(), nullptr, &count));
        CHECK(count == graph.node_count());
        kept += graph.node_count() == 0 ? 0U : 1U;
    };
    const Faults faults = for_every_call_failing([&] { builder->native(params); }, verify, prepare);
    CHECK(faults.thrown >= 2); // the node, what CUDA tells of it
    CHECK(kept == faults.ignored);
}
