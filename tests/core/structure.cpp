// The number of a graph's structure: what an update of a whole graph cannot change has a part in it, and nothing else.
#include "compare/structure.hpp"

#include "catch.hpp"
#include "empty_graph.hpp"
#include "kernels.hpp"

#include <cudag/launch_config.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

using cudag::EdgeKind;
using cudag::LaunchConfig;
using cudag::NodeKind;
using cudag::detail::EdgeRecord;
using cudag::detail::GraphState;
using cudag::detail::KernelParams;
using cudag::detail::KernelSignature;
using cudag::detail::KnownStructure;
using cudag::detail::NodeParams;
using cudag::detail::Place;
using cudag::detail::structure_of;

namespace {

using Kinds = std::vector<NodeKind>;
using Edges = std::vector<EdgeRecord>;

std::shared_ptr<GraphState> graph_of(const Kinds& kinds, const Edges& edges = {}) {
    auto graph = empty_graph();
    for (const NodeKind kind : kinds)
        add_node(*graph, {kind, {}, {}, {}});
    for (const EdgeRecord& edge : edges)
        graph->edge_lists().logical().add(edge);
    return graph;
}

std::uint64_t number_in(const GraphState& graph) {
    const auto lock = graph.lock();
    return structure_of(graph);
}

std::uint64_t number_of(const Kinds& kinds, const Edges& edges = {}) {
    return number_in(*graph_of(kinds, edges));
}

std::uint64_t number_with_inside(const Kinds& kinds, const Edges& edges = {}) {
    const auto graph = graph_of({NodeKind::child});
    const auto inside = graph_of(kinds, edges);
    graph->reserve_nested(*inside);
    graph->attach(inside, 0, Place::child);
    return number_in(*graph);
}

constexpr NodeKind fill = NodeKind::memset;
constexpr NodeKind copy = NodeKind::memcpy;

constexpr KernelSignature no_parameters{nullptr, 0, 0};

KernelParams kernel_of(std::uintptr_t function) {
    KernelParams kernel{};
    kernel.function = reinterpret_cast<CUfunction>(function);
    kernel.signature = &no_parameters;
    kernel.shape = {{1}, {32}, 0};
    return kernel;
}

std::uint64_t number_of(const KernelParams& kernel) {
    const auto graph = empty_graph();
    add_node(*graph, {NodeKind::kernel, &kernel, {}, {}});
    return number_in(*graph);
}

std::uint64_t number_with(const LaunchConfig& attributes) {
    KernelParams kernel = kernel_of(64);
    kernel.attributes = &attributes;
    return number_of(kernel);
}

/// A kernel of CUDA's whose attributes are still to be read.
class Unread {
  public:
    explicit Unread(bool is_cooperative) {
        REQUIRE(cudaGraphCreate(&graph_, 0) == cudaSuccess);
        cudaKernelNodeParams params{};
        params.func = const_cast<void*>(cudag::detail::kernel_symbol(sought));
        params.gridDim = params.blockDim = dim3(1);
        REQUIRE(cudaGraphAddKernelNode(&node_, graph_, nullptr, 0, &params) == cudaSuccess);
        cudaLaunchAttributeValue value{};
        value.cooperative = is_cooperative ? 1 : 0;
        REQUIRE(cudaGraphKernelNodeSetAttribute(node_, cudaLaunchAttributeCooperative, &value) == cudaSuccess);
    }
    ~Unread() { cudaGraphDestroy(graph_); }
    Unread(const Unread&) = delete;
    Unread& operator=(const Unread&) = delete;
    [[nodiscard]] std::uint64_t number() const {
        KernelParams kernel = kernel_of(64);
        kernel.unread = node_;
        return number_of(kernel);
    }

  private:
    cudaGraph_t graph_ = nullptr;
    cudaGraphNode_t node_ = nullptr;
};

} // namespace

TEST_CASE("the number of a structure tells kinds of nodes, how many there are, and edges", "[core][structure]") {
    const std::uint64_t number = number_of({fill, copy, copy}, {{0, 1}});
    CHECK(number_of({fill, copy, copy}, {{0, 1}}) == number);
    CHECK(number_of({fill, copy, fill}, {{0, 1}}) != number);
    CHECK(number_of({copy, fill, copy}, {{0, 1}}) != number);
    CHECK(number_of({fill, copy}, {{0, 1}}) != number);
    CHECK(number_of({fill, copy, copy}, {{0, 2}}) != number);
    CHECK(number_of({fill, copy, copy}, {{1, 2}}) != number);
    CHECK(number_of({fill, copy, copy}, {{0, 1, EdgeKind::programmatic}}) != number);
    CHECK(number_of({fill, copy, copy}) != number);
    CHECK(number_of({fill, copy, copy}, {{0, 1}, {0, 2}}) != number);
}

TEST_CASE("a graph knows the number of its structure until a node changes", "[core][structure]") {
    const auto graph = graph_of({fill, copy}, {{0, 1}});
    const auto& known = graph->memos().of<KnownStructure>();
    CHECK_FALSE(known.version);
    const std::uint64_t number = number_in(*graph);
    CHECK(known.number == number);
    CHECK(known.version == graph->changes().version());
    CHECK(number_in(*graph) == number);
    graph->changes().reserve(1);
    graph->changes().count(graph->records().updated(0), {});
    CHECK(number_in(*graph) == number);
    CHECK(known.version == graph->changes().version());
}

TEST_CASE("the number of a structure tells graphs inside", "[core][structure]") {
    const std::uint64_t number = number_with_inside({fill, copy}, {{0, 1}});
    CHECK(number_with_inside({fill, copy}, {{0, 1}}) == number);
    CHECK(number_with_inside({fill, fill}, {{0, 1}}) != number);
    CHECK(number_with_inside({fill, copy}) != number);
    CHECK(number_of({NodeKind::child}) != number);
}

TEST_CASE("the number of a structure tells kernels and the attributes that CUDA fixes, no others",
          "[core][structure]") {
    CHECK(number_of(kernel_of(64)) == number_of(kernel_of(64)));
    CHECK(number_of(kernel_of(64)) != number_of(kernel_of(128)));
    const std::uint64_t number = number_with({});
    CHECK(number == number_of(kernel_of(64)));
    CHECK(number_with({.priority = -1}) == number);
    const std::uint64_t cooperative = number_with({.cooperative = true});
    CHECK(cooperative != number);
    CHECK(number_with({.nvlink_util_centric_scheduling = true}) != cooperative);
    CHECK(number_with({.device_updatable = true}) != cooperative);
    const std::uint64_t carveout = number_with({.preferred_shared_memory_carveout = 50});
    CHECK(carveout != number);
    CHECK(number_with({.preferred_shared_memory_carveout = 60}) != carveout);
    CHECK(number_with({.priority = -1, .preferred_shared_memory_carveout = 50}) == carveout);
}

TEST_CASE("the number of a structure tells attributes of kernels that are still to be read", "[core][structure]") {
    CHECK(Unread(true).number() == Unread(true).number());
    CHECK(Unread(true).number() != Unread(false).number());
}
