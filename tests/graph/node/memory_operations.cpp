// Nodes that wait for values in memory, and write values: for the host, for other streams, and for each other.
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <cudag/graph_text.hpp>

#include "memory_nodes.hpp"
#include "native.hpp"

using cudag::Compare;
using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::MemoryOperation;
using cudag::MemoryOperationNode;
using cudag::NodeKind;
using cudag::PinnedBuffer;
using cudag::RaceError;
using cudag::Stream;
using cudag::UpdateError;

namespace {

/// Pinned numbers, zeros at first.
template <class Number = unsigned>
PinnedBuffer<Number> zeros(std::size_t count) {
    PinnedBuffer<Number> numbers(count);
    for (std::size_t i = 0; i < count; ++i)
        numbers.data()[i] = 0;
    return numbers;
}
template <class Number>
Number now(const PinnedBuffer<Number>& numbers, std::size_t i = 0) {
    return std::atomic_ref(numbers.data()[i]).load();
}
template <class Number>
void put(const PinnedBuffer<Number>& numbers, std::size_t i, Number value) {
    std::atomic_ref(numbers.data()[i]).store(value);
}

void run_once(Exec& exec) {
    const Stream stream;
    exec.launch(stream);
    stream.synchronize();
}

} // namespace

TEST_CASE("a graph waits for a value that the host writes, and writes one for it", "[memory]") {
    const auto flags = zeros(2);
    const auto cells = device({0});
    GraphBuilder b;
    const MemoryOperationNode ready = b.wait_value(flags.data(), 5U, Compare::equal);
    const auto work = b.kernel({}, store, cells.data(), 7).after(ready);
    b.write_value(flags.data() + 1, 1U).after(work);
    Exec exec = std::move(b).build().instantiate();
    const Stream stream;
    exec.launch(stream);
    CHECK(now(flags, 1) == 0);
    put(flags, 0, 4U);
    CHECK(now(flags, 1) == 0);
    put(flags, 0, 5U);
    stream.synchronize();
    CHECK(now(flags, 1) == 1);
    CHECK(read(cells) == std::vector{7});
}

TEST_CASE("a wait compares in one of four ways, 4 or 8 bytes", "[memory]") {
    const auto narrow = zeros<std::uint32_t>(1);
    const auto wide = zeros<std::uint64_t>(2);
    const auto signed_one = zeros<std::int32_t>(1);
    put(narrow, 0, std::uint32_t{6});
    put(wide, 0, std::uint64_t{1} << 40);
    put(signed_one, 0, -3);
    GraphBuilder b;
    b.wait_value(narrow, 5); // at least
    b.wait_value(narrow, 6, Compare::equal);
    b.wait_value(narrow, 2, Compare::any_bit_set);
    b.wait_value(narrow, 1, Compare::any_bit_clear);
    b.wait_value(wide.data(), (std::uint64_t{1} << 40) - 1);
    b.wait_value(signed_one, -3, Compare::equal);
    b.wait_value(signed_one, -4);
    b.write_value(wide.data() + 1, std::uint64_t{7} << 33);
    Exec exec = std::move(b).build().instantiate();
    run_once(exec);
    CHECK(now(wide, 1) == std::uint64_t{7} << 33);
}

TEST_CASE("a node of several memory operations runs them in order", "[memory]") {
    const auto flags = zeros(3);
    GraphBuilder b;
    const std::vector<MemoryOperation> operations{MemoryOperation::write(flags.data(), 2),
                                                  MemoryOperation::wait(flags.data(), 2, Compare::equal),
                                                  MemoryOperation::write(flags.data() + 1, 3)};
    const MemoryOperationNode node = b.memory_operations(operations);
    CHECK(node.operations() == operations);
    Exec exec = std::move(b).build().instantiate();
    run_once(exec);
    CHECK(now(flags, 0) == 2);
    CHECK(now(flags, 1) == 3);
}

