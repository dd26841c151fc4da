// Exec::bind: all uses of a BufferParam's memory are found, or the bind is refused.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "bind_kernels.hpp"
#include "cuda_version.hpp"
#include "functions.hpp"
#include "opaque.hpp"
#include "stores.hpp"
#include "watched.hpp"

using cudag::arg;
using cudag::BufferParam;
using cudag::BufferUse;
using cudag::DeviceBuffer;
using cudag::DeviceSpan;
using cudag::EndPointers;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::launch;
using cudag::RaceError;
using cudag::Stream;
using cudag::UpdateError;

namespace {

std::string why(Exec& exec, const auto&... arguments) {
    return refused<UpdateError>([&] { exec.bind(arguments...); }).what();
}

/// count_range of `cells` as [begin, end).
struct Counted {
    explicit Counted(DeviceSpan<int> cells) {
        GraphBuilder b;
        b.kernel({}, count_range, cells.data(), cells.data() + cells.size(), out.data()).label("count");
        graph.push_back(std::move(b).build());
    }
    [[nodiscard]] int run_once(Exec& exec) const {
        run(exec, Stream());
        return read(out).front();
    }

    DeviceBuffer<int> out{1};
    std::vector<Graph> graph;
};

} // namespace

TEST_CASE("a span among the arguments of a captured kernel is bound", "[exec][bind]") {
    const auto x = device({1, 2}), y = device({30, 40}), out = device({0, 0});
    const Stream stream;
    const auto enqueue = [&](cudaStream_t s) {
        launch(s, {}, sum, out.data(), DeviceSpan<const int>(x.span()));
        launch(s, {}, add, out.data() + 1, x.data(), 5);
    };
    const auto check_bound = [&](const Graph& graph) {
        const auto param = graph.parameter(x);
        CHECK(graph.uses(param).size() == 2);
        Exec exec = graph.instantiate();
        CHECK(exec.bind(param, y) == 2);
        run(exec, stream);
        CHECK(read(out) == Cells{70, 35});
    };
    SECTION("of a whole capture") {
        check_bound(cudag::capture(stream, enqueue));
    }
    SECTION("of a region") {
        GraphBuilder b;
        b.capture(stream, enqueue);
        check_bound(std::move(b).build());
    }
    SECTION("of a child") {
        GraphBuilder b;
        add_child(b, cudag::capture(stream, enqueue));
        check_bound(std::move(b).build());
    }
    SECTION("launched as a Function") {
        check_bound(cudag::capture(stream, [&](cudaStream_t s) {
            launch(s, {}, function_of(sum).typed<int*, DeviceSpan<const int>>(), out.data(), x.span());
            launch(s, {}, add, out.data() + 1, x.data(), 5);
        }));
    }
}

TEST_CASE("an address in an object of a captured kernel is bound or refused", "[exec][bind]") {
    const auto x = device({1}), y = device({30}), out = device({0, 0});
    const Stream stream;
    const Graph graph = cudag::capture(stream, [&](cudaStream_t s) {
        launch(s, {}, load_from, Input{1, x.data()}, out.data());
        launch(s, {}, add, out.data() + 1, x.data(), 5);
    });
    const BufferParam<int> plain(x), param(x, {.in_objects = true});
    Exec exec = graph.instantiate();
    CHECK_THAT(why(exec, plain, y), ContainsSubstring("bind: kernel") &&
                                        ContainsSubstring("argument 0 has an address") &&
                                        ContainsSubstring("{.in_objects = true}"));
    run(exec, stream);
    CHECK(read(out) == Cells{1, 6});
    CHECK(exec.bind(param, y) == 2);
    run(exec, stream);
    CHECK(read(out) == Cells{30, 35});
}

TEST_CASE("an address in an object or a number of a built kernel is bound or refused", "[exec][bind]") {
    const auto x = device({1}), y = device({30}), out = device({0, 0});
    GraphBuilder b;
    b.kernel({}, load_at, reinterpret_cast<std::uintptr_t>(x.data()), out.data()).label("number");
    b.kernel({}, load_from, Input{1, x.data()}, out.data() + 1).label("object");
    const Graph graph = std::move(b).build();
    const BufferParam<int> plain(x), param(x, {.in_objects = true});
    Exec exec = graph.instantiate();
    CHECK_THAT(why(exec, plain, y), ContainsSubstring("\"number\"") && ContainsSubstring("in an object or a number"));
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(graph.parameter(x)); }).what(),
               ContainsSubstring("no node of") && ContainsSubstring("kernel \"number\""));
    CHECK(exec.bind(param, y) == 2);
    run(exec, Stream());
    CHECK(read(out) == Cells{30, 30});
}

