// Graphs that CUDA cannot clone, written again: conditionals and graph memory in inline_graph, clone and child.
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bind_kernels.hpp"
#include "conditional_kernels.hpp"
#include "counting.hpp"
#include "cuda_version.hpp"
#include "memory_nodes.hpp"
#include "native.hpp"
#include "watched.hpp"

using cudag::AllocNode;
using cudag::arg;
using cudag::DeviceBuffer;
using cudag::DeviceSpan;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::Stream;

namespace {

using Cells = std::vector<int>;

/// out[0] = in[0] + value, by way of two cells of graph memory.
Graph through_memory(const DeviceBuffer<int>& out, const DeviceBuffer<int>& in, int value) {
    GraphBuilder b;
    const auto scratch = b.alloc<int>(2).label("scratch");
    const DeviceSpan<int> cells = scratch.span();
    const auto up = b.memcpy(cells.first(1), in.span().first(1)).label("up").after(scratch);
    const auto sum = b.kernel({}, add, cells.data() + 1, cells.data(), value).label("sum").after(up);
    const auto down = b.memcpy(out.span().first(1), cells.subspan(1, 1)).label("down").after(sum);
    b.free(scratch).label("end").after(down);
    return std::move(b).build();
}

void check_same(const Graph& graph, const Graph& copy) {
    for (const cudag::Difference& difference : diff(graph, copy))
        FAIL_CHECK(to_string(difference));
    CHECK(copy.edge_count() == graph.edge_count());
}

void check_refused(const Graph& graph, const std::string& label, const std::string& text) {
    GraphBuilder b;
    b.kernel({}, nothing);
    const auto error = refused<GraphError>([&] { b.inline_graph(graph); });
    CHECK_THAT(error.what(), ContainsSubstring(label) && ContainsSubstring(text));
    CHECK(b.node_count() == 1);
    CHECK(std::move(b).build().node_count() == 1);
}

} // namespace

TEST_CASE("an inlined loop has a condition of its own, and its handles are translated",
          "[builder][inline][conditional]") {
    const auto cells = device({9, 0});
    const Graph graph = counting(cells);
    GraphBuilder b;
    b.if_(b.condition(0), [](GraphBuilder&) {}); // the numbers of the conditions differ
    const auto before = b.kernel({}, store, cells, 4);
    const auto part = b.inline_graph(graph).after(before);
    const auto after = b.kernel({}, add, cells.data() + 1, cells.data() + 1, 1000).after(part.tails());
    const Graph outer = std::move(b).build();
    REQUIRE(part.nodes().size() == 1);
    CHECK(part.nodes()[0].label() == "loop");
    CHECK(after.predecessors() == part.tails());
    const auto work = part.counterpart(graph.find_one(add));
    CHECK(work == outer.find_one("work"));
    Exec exec = outer.instantiate();
    const Stream stream;
    run(exec, stream);
    CHECK(read(cells) == Cells{0, 1020});
    exec.update(work, arg<2>(7));
    run(exec, stream);
    CHECK(read(cells) == Cells{0, 2048});
    write(cells.span(), {2, 0});
    Exec alone = graph.instantiate(); // unchanged, while the other exec lives
    run(alone, stream);
    CHECK(read(cells) == Cells{0, 10});
}