TEST_CASE("memory operations keep buffers, and borrow the rest", "[memory][owners]") {
    auto shared = std::make_shared<DeviceBuffer<unsigned>>(1);
    const std::weak_ptr<DeviceBuffer<unsigned>> watched = shared;
    DeviceBuffer<unsigned> temporary(1);
    GraphBuilder b;
    const auto write = b.write_value(shared, 7U);
    b.memcpy(temporary, *shared).after(write);
    shared.reset();
    Exec exec = std::move(b).build().instantiate();
    run_once(exec);
    unsigned found = 0;
    cudag::check(cudaMemcpy(&found, temporary.data(), sizeof found, cudaMemcpyDeviceToHost));
    CHECK(found == 7);
    static_cast<void>(watched);
}

TEST_CASE("memory operations take new values and addresses in an Exec, and in a graph", "[memory][update]") {
    const auto flags = zeros(4);
    GraphBuilder b;
    const auto write = b.write_value(flags.data(), 1U).label("done");
    const auto both = b.memory_operations(
        {MemoryOperation::write(flags.data() + 2, 5), MemoryOperation::wait(flags.data() + 2, 5, Compare::equal)});
    const auto wait = b.wait_value(flags.data(), 1U, Compare::equal).after(write);
    Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    exec.update(write, flags.data() + 1, 8);
    exec.update(wait, flags.data() + 1, 12U, Compare::any_bit_set);
    exec.update(both, {MemoryOperation::write(flags.data() + 3, 6), MemoryOperation::wait(flags.data() + 3, 5)});
    run_once(exec);
    CHECK(std::vector(flags.data(), flags.data() + 4) == std::vector{0U, 8U, 0U, 6U});
    CHECK(write.operations() == std::vector{MemoryOperation::write(flags.data(), 1)}); // the graph's are as before
    graph.update(write, flags.data(), 1U);
    graph.update(write, flags.data(), 3U);
    graph.update(wait, flags.data(), 3U);
    CHECK(write.operations() == std::vector{MemoryOperation::write(flags.data(), 3)});
    CHECK(exec.apply(graph) != 0);
    run_once(exec);
    CHECK(now(flags, 0) == 3);
}

TEST_CASE("graphs of memory operations share an exec of a cache if addresses and values alone differ",
          "[memory][cache]") {
    const auto flags = zeros(4);
    const auto graph = [&](unsigned* flag, unsigned value, Compare compare, unsigned bytes) {
        GraphBuilder b;
        const auto write =
            bytes == 4 ? b.write_value(flag, value) : b.write_value(reinterpret_cast<std::uint64_t*>(flag), value);
        b.wait_value(flag, value, compare).after(write);
        return std::move(b).build();
    };
    cudag::ExecCache cache;
    const cudag::Stream stream;
    const auto instantiated = [&](const Graph& each) {
        cache.launch(each, stream);
        stream.synchronize();
        return cache.stats().instantiations;
    };
    const Graph first = graph(flags.data(), 1, Compare::equal, 4);
    const Graph second = graph(flags.data() + 2, 2, Compare::at_least, 4);
    const Graph other = graph(flags.data(), 3, Compare::equal, 8);
    CHECK(instantiated(first) == 1);
    CHECK(instantiated(second) == 1);
    CHECK(now(flags, 2) == 2);
    CHECK(instantiated(other) == 2);
}

TEST_CASE("updates that memory operations cannot take are refused by name", "[memory][update]") {
    const auto flags = zeros(4);
    const auto wide = zeros<std::uint64_t>(1);
    GraphBuilder b;
    const auto one = b.write_value(flags.data(), 1U).label("done");
    const auto two =
        b.memory_operations({MemoryOperation::write(flags.data() + 1, 1), MemoryOperation::write(flags.data() + 2, 2)});
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    const auto text = [&](auto&&... arguments) {
        return std::string(refused<UpdateError>([&] { exec.update(arguments...); }).what());
    };
    const std::vector<MemoryOperation> pair(2, MemoryOperation::write(flags.data(), 1));
    CHECK_THAT(text(one, pair),
               ContainsSubstring("\"done\"") && ContainsSubstring("the node has 1 memory operations, the update 2"));
    const std::vector<MemoryOperation> waits{MemoryOperation::wait(flags.data(), 1)};
    CHECK_THAT(text(one, waits), ContainsSubstring("the operation is a write_value, the update's a wait_value"));
    CHECK_THAT(text(one, wide, 1U), ContainsSubstring("the value has 4 bytes, the update's 8"));
    CHECK_THAT(text(two, flags.data(), 1U), ContainsSubstring("2 memory operations; give all of them"));
    CHECK_THAT(text(one, static_cast<unsigned*>(nullptr), 1U), ContainsSubstring("the address is null"));
    run_once(exec);
    CHECK(std::vector(flags.data(), flags.data() + 4) == std::vector{1U, 1U, 2U, 0U});
}