TEST_CASE("a pointer to a parameter's end is bound in a kernel that uses it", "[exec][bind]") {
    const DeviceBuffer<int> x(5), longer(9);
    const Counted counted(x.span());
    const Graph& graph = counted.graph.front();
    const BufferParam<int> param(x);
    const auto node = graph.nodes().front();
    CHECK(graph.uses(param) == std::vector<BufferUse>{{node, 0, 0}, {node, 1, 5 * sizeof(int)}});
    Exec exec = graph.instantiate();
    CHECK(exec.bind(param, longer) == 1);
    CHECK(counted.run_once(exec) == 5);
    CHECK(exec.bind(param, longer.span().subspan(3, 5)) == 1);
    CHECK(counted.run_once(exec) == 5);
}

TEST_CASE("where other memory goes on at a parameter's end, the option says what a pointer there is", "[exec][bind]") {
    const DeviceBuffer<int> cells(8), next(4);
    const auto first = cells.span().subspan(0, 4);
    const Counted counted(first);
    const Graph& graph = counted.graph.front();
    const auto uses = [&](EndPointers option) {
        return graph.uses(BufferParam<int>(first, {.end_pointers = option})).size();
    };
    CHECK(uses(EndPointers::where_clear) == 1);
    CHECK(uses(EndPointers::bound) == 2);
    CHECK(uses(EndPointers::not_bound) == 1);
    const DeviceBuffer<int> whole(4);
    const Counted all(whole.span());
    CHECK(all.graph.front().uses(BufferParam<int>(whole)).size() == 2);
    CHECK(all.graph.front().uses(BufferParam<int>(whole, {.end_pointers = EndPointers::not_bound})).size() == 1);
    Exec exec = graph.instantiate();
    CHECK(exec.bind(BufferParam<int>(first, {.end_pointers = EndPointers::bound}), next) == 1);
    CHECK(counted.run_once(exec) == 4);
}

TEST_CASE("an address where one parameter ends and another begins is the other's, unless it says so", "[exec][bind]") {
    const auto cells = device({1, 2}), x = device({10}), y = device({20}), out = device({0});
    const auto left = cells.span().subspan(0, 1), right = cells.span().subspan(1, 1);
    const BufferParam<int> a(left), b(right), ranged(left, {.end_pointers = EndPointers::bound});
    {
        GraphBuilder builder;
        builder.kernel({}, add, left.data(), right.data(), 5);
        Exec exec = std::move(builder).build().instantiate();
        CHECK(exec.bind({{a, x}, {b, y}}) == 1);
        run(exec, Stream());
        CHECK(read(x) == Cells{25});
    }
    GraphBuilder builder;
    const auto count = builder.kernel({}, count_range, left.data(), right.data(), out.data());
    builder.kernel({}, store, right.data(), 3).after(count);
    Exec exec = std::move(builder).build().instantiate();
    CHECK(exec.bind({{b, y}, {ranged, x}}) == 2);
    CHECK(exec.bind({{b, y}, {ranged, x}}) == 0);
    run(exec, Stream());
    CHECK(read(out) == Cells{1});
    CHECK(read(y) == Cells{3});
}

TEST_CASE("a span that begins where a parameter ends is no end of it", "[exec][bind]") {
    const auto cells = device({0, 7}), next = device({0});
    const BufferParam<int> param(cells.span().subspan(0, 1), {.end_pointers = EndPointers::bound});
    GraphBuilder b;
    b.kernel({}, add, cells.data(), cells.span().subspan(1, 1), 1);
    const Graph graph = std::move(b).build();
    CHECK(graph.uses(param).size() == 1);
    Exec exec = graph.instantiate();
    exec.bind(param, next);
    run(exec, Stream());
    CHECK(read(next) == Cells{8});
}

