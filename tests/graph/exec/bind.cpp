// Exec::bind: other memory in place of a BufferParam.
#include <cudag/format.hpp>

#include <array>
#include <memory>
#include <optional>

#include "conditional_kernels.hpp"
#include "functions.hpp"
#include "native.hpp"
#include "region_kernels.hpp"
#include "stores.hpp"
#include "type_kernels.hpp"
#include "watched.hpp"

using cudag::arg;
using cudag::BufferParam;
using cudag::BufferUse;
using cudag::DeviceBuffer;
using cudag::DeviceSpan;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::Stream;
using cudag::UpdateError;

namespace {

/// Work on four cells in every way: 1 is stored, a fill and a copy follow, and 10 is added to the first.
struct Everything {
    explicit Everything(const BufferParam<int>& cells) : result(4, -1) {
        GraphBuilder b;
        const auto kernel = b.kernel({}, store, cells, 1).label("first");
        const auto set = b.memset(cells.span().subspan(1, 2), 2).label("fill").after(kernel);
        const auto span = b.kernel({}, sum, cells.data() + 3, cells.span().subspan(0, 3)).after(kernel, set);
        b.memcpy(result, cells).after(span).label("download");
        b.kernel({}, store, other, 7).label("other");
        graph = std::move(b).build();
    }

    DeviceBuffer<int> other{1};
    std::vector<int> result;
    std::optional<Graph> graph;
};

std::string why(Exec& exec, const auto&... arguments) {
    return refused<UpdateError>([&] { exec.bind(arguments...); }).what();
}

} // namespace

TEST_CASE("what is bound is used in place of a parameter, in kernels, fills and copies", "[exec][bind]") {
    const BufferParam<int> cells(4);
    Everything all(cells);
    Exec exec = all.graph->instantiate();
    const Stream stream;
    run(exec, stream);
    CHECK(all.result == Cells{1, 2, 2, 5});
    CHECK(read(cells.span()) == Cells{1, 2, 2, 5}); // its own memory

    const auto longer = device({-1, -1, -1, -1, -1});
    write(cells.span(), {0, 0, 0, 0});
    CHECK(exec.bind(cells, longer) == 4);
    run(exec, stream);
    CHECK(all.result == Cells{1, 2, 2, 5});
    CHECK(read(longer) == Cells{1, 2, 2, 5, -1});
    CHECK(read(cells.span()) == Cells{0, 0, 0, 0});
    CHECK(read(all.other) == Cells{7});

    const auto part = device({-1, -1, -1, -1, -1, -1});
    CHECK(exec.bind(cells, part.span().subspan(1, 4)) == 4);
    run(exec, stream);
    CHECK(read(part) == Cells{-1, 1, 2, 2, 5, -1});

    Exec second = all.graph->instantiate(); // the graph is as it was
    run(second, stream);
    CHECK(read(cells.span()) == Cells{1, 2, 2, 5});
}

TEST_CASE("a parameter is memory of its own, a buffer's, or borrowed", "[exec][bind]") {
    const auto given = device({0, 0});
    const DeviceBuffer<int> next(2);
    std::optional<BufferParam<int>> param;
    SECTION("of its own") {
        param.emplace(2);
    }
    SECTION("of a builder") {
        param = GraphBuilder().parameter<int>(2);
    }
    SECTION("a buffer's") {
        param.emplace(given);
    }
    SECTION("borrowed") {
        param.emplace(given.span());
    }
    CHECK(param->size() == 2);
    GraphBuilder b;
    b.kernel({}, store, param->span().subspan(1, 1), 5);
    Exec exec = std::move(b).build().instantiate();
    CHECK(exec.bind(*param, next) == 1);
    run(exec, Stream());
    CHECK(read(next).at(1) == 5);
}

TEST_CASE("a parameter needs memory", "[exec][bind]") {
    CHECK_THAT(refused<GraphError>([] { BufferParam<int>(0); }).what(),
               ContainsSubstring("BufferParam: it has no memory"));
    CHECK_THAT(refused<GraphError>([] { BufferParam<int>{DeviceSpan<int>()}; }).what(),
               ContainsSubstring("BufferParam: it has no memory"));
}