TEST_CASE("wrong memory operations are refused before CUDA sees them", "[memory]") {
    const auto flags = zeros(2);
    GraphBuilder b;
    const auto text = [&](const auto& call) { return std::string(refused<GraphError>([&] { call(); }).what()); };
    CHECK_THAT(text([&] { b.write_value(flags, 1U); }),
               ContainsSubstring("takes memory of one number, not of 2; pass a pointer"));
    CHECK_THAT(text([&] { b.write_value(static_cast<unsigned*>(nullptr), 1U); }),
               ContainsSubstring("the address is null"));
    auto* odd = reinterpret_cast<unsigned*>(reinterpret_cast<char*>(flags.data()) + 2);
    CHECK_THAT(text([&] { b.wait_value(odd, 1U); }), ContainsSubstring("no multiple of the value's 4 bytes"));
    CHECK_THAT(text([&] { b.memory_operations({}); }), ContainsSubstring("a list of 0 memory operations"));
    const std::vector many(256, MemoryOperation::write(flags.data(), 1));
    CHECK_THAT(text([&] { b.memory_operations(many); }), ContainsSubstring("256 memory operations; a node takes 255"));
    CHECK_THAT(text([&] {
                   b.memory_operations({MemoryOperation::write(flags.data(), 1), MemoryOperation{.address = nullptr}});
               }),
               ContainsSubstring("memory operation 1 of 2: the address is null"));
    const MemoryOperation too_large{.address = flags.data(), .value = std::uint64_t{1} << 32};
    CHECK_THAT(text([&] { b.memory_operations({too_large}); }), ContainsSubstring("does not fit in 4 bytes"));
    const MemoryOperation three{.bytes = 3, .address = flags.data()};
    CHECK_THAT(text([&] { b.memory_operations({three}); }), ContainsSubstring("has 3 bytes; it has 4 or 8"));
    CHECK_THAT(text([&] {
                   const auto condition = b.condition(1);
                   b.if_(condition, [&](GraphBuilder& body) { body.write_value(flags.data(), 1U); });
               }),
               ContainsSubstring("batch_mem_op"));
    CHECK(b.node_count() == 0);
}

TEST_CASE("memory operations in graph memory are refused with the name of its node", "[memory]") {
    GraphBuilder b;
    const auto flags = zeros(1);
    const auto memory = b.alloc<int>(2).label("scratch");
    const cudag::DeviceSpan<int> cells = memory.span();
    const auto refusal = [](const auto& call) { return std::string(refused<GraphError>([&] { call(); }).what()); };
    CHECK_THAT(refusal([&] { b.write_value(cells.data() + 1, 1); }),
               ContainsSubstring("is graph memory, of") && ContainsSubstring("\"scratch\"") &&
                   ContainsSubstring("use a DeviceBuffer or a PinnedBuffer"));
    CHECK_THAT(
        refusal([&] {
            b.memory_operations({MemoryOperation::write(flags.data(), 1U), MemoryOperation::wait(cells.data(), 1)});
        }),
        ContainsSubstring("\"scratch\""));
    CHECK(b.node_count() == 1);
}

TEST_CASE("memory operations in managed memory, and in memory of a pool, are refused", "[memory]") {
    int* managed = nullptr;
    cudag::check(cudaMallocManaged(&managed, sizeof(int)));
    GraphBuilder b;
    CHECK_THAT(refused<GraphError>([&] { b.write_value(managed, 1); }).what(), ContainsSubstring("is managed memory"));
    cudag::check(cudaFree(managed));
    const Stream stream;
    int* pooled = nullptr;
    cudag::check(cudaMallocAsync(&pooled, sizeof(int), stream.get()));
    CHECK_THAT(refused<GraphError>([&] { b.memory_operations({MemoryOperation::write(pooled, 1)}); }).what(),
               ContainsSubstring("is memory of a pool"));
    cudag::check(cudaFreeAsync(pooled, stream.get()));
    CHECK(b.node_count() == 0);
}

