// What host nodes throw: told once, to who waits for the stream of their launch, or asks their Exec.
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "cuda_version.hpp"
#include "gate.hpp"
#include "printed.hpp"
#include "test.hpp"
#include "watched.hpp"

using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::HostError;
using cudag::Stream;

namespace {

struct Custom {
    int value;
};

auto thrower(std::string text) {
    return [text = std::move(text)] { throw std::runtime_error(text); };
}

/// A graph of host nodes in a line that throw their texts, which are their labels too.
Graph throwing(std::initializer_list<const char*> texts) {
    GraphBuilder b;
    std::vector<cudag::Node> last;
    for (const char* text : texts) {
        const auto node = b.host(thrower(text)).label(text).after(last);
        last.assign(1, node);
    }
    return std::move(b).build();
}

/// The texts of what `call` throws as a HostError; none if it throws nothing.
std::vector<std::string> thrown_by(const std::function<void()>& call) {
    std::vector<std::string> texts;
    try {
        call();
    } catch (const HostError& error) {
        for (const cudag::HostFailure& failure : error.failures()) {
            try {
                std::rethrow_exception(failure.exception);
            } catch (const std::exception& original) {
                texts.emplace_back(original.what());
            }
        }
    }
    return texts;
}
std::vector<std::string> thrown_by(const Stream& stream) {
    return thrown_by([&] { stream.synchronize(); });
}
std::vector<std::string> thrown_by(const Exec& exec) {
    return thrown_by([&] { exec.rethrow(); });
}
std::vector<std::string> thrown_by(const cudag::Event& event) {
    return thrown_by([&] { event.synchronize(); });
}

using Texts = std::vector<std::string>;

/// Waits, without cudag.
void wait(const Stream& stream) {
    cudag::check(cudaStreamSynchronize(stream.get()));
}

} // namespace

TEST_CASE("what a host node throws is thrown once by synchronize, nested, with the node's label and place", "[host]") {
    GraphBuilder b;
    b.host(thrower("too cold")).label("check");
    const unsigned line = __LINE__ - 1;
    Exec exec = std::move(b).build().instantiate();
    const Stream stream;
    exec.launch(stream);
    bool seen = false;
    try {
        stream.synchronize();
    } catch (const HostError& error) {
        seen = true;
        CHECK_THAT(error.what(), ContainsSubstring("cudag: host \"check\" at ") && ContainsSubstring(__FILE__) &&
                                     ContainsSubstring("threw std::runtime_error: too cold"));
        CHECK(error.labels() == std::vector<std::string>{"check"});
        CHECK(error.location().line == line);
        CHECK(error.code() == cuda_code(cudaErrorUnknown));
        REQUIRE(error.failures().size() == 1);
        CHECK(error.failures()[0].label == "check");
        CHECK(error.failures()[0].location.line == line);
        CHECK_THROWS_MATCHES(error.rethrow_nested(), std::runtime_error, MessageMatches(Equals("too cold")));
    }
    CHECK(seen);
    CHECK_NOTHROW(stream.synchronize());
    CHECK_NOTHROW(exec.rethrow());
}

TEST_CASE("an exception of any type is nested with its own type", "[host]") {
    GraphBuilder b;
    b.host([] { throw Custom{7}; });
    Exec exec = std::move(b).build().instantiate();
    const Stream stream;
    exec.launch(stream);
    int seen = 0;
    try {
        stream.synchronize();
    } catch (const cudag::Error& error) {
        CHECK_THAT(error.what(), ContainsSubstring("threw") && ContainsSubstring("Custom"));
        try {
            std::rethrow_if_nested(error);
        } catch (const Custom& custom) {
            seen = custom.value;
        }
    }
    CHECK(seen == 7);
    CHECK_NOTHROW(stream.synchronize());
}

TEST_CASE("an Error that a host node throws gives its code", "[host]") {
    GraphBuilder b;
    b.host([] { throw cudag::GraphError(cudaErrorNotSupported, "cudag: no"); });
    Exec exec = std::move(b).build().instantiate();
    const Stream stream;
    exec.launch(stream);
    CHECK(refused<HostError>([&] { stream.synchronize(); }).code() == cuda_code(cudaErrorNotSupported));
}

