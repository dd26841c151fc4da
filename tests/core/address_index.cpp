// Which words in the parameters of nodes are addresses, and what that makes of a parameter's memory.
#include "handles/address_index.hpp"
#include "graph/region_nodes.hpp"
#include "handles/buffer_uses.hpp"

#include "catch.hpp"
#include "empty_graph.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

using cudag::EndPointers;
using cudag::NodeKind;
using cudag::detail::AccessMode;
using cudag::detail::AddressUse;
using cudag::detail::ArgumentAccess;
using cudag::detail::FreeParams;
using cudag::detail::GraphState;
using cudag::detail::KernelParams;
using cudag::detail::KernelSignature;
using cudag::detail::MemoryBlock;
using cudag::detail::MemoryUses;
using cudag::detail::NodeParams;
using cudag::detail::Obstacle;
using cudag::detail::Parameter;
using cudag::detail::ParameterType;
using cudag::detail::ParamMemory;
using cudag::detail::Place;
using cudag::detail::SetParams;
using cudag::detail::TypeOf;

namespace {

using Words = std::vector<std::uintptr_t>;

constexpr std::uintptr_t memory = 0x5000;
constexpr std::uintptr_t end = memory + 16;

void* pointer_to(std::uintptr_t address) {
    return reinterpret_cast<void*>(address);
}

struct Object {};
constexpr Parameter unknown(std::uint32_t offset, std::uint32_t size = 8) {
    return {.offset = offset, .size = size};
}
constexpr Parameter pointer(std::uint32_t offset) {
    return {offset, 8, ParameterType::pointer, &TypeOf<int*>::tag};
}
constexpr Parameter object(std::uint32_t offset, std::uint32_t size = 8) {
    return {offset, size, ParameterType::object, &TypeOf<Object>::tag};
}
constexpr Parameter span(std::uint32_t offset) {
    return {offset, 16, ParameterType::span, &TypeOf<Object>::tag};
}

using Uses = std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>>; // node, argument, place
using Obstacles = std::vector<std::pair<std::uint32_t, Obstacle>>;

/// A graph of nodes with any parameters. CUDA has empty nodes in their place.
class ParameterWords {
  public:
    std::uint32_t add(NodeKind kind, const NodeParams& params) {
        add_node(*graph, {kind, params, {}, {}});
        return static_cast<std::uint32_t>(graph->records().nodes().size() - 1);
    }
    std::uint32_t kernel(const std::vector<Parameter>& parameters, const Words& words) {
        auto* block = graph->records().memory().allocate_bytes(words.size() * sizeof(words[0]));
        std::memcpy(block, words.data(), words.size() * sizeof(words[0]));
        return add(NodeKind::kernel,
                   graph->records().memory().store(KernelParams{nullptr, nullptr, signature(parameters), {}, block}));
    }
    std::uint32_t fill(std::uintptr_t address, std::size_t bytes) {
        return add(NodeKind::memset, graph->records().memory().store(SetParams{pointer_to(address), bytes, 1, 0}));
    }
    std::uint32_t free(std::uintptr_t address) {
        return add(NodeKind::free, graph->records().memory().store(FreeParams{pointer_to(address)}));
    }
    const KernelSignature* signature(const std::vector<Parameter>& parameters) {
        auto* list = graph->records().memory().allocate<Parameter>(parameters.size());
        std::uninitialized_copy(parameters.begin(), parameters.end(), list);
        const std::uint32_t bytes = parameters.back().offset + parameters.back().size;
        return graph->records().memory().store(
            KernelSignature{list, static_cast<std::uint32_t>(parameters.size()), bytes});
    }
    void declare(std::uint32_t node, std::uint32_t argument, const MemoryBlock& region, std::uint32_t unit = 0) {
        const ArgumentAccess access{argument, AccessMode::read, 1, region, unit};
        graph->records().initial_accesses().add(node, {&access, 1});
    }
    /// What captured launches were given.
    void launched(std::uint32_t node, const std::vector<Parameter>& parameters) {
        graph->records().initial_accesses().add_launch(node, *signature(parameters));
    }

    [[nodiscard]] MemoryUses found(bool in_objects = false, EndPointers ends = EndPointers::not_bound) const {
        return cudag::detail::uses_of(*graph, ParamMemory{1, memory, end - memory, in_objects, ends});
    }
    [[nodiscard]] Uses uses(bool in_objects = false, EndPointers ends = EndPointers::not_bound) const {
        Uses list;
        for (const AddressUse& use : found(in_objects, ends).uses)
            list.emplace_back(use.place.index, use.argument, use.at);
        return list;
    }
    [[nodiscard]] Obstacles obstacles(bool in_objects = false, EndPointers ends = EndPointers::not_bound) const {
        Obstacles list;
        for (const auto& obstacle : found(in_objects, ends).obstacles)
            list.emplace_back(obstacle.place.index, obstacle.kind);
        return list;
    }

