// Exec::bind, time after time: what the first call has found serves the next ones, and refuses what the first refuses.
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "stores.hpp"
#include "watched.hpp"

using cudag::arg;
using cudag::BufferParam;
using cudag::DeviceBuffer;
using cudag::DeviceSpan;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::RaceError;
using cudag::Stream;
using cudag::UpdateError;

namespace {

/// *to = *from + 1, and *to = *to + 10: kernels alone.
class Passing {
  public:
    Passing() {
        GraphBuilder b;
        first.emplace(b.kernel({}, add, to, from.data(), 1));
        second.emplace(b.kernel({}, add, to, to.data(), 10).after(*first));
        graph = std::move(b).build();
        exec.emplace(graph->instantiate());
    }
    /// The numbers of the memory given, in their order, after one launch that begins with `value` in the second.
    Cells result(const DeviceBuffer<int>& destination, const DeviceBuffer<int>& source, int value) {
        write(destination.span(), {-1});
        write(source.span(), {value});
        run(*exec, stream);
        return {read(destination).front(), read(source).front()};
    }

    BufferParam<int> to{1}, from{1};
    std::optional<cudag::KernelNode<int*, const int*, int>> first, second;
    std::optional<Graph> graph;
    std::optional<Exec> exec;
    Stream stream;
};

std::string why(Exec& exec, const auto&... arguments) {
    return refused<UpdateError>([&] { exec.bind(arguments...); }).what();
}

} // namespace

TEST_CASE("two buffers that take turns are bound where they belong each time", "[exec][bind]") {
    Passing all;
    const auto x = device({0}), y = device({0});
    for (int turn = 0; turn < 6; ++turn) {
        const bool is_even = turn % 2 == 0;
        const auto &to = is_even ? x : y, &from = is_even ? y : x;
        CHECK(all.exec->bind({{all.to, to}, {all.from, from}}) == 2);
        CHECK(all.exec->bind({{all.to, to}, {all.from, from}}) == 0);
        CHECK(all.exec->bind({{all.from, from}, {all.to, to}}) == 0); // another order is another list
        CHECK(all.result(to, from, turn) == Cells{turn + 11, turn});
    }
    for (int turn = 0; turn < 4; ++turn) { // borrowed now: its former owners stay, as at a first bind
        const bool is_even = turn % 2 == 0;
        const auto &to = is_even ? x : y, &from = is_even ? y : x;
        CHECK(all.exec->bind({{all.to, to.span()}, {all.from, from.span()}}) == 2);
        CHECK(all.result(to, from, turn) == Cells{turn + 11, turn});
    }
}

TEST_CASE("a bind again pushes only the nodes in which something changes", "[exec][bind]") {
    Passing all;
    const auto x = device({0}), y = device({0}), z = device({0});
    CHECK(all.exec->bind({{all.to, x}, {all.from, y}}) == 2);
    CHECK(all.exec->bind({{all.to, x}, {all.from, z}}) == 1);
    CHECK(all.exec->bind({{all.to, x}, {all.from, y}}) == 1);
    all.exec->update(*all.second, arg<0>(z)); // the last one counts
    CHECK(all.exec->bind({{all.to, x}, {all.from, y}}) == 1);
    CHECK(all.result(x, y, 5) == Cells{16, 5});
}

TEST_CASE("what bind refuses it refuses again, and nothing changes", "[exec][bind]") {
    Passing all;
    const auto x = device({0}), y = device({0});
    const DeviceSpan<int> none(static_cast<int*>(nullptr), 1), empty(x.data(), 0);
    for (int turn = 0; turn < 3; ++turn) {
        CHECK(all.exec->bind({{all.to, turn % 2 == 0 ? x : y}, {all.from, turn % 2 == 0 ? y : x}}) == 2);
        const auto unchanged = [&] {
            const auto &to = turn % 2 == 0 ? x : y, &from = turn % 2 == 0 ? y : x;
            return all.exec->bind({{all.to, to}, {all.from, from}}) == 0 && all.result(to, from, 1) == Cells{12, 1};
        };
        const auto refusal = [&](const cudag::BufferBinding& first, const cudag::BufferBinding& second) {
            return why(*all.exec, std::initializer_list<cudag::BufferBinding>{first, second});
        };
        CHECK_THAT(refusal({all.to, none}, {all.from, y}), ContainsSubstring("the memory is null"));
        CHECK(unchanged());
        CHECK_THAT(refusal({all.to, y}, {all.from, empty}), ContainsSubstring("0 bytes: it needs as many or more"));
        CHECK(unchanged());
        CHECK_THAT(refusal({all.to, x}, {all.to, y}), ContainsSubstring("is given twice"));
        CHECK(unchanged());
    }
}

TEST_CASE("a bind again refuses a kernel of other types that an update has brought", "[exec][bind]") {
    const BufferParam<int> cell(1);
    const auto made = [&](bool is_other) {
        GraphBuilder b;
        if (is_other)
            b.kernel({}, add, cell, cell.data(), 1);
        else
            b.kernel({}, store, cell, 5);
        return std::move(b).build();
    };
    const Graph graph = made(false);
    Exec exec = graph.instantiate();
    const auto x = device({0}), y = device({0});
    CHECK(exec.bind(cell, x.span()) == 1);
    CHECK(exec.bind(cell, y.span()) == 1);
    REQUIRE(exec.update(made(true)).updated());
    CHECK_THAT(why(exec, cell, x.span()), ContainsSubstring("which has other parameters"));
    REQUIRE(exec.update(graph).updated());
    CHECK(exec.bind(cell, x.span()) == 1);
    run(exec, Stream());
    CHECK(read(x) == Cells{5});
    CHECK(read(y) == Cells{0});
}

