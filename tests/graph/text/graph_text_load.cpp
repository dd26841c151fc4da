// Graphs built again from their text.
#include <cudag/graph_text.hpp>

#include <cudag/format.hpp>

#include <atomic>
#include <memory>

#include "conditional_kernels.hpp"
#include "cuda_version.hpp"
#include "functions.hpp"
#include "kernels.hpp"
#include "opaque.hpp"
#include "test.hpp"

using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::GraphNames;
using cudag::LoadedGraph;
using cudag::Stream;

namespace {

/// *cell = 3; *(cell + 1) = *cell + 4
Graph two_stores(const DeviceBuffer<int>& cells) {
    GraphBuilder b;
    const auto first = b.kernel({}, store, cells.data(), 3).label("first").writes(cells.span().subspan(0, 1));
    b.kernel({}, add, cells.data() + 1, cells.data(), 4).label("second").after(first);
    return std::move(b).build();
}
GraphNames names_for(const DeviceBuffer<int>& cells) {
    GraphNames names;
    names.memory("cells", cells).kernel(store).kernel(add).kernel(nothing).kernel(set_condition).kernel(count_down);
    return names;
}

/// Loads the text of a graph with its own names, and requires that the text of the result is the same.
LoadedGraph round_trip(const Graph& graph, const GraphNames& given = {}) {
    const GraphNames names = names_of(graph, given);
    const std::string text = to_text(graph, names);
    LoadedGraph loaded = cudag::load(text, names);
    CHECK(to_text(loaded.graph, names) == text);
    return loaded;
}

std::string replaced(std::string text, const std::string& part, const std::string& by) {
    const std::size_t at = text.find(part);
    REQUIRE(at != std::string::npos);
    return text.replace(at, part.size(), by);
}

} // namespace

TEST_CASE("a loaded graph does the same in the memory of its names", "[text]") {
    const auto cells = device({0, 0});
    const std::string text = to_text(two_stores(cells), names_for(cells));
    const auto others = device({0, 0});
    const LoadedGraph loaded = cudag::load(text, names_for(others));
    CHECK(loaded.graph.find_one("second").label() == "second");
    Exec exec = loaded.graph.instantiate({.plan = loaded.plan});
    run(exec, Stream());
    CHECK(read(others) == std::vector<int>{3, 7});
    CHECK(read(cells) == std::vector<int>{0, 0});
}

TEST_CASE("a loaded graph has typed nodes, and is updated like any other", "[text]") {
    const auto cells = device({0, 0});
    LoadedGraph loaded = cudag::load(to_text(two_stores(cells), names_for(cells)), names_for(cells));
    loaded.graph.update(loaded.graph.find_one(add), cudag::arg<2>(40));
    Exec exec = loaded.graph.instantiate();
    exec.update(loaded.graph.find_one(store), cells.data(), 2);
    run(exec, Stream());
    CHECK(read(cells) == std::vector<int>{2, 42});
}

TEST_CASE("a loaded graph has the accesses of its text, and tells its races", "[text]") {
    const auto cells = device({0, 0});
    GraphBuilder b({.races = cudag::Races::allowed});
    b.memset(cells, 1);
    b.kernel({}, store, cells.data(), 3).writes(cells);
    const Graph graph = std::move(b).build();
    CHECK(round_trip(graph).graph.races().size() == graph.races().size());
    CHECK(graph.races().size() == 1);
}

TEST_CASE("accesses of rows and slices are loaded", "[text]") {
    const auto cells = device(std::vector<int>(64, 0));
    GraphBuilder b;
    b.kernel({}, nothing).reads(cells);
    const GraphNames names = names_for(cells);
    const std::string text = to_text(std::move(b).build(), names);
    for (const char* const block :
         {"16 bytes x 3 rows of 32", "8 bytes x 2 slices of 64", "8 bytes x 2 rows of 16 x 3 slices of 64"}) {
        const std::string with_block = replaced(text, "256 bytes, elements", std::string(block) + ", elements");
        CHECK(to_text(cudag::load(with_block, names).graph, names) == with_block);
    }
    CHECK_THAT(refused<GraphError>([&] {
                   static_cast<void>(
                       cudag::load(replaced(text, "256 bytes, elements", "8 bytes x 2 parts of 64, elements"), names));
               }).what(),
               ContainsSubstring("expected an access"));
}

