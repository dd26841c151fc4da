// The way of programs that capture from several threads: the same work comes in another order each time.
#include <algorithm>
#include <array>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "test.hpp"

using cudag::arg;
using cudag::CaptureMode;
using cudag::DeviceBuffer;
using cudag::DeviceSpan;
using cudag::DifferenceKind;
using cudag::Exec;
using cudag::Graph;
using cudag::Match;
using cudag::PinnedBuffer;
using cudag::Stream;
using cudag::StreamCapture;
using cudag::UpdateCounts;
using cudag::UpdateReport;

namespace {

constexpr cudag::UpdateOptions by_structure{.match = Match::structure};

/// As many ranks as threads, each with a stream of its own: it copies a number in, adds to it, and then all of them are
/// added up and copied out.
class Ranks {
  public:
    static constexpr std::size_t count = 4;
    using Order = std::array<std::size_t, count>;

    /// `step` is added by each rank, once more for each rank before it.
    [[nodiscard]] Graph capture(const Order& order, int step, bool marks = false, bool one_more = false) const {
        StreamCapture capture(stream_, {.mode = CaptureMode::relaxed});
        for (const std::size_t rank : order)
            capture.fork(streams_.at(rank));
        for (const std::size_t rank : order)
            std::thread([&] { enqueue(rank, step); }).join();
        for (const std::size_t rank : order)
            capture.join(streams_.at(rank));
        if (marks) capture.mark("ranks");
        cudag::launch(capture.stream(), {}, sum, cells_.data() + count, DeviceSpan<const int>(cells_.data(), count));
        if (marks) capture.mark("sum");
        cudag::memcpy_async(capture.stream(), out_.span(), cells_.span());
        if (one_more) {
            cudag::launch(capture.stream(), {}, nothing);
            capture.mark("more");
        }
        return std::move(capture).finish();
    }
    [[nodiscard]] static std::vector<int> expected(int step) {
        std::vector<int> cells(count + 1);
        for (std::size_t rank = 0; rank < count; ++rank)
            cells[count] += cells[rank] = 100 * static_cast<int>(rank) + step * static_cast<int>(rank + 1);
        return cells;
    }
    [[nodiscard]] std::vector<int> result(Exec& exec) const {
        for (std::size_t rank = 0; rank < count; ++rank)
            in_.begin()[rank] = 100 * static_cast<int>(rank);
        std::fill(out_.begin(), out_.end(), -1);
        run(exec, stream_);
        return {out_.begin(), out_.end()};
    }

  private:
    void enqueue(std::size_t rank, int step) const {
        const Stream& stream = streams_[rank];
        int* const cell = cells_.data() + rank;
        cudag::memcpy_async(stream, DeviceSpan<int>(cell, 1), std::span<const int>(in_.data() + rank, 1));
        for (std::size_t i = 0; i <= rank; ++i)
            cudag::launch(stream, {}, add, cell, cell, step);
    }

    PinnedBuffer<int> in_{count};
    PinnedBuffer<int> out_{count + 1};
    DeviceBuffer<int> cells_{count + 1};
    std::array<Stream, count> streams_;
    Stream stream_;
};

/// Whether nodes differ in more than parameters where they are paired in order.
bool has_other_order(const Graph& a, const Graph& b) {
    const std::vector<cudag::Difference> differences = cudag::diff(a, b);
    return std::any_of(differences.begin(), differences.end(), [](const cudag::Difference& difference) {
        return difference.kind == DifferenceKind::node_kind || difference.kind == DifferenceKind::edge;
    });
}

} // namespace

TEST_CASE("an exec follows captures of several threads, in whichever order they come", "[capture][update][structure]") {
    const Ranks ranks;
    Ranks::Order order{0, 1, 2, 3};
    Exec exec = ranks.capture(order, 1).instantiate();
    cudaGraphExec_t native = exec.native();
    const Graph first = ranks.capture(order, 1);
    for (int step = 2; std::next_permutation(order.begin(), order.end()); ++step) {
        const Graph graph = ranks.capture(order, step);
        CHECK(has_other_order(first, graph));
        const UpdateReport report = exec.update_or_instantiate(graph, by_structure);
        INFO(report.to_string());
        REQUIRE(report.updated());
        CHECK(ranks.result(exec) == Ranks::expected(step));
    }
    CHECK(exec.update_counts() == UpdateCounts{23, 0});
    CHECK(exec.native() == native);
}