TEST_CASE("memory operations race with plain accesses, and not with each other", "[memory][races]") {
    const auto cells = device({0, 0});
    int* const flag = cells.data();
    {
        GraphBuilder b;
        b.write_value(flag, 1);
        b.wait_value(flag, 1);
        b.kernel({}, store, cells.data(), 1).writes(cells.span().subspan(1, 1));
        CHECK_NOTHROW(b.check());
    }
    GraphBuilder b;
    b.write_value(flag, 1).label("flag");
    b.memset(cells, 0).label("clear");
    const auto error = refused<RaceError>([&] { static_cast<void>(std::move(b).build()); });
    CHECK_THAT(error.what(), ContainsSubstring("\"flag\"") && ContainsSubstring("\"clear\""));
}

TEST_CASE("inferred dependencies leave memory operations in their place", "[memory][builder]") {
    const auto cells = device({0, 0});
    const auto flags = zeros(1);
    GraphBuilder b({.dependencies = cudag::Dependencies::inferred});
    b.memset(cells, 1).label("first");
    b.write_value(flags, 1U).label("flag");
    b.wait_value(flags, 1U).label("wait");
    b.memset(cells.span().subspan(0, 1), 2).label("last");
    const Graph graph = std::move(b).build();
    CHECK(graph.edge_count() == 3);
    Exec exec = graph.instantiate();
    run_once(exec);
    CHECK(now(flags) == 1);
}

TEST_CASE("memory operations are compared, cloned, written again, and loaded from a text", "[memory][text]") {
    const auto flags = zeros(2);
    const auto build = [&](unsigned value, Compare compare) {
        GraphBuilder b;
        const auto write = b.write_value(flags.data(), value).label("write");
        b.wait_value(flags.data(), value, compare).after(write).label("wait");
        return std::move(b).build();
    };
    const Graph graph = build(5, Compare::equal);
    CHECK(diff(graph, build(5, Compare::equal)).empty());
    const Graph other = build(6, Compare::at_least);
    const auto changes = diff(graph, other);
    REQUIRE(changes.size() == 3);
    CHECK_THAT(to_string(changes[0]), ContainsSubstring("value: 5 -> 6"));
    CHECK_THAT(to_string(changes[2]), ContainsSubstring("compare: equal -> at_least"));
    CHECK_THAT(graph.dot(), ContainsSubstring("write_value 5") && ContainsSubstring("wait_value equal 5"));
    CHECK(diff(graph.clone(), graph).empty());
    cudag::GraphNames names;
    names.memory("flags", flags);
    const std::string text = to_text(graph, names);
    CHECK_THAT(text, ContainsSubstring("operation 0: write_value") && ContainsSubstring("address 0: flags") &&
                         ContainsSubstring("compare 0: equal"));
    const Graph loaded = cudag::load(text, names).graph;
    CHECK(diff(loaded, graph).empty());
    GraphBuilder b;
    static_cast<void>(b.inline_graph(graph));
    CHECK(diff(std::move(b).build(), graph).empty());
    Exec exec = loaded.instantiate();
    CHECK(exec.update(other).updated());
    run_once(exec);
    CHECK(now(flags) == 6);
}

TEST_CASE("bind gives memory operations other memory", "[memory][bind]") {
    const auto first = device({0});
    const auto second = device({0});
    GraphBuilder b;
    const auto write = b.write_value(first, 5);
    b.wait_value(first, 5).after(write);
    const Graph graph = std::move(b).build();
    const auto param = graph.parameter(first);
    CHECK(graph.uses(param).size() == 2);
    Exec exec = graph.instantiate();
    CHECK(exec.bind(param, second) == 2);
    run_once(exec);
    CHECK(read(first) == std::vector{0});
    CHECK(read(second) == std::vector{5});
}

TEST_CASE("a handle has a memory operation's type, and no other", "[memory]") {
    const auto flags = zeros(1);
    GraphBuilder b;
    b.write_value(flags, 9U).label("done");
    const Graph graph = std::move(b).build();
    CHECK(graph.find_one("done").as<MemoryOperationNode>().operations().at(0).value == 9);
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(graph.find_one("done").as<cudag::MemsetNode>()); }).what(),
               ContainsSubstring("batch_mem_op"));
}
