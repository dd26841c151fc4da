// Races: nodes that nothing orders, of which one writes what the other uses.
#include "conditional_kernels.hpp"
#include "cuda_version.hpp"
#include "region_kernels.hpp"
#include "test.hpp"

#include <cudag/format.hpp>

#include <memory>
#include <string>
#include <vector>

using cudag::DeviceBuffer;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::Race;
using cudag::RaceError;

namespace {

/// What the race of a graph that is built with this says; empty if there is none.
template <class Write>
std::string race_in(const Write& write) {
    GraphBuilder b;
    write(b);
    std::string text;
    try {
        b.check();
    } catch (const RaceError& error) {
        text = error.what();
    }
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    return text;
}

template <class Write>
void check_race(const Write& write) {
    CHECK_THAT(race_in(write), StartsWith("cudag: build: nothing orders "));
}
template <class Write>
void check_no_race(const Write& write) {
    CHECK(race_in(write) == "");
}

/// The races of a graph that is allowed to have them.
template <class Write>
std::vector<Race> races_in(const Write& write) {
    GraphBuilder b({.races = cudag::Races::allowed});
    write(b);
    return std::move(b).build().races();
}

} // namespace

TEST_CASE("two kernels that write the same memory are refused unless one comes after the other", "[builder][races]") {
    const DeviceBuffer<int> cells(8);
    GraphBuilder b;
    const auto first = b.kernel({}, store, cells, 1).label("first");
    const auto second = b.kernel({}, store, cells, 2).label("second");
    const auto error = refused<RaceError>([&] { static_cast<void>(std::move(b).build()); });
    CHECK_THAT(error.what(), StartsWith("cudag: build: nothing orders kernel \"first\" at ") &&
                                 ContainsSubstring(" (argument 0) and kernel \"second\" at ") &&
                                 ContainsSubstring("both write elements 0 to 7 of what the first is given there; let "
                                                   "kernel \"second\" at ") &&
                                 ContainsSubstring(" come .after(kernel \"first\" at ") &&
                                 ContainsSubstring("cudag::disjoint(memory)"));
    CHECK(error.labels() == Labels{"first", "second"});
    CHECK(error.location().line == second.location().line);
    second.after(first); // the builder is as it was
    CHECK(std::move(b).build().races().empty());
}

TEST_CASE("a path orders nodes, whichever of them was added first", "[builder][races]") {
    const DeviceBuffer<int> cells(1);
    check_no_race([&](GraphBuilder& b) {
        const auto late = b.kernel({}, store, cells, 1);
        const auto early = b.kernel({}, store, cells, 2);
        late.after(b.join(early));
    });
}

TEST_CASE("memory that nodes only read needs no order", "[builder][races]") {
    const DeviceBuffer<int> from(1), first(1), second(1);
    check_no_race([&](GraphBuilder& b) {
        b.kernel({}, add, first, from, 1);
        b.kernel({}, add, second, from, 1);
    });
}

TEST_CASE("what one node reads and another writes is a race", "[builder][races]") {
    const DeviceBuffer<int> from(1), to(1);
    const std::string text = race_in([&](GraphBuilder& b) {
        b.kernel({}, add, to, from, 1).label("reads");
        b.kernel({}, store, from, 2).label("writes");
    });
    CHECK_THAT(text, ContainsSubstring("kernel \"reads\"") && ContainsSubstring("(argument 1)") &&
                         ContainsSubstring("the first reads, the second writes, element 0 of") &&
                         !ContainsSubstring("disjoint"));
}

TEST_CASE("parts of memory that do not touch are no race, and a common element is one", "[builder][races]") {
    const DeviceBuffer<int> cells(10);
    const auto write = [&](std::size_t first, std::size_t count) {
        return [&cells, first, count](GraphBuilder& b) {
            b.kernel({}, store, cells.span().subspan(0, 5), 1);
            b.kernel({}, store, cells.span().subspan(first, count), 2);
        };
    };
    check_no_race(write(5, 5));
    const std::vector<Race> races = races_in(write(4, 5));
    REQUIRE(races.size() == 1);
    CHECK(races[0].begin == reinterpret_cast<std::uintptr_t>(cells.data() + 4));
    CHECK(races[0].bytes == sizeof(int));
    CHECK(races[0].element == 4);
    CHECK(races[0].elements == 1);
    CHECK(races[0].first_writes);
    CHECK(races[0].second_writes);
}

