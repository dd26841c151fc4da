// Graphs as text: what it has, and that it is the same for equal graphs.
#include <cudag/graph_text.hpp>

#include <cudag/format.hpp>

#include <limits>

#include "conditional_kernels.hpp"
#include "cuda_version.hpp"
#include "functions.hpp"
#include "kernels.hpp"
#include "test.hpp"

using cudag::DeviceBuffer;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::GraphNames;

namespace {

struct Vectors {
    mutable std::vector<float> host = std::vector<float>(32);
    DeviceBuffer<float> x{32};
    DeviceBuffer<float> y{32};

    [[nodiscard]] GraphNames names() const {
        GraphNames all;
        all.memory("host", host.data(), 128).memory("x", x).memory("y", y);
        return all;
    }
    [[nodiscard]] Graph graph() const {
        GraphBuilder b;
        const auto up = b.memcpy(x, host).label("upload");
        const auto fill = b.memset(y, 1.0f);
        b.kernel({.grid = 1, .block = 28}, saxpy, 28, 2.0f, x.span().subspan(4), y).label("axpy").after(up, fill);
        return std::move(b).build();
    }
};

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("the text of a graph has its nodes, parameters, accesses and edges", "[text]") {
    const Vectors v;
    CHECK(to_text(v.graph(), v.names()) == R"(cudag graph 1
memory x: 128 bytes
memory host: 128 bytes
memory y: 128 bytes
nodes: 3
0: memcpy "upload"
  direction: host to device
  destination: x
  source: host
  bytes: 128
1: memset
  destination: y
  rows: 1
  elements: 32
  bytes of an element: 4
  value: 1065353216
2: kernel "axpy"
  after: 0 to 1
  kernel: saxpy
  grid: (1, 1, 1)
  block: (28, 1, 1)
  shared_bytes: 0
  argument 0: 28
  argument 1: 2.0f
  argument 2: x + 16
  argument 3: y
  access 0: read argument 2, x + 16, 112 bytes, elements of 4
  access 1: write argument 3, y, 128 bytes, elements of 4
)");
}

TEST_CASE("equal graphs have equal texts, wherever their memory is", "[text]") {
    const Vectors one;
    const Vectors other;
    CHECK(to_text(one.graph(), one.names()) == to_text(other.graph(), other.names()));
    CHECK(to_text(one.graph()) == to_text(other.graph()));
}

TEST_CASE("memory without a name gets numbers in the order of the nodes", "[text]") {
    const Vectors v;
    GraphNames names;
    names.memory("y", v.y);
    const std::string text = to_text(v.graph(), names);
    CHECK_THAT(text, ContainsSubstring("memory memory1: 128 bytes\nmemory memory2: 128 bytes\nmemory y: 128 bytes\n"));
    CHECK_THAT(text, ContainsSubstring("destination: memory1\n") && ContainsSubstring("source: memory2\n"));
    CHECK_THAT(text, ContainsSubstring("argument 2: memory1 + 16\n") && ContainsSubstring("argument 3: y\n"));
}

TEST_CASE("a numbered name is none of those given", "[text]") {
    const Vectors v;
    GraphNames names;
    names.memory("memory1", v.y);
    const std::string text = to_text(v.graph(), names);
    CHECK_THAT(text, ContainsSubstring("destination: memory2\n") && ContainsSubstring("argument 3: memory1\n"));
}

TEST_CASE("numbered names of host functions and events are none of those given", "[text]") {
    cudag::Event given;
    cudag::Event other;
    GraphBuilder b;
    const auto first = b.record(given);
    const auto second = b.record(other);
    b.host([] {}).after(first, second);
    const Graph graph = std::move(b).build();
    GraphNames names;
    names.event("event1", given).host("host1", [] {});
    CHECK_THAT(to_text(graph, names), ContainsSubstring("0: record_event\n  event: event1\n") &&
                                          ContainsSubstring("1: record_event\n  event: event2\n") &&
                                          ContainsSubstring("  function: host2\n"));
}

TEST_CASE("memory without a name is as large as its declared accesses", "[text]") {
    DeviceBuffer<int> cells(6);
    GraphBuilder b;
    b.kernel({}, store, cells.data() + 1, 1).writes(cells);
    CHECK_THAT(to_text(std::move(b).build()),
               ContainsSubstring("memory memory1: 24 bytes\n") && ContainsSubstring("argument 0: memory1 + 4\n"));
}

TEST_CASE("two kernels of one name are told apart by a number", "[text]") {
    GraphBuilder b;
    b.kernel({}, nothing);
    const Graph graph = std::move(b).build();
    GraphNames names;
    names.kernel("nothing", store);
    CHECK_THAT(to_text(graph, names), ContainsSubstring("kernel: nothing#2\n"));
}

TEST_CASE("a kernel has its name in texts whether it is named or used by a Function or by the program", "[text]") {
    const cudag::Function function = device_function_of(nothing);
    GraphBuilder b;
    b.kernel({}, nothing);
    GraphBuilder by_function;
    by_function.kernel({}, function);
    const Graph graphs[] = {std::move(b).build(), std::move(by_function).build()};
    GraphNames of_program;
    of_program.kernel("idle", nothing);
    GraphNames of_function;
    of_function.kernel("idle", function);
    for (const Graph& graph : graphs)
        for (const GraphNames* names : {&of_program, &of_function})
            CHECK_THAT(to_text(graph, *names), ContainsSubstring("kernel: idle\n"));
}

TEST_CASE("the text of an updated graph has the updated parameters", "[text]") {
    const Vectors v;
    Graph graph = v.graph();
    graph.update(graph.find_one(saxpy), cudag::arg<1>(3.5f));
    CHECK_THAT(to_text(graph, v.names()), ContainsSubstring("argument 1: 3.5f\n"));
}

TEST_CASE("each number in a text is exact", "[text]") {
    DeviceBuffer<Numbers> out(1);
    GraphBuilder b;
    b.kernel({}, write_numbers, out, static_cast<signed char>(-128), static_cast<unsigned char>(255),
             static_cast<short>(-1), static_cast<unsigned short>(65535), -7, 4000000000U, -9000000000LL,
             18446744073709551615ULL, 0.1f, 1e300);
    const std::string text = to_text(std::move(b).build());
    CHECK_THAT(text, ContainsSubstring("argument 1: -128\n") && ContainsSubstring("argument 2: 255\n") &&
                         ContainsSubstring("argument 3: -1\n") && ContainsSubstring("argument 4: 65535\n") &&
                         ContainsSubstring("argument 6: 4000000000\n"));
    CHECK_THAT(text, ContainsSubstring("argument 7: -9000000000\n") &&
                         ContainsSubstring("argument 8: 18446744073709551615\n") &&
                         ContainsSubstring("argument 9: 0.1f\n") && ContainsSubstring("argument 10: 1e+300\n"));
}

TEST_CASE("numbers that are not finite are in a text as their bytes, and null pointers as null", "[text]") {
    const float infinite = std::numeric_limits<float>::infinity();
    DeviceBuffer<Numbers> out(1);
    GraphBuilder b;
    const auto add_numbers = [&](float f, double d) {
        b.kernel({}, write_numbers, static_cast<Numbers*>(nullptr), static_cast<signed char>(0),
                 static_cast<unsigned char>(0), static_cast<short>(0), static_cast<unsigned short>(0), 0, 0U, 0LL, 0ULL,
                 f, d);
    };
    add_numbers(infinite, 1.0);
    add_numbers(2.0f, -std::numeric_limits<double>::infinity());
    const std::string text = to_text(std::move(b).build());
    CHECK_THAT(text, ContainsSubstring("argument 0: null\n") &&
                         ContainsSubstring("argument 9: bytes 0000807f\n  argument 10: 1.0\n") &&
                         ContainsSubstring("argument 9: 2.0f\n  argument 10: bytes 000000000000f0ff\n"));
}

TEST_CASE("addresses inside an object have names, and are bytes if no name is given", "[text]") {
    DeviceBuffer<int> cells(2);
    GraphBuilder b;
    b.kernel({}, add_to, ToAndFrom{cells.data() + 1, cells.data()}, 3);
    const Graph graph = std::move(b).build();
    GraphNames names;
    names.memory("cells", cells);
    CHECK_THAT(to_text(graph, names), ContainsSubstring("argument 0: cells + 4, cells\n  argument 1: 3\n"));
    CHECK_THAT(to_text(graph), ContainsSubstring("argument 0: bytes "));
}

TEST_CASE("a text has the attributes of a launch, the configuration of a copy of regions, and its nodes inside",
          "[text]") {
    DeviceBuffer<float> x(64);
    GraphBuilder inner;
    inner.memset(x, 0.0f).label("inside");
    const Graph child = std::move(inner).build();
    GraphBuilder b({.races = cudag::Races::allowed});
    b.kernel({.cooperative = true, .priority = 0}, nothing);
    b.child(child).label("child");
    const cudag::DeviceSpan2D<float> rows(x.span(), 4, 4, 32);
    b.memset2d(rows, 2.0f);
    const auto condition = b.condition(1);
    b.if_(condition, [&](GraphBuilder& body) { body.kernel({}, set_condition, condition, 0U); }).label("if \"x\"\n");
    const std::string text = to_text(std::move(b).build());
    CHECK_THAT(text, ContainsSubstring("  cooperative: yes\n"));
    CHECK_THAT(text, ContainsSubstring("1: child \"child\"\n  graph: 1 nodes\n    0: memset \"inside\"\n") &&
                         ContainsSubstring("      value: 0\n  end\n2: memset\n"));
    CHECK_THAT(text, ContainsSubstring("  rows: 4\n  elements: 4\n  pitch: 32\n"));
    CHECK_THAT(text, ContainsSubstring("condition 0: initial 1\nnodes: 4\n") &&
                         ContainsSubstring("3: conditional \"if \\\"x\\\"\\x0a\"\n  conditional: if\n  bodies: 1\n"
                                           "  condition: 0\n  then: 1 nodes\n    0: kernel\n"));
    CHECK_THAT(text, ContainsSubstring("      argument 0: condition 0\n      argument 1: 0\n  end\n"));
}

TEST_CASE("graph memory has the place of its alloc node as its name", "[text]") {
    GraphBuilder b;
    const auto first = b.alloc<int>(4).label("scratch");
    const auto use = b.kernel({}, store, first.span().subspan(1), 5).after(first);
    b.free(first).after(use);
    CHECK_THAT(to_text(std::move(b).build()), ContainsSubstring("0: alloc \"scratch\"\n  bytes: 16\n") &&
                                                  ContainsSubstring("argument 0: @0 + 4\n") &&
                                                  ContainsSubstring("2: free\n  after: 1\n  memory: @0\n"));
}

TEST_CASE("host nodes, events and kernels have the names given to them, or else their own", "[text]") {
    cudag::Event done;
    const auto report = [] {};
    GraphBuilder b;
    const auto host = b.host(report).label("report");
    b.host(report).after(host);
    b.record(done).after(host);
    b.kernel({}, nothing);
    const Graph graph = std::move(b).build();
    const std::string own = to_text(graph);
    CHECK_THAT(own, ContainsSubstring("function: report\n") && ContainsSubstring("function: host1\n") &&
                        ContainsSubstring("event: event1\n") && ContainsSubstring("kernel: nothing\n"));
    GraphNames names;
    names.event("done", done).kernel("no work", nothing);
    CHECK_THAT(to_text(graph, names), ContainsSubstring("event: done\n") && ContainsSubstring("kernel: no work\n"));
}

TEST_CASE("a captured kernel of unknown types has its arguments by the kernel's name, or their bytes", "[text]") {
    DeviceBuffer<int> cells(2);
    cudag::Stream stream;
    const Graph graph = cudag::capture(stream, [&](cudaStream_t s) {
        int* to = cells.data();
        const int* from = cells.data() + 1;
        int value = 7;
        void* arguments[] = {&to, &from, &value};
        cudag::check(cudaLaunchKernel(cudag::detail::kernel_symbol(add), dim3(1), dim3(1),
                                      static_cast<void**>(arguments), 0, s));
    });
    GraphNames names;
    names.memory("cells", cells);
    const std::string text = to_text(graph, names);
    CHECK_THAT(text, ContainsSubstring("argument 0: cells\n") && ContainsSubstring("argument 1: cells + 4\n"));
    CHECK((has(text, "argument 2: 7\n") || has(text, "argument 2: bytes 07000000\n")));
}

TEST_CASE("a text has the plan that it was given", "[text]") {
    GraphBuilder b;
    b.kernel({}, nothing);
    const Graph graph = std::move(b).build();
    CHECK_FALSE(has(to_text(graph), "plan"));
    CHECK_THAT(to_text(graph, {}, {.plan = cudag::Plan{.lanes = 4, .durations = {1.5}}}),
               ContainsSubstring("plan: reduce, joins, ends, early\nplan lanes: 4\nplan durations: 1.5\nnodes: 1\n"));
    CHECK_THAT(to_text(graph, {}, {.plan = cudag::Plan::as_written()}), ContainsSubstring("plan: none\nnodes"));
}

TEST_CASE("an inner graph and a moved-from one have no text", "[text]") {
    GraphBuilder inner;
    inner.kernel({}, nothing);
    GraphBuilder b;
    const auto child = add_child(b, std::move(inner).build());
    Graph graph = std::move(b).build();
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(to_text(child.graph())); }).what(),
               ContainsSubstring("to_text"));
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(diff(child.graph(), to_text(graph))); }).what(),
               ContainsSubstring("diff with a text"));
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(names_of(child.graph())); }).what(),
               ContainsSubstring("names_of"));
    const Graph moved = std::move(graph);
    CHECK_THROWS_AS(to_text(graph), GraphError); // NOLINT: moved from
}