    std::shared_ptr<GraphState> graph = empty_graph();
};

} // namespace

TEST_CASE("words are addresses from the first page's end to the longest address", "[graph][addresses]") {
    ParameterWords nodes;
    const std::uintptr_t most = std::uintptr_t{1} << 57U;
    nodes.kernel({unknown(0), unknown(8), unknown(16), unknown(24)}, {4095, 4096, most - 1, most});
    for (const bool is_built : {false, true}) {
        nodes.graph->construction().is_built = is_built;
        CHECK(cudag::detail::all_addresses(*nodes.graph) == Words{4096, most - 1});
    }
}

TEST_CASE("memory that a node frees is no parameter, but where the graph itself allocates it", "[graph][addresses]") {
    ParameterWords nodes;
    SECTION("another graph allocates it") {
        nodes.free(memory);
        nodes.graph->records().allocations().add({memory, 16, std::nullopt, 0U});
        CHECK(nodes.obstacles() == Obstacles{{0, Obstacle::freed}});
    }
    SECTION("a node before allocates it") {
        add_node(*nodes.graph);
        nodes.graph->records().allocations().add({memory, 16, 0U, 1U});
        nodes.free(memory);
        CHECK(nodes.obstacles().empty());
    }
    SECTION("a node inside allocates it") {
        nodes.free(memory);
        const auto inner = empty_graph();
        add_node(*inner);
        inner->records().allocations().add({memory, 16, 0U});
        add_node(*nodes.graph);
        nodes.graph->reserve_nested(*inner);
        nodes.graph->attach(inner, 1, Place::child);
        inner->set_owns_native(true); // it is in no CUDA node
        CHECK(nodes.obstacles().empty());
    }
}

TEST_CASE("a copy of a box uses the memory on both sides", "[graph][addresses]") {
    ParameterWords nodes;
    cudaMemcpy3DParms copy{};
    copy.dstPtr.ptr = pointer_to(memory);
    copy.srcPtr.ptr = pointer_to(memory + 4);
    copy.extent = {1, 1, 1};
    copy.kind = cudaMemcpyDeviceToDevice;
    nodes.add(NodeKind::memcpy, &copy);
    CHECK(nodes.uses() == Uses{{0, 0, 0}, {0, 1, 0}});
}

TEST_CASE("what a launch was given tells what the parameters of its node are", "[graph][addresses]") {
    ParameterWords nodes;
    nodes.kernel({unknown(0, 16)}, {memory, memory + 8});
    const Obstacles both_words{{0, Obstacle::object}, {0, Obstacle::object}};
    SECTION("nothing is known") {
        CHECK(nodes.obstacles() == both_words);
    }
    SECTION("a span") {
        nodes.launched(0, {span(0)}); // the number behind the address is none
        CHECK(nodes.uses() == Uses{{0, 0, 0}});
        CHECK(nodes.obstacles().empty());
    }
    SECTION("an object") {
        nodes.launched(0, {object(0, 16)});
        CHECK(nodes.obstacles() == both_words);
    }
    SECTION("other parameters: more of them") {
        nodes.launched(0, {span(0), pointer(16)});
        CHECK(nodes.obstacles() == both_words);
    }
    SECTION("other parameters: of another size") {
        nodes.launched(0, {pointer(0)});
        CHECK(nodes.obstacles() == both_words);
    }
}

TEST_CASE("an object whose first word is memory that its argument declares is an address", "[graph][addresses]") {
    ParameterWords nodes;
    nodes.kernel({object(0), object(8)}, {memory, memory});
    CHECK(nodes.obstacles() == Obstacles{{0, Obstacle::object}, {0, Obstacle::object}});
    nodes.declare(0, 0, {memory, 16});
    CHECK(nodes.uses() == Uses{{0, 0, 0}});
    CHECK(nodes.obstacles() == Obstacles{{0, Obstacle::object}});
    nodes.declare(0, 1, {memory + 4, 4}); // begins elsewhere
    CHECK(nodes.uses() == Uses{{0, 0, 0}});
}

