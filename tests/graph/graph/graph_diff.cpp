// diff: in what two graphs differ.
#include <algorithm>
#include <functional>
#include <span>

#include "cuda_version.hpp"

using cudag::diff;
using cudag::Difference;
using cudag::DifferenceKind;
using cudag::Graph;
using cudag::GraphBuilder;

using Texts = std::vector<std::string>;

namespace {

/// "field: old -> new" of every difference.
Texts fields(const std::vector<Difference>& differences) {
    Texts result;
    for (const Difference& difference : differences)
        result.push_back(difference.field + ": " + difference.old_value + " -> " + difference.new_value);
    return result;
}

/// What may differ in a fill, an addition and a copy in a line.
struct Line {
    unsigned grid = 1;
    int added = 5;
    int filled = 1;
    bool ordered = true;
    std::string label = "add";
};

class Lines {
  public:
    [[nodiscard]] Graph build(const Line& line) const {
        GraphBuilder b({.races = cudag::Races::allowed});
        const auto fill = b.memset(cells_.span(), line.filled).label("fill");
        const auto add_node = b.kernel({.grid = line.grid}, add, cells_.data(), cells_.data() + 1, line.added);
        add_node.label(line.label);
        if (line.ordered) add_node.after(fill);
        b.memcpy(pinned_, cells_).label("down").after(add_node);
        return std::move(b).build();
    }

  private:
    cudag::DeviceBuffer<int> cells_{2};
    cudag::PinnedBuffer<int> pinned_{2};
};

} // namespace

TEST_CASE("equal graphs do not differ", "[graph][diff]") {
    const Lines lines;
    CHECK(diff(lines.build({}), lines.build({})).empty());
}

TEST_CASE("labels and locations are no difference", "[graph][diff]") {
    const Lines lines;
    CHECK(diff(lines.build({}), lines.build({.label = "plus"})).empty());
}

TEST_CASE("a changed argument is a difference, with both values and the node's name", "[graph][diff]") {
    const Lines lines;
    const Graph a = lines.build({});
    const Graph b = lines.build({.added = -6, .label = "plus"});
    const auto differences = diff(a, b);
    REQUIRE(differences.size() == 1);
    const Difference& difference = differences.front();
    CHECK(difference.kind == DifferenceKind::parameter);
    CHECK(difference.before == a.find("add").front());
    CHECK(difference.after == b.find("plus").front());
    CHECK_FALSE(difference.needs_instantiate);
    CHECK_THAT(to_string(difference), ContainsSubstring("kernel \"add\" at ") && ContainsSubstring("(now \"plus\")") &&
                                          ContainsSubstring(": argument 2: 5 -> -6"));
}

TEST_CASE("a node has a new name in a difference only if it is labelled anew", "[graph][diff]") {
    const Lines lines;
    for (const char* label : {"add", ""})
        CHECK_THAT(to_string(diff(lines.build({}), lines.build({.added = 6, .label = label})).at(0)),
                   ContainsSubstring("kernel \"add\"") && !ContainsSubstring("now"));
}

TEST_CASE("every changed field is a difference", "[graph][diff]") {
    const Lines lines;
    CHECK(fields(diff(lines.build({}), lines.build({.grid = 3, .added = 7, .filled = 2}))) ==
          Texts{"value: 1 -> 2", "grid: (1, 1, 1) -> (3, 1, 1)", "argument 2: 5 -> 7"});
}

TEST_CASE("a missing edge is a difference at the node that waited", "[graph][diff]") {
    const Lines lines;
    const Graph a = lines.build({});
    const Graph b = lines.build({.ordered = false});
    const auto differences = diff(a, b);
    REQUIRE(differences.size() == 1);
    CHECK(differences.front().kind == DifferenceKind::edge);
    CHECK(differences.front().before == a.find("add").front());
    CHECK(differences.front().after == b.find("add").front());
    CHECK(differences.front().needs_instantiate);
    CHECK_THAT(to_string(differences.front()), ContainsSubstring("kernel \"add\"") &&
                                                   ContainsSubstring("edge from memset \"fill\"") &&
                                                   ContainsSubstring("there -> missing"));
    CHECK_THAT(to_string(diff(b, a).front()), ContainsSubstring("missing -> there"));
}