TEST_CASE("a parameter that was moved from is refused, the one it was moved to is as it was", "[exec][bind]") {
    BufferParam<int> from(1);
    GraphBuilder b;
    b.kernel({}, store, from, 5);
    Exec exec = std::move(b).build().instantiate();
    BufferParam<int> to = std::move(from);
    const auto next = device({0});
    CHECK_THAT(refused<GraphError>([&] { exec.bind(from, next); }).what(), // NOLINT: moved from
               ContainsSubstring("BufferParam: it was moved from"));
    CHECK(exec.bind(to, next) == 1);
}

TEST_CASE("only nodes in which something changes are pushed", "[exec][bind]") {
    const BufferParam<int> cells(4);
    Everything all(cells);
    Exec exec = all.graph->instantiate();
    CHECK(exec.bind(cells, cells.span()) == 0);
    const auto next = std::make_shared<DeviceBuffer<int>>(4);
    CHECK(exec.bind(cells, next->span()) == 4);
    CHECK(exec.bind(cells, next->span()) == 0);
    CHECK(exec.bind(cells, next) == 4); // the same memory, to be kept now
    CHECK(exec.bind(cells, next) == 0);
    CHECK(exec.bind(cells, next->span()) == 0);
}

TEST_CASE("memory that is bound again, with another owner, is kept by that one", "[owners][bind]") {
    const BufferParam<int> cell(1);
    GraphBuilder b;
    b.kernel({}, store, cell, 5);
    Exec exec = std::move(b).build().instantiate();
    const DeviceBuffer<int> memory(1);
    const auto first = std::make_shared<DeviceSpan<int>>(memory.span());
    const auto second = std::make_shared<DeviceSpan<int>>(memory.span());
    CHECK(exec.bind(cell, first) == 1);
    CHECK(first.use_count() == 2);
    CHECK(exec.bind(cell, second) == 1);
    CHECK(exec.bind(cell, second) == 0);
    CHECK(first.use_count() == 1);
    CHECK(second.use_count() == 2);
}

TEST_CASE("memory that was bound lives until the last launch that may use it", "[owners][bind]") {
    const BufferParam<int> cell(1);
    const Stream stream;
    GraphBuilder b;
    const auto kernel = b.kernel({}, store, cell, 5);
    b.memset(cell, 5).after(kernel);
    Exec exec = std::move(b).build().instantiate();
    std::weak_ptr<void> first, second;
    {
        const DeviceBuffer<int> memory(1);
        first = memory.owner();
        exec.bind(cell, memory);
    }
    CHECK_FALSE(first.expired());
    run(exec, stream);
    {
        const DeviceBuffer<int> memory(1);
        second = memory.owner();
        exec.bind(cell, memory);
    }
    CHECK(released(first, stream));
    run(exec, stream);
    CHECK_FALSE(second.expired());
    exec.bind(cell, cell);
    CHECK(released(second, stream));
}

TEST_CASE("several parameters are bound with one call of each node", "[exec][bind]") {
    const BufferParam<int> to(1), from(1), result(1);
    GraphBuilder b;
    const auto first = b.kernel({}, add, to, from.data(), 1);
    const auto second = b.kernel({}, add, result, to.data(), 10).after(first);
    b.memcpy(from, result).after(second);
    Exec exec = std::move(b).build().instantiate();
    const auto x = device({0}), y = device({100}), z = device({0});
    CHECK(exec.bind({{to, x}, {from, y}, {result, z.span()}}) == 3);
    run(exec, Stream());
    CHECK(read(x) == Cells{101});
    CHECK(read(z) == Cells{111});
    CHECK(read(y) == Cells{111});
    CHECK(exec.bind({{to, x}, {from, z}}) == 2);
    CHECK(exec.bind({}) == 0);
}

