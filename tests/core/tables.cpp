// Tables that grow with a graph, or with the updates of its nodes.
#include "exec/shadows.hpp"
#include "graph/graph_state.hpp"
#include "graph/node_indices.hpp"
#include "graph/node_table.hpp"
#include "graph/region_units.hpp"
#include "graph/waiting_owners.hpp"
#include "lists/lru.hpp"
#include "lists/none.hpp"
#include "lists/renumbering.hpp"
#include "node/kernel.hpp"

#include "catch.hpp"

#include <algorithm>
#include <cstdint>
#include <list>
#include <memory>
#include <utility>
#include <vector>

using cudag::NodeKind;
using cudag::detail::ArgumentPointers;
using cudag::detail::GraphState;
using cudag::detail::KernelParams;
using cudag::detail::KernelSignature;
using cudag::detail::LruIndex;
using cudag::detail::LruInFlight;
using cudag::detail::NodeIndices;
using cudag::detail::NodeTable;
using cudag::detail::none;
using cudag::detail::Parameter;
using cudag::detail::ParameterType;
using cudag::detail::RegionUnits;
using cudag::detail::Renumbering;
using cudag::detail::SetParams;
using cudag::detail::Shadow;
using cudag::detail::Shadows;
using cudag::detail::UpdatedNode;
using cudag::detail::WaitingOwners;

namespace {

/// Handles that are not followed.
cudaGraphNode_t handle(std::uintptr_t number) {
    return reinterpret_cast<cudaGraphNode_t>(number * 16);
}

} // namespace

TEST_CASE("nodes are found by their handles, however many came since the last time") {
    std::vector<cudaGraphNode_t> nodes;
    NodeIndices indices;
    CHECK(indices.find(nodes, handle(1)) == none);
    for (const std::size_t more : {1U, 1U, 6U, 1U, 20U, 100U, 3U, 500U}) {
        for (std::size_t i = 0; i < more; ++i)
            nodes.push_back(handle(1 + nodes.size()));
        indices.extend(nodes);
        CHECK(indices.count() == nodes.size());
        for (std::uint32_t i = 0; i < nodes.size(); ++i)
            CHECK(indices.find(nodes, nodes[i]) == i);
        CHECK(indices.find(nodes, handle(1 + nodes.size())) == none);
    }
    indices.clear();
    CHECK(indices.count() == 0);
    CHECK(indices.find(nodes, nodes[0]) == none);
    nodes.resize(3);
    indices.extend(nodes);
    CHECK(indices.find(nodes, nodes[2]) == 2);
    CHECK(NodeIndices(nodes).find(nodes, nodes[1]) == 1);
}

TEST_CASE("a table finds the nodes that it has, after others were forgotten or became those of a clone") {
    NodeTable table;
    std::uintptr_t last = 0;
    const auto add = [&](std::size_t count) {
        for (; count > 0; --count)
            table.add(handle(++last), {NodeKind::empty, {}, {}, {}});
    };
    const auto check = [&] {
        for (std::uintptr_t number = 1; number <= last; ++number) {
            CAPTURE(number);
            const auto place = std::find(table.natives().begin(), table.natives().end(), handle(number));
            CHECK(
                table.find(handle(number)) ==
                (place == table.natives().end() ? none : static_cast<std::uint32_t>(place - table.natives().begin())));
        }
    };
    add(5);
    check();
    table.forget_from(2); // which were indexed
    add(3);
    check();
    add(2);
    table.forget_from(5); // which were not
    check();
    std::vector<cudaGraphNode_t> clones;
    for (std::size_t i = 0; i < table.size(); ++i)
        clones.push_back(handle(++last));
    table.replace_natives(clones);
    check();
}

