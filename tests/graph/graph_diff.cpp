// diff: in what two graphs differ.
#include "test.hpp"

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
        GraphBuilder b;
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

TEST_CASE("what CUDA fixes in copies and fills needs a new instance", "[graph][diff]") {
    cudag::DeviceBuffer<int> cells(64);
    const cudag::PinnedBuffer<int> pinned(4);
    const auto needs_instance = [](const Graph& before, const Graph& after, const char* field) {
        for (const Difference& difference : diff(before, after))
            if (difference.field == field) return difference.needs_instantiate;
        FAIL("no difference of " << field);
        return false;
    };
    GraphBuilder up;
    up.memcpy(cells.span().subspan(0, 4), pinned);
    GraphBuilder down;
    down.memcpy(pinned, cells.span().subspan(0, 4));
    CHECK(needs_instance(std::move(up).build(), std::move(down).build(), "direction"));
    const auto fill = [&](std::size_t width) {
        GraphBuilder b;
        b.memset2d(cudag::DeviceSpan2D<int>(cells, width, 2).subspan(0, 0, 4, 2), 1);
        return std::move(b).build();
    };
    CHECK(needs_instance(fill(8), fill(16), "pitch"));
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