TEST_CASE("what cannot be bound is refused, and nothing changes", "[exec][bind]") {
    const BufferParam<int> cells(4), unused(1);
    Everything all(cells);
    Exec exec = all.graph->instantiate();
    const DeviceBuffer<int> next(4), few(3);
    CHECK_THAT(why(exec, cells, few), ContainsSubstring("bind: the parameter of 16 bytes at 0x") &&
                                          ContainsSubstring("cannot be bound to 12 bytes"));
    CHECK_THAT(why(exec, cells, DeviceSpan<int>(nullptr, 4)), ContainsSubstring("the memory is null"));
    CHECK_THAT(why(exec, unused, next), ContainsSubstring("bind: no node of ") && ContainsSubstring("bind.cpp:") &&
                                            ContainsSubstring("uses the parameter of 4 bytes"));
    CHECK_THAT(refused<UpdateError>([&] {
                   exec.bind({{cells, next}, {cells, next}});
               }).what(),
               ContainsSubstring("is given twice"));
    const BufferParam<int> half(cells.span().subspan(0, 2));
    CHECK_THAT(why(exec, half, next), ContainsSubstring("memset \"fill\"") &&
                                          ContainsSubstring("it uses 8 bytes at offset 4, and the parameter has 8"));
    CHECK_THAT(refused<UpdateError>([&] {
                   exec.bind({{cells, next}, {unused, next}});
               }).what(),
               ContainsSubstring("no node"));
    const DeviceBuffer<int> tile(6);
    const BufferParam<int> rows(tile.span().subspan(0, 4)); // two rows of 2 that are 4 apart have 6 in all
    GraphBuilder b;
    b.memset2d(cudag::DeviceSpan2D<int>(tile.data(), 2, 2, 4 * sizeof(int)), 0);
    Exec filled = std::move(b).build().instantiate();
    CHECK_THAT(why(filled, rows, next), ContainsSubstring("it uses 24 bytes at offset 0, and the parameter has 16"));
    run(exec, Stream());
    CHECK(read(cells.span()) == Cells{1, 2, 2, 5});
}

TEST_CASE("a copy of two dimensions, which CUDA cannot update, is named", "[exec][bind]") {
    const BufferParam<int> param(4);
    const DeviceBuffer<int> from(4), next(4);
    GraphBuilder b;
    b.memcpy2d(cudag::DeviceSpan2D<int>(param.data(), 2, 2), cudag::DeviceSpan2D<int>(from.data(), 2, 2)).label("tile");
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    REQUIRE(graph.uses(param).size() == 1);
    CHECK_THAT(why(exec, param, next), ContainsSubstring("memcpy \"tile\"") && ContainsSubstring("1D copies only"));
}

TEST_CASE("a copy takes no memory from elsewhere than what it was made with, and says so", "[exec][bind]") {
    const auto from = device({1});
    const DeviceBuffer<int> to(1);
    cudag::CapturePool pool;
    const auto pooled = pool.allocate<int>(1);
    const auto cell = device({0});
    const cudag::BufferParam<int> param(from);
    GraphBuilder b;
    b.kernel({}, add, cell.data(), param, 10);
    const auto copy = b.memcpy(to, param).label("copy");
    Exec exec = std::move(b).build().instantiate();
    const std::string sorts =
        "of cudaMalloc or the host, of memory pools (cudaMallocAsync, CapturePool), or of a graph";
    const auto bound = refused<UpdateError>([&] { exec.bind(param, pooled); });
    CHECK_THAT(bound.what(), ContainsSubstring("\"copy\"") && ContainsSubstring(sorts));
    const auto updated = refused<UpdateError>([&] { exec.update(copy, to, pooled); });
    CHECK_THAT(updated.what(), ContainsSubstring(sorts));
    run(exec, Stream());
    CHECK(read(cell) == std::vector{11});
    CHECK(read(to) == std::vector{1});
}

TEST_CASE("a parameter is bound in children and in bodies", "[exec][bind]") {
    const BufferParam<int> cells(3);
    GraphBuilder inner;
    inner.kernel({}, store, cells.data() + 1, 1);
    const Graph child = std::move(inner).build();
    GraphBuilder b;
    b.kernel({}, store, cells, 2);
    b.child(child);
    b.if_(b.condition(1), [&](GraphBuilder& body) { body.kernel({}, store, cells.data() + 2, 3); });
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    const auto next = device({0, 0, 0});
    CHECK(exec.bind(cells, next) == 3);
    run(exec, Stream());
    CHECK(read(next) == Cells{2, 1, 3});
}

