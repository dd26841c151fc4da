// GraphFunctions: what a call changes and launches, what is refused, and how many Execs serve the calls.
#include <cudag/graph_function.hpp>

#include <cudag/eager_builder.hpp>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cuda_version.hpp"
#include "kernels.hpp"
#include "test.hpp"
#include "watched.hpp"

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using cudag::arg;
using cudag::BufferParam;
using cudag::DeviceBuffer;
using cudag::DeviceSpan;
using cudag::Exec;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::GraphFunction;
using cudag::GraphFunctionOptions;
using cudag::In;
using cudag::InOut;
using cudag::Named;
using cudag::Out;
using cudag::Stream;
using cudag::UpdateError;

namespace {

using Sum = GraphFunction<void(In<int>, Out<int>, int)>;
using NamedSum = GraphFunction<void(Named<"from", In<int>>, Named<"to", Out<int>>, Named<"by", int>)>;

/// *to = *from + by, as one kernel.
const auto sum_of = [](auto& b, const auto& from, const auto& to, const auto& by) {
    b.kernel({}, add, to, from, by).label("sum");
};

struct Cells {
    Stream stream;
    DeviceBuffer<int> a = device({1});
    DeviceBuffer<int> b = device({20});
    DeviceBuffer<int> c = device({300});

    int value(const DeviceBuffer<int>& cell) const {
        stream.synchronize();
        return read(cell).front();
    }
};

} // namespace

TEST_CASE("a call has its buffers and its value", "[called]") {
    const Cells x;
    Sum f(sum_of, x.a, x.b, 5);
    f(x.stream, x.a, x.b, 5);
    CHECK(x.value(x.b) == 6);
    f(x.stream, x.b, x.c, 7);
    CHECK(x.value(x.c) == 13);
    f(x.stream, x.c, x.a, 7);
    CHECK(x.value(x.a) == 20);
    CHECK(x.value(x.b) == 6);
    CHECK(f.execs() == 1);
}

TEST_CASE("the constructor launches nothing", "[called]") {
    const Cells x;
    const Sum f(sum_of, x.a, x.b, 5);
    CHECK(x.value(x.b) == 20);
    CHECK(f.graph().node_count() == 1);
}

TEST_CASE("arguments by number and name change only themselves", "[called]") {
    const Cells x;
    NamedSum f(sum_of, x.a, x.b, 5);
    f(x.stream, arg<2>(6));
    CHECK(x.value(x.b) == 7);
    f(x.stream, arg<"to">(x.c));
    CHECK(x.value(x.c) == 7);
    f(x.stream, arg<"by">(9), arg<"from">(x.c));
    CHECK(x.value(x.c) == 16);
    f(x.stream, arg<"by">(1), arg<0>(x.b));
    CHECK(x.value(x.c) == 8);
}

TEST_CASE("a call takes spans, spans to const for an In, and shared buffers", "[called]") {
    const Cells x;
    Sum f(sum_of, x.a, x.b, 1);
    f(x.stream, DeviceSpan<const int>(x.b.span()), x.c.span(), 1);
    CHECK(x.value(x.c) == 21);
    const auto shared = std::make_shared<DeviceBuffer<int>>(device({50}));
    f(x.stream, shared, x.a, 2);
    CHECK(x.value(x.a) == 52);
}

TEST_CASE("a number in the constructor allocates memory of the function's own", "[called]") {
    const Cells x;
    Sum f(sum_of, x.a, 1, 5);
    f(x.stream, x.a, x.b, 5);
    CHECK(x.value(x.b) == 6);
    GraphFunction<void(In<int>)> copy([&](auto& b, const auto& from) { b.memcpy(x.c, from); }, 1);
    copy(x.stream, x.b);
    CHECK(x.value(x.c) == 6);
}