TEST_CASE("what a host node throws is thrown by the synchronisation of an event after its launch", "[host]") {
    const Graph graph = throwing({"seen by the event"});
    Exec exec = graph.instantiate();
    const Stream stream;
    cudag::Event before;
    cudag::Event event;
    before.record(stream);
    exec.launch(stream);
    event.record(stream);
    wait(stream);
    CHECK(thrown_by(before).empty());
    CHECK(thrown_by(event) == Texts{"seen by the event"});
    CHECK_NOTHROW(event.synchronize());
    CHECK_NOTHROW(stream.synchronize());
}

TEST_CASE("an event tells nothing of another stream, nor of launches after its mark", "[host]") {
    const Graph graph = throwing({"thrown"});
    Exec exec = graph.instantiate();
    const Stream stream;
    const Stream other;
    exec.launch(stream);
    cudag::Event elsewhere;
    elsewhere.record(other);
    cudag::Event marked;
    marked.record(stream);
    exec.launch(stream);
    wait(stream);
    CHECK(thrown_by(elsewhere).empty());
    cudag::Event moved(std::move(marked));
    CHECK(thrown_by(moved) == Texts{"thrown"});
    CHECK(thrown_by(stream) == Texts{"thrown"});
}

TEST_CASE("an event tells what the one would have told that it was assigned", "[host]") {
    const Graph graph = throwing({"thrown"});
    Exec exec = graph.instantiate();
    const Stream stream;
    const Stream other;
    exec.launch(stream);
    cudag::Event marked;
    marked.record(stream);
    cudag::Event assigned;
    assigned.record(other);
    assigned = std::move(marked);
    wait(stream);
    CHECK(thrown_by(assigned) == Texts{"thrown"});
    exec.launch(stream);
    assigned.record(stream);
    assigned = cudag::Event();
    wait(stream);
    CHECK(thrown_by(assigned).empty());
    CHECK(thrown_by(stream) == Texts{"thrown"});
}

TEST_CASE("several exceptions come out of one synchronize, in order, and none of a later one", "[host]") {
    const Graph graph = throwing({"first", "second", "third"});
    Exec exec = graph.instantiate();
    const Stream stream;
    exec.launch(stream);
    exec.launch(stream);
    const auto error = refused<HostError>([&] { stream.synchronize(); });
    CHECK_THAT(error.what(), ContainsSubstring("\"first\"") && ContainsSubstring("\"second\"") &&
                                 ContainsSubstring("std::runtime_error: third"));
    REQUIRE(error.failures().size() == 6);
    CHECK(error.labels() == std::vector<std::string>{"first", "second", "third", "first", "second", "third"});
    CHECK_THROWS_MATCHES(error.rethrow_nested(), std::runtime_error, MessageMatches(Equals("first")));
    CHECK_NOTHROW(stream.synchronize());
}

TEST_CASE("of many exceptions the text names ten, and all can be had", "[host]") {
    GraphBuilder b;
    for (int i = 0; i < 25; ++i)
        b.host(thrower(std::to_string(i)));
    Exec exec = std::move(b).build().instantiate();
    const Stream stream;
    exec.launch(stream);
    const auto error = refused<HostError>([&] { stream.synchronize(); });
    CHECK(error.failures().size() == 25);
    CHECK_THAT(error.what(), ContainsSubstring("; and 15 more"));
}

TEST_CASE("where the text names all exceptions, it counts no more", "[host]") {
    for (const int thrown : {9, 10, 11}) {
        GraphBuilder b;
        for (int i = 0; i < thrown; ++i)
            b.host(thrower("x"));
        Exec exec = std::move(b).build().instantiate();
        const Stream stream;
        exec.launch(stream);
        const auto error = refused<HostError>([&] { stream.synchronize(); });
        CHECK(error.failures().size() == static_cast<std::size_t>(thrown));
        if (thrown <= 10)
            CHECK_THAT(error.what(), !ContainsSubstring(" more"));
        else
            CHECK_THAT(error.what(), EndsWith("; and 1 more"));
    }
}

TEST_CASE("what comes after a host node that threw runs all the same", "[host]") {
    const auto cells = device({0, 0});
    GraphBuilder b;
    const auto fails = b.host(thrower("in the middle"));
    b.kernel({}, store, cells.data(), 3).after(fails);
    b.kernel({}, store, cells.data() + 1, 4);
    Exec exec = std::move(b).build().instantiate();
    const Stream stream;
    exec.launch(stream);
    CHECK(thrown_by(stream) == Texts{"in the middle"});
    CHECK(read(cells) == std::vector{3, 4});
}