TEST_CASE("a span as a kernel's parameter is read where it is of const elements", "[builder][races]") {
    const DeviceBuffer<int> cells(4), first(1), second(1);
    check_no_race([&](GraphBuilder& b) {
        b.kernel({}, sum, first, cells);
        b.kernel({}, sum, second, cells.span());
    });
    check_race([&](GraphBuilder& b) {
        b.kernel({}, sum, first, cells.span());
        b.kernel({}, store, cells.span().subspan(3, 1), 1);
    });
}

TEST_CASE("a kernel may say what it does to memory", "[builder][races]") {
    const DeviceBuffer<int> cells(4);
    check_no_race([&](GraphBuilder& b) {
        b.kernel({}, store, cudag::in(cells), 1);
        b.kernel({}, store, cudag::in(cells.span()), 2);
    });
    check_race([&](GraphBuilder& b) {
        b.kernel({}, store, cudag::in(cells), 1);
        b.kernel({}, store, cudag::out(cells), 2);
    });
    check_race([&](GraphBuilder& b) {
        b.kernel({}, store, cudag::inout(cells), 1);
        b.kernel({}, store, cudag::in(cells), 2);
    });
    check_no_race([&](GraphBuilder& b) {
        b.kernel({}, store, cudag::atomic(cells), 1);
        b.kernel({}, store, cudag::atomic(cells), 2);
    });
    check_no_race([&](GraphBuilder& b) {
        b.kernel({}, store, cudag::disjoint(cells), 1);
        b.kernel({}, store, cudag::disjoint(cells), 2);
    });
    check_race([&](GraphBuilder& b) {
        b.kernel({}, store, cudag::disjoint(cells), 1);
        b.kernel({}, store, cudag::atomic(cells), 2);
    });
    check_race([&](GraphBuilder& b) {
        b.kernel({}, store, cudag::disjoint(cells), 1);
        b.kernel({}, store, cells, 2);
    });
}

TEST_CASE("a shared buffer is memory like any other", "[builder][races]") {
    const auto cells = std::make_shared<DeviceBuffer<int>>(4);
    check_race([&](GraphBuilder& b) {
        b.kernel({}, store, cells, 1);
        b.kernel({}, store, cudag::out(cells), 2);
    });
}

TEST_CASE("copies and fills are known exactly", "[builder][races]") {
    const DeviceBuffer<int> cells(8);
    std::vector<int> up(8), down(4);
    check_race([&](GraphBuilder& b) {
        b.memcpy(cells, up);
        b.kernel({}, store, cells, 1);
    });
    check_race([&](GraphBuilder& b) {
        b.memcpy(down, cells.span().subspan(0, 4));
        b.memset(cells.span().subspan(3, 5), 0);
    });
    check_no_race([&](GraphBuilder& b) {
        b.memcpy(down, cells.span().subspan(0, 4));
        b.memset(cells.span().subspan(4, 4), 0);
    });
    const std::string text = race_in([&](GraphBuilder& b) {
        b.memcpy(down, cells.span().subspan(2, 4)).label("down");
        b.memset(cells, 0).label("clear");
    });
    CHECK_THAT(text, ContainsSubstring("memcpy \"down\"") && ContainsSubstring("(the source)") &&
                         ContainsSubstring("memset \"clear\"") && ContainsSubstring("(the destination)") &&
                         ContainsSubstring("elements 0 to 3"));
}

TEST_CASE("host memory that two copies write is a race, too", "[builder][races]") {
    const DeviceBuffer<int> cells(4);
    std::vector<int> down(4);
    check_race([&](GraphBuilder& b) {
        b.memcpy(down, cells);
        b.memcpy(down, cells);
    });
}