TEST_CASE("edges made in another order are no difference", "[graph][diff]") {
    const auto build = [](bool swapped) {
        GraphBuilder b;
        const auto first = b.kernel({}, nothing);
        const auto second = b.kernel({}, nothing);
        const auto last = b.kernel({}, nothing);
        swapped ? last.after(second, first) : last.after(first, second);
        return std::move(b).build();
    };
    CHECK(diff(build(false), build(true)).empty());
}

TEST_CASE("a node that only one graph has is a difference", "[graph][diff]") {
    GraphBuilder b;
    b.kernel({}, nothing);
    const Graph one = std::move(b).build();
    GraphBuilder c;
    c.kernel({}, nothing);
    c.kernel({}, nothing).label("extra");
    const Graph two = std::move(c).build();

    const auto more = diff(one, two);
    REQUIRE(more.size() == 1);
    CHECK(more.front().kind == DifferenceKind::node);
    CHECK(more.front().before == cudag::Node());
    CHECK(more.front().after == two.find("extra").front());
    CHECK_THAT(to_string(more.front()), ContainsSubstring("kernel \"extra\"") && ContainsSubstring("missing -> there"));
    const auto fewer = diff(two, one);
    REQUIRE(fewer.size() == 1);
    CHECK(fewer.front().after == cudag::Node());
    CHECK_THAT(to_string(fewer.front()), ContainsSubstring("there -> missing"));
}

TEST_CASE("an edge to a node that only one graph has is none of a node of the other", "[graph][diff]") {
    const auto line = [](int count) {
        GraphBuilder b;
        auto last = b.host([] {});
        for (int i = 1; i < count; ++i)
            last = b.host([] {}).after(last);
        return std::move(b).build();
    };
    const auto edge_of = [](const std::vector<Difference>& differences) {
        const auto edge = std::find_if(differences.begin(), differences.end(), [](const Difference& difference) {
            return difference.kind == DifferenceKind::edge;
        });
        REQUIRE(edge != differences.end());
        return *edge;
    };
    const Graph two = line(2), three = line(3);
    const Difference added = edge_of(diff(two, three));
    CHECK(added.before == cudag::Node());
    CHECK(added.after == three.nodes().at(2));
    const Difference lost = edge_of(diff(three, two));
    CHECK(lost.before == three.nodes().at(2));
    CHECK(lost.after == cudag::Node());
}

TEST_CASE("a graph does not differ from itself, nor from a graph inside it", "[graph][diff]") {
    GraphBuilder inner, b;
    inner.host([] {});
    const auto child = add_child(b, std::move(inner).build());
    const Graph graph = std::move(b).build();
    CHECK(diff(graph, graph).empty());
    CHECK_FALSE(diff(graph, child.graph()).empty());
}

TEST_CASE("a node of another kind is a difference", "[graph][diff]") {
    cudag::DeviceBuffer<int> cell(1);
    GraphBuilder b;
    b.kernel({}, nothing);
    const Graph kernel = std::move(b).build();
    GraphBuilder c;
    c.memset(cell, 1);
    const Graph memset = std::move(c).build();
    const auto differences = diff(kernel, memset);
    REQUIRE(differences.size() == 1);
    CHECK(differences.front().kind == DifferenceKind::node_kind);
    CHECK(fields(differences) == Texts{"kind: kernel -> memset"});
}

TEST_CASE("another kernel is a difference of the function", "[graph][diff]") {
    cudag::DeviceBuffer<int> cells(2);
    GraphBuilder b;
    b.kernel({}, store, cells.data(), 1);
    GraphBuilder c;
    c.kernel({}, nothing);
    const auto differences = diff(std::move(b).build(), std::move(c).build());
    REQUIRE_FALSE(differences.empty());
    CHECK(differences.front().kind == DifferenceKind::function);
    CHECK_THAT(to_string(differences.front()), ContainsSubstring("kernel: store -> nothing"));
}