TEST_CASE("all aligned words of an argument of an unknown type count", "[graph][addresses]") {
    ParameterWords nodes;
    SECTION("behind the first one, which is an address") {
        nodes.kernel({unknown(0, 24)}, {memory, memory + 4, memory + 8});
        nodes.declare(0, 0, {memory, 16});
        CHECK(nodes.uses(true) == Uses{{0, 0, 0}, {0, 0, 8}, {0, 0, 16}});
        CHECK(nodes.obstacles() == Obstacles{{0, Obstacle::object}, {0, Obstacle::object}});
    }
    SECTION("in an argument that is not aligned itself") {
        nodes.kernel({unknown(4, 12)}, {0, memory});
        CHECK(nodes.uses(true) == Uses{{0, 0, 8}});
    }
}

TEST_CASE("an end in an object is one where addresses in objects count", "[graph][addresses]") {
    ParameterWords nodes;
    nodes.kernel({pointer(0), object(8, 16)}, {memory, 0, end});
    CHECK(nodes.obstacles(false, EndPointers::bound) == Obstacles{{0, Obstacle::object}});
    CHECK(nodes.uses(true, EndPointers::bound) == Uses{{0, 0, 0}, {0, 1, 16}});
    CHECK(nodes.obstacles(false, EndPointers::not_bound).empty());
}

TEST_CASE("an end is clear where no known memory begins", "[graph][addresses]") {
    ParameterWords nodes;
    nodes.kernel({pointer(0), pointer(8)}, {memory, end});
    CHECK(nodes.uses(false, EndPointers::where_clear) == Uses{{0, 0, 0}, {0, 1, 8}});
    nodes.fill(end + 4, 4);
    CHECK(nodes.uses(false, EndPointers::where_clear) == Uses{{0, 0, 0}, {0, 1, 8}});
    nodes.fill(end, 4);
    CHECK(nodes.uses(false, EndPointers::where_clear) == Uses{{0, 0, 0}});
    CHECK(nodes.obstacles(false, EndPointers::where_clear) == Obstacles{{0, Obstacle::end}});
}

TEST_CASE("uses and obstacles come node by node, wherever their addresses lie", "[graph][addresses]") {
    ParameterWords nodes;
    nodes.kernel({pointer(0), pointer(8), object(16)}, {memory + 8, end, memory + 12});
    nodes.kernel({pointer(0), pointer(8), object(16)}, {memory, end, memory});
    CHECK(nodes.uses(false, EndPointers::bound) == Uses{{0, 0, 0}, {0, 1, 8}, {1, 0, 0}, {1, 1, 8}});
    CHECK(nodes.obstacles() == Obstacles{{0, Obstacle::object}, {1, Obstacle::object}});
}

TEST_CASE("declared memory without an address of it in the argument is an obstacle", "[graph][addresses]") {
    ParameterWords nodes;
    nodes.kernel({pointer(0), object(8)}, {memory, 0});
    nodes.kernel({pointer(0)}, {memory});
    CHECK(nodes.obstacles().empty());
    SECTION("inside") {
        nodes.declare(0, 0, {memory + 4, 4});
        CHECK(nodes.obstacles().empty());
        nodes.declare(0, 1, {memory + 4, 4});
        CHECK(nodes.obstacles() == Obstacles{{0, Obstacle::from_outside}});
    }
    SECTION("from outside") {
        nodes.declare(0, 0, {memory - 4, 8});
        CHECK(nodes.obstacles() == Obstacles{{0, Obstacle::from_outside}});
    }
}

TEST_CASE("what a region declares is of its own nodes, not of those behind", "[graph][addresses]") {
    ParameterWords nodes;
    nodes.kernel({pointer(0)}, {0});
    nodes.kernel({pointer(0)}, {memory});
    nodes.kernel({pointer(0)}, {memory});
    const cudag::detail::RegionNodes one{0, 1, {}, {}, {}}, two{0, 2, {}, {}, {}};
    nodes.declare(0, cudag::whole_node, {memory, 16}, unit_of(one));
    nodes.graph->construction().regions = {&one};
    CHECK(nodes.obstacles() == Obstacles{{0, Obstacle::declared}});
    nodes.graph->construction().regions = {&two};
    CHECK(nodes.obstacles().empty());
    CHECK(nodes.found().declared.size() == 1);
}

TEST_CASE("the addresses of a graph that is built are looked for once", "[graph][addresses]") {
    ParameterWords nodes;
    nodes.kernel({pointer(0)}, {memory});
    CHECK(nodes.uses().size() == 1);
    nodes.kernel({pointer(0)}, {memory});
    CHECK(nodes.uses().size() == 2);
    nodes.graph->construction().is_built = true;
    const auto first = cudag::detail::addresses_of(*nodes.graph);
    CHECK(cudag::detail::addresses_of(*nodes.graph) == first);
    nodes.graph->records().count_declared();
    CHECK(cudag::detail::addresses_of(*nodes.graph) != first);
}
