// Exec::update_or_instantiate: the last two rungs of the update ladder, counted.
#include "gate.hpp"
#include "stores.hpp"
#include "watched.hpp"

using cudag::arg;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::Stream;
using cudag::UpdateCounts;

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