TEST_CASE("a graph whose host node threw can be launched again", "[host]") {
    int runs = 0;
    GraphBuilder b;
    b.host([&runs] {
        if (++runs == 1) throw std::runtime_error("the first time");
    });
    Exec exec = std::move(b).build().instantiate();
    const Stream stream;
    exec.launch(stream);
    CHECK(thrown_by(stream) == Texts{"the first time"});
    exec.launch(stream);
    CHECK_NOTHROW(stream.synchronize());
    CHECK(runs == 2);
}

TEST_CASE("the synchronisation of another stream, or on another thread, does not throw it", "[host]") {
    const Graph graph = throwing({"from elsewhere"});
    Exec exec = graph.instantiate();
    const Stream busy;
    exec.launch(busy);
    wait(busy);
    const Stream idle;
    CHECK_NOTHROW(idle.synchronize());
    std::thread([] {
        const Stream own;
        CHECK_NOTHROW(own.synchronize());
    }).join();
    CHECK(thrown_by(busy) == Texts{"from elsewhere"});
}

TEST_CASE("launches of one Exec in two streams are told apart", "[host]") {
    int launch = 0;
    GraphBuilder b;
    b.host([&launch] { throw std::runtime_error(std::to_string(++launch)); });
    Exec exec = std::move(b).build().instantiate();
    const Stream even;
    const Stream odd;
    for (int i = 1; i <= 100; ++i)
        exec.launch(i % 2 == 0 ? even : odd);
    wait(even);
    wait(odd);
    Texts evens;
    Texts odds;
    for (int i = 1; i <= 100; ++i)
        (i % 2 == 0 ? evens : odds).push_back(std::to_string(i));
    CHECK(thrown_by(even) == evens);
    CHECK(thrown_by(odd) == odds);
    CHECK_NOTHROW(exec.rethrow());
}

TEST_CASE("two Execs of one graph are told apart", "[host]") {
    const Graph graph = throwing({"thrown"});
    Exec first = graph.instantiate();
    Exec second = graph.instantiate();
    const Stream stream;
    first.launch(stream);
    wait(stream);
    CHECK_NOTHROW(second.rethrow());
    CHECK(thrown_by(first) == Texts{"thrown"});
    CHECK_NOTHROW(stream.synchronize());
}

TEST_CASE("an Exec tells what its launches in a stream of CUDA's threw", "[host]") {
    const Graph graph = throwing({"in a plain stream"});
    Exec exec = graph.instantiate();
    exec.launch(cudaStream_t(nullptr));
    cudag::check(cudaStreamSynchronize(nullptr));
    const Stream stream;
    CHECK_NOTHROW(stream.synchronize());
    CHECK(thrown_by(exec) == Texts{"in a plain stream"});
    CHECK_NOTHROW(exec.rethrow());
}

TEST_CASE("an Exec tells what its launches through native() threw", "[host]") {
    int runs = 0;
    GraphBuilder b;
    b.host([&runs] { throw std::runtime_error("run " + std::to_string(++runs)); });
    Exec exec = std::move(b).build().instantiate();
    const Stream stream;
    cudag::check(cudaGraphLaunch(exec.native(), stream.get()));
    wait(stream);
    CHECK_NOTHROW(stream.synchronize());
    exec.launch(stream);
    CHECK(thrown_by(stream) == Texts{"run 2"});
    CHECK(thrown_by(exec) == Texts{"run 1"});
}

TEST_CASE("a stream tells what the launches of an Exec threw that is gone", "[host]") {
    const Stream stream;
    Gate gate;
    {
        GraphBuilder b;
        b.host([hold = gate.node()] {
             hold();
             throw std::runtime_error("after its Exec");
         }).label("late");
        Exec exec = std::move(b).build().instantiate();
        exec.launch(stream);
    }
    gate.open();
    const auto error = refused<HostError>([&] { stream.synchronize(); });
    CHECK_THAT(error.what(), ContainsSubstring("host \"late\"") && ContainsSubstring("after its Exec"));
}

