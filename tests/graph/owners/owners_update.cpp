// What updates of kernel arguments keep alive: what is in force, and nothing that was refused or replaced.
#include "owners_sample.hpp"

using cudag::arg;
using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::LaunchConfig;
using cudag::Stream;
using cudag::UpdateError;
using owners::Sample;

TEST_CASE("an updated argument lives as long as it is in force", "[owners][update]") {
    Watched cell;
    Sample s;
    s.gate.open();
    s.exec->update(s.node, arg<0>(cell.take()));
    CHECK(cell.alive());
    run(*s.exec, s.stream);
    run(*s.exec, s.stream);
    CHECK(cell.value() == 7);
    CHECK(cell.alive());
    s.exec.reset();
    CHECK(released(cell, s.stream));
}

TEST_CASE("an updated argument that no launch has used goes with the exec", "[owners][update]") {
    Watched cell;
    Sample s;
    s.exec->update(s.node, arg<0>(cell.take()));
    s.exec.reset();
    CHECK_FALSE(cell.alive());
}

TEST_CASE("a replaced argument that no launch has used goes at once", "[owners][update]") {
    Watched first;
    Watched second;
    Sample s;
    s.exec->update(s.node, arg<0>(first.take()));
    s.exec->update(s.node, arg<0>(second.take()));
    CHECK_FALSE(first.alive());
    CHECK(second.alive());
}

TEST_CASE("an argument replaced after its launch has ended goes", "[owners][update]") {
    Watched first;
    Sample s;
    s.gate.open();
    s.exec->update(s.node, arg<0>(first.take()));
    run(*s.exec, s.stream);
    CHECK(first.alive());
    s.exec->update(s.node, arg<0>(s.borrowed));
    CHECK(released(first, s.stream));
}

TEST_CASE("an argument that is still launched stays through many launches", "[owners][update]") {
    Watched first;
    Watched second;
    Sample s;
    s.gate.open();
    s.exec->update(s.node, arg<0>(first.take()));
    for (int i = 0; i < 20; ++i) {
        s.exec->launch(s.stream);
        CHECK(first.alive());
    }
    s.exec->update(s.node, arg<0>(second.take()));
    s.exec->launch(s.stream);
    CHECK(released(first, s.stream));
    CHECK(second.alive());
}

TEST_CASE("replacing one argument keeps the owners of the others", "[owners][update]") {
    Watched to;
    Watched from;
    Watched other;
    Sample s;
    s.gate.open();
    s.exec->update(s.node, to.take(), from.take(), 1);
    s.exec->update(s.node, arg<0>(other.take()));
    CHECK_FALSE(to.alive());
    CHECK(from.alive());
    s.exec->update(s.node, arg<2>(5));
    s.exec->update(s.node, LaunchConfig{.block = 1});
    CHECK(from.alive());
    CHECK(other.alive());
    run(*s.exec, s.stream);
    CHECK(other.value() == 5);
    s.exec->update(s.node, s.borrowed, s.borrowed, 1);
    CHECK(released(from, s.stream));
    CHECK(released(other, s.stream));
}

TEST_CASE("two nodes' owners are told apart", "[owners][update]") {
    Watched first;
    Watched second;
    const DeviceBuffer<int> cells(2);
    GraphBuilder b;
    const auto x = b.kernel({}, store, cells.data(), 1);
    const auto y = b.kernel({}, store, cells.data() + 1, 2);
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    exec.update(x, arg<0>(first.take()));
    exec.update(y, arg<0>(second.take()));
    const Stream stream;
    run(exec, stream);
    exec.update(x, cells, 5);
    CHECK(released(first, stream));
    CHECK(second.alive());
    CHECK(second.value() == 2);
}

TEST_CASE("a refused update keeps nothing and lets nothing go", "[owners][update]") {
    Watched in_force;
    const DeviceBuffer<int> refused_cell(1);
    Sample s;
    s.gate.open();
    s.exec->update(s.node, arg<0>(in_force.take()));
    static_cast<void>(refused<UpdateError>(
        [&] { s.exec->update(s.node, LaunchConfig{.block = 2048}, refused_cell, refused_cell, 1); }));
    CHECK(refused_cell.owner().use_count() == 1);
    CHECK(in_force.alive());
    run(*s.exec, s.stream);
    CHECK(in_force.value() == 7);
}