TEST_CASE("all conditionals are written again with bodies, initial values and bodies inside bodies",
          "[builder][inline][conditional]") {
    if (older_than(12080)) return;
    const auto cells = device({0, 0, 0, 0, 0});
    const auto two = device({2});
    GraphBuilder b;
    const auto choose = b.condition(7);
    const auto take = b.kernel({}, set_from, choose, two.data());
    const auto chosen = b.switch_(choose, {[](GraphBuilder&) {}, [](GraphBuilder&) {},
                                           [&](GraphBuilder& body) { body.kernel({}, store, cells, 1).label("case"); }})
                            .label("switch")
                            .after(take);
    const auto outer_if =
        b.if_(
             b.condition(0), [&](GraphBuilder& body) { body.kernel({}, store, cells, 50); },
             [&](GraphBuilder& body) {
                 body.if_(body.condition(1),
                          [&](GraphBuilder& inner) { inner.kernel({}, store, cells.data() + 1, 2).label("innermost"); })
                     .label("inner");
             })
            .label("outer")
            .after(chosen);
    b.repeat(3, [&](GraphBuilder& body) {
         const auto again = body.condition(1); // set anew in each turn
         body.if_(again, [&](GraphBuilder& inner) {
             const auto count = inner.kernel({}, add, cells.data() + 2, cells.data() + 2, 1);
             inner.kernel({}, set_condition, again, 0).after(count);
         });
     }).after(outer_if);
    const Graph graph = std::move(b).build();

    GraphBuilder again;
    const auto part = again.inline_graph(graph);
    const Graph copy = std::move(again).build();
    CHECK(diff(graph, copy).size() == 1); // each repetition counts in its own memory
    const auto innermost = graph.find("innermost").at(0);
    CHECK(part.counterpart(innermost) == copy.find("innermost").at(0));
    Exec exec = copy.instantiate();
    Exec original = graph.instantiate();
    const Stream stream;
    run(exec, stream);
    CHECK(read(cells) == Cells{1, 2, 3, 0, 0});
    run(original, stream);
    run(exec, stream);
    CHECK(read(cells) == Cells{1, 2, 9, 0, 0});
}

TEST_CASE("conditions in objects and as CUDA's handles are translated", "[builder][inline][conditional]") {
    const auto cells = device({3, 4, 0});
    GraphBuilder b;
    const auto first = b.condition(1);
    const auto one = b.while_(first, [&](GraphBuilder& body) {
        body.kernel({}, count_down_with, Counter{'x', first, cells.data()});
    });
    const auto second = b.condition(1);
    b.while_(second, [&](GraphBuilder& body) { body.kernel({}, count_down_raw, cells.data() + 1, second); }).after(one);
    const Graph graph = std::move(b).build();
    GraphBuilder outer;
    outer.if_(outer.condition(0), [](GraphBuilder&) {});
    outer.inline_graph(graph);
    run(std::move(outer));
    CHECK(read(cells) == Cells{0, 0, 0});
}

TEST_CASE("conditionals inlined into a loop begin each turn with their initial values",
          "[builder][inline][conditional]") {
    if (older_than(12080)) return;
    const auto cells = device({0, 0});
    GraphBuilder b;
    const auto once = b.condition(1);
    b.if_(once, [&](GraphBuilder& body) {
        const auto nested = body.condition(1);
        body.if_(nested, [&](GraphBuilder& inner) {
            const auto count = inner.kernel({}, add, cells.data(), cells.data(), 1);
            const auto end = inner.kernel({}, set_condition, nested, 0).after(count);
            inner.kernel({}, set_condition, once, 0).after(end);
        });
    });
    const Graph graph = std::move(b).build();
    GraphBuilder outer;
    outer.repeat(4, [&](GraphBuilder& body) { body.inline_graph(graph); });
    run(std::move(outer));
    CHECK(read(cells) == Cells{4, 0});
}

TEST_CASE("repetitions written twice count in memory of their own", "[builder][inline][conditional]") {
    if (older_than(12080)) return;
    const auto cells = device({0});
    GraphBuilder b;
    b.repeat(5, [&](GraphBuilder& body) { body.kernel({}, add, cells.data(), cells.data(), 1); });
    const Graph graph = std::move(b).build();
    const Graph clone = graph.clone();
    const auto differences = diff(graph, clone);
    REQUIRE(differences.size() == 1);
    CHECK_THAT(to_string(differences[0]), ContainsSubstring("\"count of turns\"") && ContainsSubstring("argument 1"));
    Exec exec = clone.instantiate();
    run(exec, Stream());
    CHECK(read(cells) == Cells{5});
}