TEST_CASE("arguments are compared one by one only where kernels take the same bytes", "[graph][diff]") {
    cudag::DeviceBuffer<int> cells(2);
    cudag::DeviceBuffer<std::uint64_t> address(1);
    GraphBuilder b;
    b.kernel({}, store, cells.data(), 1);
    const Graph two = std::move(b).build();
    GraphBuilder c;
    c.kernel({}, add, cells.data(), cells.data(), 1);
    CHECK(fields(diff(two, std::move(c).build())) ==
          Texts{"kernel: store -> add", "number of arguments: 2 -> 3", "bytes of arguments: 12 -> 20"});
    GraphBuilder d;
    d.kernel({}, write_address, address.data(), cells.data());
    CHECK(fields(diff(two, std::move(d).build())) ==
          Texts{"kernel: store -> write_address", "bytes of arguments: 12 -> 16"});
}

TEST_CASE("nodes and edges that only one graph has need a new instance, and nodes of other kinds", "[graph][diff]") {
    const auto line = [](int nodes, int edges) {
        GraphBuilder b;
        cudag::Node last = b.host([] {});
        for (int i = 1; i < nodes; ++i) {
            const auto next = b.host([] {});
            if (i <= edges) next.after(last);
            last = next;
        }
        return std::move(b).build();
    };
    const auto check = [](const std::vector<Difference>& differences, const Texts& expected) {
        Texts structure;
        for (const Difference& difference : differences) {
            if (difference.kind == DifferenceKind::parameter) continue;
            structure.push_back(difference.field.substr(0, 4) + " " + difference.new_value);
            CHECK(difference.needs_instantiate);
        }
        CHECK(structure == expected);
    };
    check(diff(line(2, 1), line(3, 1)), {"node there"});
    check(diff(line(3, 1), line(2, 1)), {"node missing"});
    check(diff(line(3, 1), line(3, 2)), {"edge there"});
    check(diff(line(3, 2), line(3, 1)), {"edge missing"});
    GraphBuilder b;
    b.kernel({}, nothing);
    check(diff(line(1, 0), std::move(b).build()), {"kind kernel"});
}

namespace {

using Write = std::function<void(GraphBuilder&)>;

void empty(GraphBuilder&) {}

/// Checks in which fields the node that `before` adds differs from the one of `after`, in both directions, and which of
/// them need a new instance; "fixed: ..." does.
void check_fields(const Write& before, const Write& after, Texts expected) {
    GraphBuilder b;
    before(b);
    const Graph one = std::move(b).build();
    GraphBuilder c;
    after(c);
    const Graph other = std::move(c).build();
    std::sort(expected.begin(), expected.end());
    for (const auto& differences : {diff(one, other), diff(other, one)}) {
        Texts names;
        for (const Difference& difference : differences)
            names.push_back((difference.needs_instantiate ? "fixed: " : "") + difference.field);
        std::sort(names.begin(), names.end());
        CHECK(names == expected);
    }
}

} // namespace