TEST_CASE("copies, fills and inner graphs take part in a call", "[called]") {
    const Cells x;
    GraphFunction<void(In<int>, InOut<int>)> f(
        [](GraphBuilder& b, const BufferParam<int>& from, const BufferParam<int>& to) {
            b.memset(to, 3);
            GraphBuilder inner;
            inner.kernel({}, add, to, cudag::in(to), 10);
            add_child(b, std::move(inner).build()).writes(to);
            b.memcpy(to.span(), from.span()).label("over");
        },
        x.a, x.b);
    f(x.stream, x.a, x.c);
    CHECK(x.value(x.c) == 1);
    f(x.stream, x.c, x.b);
    CHECK(x.value(x.b) == 1);
}

TEST_CASE("a value drives sizes and launch shapes", "[called]") {
    const Stream stream;
    const auto x = device({1.0f, 1.0f, 1.0f, 1.0f});
    const auto y = device({0.0f, 0.0f, 0.0f, 0.0f});
    GraphFunction<void(In<float>, InOut<float>, int)> f(
        [](GraphBuilder& b, const auto& from, const auto& to, const auto& count) {
            const auto node = b.kernel({.block = 4}, saxpy, count, 2.0f, from, to);
            count.drive(node, [](int n) { return cudag::LaunchConfig{.block = static_cast<unsigned>(n)}; });
        },
        x, y, 4);
    f(stream, x, y, 3);
    stream.synchronize();
    CHECK(read(y) == std::vector{2.0f, 2.0f, 2.0f, 0.0f});
}

TEST_CASE("two Execs serve two sets of arguments in turn without a change", "[called]") {
    const Cells x;
    Sum f({.execs = 2}, sum_of, x.a, x.b, 1);
    for (int i = 0; i < 3; ++i) {
        f(x.stream, x.a, x.b, 1);
        f(x.stream, x.b, x.a, 1);
    }
    CHECK(x.value(x.a) == 7);
    CHECK(f.execs() == 2);
    f(x.stream, x.b, x.c, 2); // takes the Exec of a and b, used least recently
    CHECK(x.value(x.c) == 8);
    CHECK(f.execs() == 2);
    f(x.stream, x.b, x.a, 1);
    CHECK(x.value(x.a) == 7);
    f(x.stream, arg<1>(x.c)); // of the last call: from b, by 1
    CHECK(x.value(x.c) == 7);
}

TEST_CASE("one Exec is enough while the arguments stay", "[called]") {
    const Cells x;
    Sum f({.execs = 5}, sum_of, x.a, x.b, 1);
    for (int i = 0; i < 3; ++i)
        f(x.stream, x.a, x.b, 1);
    CHECK(f.execs() == 1);
}

TEST_CASE("the same body runs in a stream, in a capture and in a builder", "[called]") {
    const Cells x;
    cudag::EagerBuilder eager(x.stream);
    sum_of(eager, x.a, x.b, 1);
    CHECK(x.value(x.b) == 2);
    cudag::Graph captured = cudag::capture(x.stream, [&](cudaStream_t) { sum_of(eager, x.b, x.c, 1); });
    Exec exec = captured.instantiate();
    run(exec, x.stream);
    CHECK(x.value(x.c) == 3);
    GraphBuilder b;
    sum_of(b, x.c, x.a, 1);
    Exec built = std::move(b).build().instantiate();
    run(built, x.stream);
    CHECK(x.value(x.a) == 4);
}

TEST_CASE("an eager builder enqueues kernels, copies and fills in order", "[called]") {
    const Cells x;
    cudag::EagerBuilder b(x.stream);
    const auto filled = b.memset(x.a, 5).label("five");
    b.memcpy(x.b, x.a).after(filled).reads(x.a).writes(x.b);
    b.clear(x.a);
    b.kernel({}, add, x.c, cudag::in(x.b), 1);
    CHECK(x.value(x.c) == 6);
    CHECK(x.value(x.a) == 0);
    CHECK(b.stream().get() == x.stream.get());
}

