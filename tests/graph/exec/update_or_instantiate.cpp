// Exec::update_or_instantiate: the last two rungs of the update ladder, counted.
#include "cuda_version.hpp"
#include "gate.hpp"
#include "stores.hpp"
#include "watched.hpp"

using cudag::arg;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::Stream;
using cudag::UpdateCounts;

namespace {

/// An Exec whose last graphs had two and three nodes in turns, the last one three: both instances are kept.
struct InTurns {
    Stores stores;
    Exec exec = stores.build({0, 1}).instantiate();
    Graph longer = stores.build({7, 8, 9});

    InTurns() {
        for (const Cells& values : {Cells{2, 3, 4}, Cells{5, 6}})
            CHECK(exec.update_or_instantiate(stores.build(values)).needs_instantiate());
        CHECK(exec.update_counts() == UpdateCounts{0, 2, 0});
        CHECK(exec.update_or_instantiate(longer).needs_instantiate());
        CHECK(exec.update_counts() == UpdateCounts{0, 2, 1});
    }
};

} // namespace

TEST_CASE("a graph of the same shape is an update", "[exec][update][instantiate]") {
    const Stores stores;
    Exec exec = stores.build({0, 1, 2}).instantiate();
    cudaGraphExec_t native = exec.native();
    CHECK(exec.update_counts() == UpdateCounts{});
    CHECK(exec.update_or_instantiate(stores.build({10, 11, 12})).updated());
    CHECK(exec.update_counts() == UpdateCounts{1, 0});
    CHECK(exec.native() == native);
    CHECK(stores.result(exec) == Cells{10, 11, 12});
}

TEST_CASE("a graph of another shape is instantiated, and the report says why", "[exec][update][instantiate]") {
    const Stores stores;
    Exec exec = stores.build({0, 1}).instantiate({.use_node_priority = true});
    CHECK(stores.result(exec) == Cells{0, 1, -1});
    const Graph larger = stores.build({10, 11, 12});
    const cudag::UpdateReport report = exec.update_or_instantiate(larger);
    CHECK_FALSE(report.updated());
    CHECK(report.verdict() == cudag::UpdateVerdict::topology_changed);
    CHECK(exec.update_counts() == UpdateCounts{0, 1});
    CHECK(stores.result(exec) == Cells{10, 11, 12});
    CHECK(exec.options().use_node_priority);
    CHECK(exec.replays() == 2);
    exec.update(larger.find(store).at(2), arg<1>(99));
    CHECK(stores.result(exec) == Cells{10, 11, 99});
}

TEST_CASE("handles of the former graph are refused after instantiation", "[exec][update][instantiate]") {
    const Stores stores;
    const Graph former = stores.build({0});
    Exec exec = former.instantiate();
    static_cast<void>(exec.update_or_instantiate(stores.build({0, 1})));
    CHECK_THROWS_AS(exec.update(former.find(store).front(), arg<1>(3)), cudag::UpdateError);
}

TEST_CASE("a launch in flight ends as it began when its exec is replaced", "[exec][update][instantiate][owners]") {
    const Stores stores;
    Watched owned;
    const Stream stream;
    Gate gate;
    GraphBuilder b;
    const auto wait = b.host(gate.node());
    const auto node = b.kernel({}, store, owned.watch().lock().get(), 4).after(wait);
    Exec exec = std::move(b).build().instantiate();
    exec.update(node, owned.take(), 5);
    exec.launch(stream);
    gate.wait_until_entered();
    CHECK_FALSE(exec.update_or_instantiate(stores.build({10, 11, 12})).updated());
    CHECK(owned.alive());
    gate.open();
    CHECK(released(owned, stream));
    CHECK(owned.value() == 5);
    CHECK(stores.result(exec) == Cells{10, 11, 12});
}

TEST_CASE("flags are those that the exec was made with", "[exec][instantiate]") {
    const Stores stores;
    const Stream stream;
    const Exec plain = stores.build({0}).instantiate();
    CHECK_FALSE(plain.options().auto_free_on_launch);
    CHECK_FALSE(plain.options().use_node_priority);
    const Exec exec = stores.build({0}).instantiate({.auto_free_on_launch = true, .upload_stream = stream});
    CHECK(exec.options().auto_free_on_launch);
    CHECK_FALSE(exec.options().device_launch);
    CHECK_FALSE(exec.options().upload_stream.has_value());
}