TEST_CASE("a loaded graph keeps the buffers that its names own", "[text]") {
    std::optional<LoadedGraph> loaded;
    std::weak_ptr<const void> owner;
    {
        const auto cells = device({0, 0});
        owner = cells.owner();
        loaded.emplace(cudag::load(to_text(two_stores(cells), names_for(cells)), names_for(cells)));
    }
    CHECK_FALSE(owner.expired());
    Exec exec = loaded->graph.instantiate();
    run(exec, Stream());
}

TEST_CASE("a host node is loaded by its label, with the function named so", "[text]") {
    GraphBuilder b;
    b.host([] { FAIL("the function of the text's graph"); }).label("count");
    const std::string text = to_text(std::move(b).build());
    const auto calls = std::make_shared<std::atomic<int>>(0);
    GraphNames names;
    names.host("count", [calls] { ++*calls; });
    std::optional<LoadedGraph> loaded = cudag::load(text, names);
    CHECK(to_text(loaded->graph, names) == text);
    names = GraphNames();
    Exec exec = loaded->graph.instantiate();
    loaded.reset();
    run(exec, Stream());
    CHECK(*calls == 1);
}

TEST_CASE("what a loaded host node throws is thrown by the wait", "[text]") {
    GraphBuilder b;
    b.host([] {}).label("fails");
    GraphNames names;
    names.host("fails", [] { throw std::runtime_error("out of paper"); });
    const LoadedGraph loaded = cudag::load(to_text(std::move(b).build()), names);
    Exec exec = loaded.graph.instantiate();
    const Stream stream;
    exec.launch(stream);
    CHECK_THROWS_AS(stream.synchronize(), cudag::HostError);
}

TEST_CASE("a captured call of a host function is loaded with the named function and its data", "[text]") {
    static int seen = 0;
    int one = 1, two = 2;
    const cudaHostFn_t take = [](void* data) { seen = *static_cast<int*>(data); };
    Stream stream;
    const Graph graph =
        cudag::capture(stream, [&](cudaStream_t s) { cudag::check(cudaLaunchHostFunc(s, take, &one)); });
    GraphNames here, there;
    here.host("take", take, &one);
    there.host("take", take, &two);
    const LoadedGraph loaded = cudag::load(to_text(graph, here), there);
    Exec exec = loaded.graph.instantiate();
    run(exec, stream);
    CHECK(seen == 2);
}

TEST_CASE("a loaded graph has the plan of its text", "[text]") {
    const auto cells = device({0, 0});
    const Graph graph = two_stores(cells);
    const cudag::Plan plan{.joins = false, .lanes = 3, .durations = {1.0, 0.25}, .launches = 7};
    CHECK(cudag::load(to_text(graph, names_for(cells), {.plan = plan}), names_for(cells)).plan == plan);
    CHECK(cudag::load(to_text(graph, names_for(cells)), names_for(cells)).plan == cudag::Plan());
}

TEST_CASE("a label of any characters is loaded", "[text]") {
    const std::string label = "say \"x\\y\"\n\x01\x7f";
    GraphBuilder b;
    b.kernel({}, nothing).label(label);
    const LoadedGraph loaded = round_trip(std::move(b).build());
    CHECK(loaded.graph.nodes().front().label() == label);
}