TEST_CASE("what a node declares of a parameter moves with it", "[exec][bind][races]") {
    const DeviceBuffer<int> x(16), y(16), z(16);
    const BufferParam<int> param(x);
    GraphBuilder b;
    b.kernel({}, store, x.data(), 1).writes(x);
    const auto other = b.kernel({}, store, y.span().subspan(0, 1), 2);
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    static_cast<void>(refused<RaceError>([&] { exec.bind(param, y); }));
    CHECK(exec.bind(param, z) == 1);
    exec.update(other, arg<0>(x.span().subspan(0, 1))); // nobody else uses x now
    static_cast<void>(refused<RaceError>([&] { exec.update(other, arg<0>(z.span().subspan(0, 1))); }));
    static_cast<void>(refused<RaceError>([&] { exec.bind(param, x); }));
    exec.update(other, arg<0>(y.span().subspan(0, 1)));
    CHECK(exec.bind(param, x) == 1);
    static_cast<void>(refused<RaceError>([&] { exec.update(other, arg<0>(x.span().subspan(0, 1))); }));
}

TEST_CASE("a declaration that reaches out of a parameter moves in part", "[exec][bind][races]") {
    const DeviceBuffer<int> x(8), next(4);
    const BufferParam<int> param(x.span().subspan(2, 4));
    const auto x_at = [&](std::size_t i) { return x.span().subspan(i, 1); };
    const DeviceBuffer<int> elsewhere(1);
    GraphBuilder b;
    b.kernel({}, store, x.data() + 2, 1).writes(x);
    const auto other = b.kernel({}, store, elsewhere, 2);
    Exec exec = std::move(b).build().instantiate();
    CHECK(exec.bind(param, next) == 1);
    for (const std::size_t i : {0U, 1U, 6U, 7U})
        static_cast<void>(refused<RaceError>([&] { exec.update(other, arg<0>(x_at(i))); }));
    for (const std::size_t i : {0U, 3U})
        static_cast<void>(refused<RaceError>([&] { exec.update(other, arg<0>(next.span().subspan(i, 1))); }));
    exec.update(other, arg<0>(x_at(2)));
    exec.update(other, arg<0>(x_at(5)));
}

TEST_CASE("a declaration moves in part where it begins, or ends, with a parameter", "[exec][bind][races]") {
    const DeviceBuffer<int> x(4), next(2), elsewhere(1);
    const bool at_begin = GENERATE(true, false);
    const BufferParam<int> param(x.span().subspan(at_begin ? 0 : 2, 2));
    GraphBuilder b;
    b.kernel({}, store, x.data() + (at_begin ? 0 : 2), 1).writes(x);
    const auto other = b.kernel({}, store, elsewhere, 2);
    Exec exec = std::move(b).build().instantiate();
    const auto check_at = [&](DeviceSpan<int> cells, bool is_declared) {
        for (std::size_t i = 0; i < 2; ++i) {
            const auto move = [&] { exec.update(other, arg<0>(cells.subspan(i, 1))); };
            if (is_declared)
                static_cast<void>(refused<RaceError>(move));
            else
                CHECK_NOTHROW(move());
            exec.update(other, arg<0>(elsewhere));
        }
    };
    for (unsigned time = 0; time < 3; ++time) {
        CHECK(exec.bind(param, next) == 1);
        check_at(next.span(), true);
        check_at(x.span().subspan(0, 2), !at_begin);
        check_at(x.span().subspan(2, 2), at_begin);
        CHECK(exec.bind(param, x.span().subspan(at_begin ? 0 : 2, 2)) == 1);
        check_at(x.span().subspan(0, 2), true);
        check_at(x.span().subspan(2, 2), true);
        check_at(next.span(), false);
    }
}