TEST_CASE("what CUDA fixes in kernels, host functions and events needs a new instance", "[graph][diff]") {
    const cudag::DeviceBuffer<int> cells(64);
    const auto bytes = as_bytes(cells.span());
    const auto launch = [](const cudag::LaunchConfig& config) {
        return [config](GraphBuilder& b) { b.kernel(config, nothing); };
    };
    const auto plain = launch({.grid = 4});
    check_fields(plain, launch({.grid = 4, .block = 2}), {"block"});
    check_fields(plain, launch({.grid = 4, .shared_bytes = 16}), {"shared_bytes"});
    check_fields(plain, launch({.grid = 4, .cluster = 2}), {"fixed: cluster"});
    check_fields(plain, launch({.grid = 4, .cooperative = true}), {"fixed: cooperative"});
    check_fields(plain, launch({.grid = 4, .device_updatable = true}), {"fixed: device_updatable"});
    check_fields(plain, launch({.grid = 4, .memory_sync_domain = cudag::MemorySyncDomain::remote}),
                 {"memory_sync_domain"});
    check_fields(plain, launch({.grid = 4, .priority = -1}), {"priority"});
    check_fields(plain, launch({.grid = 4, .access_policy = cudag::AccessPolicy{.memory = bytes}}), {"access_policy"});
    check_fields([&](GraphBuilder& b) { b.kernel({}, store, cells, 1); },
                 [&](GraphBuilder& b) { b.kernel({}, store, cells.span().subspan(1, 1), 2); },
                 {"argument 0", "argument 1"});
    check_fields([&](GraphBuilder& b) { b.kernel({}, store, cells, 1); },
                 [](GraphBuilder& b) { b.kernel({}, nothing); },
                 {"kernel", "number of arguments", "bytes of arguments"});
    check_fields([](GraphBuilder& b) { b.host([] {}); }, [](GraphBuilder& b) { b.host([] {}); }, {"callable"});
    cudag::Event first;
    cudag::Event second;
    check_fields([&](GraphBuilder& b) { b.record(first); }, [&](GraphBuilder& b) { b.record(second); }, {"event"});
    check_fields([&](GraphBuilder& b) { b.wait(first); }, [&](GraphBuilder& b) { b.wait(second); }, {"event"});
}

TEST_CASE("what CUDA fixes in copies needs a new instance", "[graph][diff]") {
    const cudag::DeviceBuffer<int> cells(64);
    const cudag::DeviceBuffer<int> others(64);
    const cudag::PinnedBuffer<int> pinned(4);
    const auto four = cells.span().subspan(0, 4);
    const auto copy = [](auto to, auto from) { return [=](GraphBuilder& b) { b.memcpy(to, from); }; };
    const std::span<int> host(pinned.data(), 4);
    check_fields(copy(four, host), copy(host, four), {"fixed: direction", "destination", "source"});
    check_fields(copy(four, host), copy(others.span().subspan(0, 4), host), {"destination"});
    check_fields(copy(host, four), copy(host, others.span().subspan(0, 4)), {"source"});
    check_fields(copy(four, four), copy(four.subspan(0, 3), four.subspan(0, 3)), {"bytes"});

    using Plane = cudag::DeviceSpan2D<int>;
    const auto planes = [](const auto& to, const auto& from) { return [=](GraphBuilder& b) { b.memcpy2d(to, from); }; };
    const Plane block(cells, 2, 2);
    const Plane other(others, 2, 2);
    check_fields(planes(block, block), planes(other, block), {"fixed: destination"});
    check_fields(planes(block, block), planes(block, other), {"fixed: source"});
    const Plane wide = Plane(cells, 4, 2).subspan(0, 0, 2, 2);
    check_fields(planes(block, block), planes(wide, block), {"fixed: destination pitch"});
    check_fields(planes(block, block), planes(block, wide), {"fixed: source pitch"});
    const cudag::HostSpan2D<int> down(pinned, 2, 2);
    check_fields(planes(down, block), planes(block, down), {"fixed: direction", "fixed: destination", "fixed: source"});
    check_fields(copy(four, host), planes(block, down), {"fixed: operands"});
}