TEST_CASE("the attributes of launches are loaded", "[text]") {
    const auto cells = device({0, 0, 0, 0});
    GraphBuilder b;
    cudag::LaunchConfig config{.grid = 4, .cluster = 2, .priority = -1};
    config.access_policy = cudag::AccessPolicy{.memory = as_bytes(cells.span().subspan(1, 2)),
                                               .hit_ratio = 0.5f,
                                               .hit = cudag::AccessProperty::persisting,
                                               .miss = cudag::AccessProperty::streaming};
    config.memory_sync_domain = cudag::MemorySyncDomain::remote;
    config.memory_sync_domain_map = cudag::MemorySyncDomainMap{.default_domain = 1, .remote = 2};
    config.cluster_scheduling_policy = cudag::ClusterSchedulingPolicy::load_balancing;
    b.kernel(config, nothing);
    const Graph graph = std::move(b).build();
    GraphNames names;
    names.memory("cells", cells);
    CHECK_THAT(to_text(graph, names),
               ContainsSubstring("access_policy: 0.5 persisting else streaming of 8 bytes at cells + 4\n"));
    const LoadedGraph loaded = round_trip(graph, names);
    CHECK(diff(graph, loaded.graph).empty());
}

TEST_CASE("a kernel that the program does not have is loaded by its Function", "[text]") {
    GraphBuilder b;
    b.kernel({}, device_function_of(nothing));
    const Graph graph = std::move(b).build();
    CHECK(diff(graph, round_trip(graph).graph).empty());
}

TEST_CASE("loops with conditions inside are loaded without further kernels, and run the same", "[text]") {
    if (older_than(12080)) return;
    const auto cells = device({3, 0});
    GraphBuilder b;
    const auto more = b.condition(1);
    b.while_(more, [&](GraphBuilder& body) {
        const auto inner = body.condition(1);
        const auto once =
            body.if_(inner, [&](GraphBuilder& then) { then.kernel({}, add, cells.data() + 1, cells.data() + 1, 1); });
        body.kernel({}, count_down, cells.data(), more).after(once);
    });
    const Graph graph = std::move(b).build();
    const LoadedGraph loaded = round_trip(graph);
    Exec exec = loaded.graph.instantiate();
    run(exec, Stream());
    CHECK(read(cells) == std::vector<int>{0, 3});
}

TEST_CASE("repetitions are loaded with cudag's own kernels", "[text]") {
    if (older_than(12080)) return;
    const auto cells = device({0, 0});
    GraphBuilder b;
    b.repeat(5, [&](GraphBuilder& body) { body.kernel({}, add, cells.data(), cells.data(), 1); });
    const Graph graph = std::move(b).build();
    const LoadedGraph loaded = round_trip(graph);
    Exec exec = loaded.graph.instantiate();
    run(exec, Stream());
    CHECK(read(cells) == std::vector<int>{5, 0});
}

TEST_CASE("graph memory is allocated anew by a loaded graph", "[text]") {
    const auto cells = device({0, 0});
    GraphBuilder b;
    const auto scratch = b.alloc<int>(8);
    const auto put = b.kernel({}, store, scratch.span().subspan(3), 6).after(scratch);
    const auto get = b.kernel({}, add, cells.data(), scratch.span().data() + 3, 1).after(put);
    b.free(scratch).after(get);
    const auto again = b.alloc<int>(8, {.after = {get}});
    b.free(again).after(b.kernel({}, store, again.span(), 1).after(again));
    const Graph graph = std::move(b).build();
    const LoadedGraph loaded = round_trip(graph);
    Exec exec = loaded.graph.instantiate();
    run(exec, Stream());
    CHECK(read(cells)[0] == 7);
}

TEST_CASE("edges to earlier nodes, joins, children and programmatic edges are loaded", "[text]") {
    const auto cells = device({0, 0});
    GraphBuilder b({.races = cudag::Races::allowed});
    const auto last = b.kernel({}, add, cells.data() + 1, cells.data(), 1);
    const auto first = b.kernel({}, store, cells.data(), 3);
    last.after(first);
    const auto join = b.join(last);
    const auto child = add_child(b, two_stores(cells));
    child.after(join);
    const auto early = b.kernel({}, nothing).after(child);
    b.kernel({}, nothing).after(cudag::programmatic(early));
    const Graph graph = std::move(b).build();
    const LoadedGraph loaded = round_trip(graph);
    CHECK(diff(graph, loaded.graph).empty());
}