TEST_CASE("rows of which a parameter has a part stay declared, beside what it is bound to", "[exec][bind][races]") {
    const DeviceBuffer<int> x(8), next(4), elsewhere(1);
    const BufferParam<int> param(x.span().subspan(0, 4));
    const cudag::DeviceSpan2D<int> left_half(x.data(), 2, 2, 4 * sizeof(int)); // of two rows of four
    GraphBuilder b;
    b.kernel({}, store, x.data(), 1).writes(left_half);
    const auto other = b.kernel({}, store, elsewhere, 2);
    Exec exec = std::move(b).build().instantiate();
    for (unsigned time = 0; time < 3; ++time) {
        CHECK(exec.bind(param, next) == 1);
        for (const std::size_t i : {0U, 1U, 4U, 5U})
            static_cast<void>(refused<RaceError>([&] { exec.update(other, arg<0>(x.span().subspan(i, 1))); }));
        static_cast<void>(refused<RaceError>([&] { exec.update(other, arg<0>(next.span().subspan(0, 1))); }));
        for (const std::size_t i : {2U, 3U, 6U, 7U})
            exec.update(other, arg<0>(x.span().subspan(i, 1)));
        exec.update(other, arg<0>(elsewhere));
        CHECK(exec.bind(param, x.span().subspan(0, 4)) == 1);
        exec.update(other, arg<0>(next.span().subspan(0, 1)));
        exec.update(other, arg<0>(elsewhere));
    }
}

TEST_CASE("what several nodes declare of several parameters moves with each of them", "[exec][bind][races]") {
    const DeviceBuffer<int> x(1), y(1), elsewhere(1);
    const BufferParam<int> first(x), second(y);
    GraphBuilder b;
    const auto both = b.kernel({}, add, x.data(), y.data(), 1).writes(x).writes(y);
    b.kernel({}, add, y.data(), x.data(), 1).writes(x).writes(y).after(both);
    const auto other = b.kernel({}, store, elsewhere, 2);
    Exec exec = std::move(b).build().instantiate();
    const DeviceBuffer<int> next_x(1), next_y(1);
    CHECK(exec.bind({{first, next_x}, {second, next_y}}) == 2);
    for (const DeviceBuffer<int>* cell : {&next_x, &next_y})
        static_cast<void>(refused<RaceError>([&] { exec.update(other, arg<0>(*cell)); }));
    for (const DeviceBuffer<int>* cell : {&x, &y})
        exec.update(other, arg<0>(*cell));
    exec.update(other, arg<0>(elsewhere));
}

TEST_CASE("what a child declares of two parameters moves with one bind after the other", "[exec][bind][races]") {
    const DeviceBuffer<int> x(1), y(1), next_x(1), next_y(1), elsewhere(1);
    const BufferParam<int> first(x), second(y);
    GraphBuilder inner, b;
    inner.kernel({}, add, x.data(), y.data(), 1);
    add_child(b, std::move(inner).build()).writes(x).writes(y);
    const auto other = b.kernel({}, store, elsewhere, 2);
    Exec exec = std::move(b).build().instantiate();
    CHECK(exec.bind(first, next_x) == 1);
    CHECK(exec.bind(second, next_y) == 1);
    for (const DeviceBuffer<int>* cell : {&next_x, &next_y})
        static_cast<void>(refused<RaceError>([&] { exec.update(other, arg<0>(*cell)); }));
    for (const DeviceBuffer<int>* cell : {&x, &y})
        exec.update(other, arg<0>(*cell));
}

TEST_CASE("a declared argument that begins where a bound one ends stays", "[exec][bind][races]") {
    const DeviceBuffer<int> x(4), next(2), elsewhere(1);
    const BufferParam<int> param(x.span().subspan(0, 2), {.end_pointers = EndPointers::bound});
    GraphBuilder b;
    const auto end = x.span().subspan(2, 2);
    b.kernel({}, count_range, x.data(), x.data() + 2, end.subspan(0, 1));
    const auto other = b.kernel({}, store, elsewhere, 2);
    Exec exec = std::move(b).build().instantiate();
    CHECK(exec.bind(param, next) == 1);
    static_cast<void>(refused<RaceError>([&] { exec.update(other, arg<0>(end.subspan(0, 1))); }));
}