TEST_CASE("columns of a matrix do not touch, though rows go to and fro", "[builder][races]") {
    const DeviceBuffer<int> cells(8 * 4);
    const cudag::DeviceSpan2D<int> matrix(cells, 8, 4);
    const auto fill = [&](std::size_t x, std::size_t width) {
        return [&matrix, x, width](GraphBuilder& b) {
            b.memset2d(matrix.subspan(0, 0, 4, 4), 0);
            b.memset2d(matrix.subspan(x, 0, width, 4), 1);
        };
    };
    check_no_race(fill(4, 4));
    check_race(fill(3, 2));
}

TEST_CASE("nodes say what else they do to memory", "[builder][races]") {
    const DeviceBuffer<int> cells(4);
    std::vector<int> host(4);
    check_race([&](GraphBuilder& b) {
        b.memcpy(cells, host);
        b.host([] {}).writes(host);
    });
    check_no_race([&](GraphBuilder& b) {
        b.memcpy(cells, host);
        b.host([] {}).reads(host, cells.span().subspan(0, 0));
    });
    const std::string text = race_in([&](GraphBuilder& b) {
        b.kernel({}, store, cells.data(), 1).writes(cells);
        b.kernel({}, store, cells.data(), 2).label("other").reads(cells.span().subspan(2, 2));
    });
    CHECK_THAT(text, ContainsSubstring("(what it declares)") && ContainsSubstring("elements 2 to 3"));
}

TEST_CASE("a node brings what the nodes inside it do", "[builder][races]") {
    const DeviceBuffer<int> cells(1);
    const auto stores = [&](GraphBuilder& b) { b.kernel({}, store, cells, 1).label("inner"); };
    const std::string text = race_in([&](GraphBuilder& b) {
        GraphBuilder child;
        stores(child);
        const Graph inner = std::move(child).build();
        b.child(inner).label("child");
        b.kernel({}, store, cells, 2);
    });
    CHECK_THAT(text, ContainsSubstring("child \"child\" at ") &&
                         ContainsSubstring(" (argument 0 of kernel \"inner\" inside child \"child\" at "));
    check_race([&](GraphBuilder& b) {
        const cudag::Condition condition = b.condition(1);
        b.if_(condition, stores);
        b.kernel({}, store, cells, 2);
    });
}

TEST_CASE("races inside bodies are refused with the graph, those of children with theirs", "[builder][races]") {
    const DeviceBuffer<int> cells(1);
    const auto races = [&](GraphBuilder& b) {
        b.kernel({}, store, cells, 1);
        b.kernel({}, store, cells, 2);
    };
    check_race([&](GraphBuilder& b) {
        const cudag::Condition condition = b.condition(1);
        b.if_(condition, races);
    });
    GraphBuilder child({.races = cudag::Races::allowed});
    races(child);
    const Graph inner = std::move(child).build();
    GraphBuilder b;
    b.child(inner);
    const Graph graph = std::move(b).build();
    CHECK(graph.races().size() == 1);
}

TEST_CASE("races that are allowed are told, and the graph runs", "[builder][races]") {
    const DeviceBuffer<int> cells(1);
    GraphBuilder b({.races = cudag::Races::allowed});
    const auto first = b.kernel({}, store, cells, 1);
    const auto second = b.kernel({}, store, cells, 2);
    const Graph graph = std::move(b).build();
    const std::vector<Race> races = graph.races();
    REQUIRE(races.size() == 1);
    CHECK(races[0].first == first);
    CHECK(races[0].second == second);
    CHECK(races[0].first_inside == first);
    CHECK(races[0].second_argument == 0);
    CHECK_THAT(to_string(races[0]), StartsWith("nothing orders kernel store (node 0) at "));
    CHECK(fmt::format("{}", races[0]) == to_string(races[0]));
    CHECK(graph.clone().races().size() == 1);
}

TEST_CASE("of many races the first ten are told", "[builder][races]") {
    const DeviceBuffer<int> cells(1);
    const std::string text = race_in([&](GraphBuilder& b) {
        for (int i = 0; i < 13; ++i)
            b.kernel({}, store, cells, i);
    });
    std::size_t told = 0;
    for (std::size_t at = text.find("nothing orders"); at != std::string::npos;
         at = text.find("nothing orders", at + 1))
        ++told;
    CHECK(told == 10);
    CHECK_THAT(text, ContainsSubstring("\nand more"));
}