TEST_CASE("a kernel with the number of a condition is refused where its number changes",
          "[builder][inline][conditional]") {
    const auto cells = device({0});
    GraphBuilder b;
    const auto condition = b.condition(1);
    b.if_(condition, [](GraphBuilder&) {}).label("branch");
    const auto other = b.kernel({}, store, cells, 1);
    b.kernel({}, load_at, condition.native(), cells).label("number").after(other); // never run
    const Graph graph = std::move(b).build();
    const Graph clone = graph.clone(); // the numbers are the same
    check_same(graph, clone);
    GraphBuilder outer;
    outer.if_(outer.condition(0), [](GraphBuilder&) {});
    const auto error = refused<GraphError>([&] { outer.inline_graph(graph); });
    CHECK_THAT(error.what(), ContainsSubstring("\"number\"") && ContainsSubstring("argument 0 is ") &&
                                 ContainsSubstring("if \"branch\""));
    CHECK(outer.node_count() == 1);
    run(std::move(outer));
}

TEST_CASE("an Exec of a written clone takes a whole update from a graph with captured branches",
          "[graph][clone][conditional]") {
    const auto cells = device({0, 0});
    const Stream stream, other;
    const auto make = [&](int value) {
        const Graph part = cudag::capture(stream, [&](cudag::StreamCapture& c) {
            c.fork(other);
            cudag::memset_async(other, cells.span().last(1), value); // made first, and joined last
            cudag::launch(stream, {}, store, cells.data(), value);
            c.join(other);
        });
        GraphBuilder b;
        b.child(part);
        b.if_(b.condition(0), [](GraphBuilder&) {});
        return std::move(b).build();
    };
    Exec exec = make(1).clone().instantiate();
    CHECK(exec.update(make(2)).updated());
    run(exec, stream);
    CHECK(read(cells) == Cells{2, 2});
}

TEST_CASE("a condition in an object becomes that of the copy as a whole", "[graph][clone][conditional]") {
    GraphBuilder b;
    const auto condition = b.condition(0);
    const auto alone = b.kernel({}, set_condition, condition, 1U);
    const auto in_object = b.kernel({}, set_condition_of, ConditionOnly{condition}, 0U).after(alone);
    b.if_(condition, [](GraphBuilder&) {}).after(in_object);
    const Graph clone = std::move(b).build().clone();
    CHECK(clone.find_one(set_condition_of).get<0>().condition == clone.find_one(set_condition).get<0>());
}

TEST_CASE("a clone of a graph with conditionals has an exec beside that of the original",
          "[graph][clone][conditional]") {
    const auto cells = device({3, 0});
    std::optional<Graph> graph = counting(cells);
    graph->name("counting");
    const auto work = graph->find_one(add);
    const Graph clone = graph->clone();
    check_same(*graph, clone);
    CHECK(clone.name() == "counting");
    CHECK(clone.counterpart(work) == clone.find_one(add));
    CHECK(clone.counterpart(graph->find_one("loop")) == clone.find_one("loop"));
    Exec one = graph->instantiate();
    Exec two = clone.instantiate();
    two.update(clone.counterpart(work), arg<2>(6));
    const Stream stream;
    run(one, stream);
    CHECK(read(cells) == Cells{0, 15});
    write(cells.span(), {3, 0});
    run(two, stream);
    CHECK(read(cells) == Cells{0, 18});
    CHECK(two.update(*graph).updated()); // equal numbers
    graph.reset();
    write(cells.span(), {2, 0});
    run(two, stream);
    CHECK(read(cells) == Cells{0, 10});
    const Graph third = clone.clone();
    CHECK(third.counterpart(clone.find_one(add)) == third.find_one(add));
    CHECK_THROWS_AS(third.counterpart(work), GraphError);
}