TEST_CASE("what a child and a region declare of a parameter moves with the uses inside", "[exec][bind][races]") {
    const DeviceBuffer<int> x(4), y(4), z(4), scratch(1);
    const BufferParam<int> param(x);
    const Stream stream;
    GraphBuilder b;
    SECTION("a child") {
        GraphBuilder inner;
        inner.kernel({}, store, x.data(), 1);
        add_child(b, std::move(inner).build()).writes(x);
    }
    SECTION("a region, of which one node uses it") {
        b.capture(stream, [&](cudaStream_t s) {
             launch(s, {}, store, scratch.data(), 1);
             launch(s, {}, store, x.data(), 1);
         }).writes(x);
    }
    const auto other = b.kernel({}, store, y.span().subspan(0, 1), 2);
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    static_cast<void>(refused<RaceError>([&] { exec.bind(param, y); }));
    CHECK(exec.bind(param, z) == 1);
    exec.update(other, arg<0>(x.span().subspan(0, 1)));
    static_cast<void>(refused<RaceError>([&] { exec.update(other, arg<0>(z.span().subspan(0, 1))); }));
    run(exec, stream);
    CHECK(read(z).front() == 1);
}

TEST_CASE("a node that only declares that it uses a parameter keeps it from being bound", "[exec][bind]") {
    const DeviceBuffer<int> x(1), y(1);
    const BufferParam<int> param(x);
    GraphBuilder b;
    const auto writes = b.kernel({}, store, x, 1);
    b.host([] {}).reads(x).label("reader").after(writes);
    Exec exec = std::move(b).build().instantiate();
    CHECK_THAT(why(exec, param, y),
               ContainsSubstring("bind: host \"reader\"") && ContainsSubstring("declares by .reads or .writes"));
}

TEST_CASE("a declaration that comes after the first bind counts", "[exec][bind]") {
    const DeviceBuffer<int> x(1), y(1), z(1);
    const BufferParam<int> param(x);
    GraphBuilder b;
    const auto writes = b.kernel({}, store, x, 1);
    const auto host = b.host([] {}).after(writes);
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    CHECK(exec.bind(param, y) == 1);
    host.reads(x);
    CHECK_THAT(why(exec, param, z), ContainsSubstring("host"));
}

TEST_CASE("a use that begins outside of a parameter keeps it from being bound", "[exec][bind]") {
    const DeviceBuffer<int> x(4), y(2);
    const BufferParam<int> param(x.span().subspan(1, 2));
    GraphBuilder b;
    const auto fill = b.memset(x, 0).label("fill");
    b.kernel({}, store, x.data() + 1, 1).after(fill);
    Exec exec = std::move(b).build().instantiate();
    CHECK_THAT(why(exec, param, y),
               ContainsSubstring("memset \"fill\"") && ContainsSubstring("begins outside of the parameter of 8 bytes"));
}

TEST_CASE("parameters that share memory are bound to one place only", "[exec][bind]") {
    const DeviceBuffer<int> x(4), y(4), z(4);
    const BufferParam<int> whole(x), part(x.span().subspan(1, 2)), same(x);
    GraphBuilder b;
    const auto first = b.kernel({}, store, x.data(), 1);
    b.kernel({}, store, x.data() + 1, 2).after(first);
    Exec exec = std::move(b).build().instantiate();
    const auto refuse_both = [&](const auto& one, const auto& other) {
        CHECK_THAT(refused<UpdateError>([&] {
                       exec.bind({one, other});
                   }).what(),
                   ContainsSubstring("overlaps") && ContainsSubstring("different memory"));
    };
    const cudag::BufferBinding whole_y(whole, y), part_z(part, z), part_y(part, y.span().subspan(1, 2));
    refuse_both(whole_y, part_z);
    refuse_both(part_z, whole_y);
    refuse_both(whole_y, cudag::BufferBinding(same, z));
    refuse_both(whole_y, cudag::BufferBinding(part, y)); // one element further
    CHECK(exec.bind({whole_y, part_y}) == 2);
    CHECK(exec.bind({part_y, whole_y}) == 0);
    run(exec, Stream());
    CHECK(read(y.span().subspan(0, 2)) == Cells{1, 2});

    const cudag::BufferBinding last_z(BufferParam<int>(x.span().subspan(3, 1)), z);
    refuse_both(whole_y, last_z);
    CHECK_THAT(refused<UpdateError>([&] {
                   exec.bind({whole_y, part_y, last_z}); // the one that ends before it is not all that begins before
               }).what(),
               ContainsSubstring("overlaps"));
    const cudag::BufferBinding tail_y(BufferParam<int>(x.span().subspan(2, 2)), y.span().subspan(2, 2));
    CHECK_THAT(refused<UpdateError>([&] {
                   exec.bind({whole_y, tail_y, last_z});
               }).what(),
               ContainsSubstring("overlaps the parameter of 16 bytes")); // the longer one of two that end there
}