TEST_CASE("a shadow keeps its place while the parameters have room there") {
    const SetParams set{nullptr, 1, 4, 7};
    Shadows shadows;
    CHECK(shadows.find(1) == nullptr);
    Shadow& shadow = shadows.make(1, 3, &set);
    CHECK(shadows.find(1) == &shadow);
    CHECK(std::as_const(shadows).find(1) == &shadow);
    CHECK(shadows.find(0) == nullptr);
    CHECK_FALSE(shadow.is_disabled_memset);
    const std::byte* const place = shadow.place;
    const SetParams other{nullptr, 2, 4, 8};
    for (int i = 0; i < 3; ++i) {
        shadows.reserve(shadow, &other);
        CHECK(std::get<const SetParams*>(shadow.params.view())->size == 1); // as it was
    }
    CHECK(shadow.place == place);
    Shadows::assign(shadow, &other);
    CHECK(std::get<const SetParams*>(shadow.params.view())->size == 2);
    CHECK(shadow.params.find<SetParams>() != &other);
}

TEST_CASE("all arguments of a kernel are pointed at, however many: where a call gives them, else where they are kept") {
    for (const std::uint32_t count : {0U, 1U, 63U, 64U, 65U, 200U}) {
        CAPTURE(count);
        std::vector<Parameter> parameters;
        for (std::uint32_t i = 0; i < count + 1; ++i)
            parameters.push_back({i * 4, 4, ParameterType::signed_integer, nullptr});
        std::vector<std::byte> values(std::size_t{count} * 4 + 4);
        const KernelSignature signature{parameters.data(), count, count * 4};
        const KernelParams kernel{nullptr, nullptr, &signature, {}, values.data()};
        const ArgumentPointers kept(kernel);
        for (std::uint32_t i = 0; i < count; ++i)
            CHECK(kept.get()[i] == values.data() + std::size_t{i} * 4);
        if (count == 0) continue;
        int other = 0;
        std::vector<void*> given(count + 1);
        given[count - 1] = &other;
        const ArgumentPointers merged({nullptr, &signature, nullptr, given.data(), nullptr}, kernel);
        CHECK(merged.get()[count - 1] == &other);
        for (std::uint32_t i = 0; i + 1 < count; ++i)
            CHECK(merged.get()[i] == kept.get()[i]);
    }
}

TEST_CASE("an arena knows whether anything may be in it, for clones to keep it") {
    cudag::detail::Arena arena;
    CHECK_FALSE(arena.is_used());
    static_cast<void>(arena.memory().allocate(8));
    CHECK(arena.is_used());
}

TEST_CASE("changes of nodes are told once each, in the order of the last ones") {
    cudaGraph_t native = nullptr;
    REQUIRE(cudaGraphCreate(&native, 0) == cudaSuccess);
    GraphState graph(native);
    for (int i = 0; i < 4; ++i) {
        graph.reserve_node();
        graph.append(nullptr, {NodeKind::empty, {}, {}, {}});
    }
    const auto change = [&](std::uint32_t node) {
        graph.changes().reserve(1);
        graph.changes().count(graph.records().updated(node), {});
    };
    const auto since = [&](std::uint64_t version) {
        std::vector<std::uint32_t> nodes;
        graph.changes().for_each_since(version, [&](const UpdatedNode& node) { nodes.push_back(node.index); });
        return nodes;
    };
    using Nodes = std::vector<std::uint32_t>;
    CHECK(since(0).empty());
    for (const std::uint32_t node : {2U, 0U, 2U, 3U})
        change(node);
    CHECK(graph.changes().version() == 4);
    CHECK(since(0) == Nodes{0, 2, 3});
    CHECK(since(2) == Nodes{2, 3});
    CHECK(since(3) == Nodes{3});
    CHECK(since(4).empty());
    for (int i = 0; i < 500; ++i) // the list is tidied meanwhile
        change(1);
    CHECK(since(0) == Nodes{0, 2, 3, 1});
    CHECK(since(4) == Nodes{1});
    CHECK(graph.changes().version() == 504);
}

TEST_CASE("nodes are parts of their regions after others went, and those before them") {
    RegionUnits units;
    units.add(1, 2, 7);
    units.add(3, 1, 8);
    units.add(5, 3, 9);
    const auto all = [&](std::uint32_t count) {
        std::vector<std::uint32_t> found;
        for (std::uint32_t node = 0; node < count; ++node)
            found.push_back(units.of(node));
        return found;
    };
    CHECK(all(9) == std::vector<std::uint32_t>{0, 7, 7, 8, 0, 9, 9, 9, 0});
    units.renumber(Renumbering(9, std::vector<std::uint32_t>{0, 3}));
    CHECK(all(7) == std::vector<std::uint32_t>{7, 7, 0, 9, 9, 9, 0});
    units.forget_from(6);
    CHECK(all(7) == std::vector<std::uint32_t>{7, 7, 0, 9, 9, 9, 0});
    units.forget_from(3);
    CHECK(all(7) == std::vector<std::uint32_t>{7, 7, 0, 0, 0, 0, 0});
    units.forget_from(0);
    CHECK(units.empty());
}