TEST_CASE("of two structures in turns both instances are kept, and updated", "[exec][update][instantiate]") {
    const Stores stores;
    Exec exec = stores.build({0, 1}).instantiate({.use_node_priority = true});
    static_cast<void>(exec.update_or_instantiate(stores.build({2, 3, 4}))); // the first instance goes
    CHECK(stores.result(exec) == Cells{2, 3, 4});
    cudaGraphExec_t const larger = exec.native();
    static_cast<void>(exec.update_or_instantiate(stores.build({5, 6}))); // structures come again: both stay
    CHECK(stores.result(exec) == Cells{5, 6, -1});
    cudaGraphExec_t const smaller = exec.native();
    for (int i = 10; i < 50; i += 10) {
        const cudag::UpdateReport report = exec.update_or_instantiate(stores.build({i, i + 1, i + 2}));
        CHECK(report.needs_instantiate());
        CHECK_THAT(report.reason(),
                   ContainsSubstring("the instance of the graph before the last one has been updated"));
        CHECK(exec.native() == larger);
        CHECK(stores.result(exec) == Cells{i, i + 1, i + 2});
        CHECK(exec.update_or_instantiate(stores.build({i + 3, i + 4, i + 5})).updated());
        CHECK(stores.result(exec) == Cells{i + 3, i + 4, i + 5});
        static_cast<void>(exec.update_or_instantiate(stores.build({i + 6, i + 7})));
        CHECK(exec.native() == smaller);
        CHECK(stores.result(exec) == Cells{i + 6, i + 7, -1});
    }
    CHECK(exec.update_counts() == UpdateCounts{4, 2, 8});
    CHECK(exec.replays() == 14);
    CHECK(exec.options().use_node_priority);
}

TEST_CASE("captures in turns keep both instances", "[exec][update][instantiate][capture]") {
    const Stores stores;
    const auto captured = [&](const Cells& values) {
        return cudag::capture(stores.stream(), [&](cudaStream_t stream) {
            for (std::size_t i = 0; i < values.size(); ++i)
                cudag::launch(stream, {}, store, stores.cell(i), values[i]);
        });
    };
    Exec exec = captured({0, 1}).instantiate();
    for (int i = 0; i < 8; ++i) {
        const Graph graph = captured(i % 2 == 0 ? Cells{i, i + 1, i + 2} : Cells{i, i + 1});
        CHECK(exec.update_or_instantiate(graph).needs_instantiate());
        CHECK(stores.result(exec) == (i % 2 == 0 ? Cells{i, i + 1, i + 2} : Cells{i, i + 1, -1}));
        exec.update(graph.find(store).at(0), arg<1>(99));
        CHECK(stores.result(exec).at(0) == 99);
    }
    CHECK(exec.update_counts() == UpdateCounts{0, 2, 6});
}

TEST_CASE("a third structure is instantiated, and ends the turns of two", "[exec][update][instantiate]") {
    InTurns t;
    static_cast<void>(t.exec.update_or_instantiate(t.stores.build({1})));
    CHECK(t.exec.update_counts() == UpdateCounts{0, 3, 1});
    static_cast<void>(t.exec.update_or_instantiate(t.stores.build({1, 2})));
    CHECK(t.exec.update_counts() == UpdateCounts{0, 4, 1});
    CHECK(t.stores.result(t.exec) == Cells{1, 2, -1});
    static_cast<void>(t.exec.update_or_instantiate(t.stores.build({3})));
    static_cast<void>(t.exec.update_or_instantiate(t.stores.build({4, 5})));
    CHECK(t.exec.update_counts() == UpdateCounts{0, 5, 2});
    CHECK(t.stores.result(t.exec) == Cells{4, 5, -1});
}

TEST_CASE("an instance taken again has the handles and changes of the last graph", "[exec][update][instantiate]") {
    InTurns t;
    CHECK_THROWS_AS(t.exec.update(t.stores.build({0, 1}).find(store).at(0), arg<1>(3)), cudag::Error);
    t.exec.update(t.longer.find(store).at(2), arg<1>(99));
    CHECK(t.stores.result(t.exec) == Cells{7, 8, 99});
    t.longer.update(t.longer.find(store).at(0), arg<1>(77));
    CHECK(t.exec.apply(t.longer) == 1);
    t.exec.disable(t.longer.find(store).at(1));
    CHECK(t.stores.result(t.exec) == Cells{77, -1, 99});
    const cudag::UpdateReport report = t.exec.update(t.stores.build({1, 2}));
    CHECK(report.needs_instantiate());
    static_cast<void>(t.exec.update_or_instantiate(t.stores.build({1, 2}))); // a node was disabled: a new instance
    static_cast<void>(t.exec.update_or_instantiate(t.stores.build({1, 2, 3})));
    CHECK(t.exec.update_counts() == UpdateCounts{0, 4, 1});
    CHECK(t.stores.result(t.exec) == Cells{1, 2, 3});
}