TEST_CASE("written graph memory has addresses of its own, also in copies, fills and declared accesses",
          "[builder][inline][memory]") {
    const auto in = device({40});
    const auto out = device({0});
    const Graph graph = through_memory(out, in, 2);
    GraphBuilder b;
    const auto part = b.inline_graph(graph);
    const auto part_again = b.inline_graph(graph).after(part.tails());
    const Graph outer = std::move(b).build();
    CHECK(outer.node_count() == 10);
    const auto old = graph.find("scratch").at(0).as<AllocNode<int>>().span();
    const auto memory = part.counterpart(graph.find("scratch").at(0)).as<AllocNode<int>>().span();
    CHECK(memory.data() != old.data());
    CHECK(memory.size() == old.size());
    const auto sum = part.counterpart(graph.find_one(add));
    CHECK(sum.get<0>() == memory.data() + 1);
    CHECK(sum.get<1>() == memory.data());
    CHECK(part_again.nodes().at(4).label() == "end");
    Exec exec = outer.instantiate();
    Exec alone = graph.instantiate();
    const Stream stream;
    run(exec, stream);
    CHECK(read(out) == Cells{42});
    exec.update(sum, arg<2>(5));
    run(exec, stream);
    CHECK(read(out) == Cells{42}); // by the second part
    run(alone, stream);
    CHECK(read(out) == Cells{42});
}

TEST_CASE("graph memory at a reused address is told apart by its lifetime", "[builder][inline][memory]") {
    const auto out = device({0, 0});
    GraphBuilder b;
    const auto first = b.alloc<int>(1).label("first");
    const auto fill_first = b.kernel({}, store, first.span().data(), 3).after(first);
    const auto read_first = b.memcpy(out.span().first(1), first.span()).label("out 0").after(fill_first);
    const auto freed = b.free(first).after(read_first);
    const auto second = b.alloc<int>(1, {.after = {freed}}).label("second");
    const auto fill_second = b.kernel({}, store, second.span().data(), 4).after(second);
    const auto read_second = b.memcpy(out.span().subspan(1, 1), second.span()).label("out 1").after(fill_second);
    b.free(second).after(read_second);
    const Graph graph = std::move(b).build();
    CHECK(graph.find("first").at(0).as<AllocNode<int>>().span().data() ==
          graph.find("second").at(0).as<AllocNode<int>>().span().data());
    const Graph clone = graph.clone();
    const auto source = [&](const char* label) { return memcpy_params(clone.find(label).at(0)).srcPtr.ptr; };
    CHECK(source("out 0") == clone.find("first").at(0).as<AllocNode<int>>().span().data());
    CHECK(source("out 1") == clone.find("second").at(0).as<AllocNode<int>>().span().data());
    Exec exec = clone.instantiate();
    run(exec, Stream());
    CHECK(read(out) == Cells{3, 4});
}

TEST_CASE("a captured graph with memory is written again", "[builder][inline][memory][capture]") {
    const auto out = device({0});
    const Stream stream;
    const Graph graph = cudag::capture(stream, [&](cudaStream_t s) {
        void* memory = nullptr;
        cudag::check(cudaMallocAsync(&memory, sizeof(int), s));
        auto* cell = static_cast<int*>(memory);
        int value = 6;
        std::array<void*, 2> arguments{&cell, &value}; // types unknown
        cudag::check(cudaLaunchKernel(cudag::detail::kernel_symbol(store), dim3(1), dim3(1), arguments.data(), 0, s));
        cudag::check(cudaMemcpyAsync(out.data(), memory, sizeof(int), cudaMemcpyDeviceToDevice, s));
        cudag::check(cudaFreeAsync(memory, s));
    });
    const Graph clone = graph.clone();
    CHECK(freed_address(clone.nodes().at(3)) != freed_address(graph.nodes().at(3)));
    Exec exec = clone.instantiate();
    run(exec, stream);
    CHECK(read(out) == Cells{6});
}