TEST_CASE("a captured graph tells where it uses a buffer, and is bound to another", "[exec][bind]") {
    const auto x = device({0, 0, 0});
    std::vector<int> host(2, -1);
    const Stream stream;
    const Graph graph = cudag::capture(stream, [&](cudag::StreamCapture& c) {
        c.step("write", [&](cudaStream_t s) { cudag::launch(s, {}, store, x.data() + 1, 5); });
        c.step("fill", [&](cudaStream_t s) { cudag::memset_async(s, x.span().subspan(2, 1), 6); });
        c.step("read", [&](cudaStream_t s) { cudag::memcpy_async(s, host, x.span().subspan(1, 2)); });
    });
    const BufferParam<int> param = graph.parameter(x);
    const std::vector<BufferUse> uses = graph.uses(param);
    const std::vector<cudag::Node> nodes = graph.nodes();
    CHECK(uses == std::vector<BufferUse>{{nodes.at(0), 0, 4}, {nodes.at(1), 0, 8}, {nodes.at(2), 1, 4}});
    CHECK_THAT(to_string(uses.at(0)),
               StartsWith("kernel \"write\" (store) at ") && EndsWith(": argument 0 at offset 4"));
    CHECK_THAT(to_string(uses.at(1)), EndsWith(": destination at offset 8"));
    CHECK_THAT(fmt::format("{}", uses.at(2)), EndsWith(": source at offset 4"));

    Exec exec = graph.instantiate();
    const auto y = device({0, 0, 0});
    CHECK(exec.bind(param, y) == 3);
    run(exec, stream);
    CHECK(read(y) == Cells{0, 5, 6});
    CHECK(host == Cells{5, 6});
    CHECK(read(x) == Cells{0, 0, 0});
    const DeviceBuffer<int> unused(1);
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(graph.parameter(unused)); }).what(),
               ContainsSubstring("parameter: no node of the graph made at ") &&
                   ContainsSubstring("uses the 4 bytes at 0x"));
}

TEST_CASE("a region that a kernel takes is bound", "[exec][bind]") {
    const BufferParam<int> box(8);
    GraphBuilder b;
    b.kernel({}, number_box, cudag::DeviceSpan3D<int>(box.data(), 2, 2, 2));
    Exec exec = std::move(b).build().instantiate();
    const auto next = device(Cells(8, -1));
    CHECK(exec.bind(box, next) == 1);
    run(exec, Stream());
    CHECK(read(next) == Cells{0, 1, 10, 11, 100, 101, 110, 111});
}

TEST_CASE("captured graphs share a parameter", "[exec][bind]") {
    const BufferParam<int> cell(1);
    const Stream stream;
    const auto record = [&](int value) {
        return cudag::capture(stream, [&](cudaStream_t s) { cudag::launch(s, {}, store, cell.data(), value); });
    };
    Exec one = record(1).instantiate(), two = record(2).instantiate();
    const auto x = device({0}), y = device({0});
    CHECK(one.bind(cell, x) == 1);
    CHECK(two.bind(cell, y) == 1);
    run(one, stream);
    run(two, stream);
    CHECK(read(x) == Cells{1});
    CHECK(read(y) == Cells{2});
}

TEST_CASE("addresses in objects count where that is asked for", "[exec][bind]") {
    const auto cell = device({3});
    GraphBuilder b;
    const cudag::Condition condition = b.condition(1);
    b.if_(condition, [](GraphBuilder& body) {
         body.kernel({}, nothing);
     }).after(b.kernel({}, count_down_with, Counter{'c', condition, cell.data()}));
    const Graph graph = std::move(b).build();
    const BufferParam<int> plain(cell);
    CHECK(graph.uses(plain).empty());
    const BufferParam<int> param = graph.parameter(cell, {.in_objects = true});
    CHECK(graph.uses(param).size() == 1);
    Exec exec = graph.instantiate();
    const Stream stream;
    std::weak_ptr<void> first;
    {
        const auto next = device({5});
        first = next.owner();
        CHECK(exec.bind(param, next) == 1);
        run(exec, stream);
        CHECK(read(next) == Cells{4});
    }
    CHECK_FALSE(first.expired());
    const auto last = device({7});
    CHECK(exec.bind(param, last) == 1);
    run(exec, stream);
    CHECK(read(last) == Cells{6});
    CHECK(released(first, stream));
}

TEST_CASE("two parameters in one object are bound by themselves", "[owners][bind]") {
    const BufferParam<int> to(1, {.in_objects = true}), from(device({5}), {.in_objects = true});
    GraphBuilder b;
    b.kernel({}, add_to, ToAndFrom{to.data(), from.data()}, 1);
    Exec exec = std::move(b).build().instantiate();
    const Stream stream;
    std::weak_ptr<void> first_to, next_from;
    {
        const DeviceBuffer<int> memory(1), values = device({7});
        first_to = memory.owner();
        next_from = values.owner();
        CHECK(exec.bind({{to, memory}, {from, values}}) == 1);
    }
    const auto last = device({0});
    CHECK(exec.bind(to, last) == 1);
    run(exec, stream);
    CHECK(read(last) == Cells{8});
    CHECK(released(first_to, stream));
    CHECK_FALSE(next_from.expired());
}