TEST_CASE("a function keeps the buffers of its last call, and gives up those before", "[called]") {
    const Cells x;
    auto first = std::make_shared<DeviceBuffer<int>>(device({4}));
    auto second = std::make_shared<DeviceBuffer<int>>(device({5}));
    const std::weak_ptr<void> is_first = first->owner();
    const std::weak_ptr<void> is_second = second->owner();
    Sum f(sum_of, x.a, x.b, 1);
    f(x.stream, *std::exchange(first, nullptr), x.b, 1);
    CHECK(x.value(x.b) == 5);
    CHECK_FALSE(is_first.expired());
    f(x.stream, *std::exchange(second, nullptr), x.b, 1);
    CHECK(x.value(x.b) == 6);
    CHECK(released(is_first, x.stream));
    CHECK_FALSE(is_second.expired());
}

TEST_CASE("memory borrowed before is kept once it is given with its owner", "[called]") {
    const Cells x;
    std::optional<DeviceBuffer<int>> from = device({4});
    const std::weak_ptr<void> watch = from->owner();
    Sum f(sum_of, from->span(), x.b, 1);
    f(x.stream, from->span(), x.b, 1);
    f(x.stream, *from, x.b, 1);
    from.reset();
    CHECK_FALSE(watch.expired());
    f(x.stream, arg<2>(2));
    CHECK(x.value(x.b) == 6);
}

TEST_CASE("a refused buffer launches nothing and leaves the arguments", "[called]") {
    const Cells x;
    Sum f(sum_of, x.a, x.b, 1);
    f(x.stream, x.a, x.b, 1);
    const DeviceSpan<int> none(x.c.data(), 0);
    CHECK_THAT(refused<UpdateError>([&] { f(x.stream, x.a, none, 5); }).what(), ContainsSubstring("cannot be bound"));
    CHECK_THAT(refused<UpdateError>([&] { f(x.stream, DeviceSpan<int>(x.a.data(), 0), x.b, 5); }).what(),
               ContainsSubstring("cannot be bound"));
    CHECK(x.value(x.b) == 2);
    f(x.stream, arg<2>(3));
    CHECK(x.value(x.b) == 4);
}

TEST_CASE("a refused value leaves the buffers of the last call, too", "[called]") {
    const Stream stream;
    const auto x = device({1.0f, 1.0f, 1.0f, 1.0f});
    const auto y = device({0.0f, 0.0f, 0.0f, 0.0f});
    const auto z = device({0.0f, 0.0f, 0.0f, 0.0f});
    GraphFunction<void(In<float>, Out<float>, int)> f(
        [](GraphBuilder& b, const auto& from, const auto& to, const auto& count) { count.drive(b.memcpy(to, from)); },
        x, y, 4);
    f(stream, x, y, 4);
    CHECK_THAT(refused<UpdateError>([&] { f(stream, x, z, 5); }).what(), ContainsSubstring("drives it to 5"));
    f(stream, arg<2>(2));
    stream.synchronize();
    CHECK(read(z) == std::vector<float>(4));
    CHECK(read(y) == std::vector<float>(4, 1.0f));
}

TEST_CASE("buffers that would make a race are refused", "[called]") {
    const Cells x;
    GraphFunction<void(In<int>, Out<int>)> f(
        [&](GraphBuilder& b, const auto& from, const auto& to) {
            b.kernel({}, add, x.c, from, 1);
            b.memset(to, 0);
        },
        x.a, x.b);
    CHECK_THROWS_AS(f(x.stream, x.b, x.b), cudag::RaceError);
    f(x.stream, x.a, x.b);
    CHECK(x.value(x.b) == 0);
}

TEST_CASE("a node that writes an In is refused with both names", "[called]") {
    const Cells x;
    CHECK_THAT(refused<GraphError>([&] {
                   NamedSum([](GraphBuilder& b, const auto& from, const auto& to,
                               const auto& by) { b.kernel({}, add, from, to, by).label("backwards"); },
                            x.a, x.b, 1);
               }).what(),
               ContainsSubstring("GraphFunction: parameter 0 (\"from\") is an In, and kernel \"backwards\""));
}