TEST_CASE("what CUDA fixes in fills needs a new instance", "[graph][diff]") {
    const cudag::DeviceBuffer<int> cells(64);
    const cudag::DeviceBuffer<int> others(64);
    const auto fill = [](auto to, int value) { return [=](GraphBuilder& b) { b.memset(to, value); }; };
    const auto plane = [](auto to, int value) { return [=](GraphBuilder& b) { b.memset2d(to, value); }; };
    using Plane = cudag::DeviceSpan2D<int>;
    const auto line = cells.span().subspan(0, 8);
    const cudag::DeviceSpan<short> halves(reinterpret_cast<short*>(cells.data()), 8);
    check_fields(fill(line, 1), fill(others.span().subspan(0, 8), 2), {"destination", "value"});
    check_fields(fill(line, 1), fill(line.subspan(0, 4), 1), {"elements"});
    check_fields(fill(line, 1), fill(halves, 1), {"bytes of an element"});

    const auto part = [](const auto& memory, std::size_t width, std::size_t height) {
        return Plane(memory, 8, 4).subspan(0, 0, width, height);
    };
    check_fields(plane(part(cells, 4, 2), 1), plane(part(others, 4, 2), 2), {"destination", "value"});
    check_fields(plane(part(cells, 4, 2), 1), plane(part(cells, 3, 2), 1), {"fixed: elements"});
    check_fields(plane(part(cells, 4, 2), 1), plane(part(cells, 4, 3), 1), {"fixed: rows"});
    check_fields(plane(part(cells, 4, 2), 1), plane(Plane(cells, 16, 4).subspan(0, 0, 4, 2), 1), {"fixed: pitch"});
    const cudag::DeviceSpan2D<short> small =
        cudag::DeviceSpan2D<short>(reinterpret_cast<short*>(cells.data()), 16, 4).subspan(0, 0, 4, 2);
    check_fields(plane(part(cells, 4, 2), 1), plane(small, 1), {"fixed: bytes of an element"});
}

TEST_CASE("what CUDA fixes in conditionals needs a new instance", "[graph][diff][conditional]") {
    const auto once = [](unsigned initial) { return [=](GraphBuilder& b) { b.if_(b.condition(initial), empty); }; };
    check_fields(once(0), once(1), {"initial value"});
    check_fields(once(0), [](GraphBuilder& b) { b.while_(b.condition(0), empty); }, {"fixed: conditional"});
    if (older_than(12080)) return;
    check_fields(once(0), [](GraphBuilder& b) { b.if_(b.condition(0), empty, empty); }, {"fixed: bodies"});
}

TEST_CASE("arguments read as their types say", "[graph][diff]") {
    cudag::DeviceBuffer<float> x(4);
    const auto build = [&](int n, float a, const float* from) {
        GraphBuilder b;
        b.kernel({}, saxpy, n, a, from, x.data());
        return std::move(b).build();
    };
    CHECK(fields(diff(build(4, 0.5F, nullptr), build(-1, 2.25F, nullptr))) ==
          Texts{"argument 0: 4 -> -1", "argument 1: 0.5 -> 2.25"});
    CHECK_THAT(fields(diff(build(4, 0.5F, nullptr), build(4, 0.5F, x.data()))).front(),
               ContainsSubstring("argument 2: 0x0 -> 0x"));

    cudag::DeviceBuffer<unsigned> counts(2);
    const auto weigh = [&](unsigned weight) {
        GraphBuilder b;
        b.kernel({}, count_threads, counts.data(), counts.data() + 1, weight);
        return std::move(b).build();
    };
    CHECK(fields(diff(weigh(3), weigh(4'000'000'000))) == Texts{"argument 2: 3 -> 4000000000"});
}

TEST_CASE("what Graph::update changed is a difference", "[graph][diff][update]") {
    const Lines lines;
    const Graph a = lines.build({});
    Graph b = lines.build({});
    b.update(b.find(add).front(), cudag::arg<2>(9));
    CHECK(fields(diff(a, b)) == Texts{"argument 2: 5 -> 9"});
    CHECK(fields(diff(a, b.clone())) == Texts{"argument 2: 5 -> 9"});
}

TEST_CASE("an adopted copy of a graph does not differ from it", "[graph][diff][adopt]") {
    const Lines lines;
    const Graph graph = lines.build({});
    cudaGraph_t copy = nullptr;
    cudag::check(cudaGraphClone(&copy, graph.native()));
    CHECK(diff(graph, Graph::adopt(copy)).empty());
}

TEST_CASE("diff refuses a moved-from graph", "[graph][diff]") {
    const Lines lines;
    Graph a = lines.build({});
    const Graph b = std::move(a);
    CHECK_THROWS_AS(diff(a, b), cudag::GraphError);
}