TEST_CASE("handles inside of a child lead to an instance taken again", "[exec][update][instantiate]") {
    const Stores stores;
    const auto with_child = [&](const Cells& values) {
        GraphBuilder b;
        const auto node = b.kernel({}, store, stores.cell(2), 9);
        add_child(b, stores.build(values)).label("child").after(node);
        return std::move(b).build();
    };
    Exec exec = with_child({1}).instantiate();
    static_cast<void>(exec.update_or_instantiate(with_child({1, 2})));
    static_cast<void>(exec.update_or_instantiate(with_child({3})));
    const Graph last = with_child({4, 5});
    static_cast<void>(exec.update_or_instantiate(last));
    CHECK(exec.update_counts() == UpdateCounts{0, 2, 1});
    exec.update(last.find(store).at(2), arg<1>(6)); // inside
    CHECK(stores.result(exec) == Cells{4, 6, 9});
}

TEST_CASE("a bind of an instance taken again is by the uses in the last graph", "[exec][update][instantiate][bind]") {
    const Stores stores;
    const cudag::DeviceBuffer<int> a(1), b(1), c(1);
    const auto graph_of = [&](const cudag::DeviceBuffer<int>& first, const cudag::DeviceBuffer<int>& second,
                              bool more) {
        GraphBuilder builder;
        builder.kernel({}, store, first, 1);
        builder.kernel({}, store, second, 2);
        if (more) builder.kernel({}, store, stores.cell(0), 3);
        return std::move(builder).build();
    };
    Exec exec = graph_of(a, b, false).instantiate();
    static_cast<void>(exec.update_or_instantiate(graph_of(a, b, true)));
    static_cast<void>(exec.update_or_instantiate(graph_of(a, b, false)));
    const Graph last = graph_of(b, a, true); // b is the first one now
    static_cast<void>(exec.update_or_instantiate(last));
    REQUIRE(exec.update_counts() == UpdateCounts{0, 2, 1});
    for (const int round : {0, 1}) {
        CAPTURE(round);
        write(c.span(), {0});
        CHECK(exec.bind(last.parameter(b), round == 0 ? c : b) == 1);
        run(exec, stores.stream());
        CHECK(read(round == 0 ? c : b) == std::vector{1});
        CHECK(read(a) == std::vector{2});
    }
}

TEST_CASE("graphs that could not share an instance get new ones in turns", "[exec][update][instantiate]") {
    const Stores stores;
    cudag::DynamicParam<int> value(4);
    const bool has_memory = GENERATE(false, true);
    const auto graph_of = [&](int count) {
        GraphBuilder b;
        if (has_memory) {
            const auto memory = b.alloc<int>(1);
            b.free(memory).after(memory);
        }
        for (int i = 0; i < count; ++i)
            if (has_memory)
                b.kernel({}, store, stores.cell(static_cast<std::size_t>(i)), 4);
            else
                b.kernel({}, store, stores.cell(static_cast<std::size_t>(i)), value);
        return std::move(b).build();
    };
    Exec exec = graph_of(1).instantiate();
    for (int i = 0; i < 6; ++i)
        static_cast<void>(exec.update_or_instantiate(graph_of(2 + i % 2)));
    CHECK(exec.update_counts() == UpdateCounts{0, 6, 0});
    if (!has_memory) CHECK(value.set(5, exec) == 3);
    CHECK(stores.result(exec) == (has_memory ? Cells{4, 4, 4} : Cells{5, 5, 5}));
}

TEST_CASE("the memory of both instances is reported, and goes with the Exec",
          "[exec][update][instantiate][footprint]") {
    InTurns t;
    const std::size_t one = t.longer.memory().executable;
    CHECK(t.exec.memory().executable > one);
    Watched owned;
    const Stream stream;
    {
        GraphBuilder b;
        b.kernel({}, store, owned.take(), 5);
        b.kernel({}, store, t.stores.cell(0), 6);
        static_cast<void>(t.exec.update_or_instantiate(std::move(b).build()));
        CHECK(t.exec.update_counts().switched == 2);
        t.exec.launch(stream);
    }
    static_cast<void>(t.exec.update_or_instantiate(t.longer)); // while the other one is in flight
    t.exec.launch(stream);
    stream.synchronize();
    CHECK(owned.alive());
    static_cast<void>(t.exec.update_or_instantiate(t.stores.build({1})));
    CHECK(released(owned, stream));
    CHECK(owned.value() == 5);
}
