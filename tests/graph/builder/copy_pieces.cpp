// Copies in pieces: one child node in a builder, a line of copies in a stream.
#include "native.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::Stream;

namespace {

constexpr std::size_t whole = std::size_t{16} << 20U; ///< the first size that may be slow, itself quick

std::vector<std::uint8_t> pattern(std::size_t bytes, unsigned salt = 1) {
    std::vector<std::uint8_t> values(bytes);
    for (std::size_t i = 0; i < bytes; ++i)
        values[i] = static_cast<std::uint8_t>((i * 31 + i / 251 + salt) & 0xffU);
    return values;
}

/// The bytes of each copy of a graph, in order.
std::vector<std::size_t> sizes_of(const Graph& graph) {
    std::vector<std::size_t> sizes;
    for (const cudag::Node& node : graph.nodes())
        sizes.push_back(memcpy_params(node).extent.width);
    return sizes;
}

} // namespace

TEST_CASE("a copy of a slow size in pieces is one node, with two parallel ones inside", "[builder][memcpy][child]") {
    const auto values = pattern(whole + 100);
    const auto from = device(values);
    const DeviceBuffer<std::uint8_t> to(values.size());
    GraphBuilder b;
    const auto copy = b.memcpy_in_pieces(to, from);
    CHECK(sizes_of(copy.graph()) == std::vector<std::size_t>{whole, 100});
    CHECK(copy.graph().edge_count() == 0);
    const Graph graph = std::move(b).build();
    CHECK(graph.node_count() == 1);
    Exec exec = graph.instantiate();
    run(exec, Stream());
    CHECK((read(to) == values)); // no text of all values
}

TEST_CASE("a piece of a copy may end inside an element", "[builder][memcpy][child]") {
    struct Odd {
        std::uint8_t bytes[3];
    };
    const auto values = pattern(whole + 8);
    const auto from = device(values);
    const DeviceBuffer<std::uint8_t> to(values.size());
    const auto odd = [](const DeviceBuffer<std::uint8_t>& memory) {
        return cudag::DeviceSpan<Odd>(reinterpret_cast<Odd*>(memory.data()), memory.size() / 3);
    };
    GraphBuilder b;
    const auto copy = b.memcpy_in_pieces(odd(to), odd(from));
    CHECK(sizes_of(copy.graph()) == std::vector<std::size_t>{whole, 8});
    Exec exec = std::move(b).build().instantiate();
    run(exec, Stream());
    CHECK((read(to) == values));
}

TEST_CASE("a copy of a quick size, or from the host, has one piece", "[builder][memcpy][child]") {
    const auto from = device({1, 2, 3});
    const DeviceBuffer<int> to(3);
    const cudag::PinnedBuffer<std::uint8_t> host(whole + 1);
    const DeviceBuffer<std::uint8_t> large(whole + 1);
    GraphBuilder b;
    CHECK(sizes_of(b.memcpy_in_pieces(to, from).graph()) == std::vector<std::size_t>{12});
    CHECK(sizes_of(b.memcpy_in_pieces(large, host).graph()) == std::vector<std::size_t>{whole + 1});
    Exec exec = std::move(b).build().instantiate();
    run(exec, Stream());
    CHECK(read(to) == std::vector{1, 2, 3});
}

TEST_CASE("a captured copy in pieces is a line of copies", "[capture][memcpy]") {
    const auto values = pattern(whole + 7);
    const auto from = device(values);
    const DeviceBuffer<std::uint8_t> to(values.size());
    const Stream stream;
    const Graph graph = cudag::capture(stream, [&](cudaStream_t s) { cudag::memcpy_async_in_pieces(s, to, from); });
    CHECK(sizes_of(graph) == std::vector<std::size_t>{whole, 7});
    CHECK(graph.edge_count() == 1);
    Exec exec = graph.instantiate();
    run(exec, stream);
    CHECK((read(to) == values));
    const DeviceBuffer<std::uint8_t> other(values.size());
    cudag::memcpy_async_in_pieces(stream, other, from);
    stream.synchronize();
    CHECK((read(other) == values));
}

TEST_CASE("a copy in pieces keeps the owners of its memory", "[builder][memcpy][owners]") {
    const auto values = pattern(whole + 1);
    const DeviceBuffer<std::uint8_t> to(values.size());
    std::optional<Exec> exec;
    {
        GraphBuilder b;
        b.memcpy_in_pieces(to, device(values));
        exec = std::move(b).build().instantiate();
    }
    const DeviceBuffer<std::uint8_t> other(values.size()); // would get the memory of the source
    write(other.span(), pattern(values.size(), 7));
    run(*exec, Stream());
    CHECK((read(to) == values));
}