TEST_CASE("names that a text cannot have are refused, and add nothing", "[text]") {
    const Vectors v;
    GraphNames names = v.names();
    for (const char* name : {"", "1x", "a b", "a+b", "a:b", "\"x\"", "null", "bytes", "condition", "@1"})
        CHECK_THAT(refused<GraphError>([&] { names.memory(name, v.x); }).what(),
                   ContainsSubstring("is no name in texts of graphs"));
    CHECK_THAT(refused<GraphError>([&] { names.memory("x", v.x); }).what(),
               ContainsSubstring("name of memory: \"x\" is taken"));
    CHECK_THAT(refused<GraphError>([&] { names.memory("z", nullptr, 4); }).what(), ContainsSubstring("a null pointer"));
    CHECK_THAT(refused<GraphError>([&] { names.event("e", static_cast<cudaEvent_t>(nullptr)); }).what(),
               ContainsSubstring("a null handle"));
    CHECK_THAT(refused<GraphError>([&] { names.event("two words", cudag::Event()); }).what(),
               ContainsSubstring("name of an event: \"two words\" is no name"));
    names.host("h", [] {});
    CHECK_THAT(refused<GraphError>([&] { names.host("h", [] {}); }).what(),
               ContainsSubstring("name of a host function: \"h\" is taken"));
    CHECK_THAT(refused<GraphError>([&] { names.kernel("two\nlines", nothing); }).what(),
               ContainsSubstring("no single line"));
    const cudag::Event event;
    names.event("e", event);
    CHECK_THAT(refused<GraphError>([&] { names.event("e", event); }).what(),
               ContainsSubstring("name of an event: \"e\" is taken"));
    names.kernel(nothing);
    CHECK_THAT(refused<GraphError>([&] { names.kernel(nothing); }).what(),
               ContainsSubstring("name of a kernel: \"nothing\" is taken"));
    CHECK(to_text(v.graph(), names) == to_text(v.graph(), v.names()));
}