TEST_CASE("kernels of a Library are loaded by the library", "[text]") {
    if (older_than(12080)) return;
    const auto cells = device({0, 0});
    const cudag::Library library = load_library();
    GraphBuilder b;
    b.kernel({.grid = 2}, library.function("library_fill"), cells.data(), 8).label("fill");
    GraphNames names;
    names.library(library).memory("cells", cells);
    const std::string text = to_text(std::move(b).build(), names);
    CHECK_THAT(text, ContainsSubstring("kernel: library_fill\n") && ContainsSubstring("argument 0: cells\n"));
    const LoadedGraph loaded = cudag::load(text, names);
    CHECK(to_text(loaded.graph, names) == text);
    Exec exec = loaded.graph.instantiate();
    run(exec, Stream());
    CHECK(read(cells) == std::vector<int>{8, 8});
}

TEST_CASE("a node with parameters unknown to cudag is in the text, and refused by name on loading", "[text]") {
    if (reads_conditionals()) return; // then it is known
    const auto cells = device({0});
    cudaGraph_t native = nullptr;
    cudag::check(cudaGraphCreate(&native, 0));
    add_raw_conditional(native, {}, cells.data(), 1);
    const Graph graph = Graph::adopt(native);
    const std::string text = to_text(graph);
    CHECK_THAT(text, ContainsSubstring("0: conditional\n  parameters: unknown to cudag\n"));
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(cudag::load(text, {})); }).what(),
               ContainsSubstring("line 3: cudag does not know the parameters of a conditional node"));
}

TEST_CASE("names that are missing on loading are told, with those there are", "[text]") {
    const auto cells = device({0, 0});
    const std::string text = to_text(two_stores(cells), names_for(cells));
    const auto fails = [](const std::string& bad, const GraphNames& names, const std::string& expected) {
        CHECK_THAT(refused<GraphError>([&] { static_cast<void>(cudag::load(bad, names)); }).what(),
                   ContainsSubstring(expected));
    };
    GraphNames kernels;
    kernels.kernel(store).kernel(add);
    fails(text, kernels, "line 2: there is no memory \"cells\" of 8 bytes in the GraphNames, which have none");
    GraphNames small = kernels;
    small.memory("cells", cells.span().subspan(1));
    fails(text, small, "memory \"cells\" in the GraphNames has 4 bytes, and the graph needs 8");
    GraphNames memory;
    memory.memory("cells", cells).kernel(store);
    fails(text, memory, "there is no kernel \"add\" in the GraphNames, which have \"store\"");
    GraphBuilder b;
    b.host([] {}).label("report");
    fails(to_text(std::move(b).build()), memory, "line 4 is \"report\"; expected the name of a host function");
    GraphNames wrong = names_for(cells);
    fails(replaced(text, "kernel: store", "kernel: nothing"), wrong, "has no parameter \"argument 0\"");
}