TEST_CASE("the pieces of a copy are ordered and checked as one node", "[builder][races][child]") {
    const DeviceBuffer<std::uint8_t> from(whole + 1), to(whole + 1);
    const auto add = [&](bool is_ordered) {
        GraphBuilder b;
        const auto fill = b.memset(from, std::uint8_t{7});
        const auto copy = b.memcpy_in_pieces(to, from);
        if (is_ordered) copy.after(fill);
        return std::move(b).build();
    };
    CHECK_THROWS_AS(add(false), cudag::RaceError);
    Exec exec = add(true).instantiate();
    run(exec, Stream());
    CHECK((read(to) == std::vector<std::uint8_t>(whole + 1, 7)));
}

TEST_CASE("inferred edges lead to and from a copy in pieces", "[builder][inferred][child]") {
    const DeviceBuffer<std::uint8_t> from(whole + 1), to(whole + 1);
    GraphBuilder b({.dependencies = cudag::Dependencies::inferred});
    b.memset(from, std::uint8_t{7});
    b.memcpy_in_pieces(to, from);
    b.memset(from.span().subspan(whole, 1), std::uint8_t{8});
    const Graph graph = std::move(b).build();
    CHECK(graph.edge_count() == 2);
    Exec exec = graph.instantiate();
    run(exec, Stream());
    CHECK((read(to) == std::vector<std::uint8_t>(whole + 1, 7)));
}

TEST_CASE("a copy in pieces onto its own source is refused as a race", "[builder][races][memcpy]") {
    const DeviceBuffer<std::uint8_t> memory(whole + 4096);
    const auto all = memory.span();
    GraphBuilder b;
    CHECK_THROWS_AS(b.memcpy_in_pieces(all.subspan(1000, whole + 100), all.subspan(0, whole + 100)), cudag::RaceError);
    CHECK(std::move(b).build().node_count() == 0);
}

TEST_CASE("a copy in pieces is updated by a graph with as many pieces", "[exec][child][memcpy]") {
    const auto others = pattern(whole + 4096, 5);
    const auto first = device(pattern(whole + 1)), second = device(others);
    const DeviceBuffer<std::uint8_t> to(whole + 4096);
    const auto copy_of = [&](std::size_t bytes) {
        GraphBuilder b;
        const auto& source = bytes == whole + 1 ? first : second;
        b.memcpy_in_pieces(to.span().subspan(0, bytes), source.span().subspan(0, bytes));
        return std::move(b).build();
    };
    Exec exec = copy_of(whole + 1).instantiate();
    CHECK(exec.update(copy_of(whole + 4095)).updated()); // two pieces, too
    run(exec, Stream());
    auto expected = others;
    expected.pop_back();
    auto copied = read(to);
    copied.pop_back();
    CHECK((copied == expected));
    CHECK_FALSE(exec.update(copy_of(whole + 4096)).updated()); // one
}

TEST_CASE("a bind moves every piece of a copy", "[exec][bind][memcpy]") {
    const auto values = pattern(whole + 1, 3);
    const auto from = device(pattern(whole + 1)), other = device(values);
    const DeviceBuffer<std::uint8_t> to(whole + 1);
    GraphBuilder b;
    b.memcpy_in_pieces(to, from);
    const Graph graph = std::move(b).build();
    const auto source = graph.parameter(from);
    Exec exec = graph.instantiate();
    exec.bind(source, other);
    run(exec, Stream());
    CHECK((read(to) == values));
}

TEST_CASE("copies in pieces of wrong sizes are refused, and nothing is added", "[builder][memcpy]") {
    const DeviceBuffer<int> three(3), four(4);
    GraphBuilder b;
    const auto text = [&](const auto& to, const auto& from) -> std::string {
        return refused<GraphError>([&] { b.memcpy_in_pieces(to, from); }).what();
    };
    CHECK_THAT(text(three, four), ContainsSubstring("the destination has 3 elements, the source 4"));
    CHECK_THAT(text(three.span().subspan(0, 0), four.span().subspan(0, 0)), ContainsSubstring("a copy of 0 elements"));
    const Stream stream;
    const auto error = refused<GraphError>([&] { cudag::memcpy_async_in_pieces(stream, three, four); });
    CHECK_THAT(error.what(), ContainsSubstring("memcpy_async_in_pieces") && ContainsSubstring("3 elements"));
    CHECK(std::move(b).build().node_count() == 0);
}

TEST_CASE("a body takes a copy in pieces", "[conditional][memcpy]") {
    const auto values = pattern(whole + 1);
    const auto from = device(values);
    const DeviceBuffer<std::uint8_t> to(values.size());
    GraphBuilder b;
    b.if_(b.condition(1), [&](GraphBuilder& body) { body.memcpy_in_pieces(to, from); });
    Exec exec = std::move(b).build().instantiate();
    run(exec, Stream());
    CHECK((read(to) == values));
}
