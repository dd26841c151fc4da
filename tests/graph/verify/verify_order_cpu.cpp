// verify(): missing edges, on the CPU runtime, which runs unordered nodes in adversarial orders.
#include <cudag/verify.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "test.hpp"

using Catch::Matchers::ContainsSubstring;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::PinnedBuffer;
using cudag::Stream;
using cudag::Verification;
using cudag::VerifyCause;

namespace {

using Ints = std::vector<int>;

constexpr unsigned many_launches = 16;

Labels labels_of(const Verification& result) {
    Labels labels;
    for (const cudag::VerifiedDifference& difference : result.differences)
        labels.push_back(difference.label);
    return labels;
}

/// A line of host nodes, cells[i + 1] = cells[i] + 1, without the edge before node `missing`.
Graph line_without_edge(PinnedBuffer<int>& cells, std::size_t missing) {
    GraphBuilder b({.races = cudag::Races::allowed});
    std::vector<cudag::Node> last;
    const std::size_t nodes = cells.size() - 1;
    for (std::size_t i = 0; i < nodes; ++i) {
        int* const cell = cells.data() + i;
        const auto node = b.host([cell] { cell[1] = cell[0] + 1; })
                              .reads(cells.span().subspan(i, 1))
                              .writes(cells.span().subspan(i + 1, 1))
                              .label(std::to_string(i));
        if (!last.empty() && i != missing) node.after(last);
        last.assign(1, node);
    }
    return std::move(b).build();
}

} // namespace

TEST_CASE("a missing edge is found at every place of a line", "[verify]") {
    const Stream stream;
    PinnedBuffer<int> cells(7);
    for (std::size_t missing = 1; missing < cells.size() - 1; ++missing) {
        std::fill(cells.begin(), cells.end(), 0);
        const Graph graph = line_without_edge(cells, missing);
        const Verification result = cudag::verify(graph, stream, {.launches = many_launches});
        CAPTURE(missing, result.to_string());
        CHECK(result.cause == VerifyCause::order);
        CHECK(result.disturbed_by.empty());
        CHECK(labels_of(result) == Labels{std::to_string(missing)});
        REQUIRE(result.differences.size() == 1);
        CHECK(result.differences[0].expected.starts_with(std::to_string(missing + 1) + " "));
        CHECK(result.differences[0].elements == 1);
        REQUIRE(result.differences[0].inputs.size() == 2);
        CHECK(result.differences[0].inputs[0].values.starts_with(std::to_string(missing) + " "));
        CHECK(result.differences[0].inputs[1].values == "0 (0x00000000)"); // before the node
        CHECK(Ints(cells.begin(), cells.end()) == Ints{0, 1, 2, 3, 4, 5, 6});
    }
}

TEST_CASE("a complete line equals its nodes one after another", "[verify]") {
    const Stream stream;
    PinnedBuffer<int> cells(5);
    std::fill(cells.begin(), cells.end(), 0);
    const Verification result = cudag::verify(line_without_edge(cells, 0), stream);
    CHECK(result.ok());
    CHECK(result.launches == 3);
    CHECK(Ints(cells.begin(), cells.end()) == Ints{0, 1, 2, 3, 4});
}

TEST_CASE("a writer that nothing orders after a reader is named with the reader", "[verify]") {
    const Stream stream;
    PinnedBuffer<int> cells(2);
    cells[0] = 1;
    cells[1] = 0;
    GraphBuilder b({.races = cudag::Races::allowed});
    const auto first = cells.span().first(1), second = cells.span().last(1);
    b.host([&] { cells[1] = cells[0]; }).reads(first).writes(second).label("reader");
    b.host([&] { cells[0] = 5; }).writes(first).label("writer");
    const Verification result = cudag::verify(std::move(b).build(), stream, {.launches = many_launches});
    CHECK(labels_of(result) == Labels{"reader"});
    CHECK_THAT(result.disturbed_by, ContainsSubstring("\"writer\""));
    CHECK_THAT(result.to_string(), ContainsSubstring("an edge is missing") &&
                                       ContainsSubstring("the difference comes with host \"writer\""));
    CHECK(result.differences.at(0).expected.starts_with("1 "));
    CHECK(cells[1] == 1);
}

TEST_CASE("of two nodes with wrong results, the inputs of the first are shown", "[verify]") {
    const Stream stream;
    PinnedBuffer<int> cells(3);
    cells[0] = 1;
    cells[1] = cells[2] = 0;
    GraphBuilder b({.races = cudag::Races::allowed});
    const auto first = cells.span().first(1), second = cells.span().subspan(1, 1), third = cells.span().last(1);
    const auto reader = b.host([&] { cells[1] = cells[0]; }).reads(first).writes(second).label("reader");
    b.host([&] { cells[2] = cells[1]; }).reads(second).writes(third).label("second reader").after(reader);
    b.host([&] { cells[0] = 5; }).writes(first).label("writer");
    const Verification result = cudag::verify(std::move(b).build(), stream, {.launches = many_launches});
    REQUIRE(labels_of(result) == Labels{"reader", "second reader"});
    CHECK_FALSE(result.differences[0].inputs.empty());
    CHECK(result.differences[1].inputs.empty());
}

TEST_CASE("the search can be switched off", "[verify]") {
    const Stream stream;
    PinnedBuffer<int> cells(4);
    std::fill(cells.begin(), cells.end(), 0);
    const Verification result =
        cudag::verify(line_without_edge(cells, 1), stream, {.launches = many_launches, .locate = false});
    CHECK(labels_of(result) == Labels{"1", "2"});
    CHECK(result.differences.at(1).elements == 1);
    CHECK(result.differences.at(0).inputs.empty());
}