TEST_CASE("ten races are all, where all ten are told", "[builder][races]") {
    const DeviceBuffer<int> cells(10);
    const std::string text = race_in([&](GraphBuilder& b) {
        for (std::size_t i = 0; i < 10; ++i)
            for (const int value : {1, 2})
                b.kernel({}, store, cells.span().subspan(i, 1), value);
    });
    CHECK(text.find("and more") == std::string::npos);
    CHECK_THAT(text, ContainsSubstring("(node 18)"));
}

TEST_CASE("kernels alone may be told to write apart, or by atomic operations", "[builder][races]") {
    const DeviceBuffer<int> cells(1);
    const auto kernel = [&](GraphBuilder& b) { b.kernel({}, store, cells, 1); };
    const auto fill = [&](GraphBuilder& b) { b.memset(cells, 2); };
    const auto advice = [&](const auto& first, const auto& second) {
        const std::string text = race_in([&](GraphBuilder& b) {
            first(b);
            second(b);
        });
        CHECK_THAT(text, ContainsSubstring("both write"));
        return text.find("disjoint") != std::string::npos;
    };
    CHECK(advice(kernel, kernel));
    CHECK_FALSE(advice(kernel, fill));
    CHECK_FALSE(advice(fill, kernel));
    CHECK_FALSE(advice(fill, fill));
}

TEST_CASE("raw pointers are not tracked, and listed", "[builder][races]") {
    const DeviceBuffer<int> cells(1);
    GraphBuilder b;
    const auto first = b.kernel({}, add, cells.data(), cells, 1).label("first");
    b.kernel({}, store, cells, 2).after(first);
    const auto third = b.kernel({}, store, cells.data(), 2).label("third");
    const Graph graph = std::move(b).build();
    const std::vector<cudag::UntrackedArgument> untracked = graph.untracked();
    CHECK(untracked == std::vector<cudag::UntrackedArgument>{{first, 0}, {third, 0}});
    CHECK_THAT(to_string(untracked[1]), StartsWith("kernel \"third\" at ") &&
                                            ContainsSubstring(": argument 0 may be an address") &&
                                            EndsWith("or declare it by .reads() and .writes()"));
    CHECK(fmt::format("{}", untracked[1]) == to_string(untracked[1]));
}

TEST_CASE("a kernel with .reads or .writes has no untracked arguments", "[builder][races]") {
    const DeviceBuffer<int> cells(2);
    const auto untracked = [&](const auto& declare) {
        GraphBuilder b;
        declare(b.kernel({}, add, cells.data(), cells.data() + 1, 1));
        Graph graph = std::move(b).build();
        const std::size_t listed = graph.untracked().size();
        CHECK(cudag::relax(graph).staying.empty() == (listed == 0)); // one rule for both
        return listed;
    };
    CHECK(untracked([](const auto&) {}) == 2);
    CHECK(untracked([&](const auto& node) { node.writes(cells); }) == 0);
    CHECK(untracked([&](const auto& node) { node.reads(cells); }) == 0);
    CHECK(untracked([&](const auto& node) { node.reads(cells.span().subspan(1, 0)); }) == 2); // declares nothing
}

TEST_CASE("a programmatic edge orders what kernels do to memory, a launch completion does not", "[builder][races]") {
    const DeviceBuffer<int> cells(1);
    check_no_race([&](GraphBuilder& b) {
        const auto first = b.kernel({}, store, cells, 1);
        b.kernel({}, store, cells, 2).after(cudag::programmatic(first));
    });
    check_race([&](GraphBuilder& b) {
        const auto first = b.kernel({}, store, cells, 1);
        b.kernel({}, store, cells, 2).after(cudag::launch_completion(first));
    });
}

TEST_CASE("a graph tells the races that updates of its nodes have made", "[builder][races]") {
    const DeviceBuffer<int> cells(1), others(1);
    GraphBuilder b({.races = cudag::Races::allowed});
    b.kernel({}, store, cells, 1);
    const auto second = b.kernel({}, store, others, 2);
    Graph graph = std::move(b).build();
    CHECK(graph.races().empty());
    graph.update(second, cudag::arg<1>(3));
    CHECK(graph.races().empty());
    graph.update(second, cudag::arg<0>(cells));
    CHECK(graph.races().size() == 1);
    graph.update(second, others, 4);
    CHECK(graph.races().empty());
}