TEST_CASE("a parameter that is given twice is refused, whatever stands between", "[exec][bind]") {
    const DeviceBuffer<int> cells(2), y(1), z(1);
    const BufferParam<int> first(cells.span().subspan(0, 1)), second(cells.span().subspan(1, 1));
    GraphBuilder b;
    b.kernel({}, add, first, second, 1);
    Exec exec = std::move(b).build().instantiate();
    const auto refuse = [&](const BufferParam<int>& twice, const BufferParam<int>& between) {
        const cudag::BufferBinding again(twice, y);
        CHECK_THAT(refused<UpdateError>([&] {
                       exec.bind({again, {between, z}, again});
                   }).what(),
                   ContainsSubstring("is given twice"));
    };
    refuse(first, second);
    refuse(second, first);
}

TEST_CASE("parameters that come and go leave nothing in an Exec", "[exec][bind]") {
    constexpr std::size_t nodes = 100;
    const DeviceBuffer<int> x(nodes), y(nodes);
    GraphBuilder b;
    for (std::size_t i = 0; i < nodes; ++i)
        b.kernel({}, store, x.data() + i, 1);
    Exec exec = std::move(b).build().instantiate();
    for (std::size_t i = 0; i < 3 * nodes; ++i) { // the last ones are found as the first ones
        const BufferParam<int> all(x), from(x.span().subspan(i % nodes, nodes - i % nodes));
        CHECK(exec.bind(from, y.span().subspan(i % nodes, nodes - i % nodes)) == nodes - i % nodes);
        CHECK(exec.bind(all, x) == nodes - i % nodes);
        CHECK_THAT(why(exec, BufferParam<int>(y), x), ContainsSubstring("no node"));
    }
}

TEST_CASE("owners in an object go when another parameter of its memory is bound", "[owners][bind]") {
    const auto x = device({1});
    const DeviceBuffer<int> out(1);
    GraphBuilder b;
    b.kernel({}, load_from, Input{0, x.data()}, out.data());
    Exec exec = std::move(b).build().instantiate();
    const Stream stream;
    std::weak_ptr<void> first;
    {
        const auto memory = device({5});
        first = memory.owner();
        exec.bind(BufferParam<int>(x, {.in_objects = true}), memory);
    }
    CHECK_FALSE(first.expired());
    exec.bind(BufferParam<int>(x, {.in_objects = true}), device({6}));
    CHECK(released(first, stream));
    run(exec, stream);
    CHECK(read(out) == Cells{6});
}

TEST_CASE("memory that two parameters have is kept by both, also where one of them ends", "[owners][bind]") {
    const DeviceBuffer<int> cells(4), next(4), out(1);
    const BufferParam<int> left(cells.span().subspan(0, 2), {.end_pointers = EndPointers::bound});
    const BufferParam<int> all(cells.span().subspan(1, 3));
    GraphBuilder b;
    b.kernel({}, count_range, cells.data(), cells.data() + 2, out.data());
    Exec exec = std::move(b).build().instantiate();
    auto one = std::make_shared<DeviceSpan<int>>(next.span().subspan(0, 2));
    auto other = std::make_shared<DeviceSpan<int>>(next.span().subspan(1, 3));
    const std::weak_ptr<void> watch_one = one, watch_other = other;
    CHECK(exec.bind({{left, one}, {all, other}}) == 1);
    one.reset();
    other.reset();
    CHECK_FALSE(watch_one.expired());
    CHECK_FALSE(watch_other.expired());
}