TEST_CASE("owners of arguments that are not bound stay", "[owners][bind]") {
    Watched from;
    const BufferParam<int> to(1);
    GraphBuilder b;
    const auto other = device({0});
    const auto node = b.kernel({}, add, to, other.data(), 1);
    Exec exec = std::move(b).build().instantiate();
    exec.update(node, arg<1>(from.take()));
    const auto next = device({0});
    CHECK(exec.bind(to, next) == 1);
    CHECK(from.alive());
    run(exec, Stream());
    CHECK(read(next) == Cells{1});
}

TEST_CASE("a pointer to a parameter's end is no use of it", "[exec][bind]") {
    const auto cells = device({0, 0});
    const BufferParam<int> first(cells.span().subspan(0, 1));
    GraphBuilder b;
    b.kernel({}, store, cells.data() + 1, 4);
    CHECK(std::move(b).build().uses(first).empty());
}

TEST_CASE("of a parameter and an update, the last one counts", "[exec][bind]") {
    const BufferParam<int> cell(1);
    const auto x = device({0}), y = device({0});
    GraphBuilder b;
    const auto node = b.kernel({}, store, cell, 1);
    Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    const Stream stream;
    exec.bind(cell, x);
    exec.update(node, y, 2);
    run(exec, stream);
    CHECK(read(y) == Cells{2});
    CHECK(exec.bind(cell, x) == 1);
    run(exec, stream);
    CHECK(read(x) == Cells{2});
    graph.update(node, arg<1>(3));
    CHECK(exec.apply(graph) == 1); // with the graph's memory
    run(exec, stream);
    CHECK(read(cell.span()) == Cells{3});
    CHECK(exec.bind(cell, y) == 1);
    run(exec, stream);
    CHECK(read(y) == Cells{3});
}

TEST_CASE("after the update of a whole graph, a parameter is bound where the exec's own graph has it", "[exec][bind]") {
    const BufferParam<int> cell(1);
    const auto x = device({0});
    const DeviceBuffer<float> other(1);
    const auto build = [](const auto& kernel, const auto& memory, const auto&... values) {
        GraphBuilder b;
        b.kernel({}, kernel, memory, values...);
        return std::move(b).build();
    };
    Exec exec = build(store, cell, 1).instantiate();
    const Stream stream;
    CHECK(exec.update(build(store_negative, x, 2)).updated());
    const auto next = device({0});
    CHECK(exec.bind(cell, next) == 1);
    run(exec, stream);
    CHECK(read(next) == Cells{-2});
    REQUIRE(exec.update(build(store_float, other, 2.0f)).updated());
    CHECK_THAT(why(exec, cell, next), ContainsSubstring("store_float"));
    const DeviceBuffer<unsigned> counts(2);
    REQUIRE(exec.update(build(count_threads, counts.data(), counts.data() + 1, 1U)).updated());
    CHECK_THAT(why(exec, cell, next), ContainsSubstring("count_threads"));
}

TEST_CASE("a parameter is bound where an update has brought types that only CUDA knows", "[exec][bind]") {
    const BufferParam<int> cell(1);
    GraphBuilder b;
    b.kernel({}, store, cell, 3);
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    cudaGraph_t copy = nullptr;
    cudag::check(cudaGraphClone(&copy, graph.native()));
    REQUIRE(exec.update(Graph::adopt(copy)).updated());
    const auto next = device({0});
    CHECK(exec.bind(cell, next) == 1);
    run(exec, Stream());
    CHECK(read(next) == Cells{3});
}

TEST_CASE("a disabled node keeps what is bound until it is enabled", "[exec][bind]") {
    const BufferParam<int> cell(1);
    GraphBuilder b;
    const auto fill = b.memset(cell, 3);
    Exec exec = std::move(b).build().instantiate();
    exec.disable(fill);
    const auto next = device({0});
    CHECK(exec.bind(cell, next) == 1);
    const Stream stream;
    run(exec, stream);
    CHECK(read(next) == Cells{0});
    exec.enable(fill);
    run(exec, stream);
    CHECK(read(next) == Cells{3});
}

TEST_CASE("a Function's arguments are bound", "[exec][bind]") {
    const BufferParam<int> cell(1);
    GraphBuilder b;
    b.kernel({}, function_of(store), cell, 4);
    Exec exec = std::move(b).build().instantiate();
    const auto next = device({0});
    CHECK(exec.bind(cell, next) == 1);
    run(exec, Stream());
    CHECK(read(next) == Cells{4});
}