TEST_CASE("graph memory is written where it is allocated and freed", "[builder][races]") {
    GraphBuilder b;
    const auto memory = b.alloc<int>(4);
    const auto use = b.kernel({}, store, memory.span(), 1).after(memory);
    b.free(memory).after(use);
    CHECK(std::move(b).build().races().empty());
}

TEST_CASE("a capture is not refused for races, and its graph tells them", "[capture][races]") {
    const DeviceBuffer<int> cells(4);
    const cudag::Stream stream, fork;
    const Graph graph = cudag::capture(stream, [&](cudag::StreamCapture& c) {
        cudag::memset_async(stream, cells, 1);
        c.fork(fork);
        cudag::memset_async(fork, cells.span().subspan(0, 2), 2);
        c.kernel({}, store, cells.span().subspan(1, 2), 3);
        c.join(fork);
    });
    const std::vector<Race> races = graph.races();
    REQUIRE(races.size() == 1);
    CHECK(races[0].element == 1);
    CHECK(races[0].elements == 1);
}

TEST_CASE("boxes that kernels take do not touch, though slices go to and fro", "[builder][races]") {
    const DeviceBuffer<int> cells(4 * 4 * 4);
    const cudag::DeviceSpan3D<int> box(cells, 4, 4, 4);
    const auto number = [&](std::size_t x, std::size_t y, std::size_t z) {
        return [&box, x, y, z](GraphBuilder& b) {
            b.kernel({}, number_box, box.subspan(0, 0, 0, 2, 2, 2));
            b.kernel({}, number_box, box.subspan(x, y, z, 2, 2, 2));
        };
    };
    check_no_race(number(2, 0, 0));
    check_no_race(number(0, 2, 0));
    check_no_race(number(0, 0, 2));
    const std::vector<Race> races = races_in(number(1, 1, 1));
    REQUIRE(races.size() == 1);
    CHECK(races[0].element == 7); // the last of eight
    CHECK(races[0].elements == 1);
}

TEST_CASE("what a node declares may be a box, or owned by a shared_ptr", "[builder][races]") {
    const auto shared = std::make_shared<DeviceBuffer<int>>(8);
    const auto host = std::make_shared<std::vector<int>>(8);
    const cudag::DeviceSpan3D<int> box(*shared, 2, 2, 2);
    check_race([&](GraphBuilder& b) {
        b.host([] {}).writes(shared);
        b.host([] {}).reads(box.slice(1));
    });
    check_no_race([&](GraphBuilder& b) {
        b.host([] {}).writes(box.subspan(0, 0, 0, 1, 2, 2));
        b.host([] {}).reads(box.subspan(1, 0, 0, 1, 2, 2));
    });
    check_race([&](GraphBuilder& b) {
        b.host([] {}).writes(host);
        b.memcpy(*shared, *host);
    });
    const auto none = std::shared_ptr<DeviceBuffer<int>>();
    GraphBuilder b;
    const auto node = b.host([] {});
    CHECK_THROWS_AS(node.reads(none), cudag::GraphError);
    CHECK(shared.use_count() == 1); // borrowed
}

TEST_CASE("what a region declares does not race with the other nodes of the region", "[builder][races][region]") {
    const DeviceBuffer<int> x(16), y(16);
    const cudag::Stream stream, side;
    const auto capture_into = [&](GraphBuilder& b) {
        return b.capture(stream, [&](cudag::StreamCapture& c) {
            c.fork(side);
            cudag::launch(side, {}, store, y.data(), 1); // as a library launches it
            cudag::memset_async(stream, x, 1);
            c.join(side);
        });
    };
    check_no_race([&](GraphBuilder& b) { capture_into(b).writes(x, y); });
    check_no_race([&](GraphBuilder& b) { capture_into(b).reads(x).writes(y); });
    check_no_race([&](GraphBuilder& b) { capture_into(b).reads(x, y).writes(y.span().subspan(3, 2)); });
    check_race([&](GraphBuilder& b) {
        capture_into(b).writes(x, y);
        b.memset(y, 0);
    });
    check_race([&](GraphBuilder& b) { // nodes of two regions
        capture_into(b).writes(x, y);
        capture_into(b);
    });
    check_race([&](GraphBuilder& b) { // nodes of the region of which cudag knows what they do
        b.capture(stream, [&](cudag::StreamCapture& c) {
             c.fork(side);
             cudag::memset_async(side, x, 0);
             cudag::memset_async(stream, x, 1);
             c.join(side);
         }).writes(x);
    });
}