TEST_CASE("a text that is none is refused with the line", "[text]") {
    const auto cells = device({0, 0});
    const GraphNames names = names_for(cells);
    const std::string text = to_text(two_stores(cells), names);
    const auto fails = [&](const std::string& bad, const std::string& expected) {
        CHECK_THAT(refused<GraphError>([&] { static_cast<void>(cudag::load(bad, names)); }).what(),
                   ContainsSubstring(expected));
    };
    fails("", "it ends before line 1; expected \"cudag graph 1\"");
    fails(replaced(text, "cudag graph 1", "cudag graph 2"),
          "line 1 is \"cudag graph 2\"; expected \"cudag graph 1\", the only version that this cudag reads");
    fails(replaced(text, "nodes: 2", "nodes: 3"), "expected node 2 of 3");
    fails(replaced(text, "nodes: 2", "nodes: 1"), "expected the end of the text, after 1 nodes");
    fails(replaced(text, "nodes: 2", "nodes: 4000000000"), "a line or more for each");
    fails(replaced(text, "after: 0", "after: 7"), "expected \"after: \" and nodes from 0 to 1");
    fails(replaced(text, "after: 0", "after: 1"), "a node cannot come after itself");
    fails(replaced(text, "0: kernel", "0: kernels"), "expected node 0 of 2");
    fails(replaced(text, "grid: (1, 1, 1)", "grid: (1, 1)"), "expected three numbers");
    fails(replaced(text, "grid: (1, 1, 1)", "grid: (0, 1, 1)"), "grid.x is 0");
    fails(replaced(text, "  grid: (1, 1, 1)\n", ""), "kernel \"first\" has no line \"grid: ...\"");
    fails(replaced(text, "grid: (1, 1, 1)", "colour: red"), "kernel \"first\" has no line \"grid: ...\"");
    fails(replaced(text, "shared_bytes: 0", "shared_bytes: 0\n  colour: red"), "has no parameter \"colour\"");
    fails(replaced(text, "argument 0: cells", "argument 0: cells + 8"), "an offset below the 8 bytes of cells");
    fails(replaced(text, "argument 0: cells", "argument 0: other"),
          "the name of memory in the GraphNames; they have \"cells\"");
    fails(replaced(text, "argument 0: cells", "argument 0: @0"), "memory of an alloc node before this one");
    fails(replaced(text, "argument 0: cells", "argument 0: 17"), "the parameter of the kernel is no integer");
    fails(replaced(text, "argument 1: 3", "argument 1: 3.0f"), "expected an argument of 4 bytes");
    fails(replaced(text, "argument 1: 3", "argument 1: 99999999999"), "expected an integer of 4 bytes");
    fails(replaced(text, "argument 1: 3", "argument 1: cells"), "expected an argument of 4 bytes");
    fails(replaced(text, "argument 1: 3", "argument 1: bytes 0300"), "expected an argument of 4 bytes; these are 2");
    fails(replaced(text, "argument 1: 3", "argument 1: bytes 03zz0000"), "expected pairs of hexadecimal digits");
    fails(replaced(text, "argument 1: 3", "argument 1: condition 0"), "expected no condition");
    fails(replaced(text, "write node", "wrote node"), "expected an access");
    fails(replaced(text, "nodes: 2", "condition 0: initial 1\nnodes: 2"), "has condition 0, which no node tests");
    fails(replaced(text, "nodes: 2", "condition 0: initial 1 or 2\nnodes: 2"), "expected \"condition 0: initial N\"");
    fails(replaced(text, "  shared_bytes: 0", "  on device: 99\n  shared_bytes: 0"), "line 8: there is no device 99");
    for (const char* line : {": 0", "shared_bytes", "graph: x nodes", "graph: 1 node"})
        CHECK_THROWS_AS(cudag::load(replaced(text, "shared_bytes: 0", line), names), GraphError);
    fails(replaced(text, "shared_bytes: 0", ": 0"), "expected a node, or a parameter as \"name: value\"");
    fails(replaced(text, "shared_bytes: 0", "shared_bytes: 0\n  graph: x nodes"), "has no parameter \"graph\"");
    fails(replaced(text, " bytes\n", " bytes more\n"), "expected \"memory NAME: N bytes\"");
    const auto fails_with = [&](const std::string& line, const std::string& expected) {
        fails(replaced(text, "graph 1\n", "graph 1\n" + line + "\n"), expected);
    };
    fails_with("plan: reduce joins", "expected \"plan: \" and some of \"reduce, joins, ends, early\"");
    fails_with("plan: reduce, reduce", "expected \"plan: \" and some of");
    fails_with("plan: none, reduce", "expected \"plan: \" and some of");
    fails_with("plan: none\nplan lanes: 3 4", "expected \"plan lanes: \" and a number");
    for (const char* durations : {"-1, 1", "inf, 1", "nan, 1", "1 2", "1,"})
        fails_with(std::string("plan: none\nplan durations: ") + durations,
                   "expected \"plan durations: \" and a number, not negative, for each node");
    for (const char* label : {"\"a", "\"a\\", "\"\\x0\"", "\"\\x0g\"", "\"a\" b", "a"})
        fails(replaced(text, "\"first\"", label), "expected node 0 of 2");
    for (const char* attribute : {"cooperative: maybe", "cluster_scheduling_policy: good"})
        fails(replaced(text, "  shared_bytes: 0", std::string("  shared_bytes: 0\n  ") + attribute),
              "expected a value of this attribute");
    for (const char* policy : {"half", "0.5", "0.5 persisting", "0.5 lasting else streaming of 4 bytes at cells",
                               "0.5 persisting else streaming of 4 bytes"})
        fails(replaced(text, "  shared_bytes: 0", std::string("  shared_bytes: 0\n  access_policy: ") + policy),
              "expected a policy");
    for (const char* map : {"1, 2", "(default 1)", "(default 1, remote 2"})
        fails(replaced(text, "  shared_bytes: 0", std::string("  shared_bytes: 0\n  memory_sync_domain_map: ") + map),
              "expected \"(default N, remote N)\"");
    CHECK_THAT(
        refused<GraphError>([&] { static_cast<void>(diff(two_stores(cells), "cudag graph 9\n", names)); }).what(),
        ContainsSubstring("the only version"));
}