TEST_CASE("owners that wait go with the nodes that brought them in, and those of the graph stay") {
    WaitingOwners owners;
    std::vector<std::weak_ptr<const void>> watched;
    const auto add = [&](std::uint32_t node) {
        auto object = std::make_shared<int>(0);
        watched.emplace_back(object);
        owners.reserve(1);
        owners.add(std::move(object), node);
    };
    const auto alive = [&] {
        std::vector<bool> found;
        for (const auto& object : watched)
            found.push_back(!object.expired());
        return found;
    };
    for (const std::uint32_t node : {0U, 2U, WaitingOwners::of_graph, 1U, 2U})
        add(node);
    const Renumbering next(3, std::vector<std::uint32_t>{2});
    CHECK(owners.count_gone(next) == 2);
    std::vector<std::shared_ptr<const void>> gone;
    gone.reserve(2);
    owners.renumber(next, gone);
    CHECK(gone.size() == 2);
    CHECK(owners.objects().size() == 3);
    CHECK(alive() == std::vector<bool>(5, true)); // whoever removes the nodes lets them go
    gone.clear();
    CHECK(alive() == std::vector{true, false, true, true, false});
    owners.clear();
    CHECK(owners.empty());
    CHECK(alive() == std::vector<bool>(5, false));
    add(1);
    add(0);
    CHECK(owners.count_gone(Renumbering(2, std::vector<std::uint32_t>{0})) == 1);
    owners.renumber(Renumbering(2, std::vector<std::uint32_t>{0}), gone);
    CHECK(gone.size() == 1);
    gone.clear();
    CHECK(alive() == std::vector{false, false, false, false, false, true, false});
}

TEST_CASE("of cached entries the least recently used idle one goes first, and the last used one stays") {
    LruInFlight<int> entries;
    const auto add = [&](int number) { return entries.add(std::list<int>{number}); };
    const auto all = [&] { return std::vector<int>(entries.begin(), entries.end()); };
    const auto first = add(1);
    add(2);
    add(3);
    entries.use(first);
    CHECK(all() == std::vector{2, 3, 1});
    CHECK(*entries.first_idle([](int) { return true; }) == 2);
    CHECK(*entries.first_idle([](int number) { return number != 2; }) == 3);
    CHECK(entries.first_idle([](int number) { return number == 1; }) == entries.last());
    entries.erase(entries.begin());
    CHECK(all() == std::vector{3, 1});
}

TEST_CASE("an index of cached entries has them by key in the order of their last use, until they go") {
    using Index = LruIndex<int, int>; // an entry's place is its number
    Index index;
    const auto of = [&](int key) { return std::vector<int>(index.of(key).begin(), index.of(key).end()); };
    std::vector<std::unique_ptr<Index::Link>> links;
    for (int number = 0; number < 3; ++number) {
        links.push_back(std::make_unique<Index::Link>());
        CHECK_FALSE(*links.back());
        links.back()->put(index, 7, number);
    }
    CHECK(of(7) == std::vector{0, 1, 2});
    links[0]->use();
    CHECK(of(7) == std::vector{1, 2, 0});
    links[1]->put(index, 7, 1);
    CHECK(of(7) == std::vector{2, 0, 1});
    links[0]->put(index, 8, 0);
    CHECK(of(7) == std::vector{2, 1});
    CHECK(of(8) == std::vector{0});
    CHECK(links[0]->key() == 8);
    CHECK(links[0]->place() == 0);
    links[1]->reset();
    CHECK_FALSE(*links[1]);
    links[2].reset();
    CHECK(of(7).empty());
    CHECK(index.key_count() == 1); // no key without entries
    links[0]->put(index, 7, 0);
    CHECK(of(7) == std::vector{0});
    CHECK(index.key_count() == 1);
}