TEST_CASE("a race of rows tells elements by their rows", "[builder][races][2d]") {
    const DeviceBuffer<int> cells(64 * 16);
    const cudag::DeviceSpan2D<int> matrix(cells, 64, 16);
    const auto write = [&](GraphBuilder& b) {
        b.memset2d(matrix.subspan(0, 0, 17, 16), 0);
        b.memset2d(matrix.subspan(16, 0, 16, 16), 1);
    };
    CHECK_THAT(race_in(write), ContainsSubstring("both write elements from 16 of row 0 to 16 of row 15 of what"));
    const std::vector<Race> races = races_in(write);
    REQUIRE(races.size() == 1);
    CHECK(races[0].row_elements == 17);
    CHECK(races[0].element == 16);
    CHECK(races[0].elements == 15 * 17 + 1);
    CHECK_THAT(race_in([&](GraphBuilder& b) {
                   b.memset2d(matrix.subspan(0, 0, 17, 16), 0);
                   b.memset(cells.span().subspan(5 * 64 + 3, 4), 1);
               }),
               ContainsSubstring("both write elements 3 to 6 of row 5 of what"));
    CHECK_THAT(race_in([&](GraphBuilder& b) {
                   b.memset2d(matrix.subspan(0, 0, 17, 16), 0);
                   b.memset(cells.span().subspan(5 * 64 + 3, 1), 1);
               }),
               ContainsSubstring("both write element 3 of row 5 of what"));
}

TEST_CASE("host nodes that declare nothing are listed as untracked", "[builder][races]") {
    std::vector<int> host(1);
    GraphBuilder b;
    const auto silent = b.host([] {}).label("silent");
    const auto known = b.host([] {}).reads(host).after(silent);
    GraphBuilder inside;
    inside.memset(DeviceBuffer<int>(1), 0);
    add_child(b, std::move(inside).build()).after(b.join(known)); // these do nothing to memory by themselves
    const Graph graph = std::move(b).build();
    const std::vector<cudag::UntrackedArgument> untracked = graph.untracked();
    CHECK(untracked == std::vector<cudag::UntrackedArgument>{{silent, cudag::whole_node}});
    CHECK_THAT(to_string(untracked.at(0)),
               StartsWith("host \"silent\" at ") && EndsWith("declare them by .reads() and .writes()"));
}

TEST_CASE("a parameter that is a span races as that span", "[builder][races][dynamic]") {
    const DeviceBuffer<int> x(16), y(16), out(1);
    cudag::DynamicParam<cudag::DeviceSpan<const int>> reading(x.span());
    check_race([&](GraphBuilder& b) {
        b.kernel({}, sum, out, reading);
        b.memset(x, 0);
    });
    GraphBuilder b;
    b.kernel({}, sum, out, reading).label("sum");
    b.kernel({}, sum, y.span().subspan(0, 1), cudag::in(reading)).label("other");
    b.memset(y.span().subspan(8, 8), 0).label("y");
    Graph graph = std::move(b).build();
    CHECK(graph.untracked().empty());
    cudag::Exec exec = graph.instantiate();
    const auto error = refused<cudag::RaceError>([&] { reading.set(y.span().subspan(8, 8), exec); });
    CHECK_THAT(error.what(), ContainsSubstring("make a race") && ContainsSubstring("memset \"y\""));
    CHECK(reading.value().data() == x.data());
    CHECK(reading.set(y.span().subspan(1, 7), exec, graph) == 4);
    CHECK(reading.set(x.span().subspan(8, 8), exec) == 2);
    static_cast<void>(refused<cudag::RaceError>([&] { reading.set(y.span(), graph); }));
}