TEST_CASE("a bind again refuses a race", "[exec][bind][races]") {
    const BufferParam<int> left(1), right(1);
    GraphBuilder b;
    b.kernel({}, store, left, 1).writes(left);
    b.kernel({}, store, right, 2).writes(right);
    Exec exec = std::move(b).build().instantiate();
    const auto x = device({0}), y = device({0});
    for (int turn = 0; turn < 3; ++turn) {
        CHECK(exec.bind({{left, x}, {right, y}}) == 2);
        CHECK_THROWS_AS(exec.bind({{left, x}, {right, x}}), RaceError);
        CHECK(exec.bind({{left, y}, {right, x}}) == 2);
    }
    run(exec, Stream());
    CHECK(read(x) == Cells{2});
    CHECK(read(y) == Cells{1});
}

TEST_CASE("later checks for races know what was bound again", "[exec][bind][races]") {
    const BufferParam<int> left(1), right(1);
    const auto x = device({0}), y = device({0}), z = device({0}), elsewhere = device({0});
    GraphBuilder b;
    b.kernel({}, store, left, 1);
    b.kernel({}, store, right, 2);
    const auto other = b.kernel({}, store, elsewhere, 3);
    Exec exec = std::move(b).build().instantiate();
    const auto is_free = [&](const DeviceBuffer<int>& memory) {
        try {
            exec.update(other, arg<0>(memory));
        } catch (const RaceError&) {
            return false;
        }
        exec.update(other, arg<0>(elsewhere));
        return true;
    };
    for (int time = 0; time < 2; ++time) {
        for (int turn = 0; turn < 5; ++turn) {
            const std::size_t changed = time == 1 && turn == 0 ? 1 : 2; // `right` is there already
            CHECK(exec.bind({{left, turn % 2 == 0 ? x : y}, {right, turn % 2 == 0 ? y : x}}) == changed);
        }
        CHECK_FALSE(is_free(x));
        CHECK_FALSE(is_free(y));
        CHECK(is_free(z));
        CHECK_THROWS_AS(exec.bind({{left, elsewhere}, {right, x}}), RaceError);
        CHECK(exec.bind(left, z) == 1);
        CHECK(is_free(x));
        CHECK_FALSE(is_free(z));
        CHECK_THROWS_AS(exec.bind(right, z), RaceError);
    }
    for (int turn = 0; turn < 3; ++turn) { // each list changes what the other one has been checked against
        CHECK(exec.bind(left, x) == 1);
        CHECK(exec.bind(right, z) == 1);
        CHECK_THROWS_AS(exec.bind(left, z), RaceError);
        CHECK(exec.bind(right, y) == 1);
        CHECK(exec.bind(left, z) == 1);
        CHECK_THROWS_AS(exec.bind(right, z), RaceError);
        CHECK(exec.bind({{left, z}, {right, y}}) == 0);
    }
}

TEST_CASE("owners that trade places live on, one that leaves goes after its last launch", "[owners][bind]") {
    Passing all;
    const DeviceBuffer<int> memory(1), more(1);
    auto x = std::make_shared<DeviceSpan<int>>(memory.span()), y = std::make_shared<DeviceSpan<int>>(more.span());
    const std::weak_ptr<DeviceSpan<int>> first = x, second = y;
    for (int turn = 0; turn < 4; ++turn) {
        all.exec->bind({{all.to, turn % 2 == 0 ? x : y}, {all.from, turn % 2 == 0 ? y : x}});
        run(*all.exec, all.stream);
    }
    x.reset();
    y.reset();
    CHECK_FALSE(first.expired());
    CHECK_FALSE(second.expired());
    const DeviceBuffer<int> z(1);
    all.exec->bind({{all.to, z}, {all.from, first.lock()}}); // the second one leaves
    CHECK(released(second, all.stream));
    CHECK_FALSE(first.expired());
    run(*all.exec, all.stream);
    all.exec->bind({{all.to, z}, {all.from, z}});
    CHECK(released(first, all.stream));
}

TEST_CASE("memory that keeps its address is kept by its new owner at a bind again", "[owners][bind]") {
    Passing all;
    const DeviceBuffer<int> x(1), y(1);
    const auto first = std::make_shared<DeviceSpan<int>>(x.span()),
               second = std::make_shared<DeviceSpan<int>>(x.span());
    const auto other = std::make_shared<DeviceSpan<int>>(y.span());
    CHECK(all.exec->bind({{all.to, first}, {all.from, other}}) == 2);
    CHECK(all.exec->bind({{all.to, second}, {all.from, other}}) == 2);
    CHECK(first.use_count() == 1);
    CHECK(all.exec->bind({{all.to, other}, {all.from, second}}) == 2);
    CHECK(second.use_count() == 2);
    CHECK(other.use_count() == 4);
}