TEST_CASE("an Exec tells what its launches in a stream threw that is gone, and a new stream does not", "[host]") {
    const Graph graph = throwing({"thrown"});
    Exec exec = graph.instantiate();
    for (int i = 0; i < 3; ++i) {
        std::optional<Stream> stream(std::in_place);
        exec.launch(*stream);
        wait(*stream);
        stream.reset();
        const Stream next; // most often with the handle of the last one
        CHECK_NOTHROW(next.synchronize());
        CHECK(thrown_by(exec) == Texts{"thrown"});
    }
    cudaStream_t plain = nullptr;
    cudag::check(cudaStreamCreateWithFlags(&plain, cudaStreamNonBlocking));
    exec.launch(plain);
    cudag::check(cudaStreamSynchronize(plain));
    cudag::check(cudaStreamDestroy(plain));
    const Stream next;
    CHECK_NOTHROW(next.synchronize());
    CHECK(thrown_by(exec) == Texts{"thrown"});
}

TEST_CASE("what nobody can be told any more is printed", "[host]") {
    for (const bool exec_first : {true, false}) {
        const std::string text = printed([&] {
            const Graph graph = throwing({"unheard"});
            std::optional<Exec> exec(graph.instantiate());
            std::optional<Stream> stream(std::in_place);
            exec->launch(*stream);
            wait(*stream);
            if (exec_first) exec.reset();
            stream.reset();
            exec.reset();
        });
        CHECK_THAT(text, ContainsSubstring("host \"unheard\"") && ContainsSubstring("std::runtime_error: unheard") &&
                             ContainsSubstring("its Exec and its stream are gone"));
    }
}

TEST_CASE("a stream that goes takes along what its own launches threw, and nothing of another stream", "[host]") {
    const Stream stays;
    std::optional<Stream> goes(std::in_place);
    const std::string text = printed([&] {
        std::optional<Exec> heard(throwing({"heard"}).instantiate());
        std::optional<Exec> unheard(throwing({"unheard"}).instantiate());
        heard->launch(stays);
        unheard->launch(*goes);
        wait(stays);
        wait(*goes);
        heard.reset();
        unheard.reset();
        goes.reset();
    });
    CHECK_THAT(text, ContainsSubstring("host \"unheard\"") && !ContainsSubstring("host \"heard\""));
    CHECK(thrown_by(stays) == Texts{"heard"});
}

TEST_CASE("what is thrown when nobody can be told any more is printed", "[host]") {
    for (const bool exec_first : {true, false}) {
        const std::string text = printed([&] {
            std::optional<Stream> stream(std::in_place);
            Gate gate;
            GraphBuilder b;
            b.host([hold = gate.node()] {
                 hold();
                 throw std::runtime_error("after all");
             }).label("unheard");
            std::optional<Exec> exec(std::move(b).build().instantiate());
            exec->launch(*stream);
            gate.wait_until_entered();
            if (exec_first) exec.reset();
            stream.reset();
            exec.reset();
            gate.open();
            cudag::check(cudaDeviceSynchronize());
        });
        CHECK_THAT(text, ContainsSubstring("host \"unheard\"") && ContainsSubstring("std::runtime_error: after all") &&
                             ContainsSubstring("its Exec and its stream are gone"));
    }
}

TEST_CASE("what a graph throws that was instantiated without cudag is printed", "[host]") {
    const Graph graph = throwing({"without cudag"});
    const Stream stream;
    const std::string text = printed([&] {
        cudaGraphExec_t exec = nullptr;
        cudag::check(cudaGraphInstantiate(&exec, graph.native(), 0));
        cudag::check(cudaGraphLaunch(exec, stream.get()));
        wait(stream);
        cudag::check(cudaGraphExecDestroy(exec));
    });
    CHECK_THAT(text, ContainsSubstring("without cudag"));
    CHECK_NOTHROW(stream.synchronize());
}

TEST_CASE("host nodes in children, cloned and moved, and in clones are told by name", "[host][child]") {
    const auto child = [](const char* text) { return throwing({text}); };
    GraphBuilder inner;
    add_child(inner, child("deep")).label("inner");
    GraphBuilder b;
    const Graph cloned = child("cloned");
    const auto a = b.child(cloned).label("a");
    std::vector<cudag::Node> last{a};
    if (can_move()) last.assign(1, b.child(child("moved")).label("m").after(last));
    add_child(b, std::move(inner).build()).label("outer").after(last);
    const Graph graph = std::move(b).build();
    const Graph clone = graph.clone();
    const Stream stream;
    for (const Graph* one : {&graph, &clone}) {
        Exec exec = one->instantiate();
        exec.launch(stream);
        const auto error = refused<HostError>([&] { stream.synchronize(); });
        CHECK(error.labels().front() == "cloned");
        CHECK(error.labels().back() == "deep");
        CHECK(error.labels().size() == (can_move() ? 3 : 2));
        CHECK_THAT(error.what(), ContainsSubstring("host \"deep\" inside child \"inner\""));
    }
}