TEST_CASE("comments, empty lines and other line ends are no part of a text", "[text]") {
    const auto cells = device({0, 0});
    const GraphNames names = names_for(cells);
    const std::string text = to_text(two_stores(cells), names);
    std::string commented = "# made by hand\n\n";
    for (const char c : text)
        commented += c == '\n' ? std::string("\r\n   \n  # next\n") : std::string(1, c);
    CHECK(to_text(cudag::load(commented, names).graph, names) == text);
}

TEST_CASE("a text that ends inside a node is refused", "[text]") {
    const auto cells = device({0, 0});
    GraphBuilder b;
    add_child(b, two_stores(cells));
    const std::string text = to_text(std::move(b).build(), names_for(cells));
    REQUIRE(text.ends_with("  end\n"));
    CHECK_THAT(refused<GraphError>([&] {
                   static_cast<void>(cudag::load(text.substr(0, text.size() - 6), names_for(cells)));
               }).what(),
               ContainsSubstring("it ends before line") &&
                   ContainsSubstring("expected \"end\" after the 2 nodes of \"graph\""));
}

TEST_CASE("no text without one of its lines, or with one twice, does harm", "[text]") {
    const auto cells = device({0, 0});
    GraphBuilder b;
    const auto condition = b.condition(1);
    b.if_(condition, [&](GraphBuilder& body) { body.kernel({}, set_condition, condition, 0U).label("off"); });
    add_child(b, two_stores(cells)).label("child");
    const Graph graph = std::move(b).build();
    const GraphNames names = names_of(graph, names_for(cells));
    const std::string text = to_text(graph, names);
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at) + 1;
        lines.push_back(text.substr(at, end - at));
        at = end;
    }
    std::size_t loaded = 0;
    const auto load_any = [&](const std::string& bad) {
        try {
            static_cast<void>(cudag::load(bad, names));
            ++loaded;
        } catch (const GraphError&) {
            CHECK(cudaGetLastError() == cudaSuccess);
        }
    };
    for (std::size_t i = 0; i < lines.size(); ++i) {
        std::string without, twice, until;
        for (std::size_t j = 0; j < lines.size(); ++j) {
            if (j != i) without += lines[j];
            twice += lines[j] + (j == i ? lines[j] : "");
            if (j < i) until += lines[j];
        }
        load_any(without);
        load_any(twice);
        load_any(until);
    }
    CHECK(loaded < lines.size());
}