TEST_CASE("an Out or InOut that no node writes is refused", "[called]") {
    const Cells x;
    const auto reads_only = [&](GraphBuilder& b, const auto& from) { b.kernel({}, add, x.c, from, 1); };
    CHECK_THAT(refused<GraphError>([&] { GraphFunction<void(Out<int>)>(reads_only, x.a); }).what(),
               StartsWith("cudag: GraphFunction: parameter 0 is an Out, and no node writes its memory; make it an In"));
    CHECK_THAT(refused<GraphError>([&] { GraphFunction<void(InOut<int>)>(reads_only, x.a); }).what(),
               ContainsSubstring("is an InOut, and no node"));
}

TEST_CASE("accesses by raw pointers are not taken for missing ones", "[called]") {
    const Cells x;
    GraphFunction<void(Out<int>)> f([](GraphBuilder& b, const auto& to) { b.kernel({}, store, to.data(), 3); }, x.a);
    f(x.stream, x.b);
    CHECK(x.value(x.b) == 3);
}

TEST_CASE("a parameter that no node uses is refused by its number", "[called]") {
    const Cells x;
    CHECK_THAT(refused<GraphError>([&] {
                   Sum([&](GraphBuilder& b, const auto& from, const auto&,
                           const auto& by) { b.kernel({}, add, x.c, from, by); },
                       x.a, x.b, 1);
               }).what(),
               ContainsSubstring("parameter 1 is used by no node"));
    CHECK_THAT(refused<GraphError>([&] {
                   NamedSum([](GraphBuilder& b, const auto& from, const auto& to,
                               const auto&) { b.kernel({}, add, to, from, 1); },
                            x.a, x.b, 1);
               }).what(),
               ContainsSubstring("parameter 2 (\"by\") is used by no node"));
}

TEST_CASE("a use that calls could not replace is refused by the constructor", "[called]") {
    const Cells x;
    const auto in_object = [&](GraphBuilder& b, const auto& to) {
        b.kernel({}, add_to, ToAndFrom{to.data(), x.a.data()}, 3).label("hidden");
    };
    CHECK_THAT(refused<GraphError>([&] { GraphFunction<void(Out<int>)>(in_object, x.b); }).what(),
               ContainsSubstring("parameter 0 is used by no node in a way that calls can replace"));
    const auto both = [&](GraphBuilder& b, const auto& to) {
        in_object(b, to);
        b.memset(to, 1);
    };
    CHECK_THAT(refused<UpdateError>([&] { GraphFunction<void(Out<int>)>(both, x.b); }).what(),
               ContainsSubstring("\"hidden\"") && ContainsSubstring("in an object or a number"));
}

TEST_CASE("no Execs, empty memory and a moved-from function are refused", "[called]") {
    const Cells x;
    CHECK_THAT(refused<GraphError>([&] { Sum({.execs = 0}, sum_of, x.a, x.b, 1); }).what(),
               ContainsSubstring("execs is 0"));
    CHECK_THAT(refused<GraphError>([&] { Sum(sum_of, DeviceSpan<int>(), x.b, 1); }).what(),
               ContainsSubstring("no memory"));
    Sum f(sum_of, x.a, x.b, 1);
    Sum g = std::move(f);
    CHECK_THAT(refused<GraphError>([&] { f(x.stream, x.a, x.b, 1); }).what(), // NOLINT: moved-from
               ContainsSubstring("it was moved from"));
    g(x.stream, x.a, x.b, 2);
    CHECK(x.value(x.b) == 3);
}

TEST_CASE("exceptions of the body pass through the constructor", "[called]") {
    const Cells x;
    CHECK_THROWS_WITH(
        Sum([](GraphBuilder&, const auto&, const auto&, const auto&) { throw std::runtime_error("body"); }, x.a, x.b,
            1),
        "body");
}

TEST_CASE("in a capture of the stream a call is recorded, with its arguments", "[called][capture]") {
    const Cells x;
    Sum f(sum_of, x.a, x.b, 1);
    const cudag::Graph graph = cudag::capture(x.stream, [&](cudaStream_t s) { f(s, x.a, x.b, 2); });
    f(x.stream, x.a, x.b, 7);
    cudag::Exec exec = graph.instantiate();
    exec.launch(x.stream);
    CHECK(x.value(x.b) == 3);
}