TEST_CASE("a callable that an update brings in is told like the first", "[host][update]") {
    GraphBuilder b;
    const auto node = b.host(thrower("first")).label("the node");
    Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    const Stream stream;
    const Stream other;
    Gate gate;
    exec.update(node, [hold = gate.node()] {
        hold();
        throw std::runtime_error("second");
    });
    exec.launch(stream); // in flight while the next ones change it
    exec.update(node, thrower("third"));
    exec.launch(other);
    graph.update(node, thrower("fourth"));
    CHECK(exec.apply(graph) == 1);
    exec.launch(stream);
    gate.open();
    wait(stream);
    wait(other);
    CHECK(thrown_by(other) == Texts{"third"});
    const auto error = refused<HostError>([&] { stream.synchronize(); });
    CHECK(error.labels() == std::vector<std::string>{"the node", "the node"});
    CHECK_THAT(error.what(), ContainsSubstring("second") && ContainsSubstring("fourth"));
}

TEST_CASE("host nodes that a whole update brings in are told with their own names", "[host][update]") {
    const Graph graph = throwing({"a", "b"});
    const Graph next = throwing({"c", "d"});
    Exec exec = graph.instantiate();
    const Stream stream;
    const Stream other;
    exec.launch(stream);
    REQUIRE(exec.update(next).updated());
    exec.launch(other);
    REQUIRE(exec.update(graph).updated());
    exec.launch(stream);
    wait(stream);
    wait(other);
    CHECK(refused<HostError>([&] { other.synchronize(); }).labels() == std::vector<std::string>{"c", "d"});
    CHECK(refused<HostError>([&] { stream.synchronize(); }).labels() == std::vector<std::string>{"a", "b", "a", "b"});
}

TEST_CASE("host nodes that an update of a child brings in are told with their own names", "[host][update][child]") {
    const Graph next = throwing({"c", "d"});
    GraphBuilder b;
    const auto child = add_child(b, throwing({"a", "b"})).label("child");
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    const Stream stream;
    exec.launch(stream);
    exec.update(child, next);
    exec.launch(stream);
    CHECK(refused<HostError>([&] { stream.synchronize(); }).labels() == std::vector<std::string>{"a", "b", "c", "d"});
}

TEST_CASE("an Exec that became a new instance tells what the former one threw", "[host][update]") {
    const Graph graph = throwing({"former"});
    const Graph next = throwing({"new", "newer"});
    Exec exec = graph.instantiate();
    const Stream stream;
    exec.launch(stream);
    wait(stream);
    REQUIRE_FALSE(exec.update_or_instantiate(next).updated());
    exec.launch(stream);
    wait(stream);
    CHECK(thrown_by(exec) == Texts{"former", "new", "newer"});
    CHECK_NOTHROW(stream.synchronize());
}

TEST_CASE("an Exec of two instances in turns tells what both threw", "[host][update]") {
    Exec exec = throwing({"a"}).instantiate();
    const Stream stream;
    static_cast<void>(exec.update_or_instantiate(throwing({"b", "c"})));
    static_cast<void>(exec.update_or_instantiate(throwing({"d"})));
    exec.launch(stream);
    wait(stream);
    static_cast<void>(exec.update_or_instantiate(throwing({"e", "f"})));
    REQUIRE(exec.update_counts().switched == 1);
    exec.launch(stream);
    wait(stream);
    CHECK(thrown_by(exec) == Texts{"d", "e", "f"});
    static_cast<void>(exec.update_or_instantiate(throwing({"g"})));
    REQUIRE(exec.update_counts().switched == 2);
    exec.launch(stream);
    wait(stream);
    CHECK(thrown_by(exec) == Texts{"g"});
    CHECK_NOTHROW(stream.synchronize());
}