TEST_CASE("handles of the first capture go on after captures in another order", "[capture][update][structure]") {
    const Ranks ranks;
    const Graph graph = ranks.capture({0, 1, 2, 3}, 1, true);
    Exec exec = graph.instantiate();
    REQUIRE(exec.update(ranks.capture({3, 1, 0, 2}, 5, true), by_structure).updated());
    exec.disable(graph.find_one("sum"));
    std::vector<int> expected = Ranks::expected(5);
    CHECK(ranks.result(exec).front() == expected.front());
    exec.enable(graph.find_one("sum"));
    exec.update(graph.find(add).front(), arg<2>(7)); // of rank 0
    expected[0] = 7;
    expected[4] += 7 - 5;
    CHECK(ranks.result(exec) == expected);
}

TEST_CASE("what a capture in another order has more is named by its mark", "[capture][update][structure]") {
    const Ranks ranks;
    Exec exec = ranks.capture({0, 1, 2, 3}, 1).instantiate();
    const UpdateReport report = exec.update(ranks.capture({2, 1, 0, 3}, 2, false, true), by_structure);
    CHECK(report.needs_instantiate());
    CHECK_THAT(report.to_string(), ContainsSubstring("kernel \"more\"") && ContainsSubstring("nodes like it: 0 -> 1"));
    CHECK(ranks.result(exec) == Ranks::expected(1));
}

TEST_CASE("captures in the same order keep their labels and handles by structure", "[capture][update][structure]") {
    const Ranks ranks;
    const Ranks::Order order{0, 1, 2, 3}, other{2, 0, 3, 1};
    const Graph graph = ranks.capture(order, 1, true);
    Exec exec = graph.instantiate();
    for (int step = 2; step < 8; ++step) {
        const bool is_same = step % 3 != 0; // two in the same order, one in another
        REQUIRE(exec.update(ranks.capture(is_same ? order : other, step, true), by_structure).updated());
        CHECK(ranks.result(exec) == Ranks::expected(step));
        exec.update(graph.find(add).front(), arg<2>(7)); // of rank 0
        std::vector<int> expected = Ranks::expected(step);
        expected[0] += 7 - step;
        expected[4] += 7 - step;
        CHECK(ranks.result(exec) == expected);
    }
    REQUIRE(exec.update(ranks.capture(order, 9, true), by_structure).updated()); // brings back what was updated
    CHECK(ranks.result(exec) == Ranks::expected(9));
}

TEST_CASE("marks at other nodes are no capture in the same order", "[capture][update][structure]") {
    const DeviceBuffer<int> cells(2);
    const Stream stream;
    const Stream side;
    const auto captured = [&](bool is_swapped, int first, int second) {
        return cudag::capture(stream, [&](StreamCapture& c) {
            c.fork(side);
            const auto enqueue = [&](bool is_first) {
                const auto& into = is_first ? stream : side;
                cudag::launch(into, {}, store, cells.data() + (is_first ? 0 : 1), is_first ? first : second);
                c.mark(is_first ? "first" : "second");
            };
            enqueue(!is_swapped);
            enqueue(is_swapped);
            c.join(side);
        });
    };
    const Graph graph = captured(false, 1, 2);
    Exec exec = graph.instantiate();
    for (const bool is_swapped : {false, true, false}) {
        REQUIRE(exec.update(captured(is_swapped, 3, 4), by_structure).updated());
        exec.update(graph.find(store).front(), arg<1>(5)); // "first"
        run(exec, stream);
        CHECK(read(cells) == std::vector<int>{5, 4});
    }
}
