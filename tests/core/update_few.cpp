// Updates of an exec by the nodes in which a graph differs: what an ExecCache, whose graphs have one structure, does
// not show.
#include "exec/update_few.hpp"
#include "node/copy_3d.hpp"
#include "order/declarations.hpp"

#include "catch.hpp"
#include "empty_graph.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

using cudag::NodeKind;
using cudag::detail::ExecState;
using cudag::detail::GraphState;
using cudag::detail::HostParams;
using cudag::detail::KernelParams;
using cudag::detail::KernelSignature;
using cudag::detail::NodeParams;
using cudag::detail::NodeRecord;
using cudag::detail::update_few;

namespace {

constexpr std::uint32_t nodes = 7; // too few for one that is updated by itself

/// A graph of so many nodes, of which CUDA knows empty ones, with an edge from node `from` to the next one.
std::shared_ptr<GraphState> graph_of(std::uint32_t count, std::uint32_t from = 0, NodeKind kind = NodeKind::empty,
                                     const NodeParams& first = {}) {
    const auto graph = empty_graph();
    for (std::uint32_t i = 0; i < count; ++i)
        add_node(*graph, i == 0 ? NodeRecord(kind, first, {}, {}) : NodeRecord(NodeKind::empty, {}, {}, {}));
    graph->edge_lists().reserve_native(1);
    graph->edge_lists().add_native(from, from + 1);
    return graph;
}

/// Whether an exec of `graph` has `next` after an update by nodes.
bool takes(const std::shared_ptr<GraphState>& graph, const std::shared_ptr<GraphState>& next) {
    cudaGraphExec_t native = nullptr;
    REQUIRE(cudaGraphInstantiate(&native, graph->native(), 0) == cudaSuccess);
    ExecState exec(native, graph, {});
    return update_few(exec, next);
}
bool takes(NodeKind kind, const NodeParams& params, const NodeParams& next) {
    return takes(graph_of(nodes, 0, kind, params), graph_of(nodes, 0, kind, next));
}

/// A kernel that takes two numbers.
struct Kernel {
    alignas(int) std::array<std::byte, 2 * sizeof(int)> values{};
    cudag::LaunchConfig attributes;
    KernelParams params{};

    Kernel() {
        params.function = reinterpret_cast<CUfunction>(std::uintptr_t{64});
        params.signature = &cudag::detail::SignatureOf<int, int>::value;
        params.shape = {{1}, {32}, 0};
        params.values = values.data();
    }
    Kernel(const Kernel&) = delete;
    Kernel& operator=(const Kernel&) = delete;
};

bool takes(const Kernel& kernel, const Kernel& next) {
    return takes(NodeKind::kernel, &kernel.params, &next.params);
}

} // namespace

TEST_CASE("an exec takes a graph node by node only where nodes and edges are its own") {
    CHECK(takes(graph_of(3, 0), graph_of(3, 0)));
    CHECK_FALSE(takes(graph_of(3, 0), graph_of(3, 1)));
    CHECK_FALSE(takes(graph_of(3, 0), graph_of(4, 0)));
    CHECK_FALSE(takes(graph_of(3, 0), graph_of(3, 0, NodeKind::memset)));
}

TEST_CASE("kernels are the same if all that they are launched with is") {
    const Kernel kernel;
    Kernel next;
    CHECK(takes(kernel, next));
    SECTION("another function") {
        next.params.function = reinterpret_cast<CUfunction>(std::uintptr_t{128});
    }
    SECTION("other types") {
        next.params.signature = &cudag::detail::SignatureOf<int, unsigned>::value;
    }
    SECTION("another grid") {
        next.params.shape.grid.y = 2;
    }
    SECTION("other blocks") {
        next.params.shape.block.z = 2;
    }
    SECTION("other shared memory") {
        next.params.shape.shared_bytes = 4;
    }
    SECTION("another first argument") {
        next.values[0] = std::byte{1};
    }
    SECTION("another last argument") {
        next.values.back() = std::byte{1};
    }
    SECTION("attributes") {
        next.params.attributes = &next.attributes;
    }
    CHECK_FALSE(takes(kernel, next));
    CHECK_FALSE(takes(next, kernel));
}

TEST_CASE("nodes whose parameters are not all that they do are not taken by themselves") {
    const HostParams host{};
    CHECK_FALSE(takes(NodeKind::host, &host, &host));
    CHECK_FALSE(takes(NodeKind::child, {}, {}));
    const Kernel kernel;
    CHECK_FALSE(takes(NodeKind::kernel, {}, &kernel.params));
    CHECK_FALSE(takes(NodeKind::kernel, &kernel.params, {}));
    const cudag::detail::CopyParams copy{};
    const cudaMemcpy3DParms copy_3d{};
    CHECK(takes(NodeKind::memcpy, &copy, &copy));
    CHECK_FALSE(takes(NodeKind::memcpy, &copy, &copy_3d));
}

TEST_CASE("kernels whose values differ only between their arguments are the same") {
    alignas(double) std::array<std::byte, 2 * sizeof(double)> values{}, others{};
    const KernelSignature& signature = cudag::detail::SignatureOf<int, double>::value;
    REQUIRE(signature.bytes == values.size());
    others[sizeof(int)] = std::byte{1};
    Kernel kernel, next;
    kernel.params.signature = next.params.signature = &signature;
    kernel.params.values = values.data();
    next.params.values = others.data();
    CHECK(takes(kernel, next));
    SECTION("the first argument") {
        others[0] = std::byte{1};
    }
    SECTION("the last argument") {
        others.back() = std::byte{255};
    }
    CHECK_FALSE(takes(kernel, next));
    CHECK_FALSE(takes(next, kernel));
}

TEST_CASE("nodes that declare what those of an exec do are the same") {
    const auto declaring = [](std::uintptr_t last) {
        const std::shared_ptr<GraphState> graph = graph_of(nodes);
        const auto declare = [&](std::uint32_t node, std::uintptr_t address) {
            declare_accesses(*graph, node, {{cudag::whole_node, cudag::detail::AccessMode::read, 4, {address, 16}}});
        };
        declare(0, 64);
        declare(0, 128);
        declare(2, 256);
        declare(3, last);
        return graph;
    };
    CHECK(takes(declaring(512), declaring(512)));
    CHECK_FALSE(takes(declaring(512), declaring(1024)));
    CHECK_FALSE(takes(declaring(512), graph_of(nodes)));
    CHECK_FALSE(takes(graph_of(nodes), declaring(512)));
}