TEST_CASE("a captured host function that an update replaced is told, too", "[host][capture]") {
    const Stream stream;
    int calls = 0;
    Graph graph = cudag::capture(stream, [&](cudaStream_t s) {
        cudag::check(cudaLaunchHostFunc(
            s, [](void* count) { ++*static_cast<int*>(count); }, &calls));
    });
    const cudag::HostNode node = graph.nodes().at(0).as<cudag::HostNode>();
    Exec exec = graph.instantiate();
    exec.launch(stream);
    exec.launch(stream);
    CHECK_NOTHROW(stream.synchronize());
    exec.update(node, thrower("replaced in the exec"));
    exec.launch(stream);
    CHECK(thrown_by(stream) == Texts{"replaced in the exec"});
    graph.update(node, thrower("replaced in the graph"));
    Exec second = graph.instantiate();
    second.launch(stream);
    CHECK(thrown_by(stream) == Texts{"replaced in the graph"});
    CHECK(calls == 2);
}

TEST_CASE("host nodes of an adopted clone of a graph's are told", "[host]") {
    const Graph graph = throwing({"in the clone"});
    cudaGraph_t copy = nullptr;
    cudag::check(cudaGraphClone(&copy, graph.native()));
    const Graph adopted = Graph::adopt(copy);
    CHECK(adopted.node_count() == 1);
    REQUIRE(adopted.nodes().size() == 1);
    Exec exec = adopted.instantiate();
    const Stream stream;
    exec.launch(stream);
    CHECK(thrown_by(stream) == Texts{"in the clone"});
}

TEST_CASE("an update that brings a host task in place of a captured function tells what that throws",
          "[host][update]") {
    const bool is_inside = GENERATE(false, true);
    CAPTURE(is_inside);
    const Stream stream;
    const auto graph_of = [&](Graph&& graph) {
        if (!is_inside) return std::move(graph);
        GraphBuilder b;
        b.child(graph);
        return std::move(b).build();
    };
    const auto calls_nothing = [&] {
        return graph_of(cudag::capture(stream, [](cudaStream_t s) {
            cudag::check(cudaLaunchHostFunc(
                s, [](void*) {}, nullptr));
        }));
    };
    Exec exec = calls_nothing().instantiate();
    for (const char* text : {"first", "second"}) {
        REQUIRE(exec.update(graph_of(throwing({text}))).updated());
        exec.launch(stream);
        wait(stream);
        CHECK(thrown_by(exec) == Texts{text});
        REQUIRE(exec.update(calls_nothing()).updated());
        exec.launch(stream);
        wait(stream);
        CHECK(thrown_by(exec).empty());
    }
}

TEST_CASE("an exec lets go of a host task when an update brings a captured function in its place", "[host][update]") {
    const Stream stream;
    auto owner = std::make_shared<int>(1);
    const std::weak_ptr<int> watched = owner;
    const auto calls_nothing = [&] {
        return cudag::capture(stream, [](cudaStream_t s) {
            cudag::check(cudaLaunchHostFunc(
                s, [](void*) {}, nullptr));
        });
    };
    Exec exec = calls_nothing().instantiate();
    {
        GraphBuilder b;
        b.host([owner = std::exchange(owner, nullptr)] {});
        REQUIRE(exec.update(std::move(b).build()).updated());
    }
    exec.launch(stream);
    CHECK_FALSE(watched.expired());
    REQUIRE(exec.update(calls_nothing()).updated());
    exec.launch(stream);
    CHECK(released(watched, stream));
}

TEST_CASE("threads with streams and Execs of their own are told what is theirs", "[host][threads]") {
    constexpr int threads = 4;
    constexpr int rounds = 50;
    std::vector<Graph> graphs;
    std::vector<std::string> names;
    for (int i = 0; i < threads; ++i)
        names.push_back("thread " + std::to_string(i));
    for (const std::string& name : names)
        graphs.push_back(throwing({name.c_str()}));
    std::vector<int> wrong(threads);
    std::vector<std::thread> running;
    for (int i = 0; i < threads; ++i)
        running.emplace_back([&, i] {
            const auto mine = static_cast<std::size_t>(i);
            const Stream stream;
            for (int round = 0; round < rounds; ++round) {
                Exec exec = graphs[mine].instantiate();
                exec.launch(stream);
                exec.launch(stream);
                const Texts told = round % 2 == 0 ? thrown_by(stream) : (wait(stream), thrown_by(exec));
                if (told != Texts{names[mine], names[mine]}) ++wrong[mine];
            }
        });
    for (std::thread& thread : running)
        thread.join();
    CHECK(wrong == std::vector<int>(threads));
}
