// What host nodes throw: rethrown once, in order, by the next synchronisation.
#include <stdexcept>
#include <string>

#include "test.hpp"

using cudag::GraphBuilder;
using cudag::Stream;

namespace {

struct Custom {
    int value;
};

/// A graph of host nodes in a line that throw their texts.
cudag::Graph throwing(std::initializer_list<const char*> texts) {
    GraphBuilder b;
    std::vector<cudag::Node> last;
    for (const char* text : texts) {
        const auto node = b.host([text] { throw std::runtime_error(text); }).after(last);
        last.assign(1, node);
    }
    return std::move(b).build();
}

} // namespace

TEST_CASE("what a host node throws is rethrown once by synchronize", "[host]") {
    const cudag::Graph graph = throwing({"thrown on the host"});
    cudag::Exec exec = graph.instantiate();
    const Stream stream;
    exec.launch(stream);
    CHECK_THROWS_MATCHES(stream.synchronize(), std::runtime_error, MessageMatches(Equals("thrown on the host")));
    CHECK_NOTHROW(stream.synchronize());
}

TEST_CASE("what a host node throws is rethrown by an event's synchronize", "[host]") {
    const cudag::Graph graph = throwing({"seen by the event"});
    cudag::Exec exec = graph.instantiate();
    const Stream stream;
    cudag::Event event;
    exec.launch(stream);
    event.record(stream);
    CHECK_THROWS_MATCHES(event.synchronize(), std::runtime_error, MessageMatches(Equals("seen by the event")));
    CHECK_NOTHROW(event.synchronize());
    CHECK_NOTHROW(stream.synchronize());
}

TEST_CASE("several exceptions are rethrown in order, one by each synchronize", "[host]") {
    const cudag::Graph graph = throwing({"first", "second", "third"});
    cudag::Exec exec = graph.instantiate();
    const Stream stream;
    exec.launch(stream);
    for (const char* text : {"first", "second", "third"})
        CHECK_THROWS_MATCHES(stream.synchronize(), std::runtime_error, MessageMatches(Equals(text)));
    CHECK_NOTHROW(stream.synchronize());
}

TEST_CASE("an exception of any type is rethrown", "[host]") {
    GraphBuilder b;
    b.host([] { throw Custom{7}; });
    const cudag::Graph graph = std::move(b).build();
    cudag::Exec exec = graph.instantiate();
    const Stream stream;
    exec.launch(stream);
    int seen = 0;
    try {
        stream.synchronize();
    } catch (const Custom& error) {
        seen = error.value;
    }
    CHECK(seen == 7);
    CHECK_NOTHROW(stream.synchronize());
}

TEST_CASE("what comes after a host node that threw runs all the same", "[host]") {
    const auto cells = device({0, 0});
    GraphBuilder b;
    const auto fails = b.host([] { throw std::runtime_error("in the middle"); });
    b.kernel({}, store, cells.data(), 3).after(fails);
    b.kernel({}, store, cells.data() + 1, 4);
    const cudag::Graph graph = std::move(b).build();
    cudag::Exec exec = graph.instantiate();
    const Stream stream;
    exec.launch(stream);
    CHECK_THROWS_MATCHES(stream.synchronize(), std::runtime_error, MessageMatches(Equals("in the middle")));
    CHECK(read(cells) == std::vector{3, 4});
}

TEST_CASE("a graph whose host node threw can be launched again", "[host]") {
    int runs = 0;
    GraphBuilder b;
    b.host([&runs] {
        if (++runs == 1) throw std::runtime_error("the first time");
    });
    const cudag::Graph graph = std::move(b).build();
    cudag::Exec exec = graph.instantiate();
    const Stream stream;
    exec.launch(stream);
    CHECK_THROWS_AS(stream.synchronize(), std::runtime_error);
    exec.launch(stream);
    CHECK_NOTHROW(stream.synchronize());
    CHECK(runs == 2);
}

TEST_CASE("an exception is rethrown by the synchronisation of any stream", "[host]") {
    const cudag::Graph graph = throwing({"from elsewhere"});
    cudag::Exec exec = graph.instantiate();
    const Stream busy;
    const Stream idle;
    exec.launch(busy);
    cudag::check(cudaStreamSynchronize(busy.get()));
    CHECK_THROWS_MATCHES(idle.synchronize(), std::runtime_error, MessageMatches(Equals("from elsewhere")));
    CHECK_NOTHROW(busy.synchronize());
}