TEST_CASE("a node that cudag does not know keeps parameters from being bound, and is listed", "[exec][bind][adopt]") {
    if (reads_conditionals()) return; // then it is known
    const auto x = device({0}), y = device({0});
    cudaGraph_t raw = nullptr;
    cudag::check(cudaGraphCreate(&raw, 0));
    const auto kernel = add_raw_store(raw, {}, x.data(), 1);
    add_raw_conditional(raw, {kernel}, x.data(), 2);
    const Graph graph = Graph::adopt(raw);
    const cudag::Node conditional = graph.nodes().at(1);
    const auto is_listed = [&] {
        for (const cudag::UntrackedArgument& each : graph.untracked())
            if (each == cudag::UntrackedArgument{conditional, cudag::whole_node}) return true;
        return false;
    };
    CHECK(is_listed());
    CHECK_THAT(to_string(graph.untracked().back()),
               ContainsSubstring("conditional") && ContainsSubstring("its accesses to memory are unknown"));
    const BufferParam<int> param = graph.parameter(x);
    Exec exec = graph.instantiate();
    CHECK_THAT(why(exec, param, y),
               ContainsSubstring("conditional") && ContainsSubstring("cudag did not make this node"));
    run(exec, Stream());
    CHECK(read(x) == Cells{2});
    conditional.writes(x);
    CHECK_FALSE(is_listed());
    CHECK_THAT(why(exec, param, y), ContainsSubstring("declares by .reads or .writes"));
}

TEST_CASE("a node that cudag does not know, and that declares other memory, is no obstacle", "[exec][bind][adopt]") {
    if (reads_conditionals()) return; // then it is known
    const auto x = device({0}), y = device({0}), other = device({0});
    cudaGraph_t raw = nullptr;
    cudag::check(cudaGraphCreate(&raw, 0));
    const auto kernel = add_raw_store(raw, {}, x.data(), 1);
    add_raw_conditional(raw, {kernel}, other.data(), 2);
    const Graph graph = Graph::adopt(raw);
    graph.nodes().at(1).writes(other);
    Exec exec = graph.instantiate();
    CHECK(exec.bind(graph.parameter(x), y) == 1);
    run(exec, Stream());
    CHECK(read(y) == Cells{1});
    CHECK(read(other) == Cells{2});
}

TEST_CASE("a captured conditional keeps parameters from being bound", "[exec][bind]") {
    if (reads_conditionals()) return; // then it is known
    const auto x = device({0}), y = device({0});
    const Stream stream;
    const Graph graph = cudag::capture(stream, [&](cudaStream_t s) {
        launch(s, {}, store, x.data(), 1);
        enqueue_conditional(s, x.data(), 2);
    });
    Exec exec = graph.instantiate();
    CHECK_THAT(why(exec, graph.parameter(x), y), ContainsSubstring("conditional"));
    run(exec, stream);
    CHECK(read(x) == Cells{2});
}

TEST_CASE("what a node declares of two parameters is apart again after they have shared memory",
          "[exec][bind][races]") {
    const DeviceBuffer<int> x(1), y(1), z(1);
    const BufferParam<int> target(x), source(y), other(z);
    GraphBuilder b;
    b.kernel({}, add, x.data(), y.data(), 5).writes(x).reads(y);
    b.kernel({}, store, z.data(), 1).writes(z);
    Exec exec = std::move(b).build().instantiate();
    exec.bind(target, y);
    exec.bind(target, x);
    CHECK_THROWS_AS(exec.bind(other, y), cudag::RaceError);
    exec.bind(source, x);
    exec.bind(other, y); // nobody uses it any more
    CHECK_THROWS_AS(exec.bind(source, y), cudag::RaceError);
    CHECK_THROWS_AS(exec.bind(target, y), cudag::RaceError);
}

TEST_CASE("a declared range that two parameters lie in is bound in pieces, time after time", "[exec][bind][races]") {
    const DeviceBuffer<int> both(2), x(1), other(1);
    const BufferParam<int> first(both.span().subspan(0, 1)), second(both.span().subspan(1, 1));
    GraphBuilder b;
    b.kernel({}, add, both.data(), both.data() + 1, 5).writes(both);
    b.kernel({}, store, other.data(), 1).writes(other);
    Exec exec = std::move(b).build().instantiate();
    exec.bind(first, x);
    CHECK_THROWS_AS(exec.bind(first, other), cudag::RaceError);
    CHECK_THROWS_AS(exec.bind(second, other), cudag::RaceError);
    exec.bind(second, x);
    exec.bind(first, both.span().subspan(0, 1));
    CHECK_THROWS_AS(exec.bind(first, other), cudag::RaceError);
    CHECK_THROWS_AS(exec.bind(second, other), cudag::RaceError);
}