TEST_CASE("a graph with memory becomes a child by clone, any number of times", "[child][clone][memory]") {
    if (older_than(12090)) return;
    const auto in = device({1});
    const auto out = device({0});
    const Graph inner = through_memory(out, in, 10);
    GraphBuilder b;
    const auto one = b.child(inner).label("one");
    const auto back = b.memcpy(in, out).after(one);
    const auto two = b.child(inner).after(back);
    const Graph graph = std::move(b).build();
    const auto sum = inner.find_one(add);
    CHECK(one.inside(sum).label() == "sum");
    CHECK(one.inside(sum) != two.inside(sum));
    Exec exec = graph.instantiate();
    Exec alone = inner.instantiate();
    const Stream stream;
    run(exec, stream);
    CHECK(read(out) == Cells{21});
    exec.update(two.inside(sum), arg<2>(100));
    write(in.span(), {1});
    run(exec, stream);
    CHECK(read(out) == Cells{111});
    run(alone, stream);
    CHECK(read(out) == Cells{21});
}

TEST_CASE("addresses of graph memory in objects are refused by name", "[builder][inline][memory]") {
    GraphBuilder b;
    const auto memory = b.alloc<int>(1).label("scratch");
    const auto condition = b.condition(0);
    const auto count =
        b.kernel({}, count_down_with, Counter{'m', condition, memory.span().data()}).label("object").after(memory);
    b.free(memory).after(count);
    b.if_(condition, [](GraphBuilder&) {}).after(count);
    const Graph graph = std::move(b).build();
    check_refused(graph, "\"object\"", "argument 0 has an address in the memory of alloc \"scratch\"");
    CHECK_THROWS_AS(graph.clone(), GraphError);
}

TEST_CASE("memory of another graph is freed by no second graph", "[builder][inline][memory]") {
    GraphBuilder keeping;
    const auto memory = keeping.alloc<int>(1).label("kept");
    const Graph keeper = std::move(keeping).build();
    GraphBuilder b;
    b.free(memory).label("end");
    const Graph freeing = std::move(b).build();
    check_refused(freeing, "\"end\"", "another graph allocates");
    CHECK_THROWS_AS(freeing.clone(), GraphError);

    const Graph clone = keeper.clone(); // memory that is not freed yet
    GraphBuilder last;
    last.free(clone.counterpart(memory));
    const Graph other = std::move(last).build();
    Exec alloc = clone.instantiate();
    Exec free = other.instantiate();
    const Stream stream;
    alloc.launch(stream);
    free.launch(stream);
    stream.synchronize();
}

TEST_CASE("written graphs keep their owners once the original is gone", "[builder][inline][owners]") {
    Watched one;
    std::optional<Graph> clone;
    {
        GraphBuilder b;
        b.if_(b.condition(1), [&](GraphBuilder& body) { body.kernel({}, store, one.take(), 5); });
        const Graph graph = std::move(b).build();
        clone = graph.clone();
    }
    CHECK(one.alive());
    const Stream stream;
    {
        Exec exec = clone->instantiate();
        run(exec, stream);
        CHECK(one.value() == 5);
    }
    clone.reset();
    CHECK(released(one, stream));
}

TEST_CASE("a part that a body does not accept leaves no conditions behind", "[builder][inline][conditional]") {
    const auto cells = device({2, 0});
    GraphBuilder hosts;
    hosts.if_(hosts.condition(1), [](GraphBuilder&) {}).label("branch");
    hosts.host([] {}).label("report");
    const Graph graph = std::move(hosts).build();
    const Graph fitting = counting(cells);
    GraphBuilder b;
    b.if_(b.condition(1), [&](GraphBuilder& body) {
        CHECK_THROWS_AS(body.inline_graph(graph), GraphError);
        CHECK(body.node_count() == 0);
        body.inline_graph(fitting);
    });
    const Graph outer = std::move(b).build();
    CHECK(outer.node_count() == 1);
    Exec exec = outer.instantiate();
    run(exec, Stream());
    CHECK(read(cells) == Cells{0, 10});
}
