// The way of programs that capture every turn anew: an Exec is updated to a new capture of nearly the same work.
#include <algorithm>

#include "watched.hpp"

using cudag::arg;
using cudag::capture;
using cudag::DeviceBuffer;
using cudag::DeviceSpan;
using cudag::DifferenceKind;
using cudag::Exec;
using cudag::Graph;
using cudag::PinnedBuffer;
using cudag::Stream;
using cudag::StreamCapture;
using cudag::UpdateCounts;
using cudag::UpdateReport;
using cudag::UpdateVerdict;

namespace {

/// What one turn does that may differ from turn to turn.
struct Turn {
    int weight = 0;
    std::size_t cell = 0;      ///< the one that gets the sum
    std::size_t count = 1;     ///< of the values that are copied out, from the first cell on
    bool subtracts = false;    ///< instead of adding
    unsigned blocks = 1;       ///< of the kernel, which does the same in each
    bool another_node = false; ///< at the end
    bool fills = false;        ///< the last cell, instead of storing in it
};

/// Copies a number in, adds a weight to it, and copies cells out: each step with its label.
class Decoder {
  public:
    Graph capture(const Turn& turn) const {
        return cudag::capture(stream_, [&](StreamCapture& c) {
            cudaStream_t s = c.stream();
            cudag::memcpy_async(s, input_.span(), in_);
            c.mark("in");
            const cudag::LaunchConfig config{.grid = turn.blocks};
            if (turn.subtracts)
                cudag::launch(s, config, subtract, cells_.data() + turn.cell, input_.data(), turn.weight);
            else
                cudag::launch(s, config, add, cells_.data() + turn.cell, input_.data(), turn.weight);
            c.mark("sum");
            if (turn.fills)
                cudag::memset_async(s, DeviceSpan<int>(cells_.data() + 3, 1), 4);
            else
                cudag::launch(s, {}, store, cells_.data() + 3, 4);
            c.mark("last");
            cudag::memcpy_async(s, DeviceSpan<int>(out_.data(), turn.count),
                                DeviceSpan<int>(cells_.data(), turn.count));
            c.mark("out");
            if (turn.another_node) {
                cudag::launch(s, {}, nothing);
                c.mark("another");
            }
        });
    }
    /// What comes out for an input of 100; -1 where nothing does.
    std::vector<int> result(Exec& exec) const {
        *in_.begin() = 100;
        std::fill(out_.begin(), out_.end(), -1);
        write(cells_.span(), {0, 0, 0, 0});
        run(exec, stream_);
        return {out_.begin(), out_.end()};
    }
    const Stream& stream() const { return stream_; }
    int* cell(std::size_t i) const { return cells_.data() + i; }

  private:
    PinnedBuffer<int> in_{1};
    PinnedBuffer<int> out_{4};
    DeviceBuffer<int> input_{1};
    DeviceBuffer<int> cells_{4};
    Stream stream_;
};

/// Checks that the update of an Exec of `first` to `next` is refused and leaves the Exec as it was, in its results, for
/// updates of nodes and for updates of the whole. Returns the report.
UpdateReport refused_update(const Turn& next, const Turn& first = {.weight = 5, .count = 4}) {
    const Decoder decoder;
    const Graph graph = decoder.capture(first);
    Exec exec = graph.instantiate();
    cudaGraphExec_t native = exec.native();
    const std::vector<int> before = decoder.result(exec);
    UpdateReport report = exec.update(decoder.capture(next));
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    CHECK_FALSE(report.updated());
    CHECK(report.needs_instantiate());
    CHECK_FALSE(report.reason().empty());
    CHECK(exec.native() == native);
    CHECK(decoder.result(exec) == before);

    exec.update(graph.find(add).at(0), arg<2>(50));
    CHECK(decoder.result(exec).front() == 150);
    CHECK(exec.update(decoder.capture(first)).updated());
    CHECK(decoder.result(exec) == before);
    return report;
}

} // namespace

TEST_CASE("an exec follows its captures, turn by turn", "[capture][update]") {
    const Decoder decoder;
    Exec exec = decoder.capture({.count = 4}).instantiate();
    cudaGraphExec_t native = exec.native();
    for (int turn = 1; turn <= 10; ++turn) {
        const std::size_t cell = static_cast<std::size_t>(turn) % 3;
        const UpdateReport report = exec.update(decoder.capture({.weight = turn, .cell = cell, .count = 4}));
        INFO(report.to_string());
        REQUIRE(report.updated());
        CHECK_FALSE(report.needs_instantiate());
        CHECK(report.differences().empty());
        std::vector<int> expected{0, 0, 0, 4};
        expected[cell] = 100 + turn;
        CHECK(decoder.result(exec) == expected);
    }
    CHECK(exec.native() == native);
    CHECK(exec.replays() == 10);
}

TEST_CASE("a new capture may copy more or less", "[capture][update]") {
    const Decoder decoder;
    Exec exec = decoder.capture({.weight = 1, .count = 4}).instantiate();
    REQUIRE(exec.update(decoder.capture({.weight = 1, .count = 2})).updated());
    CHECK(decoder.result(exec) == std::vector{101, 0, -1, -1});
    REQUIRE(exec.update(decoder.capture({.weight = 1, .count = 3})).updated());
    CHECK(decoder.result(exec) == std::vector{101, 0, 0, -1});
}

TEST_CASE("a new capture may launch another kernel with the same parameters, and another grid", "[capture][update]") {
    const Decoder decoder;
    const Graph graph = decoder.capture({.weight = 1, .count = 1});
    Exec exec = graph.instantiate();
    REQUIRE(exec.update(decoder.capture({.weight = 1, .count = 1, .subtracts = true, .blocks = 2})).updated());
    CHECK(decoder.result(exec).front() == 99);
    exec.update(graph.find(add).at(0), arg<2>(7)); // the kernel stays what it is
    CHECK(decoder.result(exec).front() == 93);
}

TEST_CASE("handles of the first capture update nodes between captures", "[capture][update]") {
    const Decoder decoder;
    const Graph graph = decoder.capture({.weight = 1, .count = 4});
    const auto sum = graph.find(add).at(0);
    Exec exec = graph.instantiate();
    for (int turn = 0; turn < 3; ++turn) {
        REQUIRE(exec.update(decoder.capture({.weight = turn, .cell = 1, .count = 4})).updated());
        exec.update(sum, arg<2>(40 + turn)); // the cell is still that of the last capture
        CHECK(decoder.result(exec) == std::vector{0, 140 + turn, 0, 4});
        exec.update(sum, decoder.cell(2), decoder.cell(3), 1);
        CHECK(decoder.result(exec) == std::vector{0, 0, 1, 4});
    }
}

TEST_CASE("a node that a new capture lacks is named by its mark", "[capture][update]") {
    const UpdateReport report =
        refused_update({.weight = 6, .count = 4}, {.weight = 5, .count = 4, .another_node = true});
    CHECK(report.verdict() == UpdateVerdict::topology_changed);
    REQUIRE_FALSE(report.differences().empty());
    CHECK(report.differences().front().kind == DifferenceKind::node);
    CHECK_THAT(report.to_string(),
               ContainsSubstring("kernel \"another\"") && ContainsSubstring("node: there -> missing"));
}

TEST_CASE("a node that a new capture adds is named by its mark", "[capture][update]") {
    const UpdateReport report = refused_update({.weight = 6, .count = 4, .another_node = true});
    CHECK(report.verdict() == UpdateVerdict::topology_changed);
    CHECK_THAT(report.to_string(), ContainsSubstring("kernel \"another\"") &&
                                       ContainsSubstring("node: missing -> there") &&
                                       ContainsSubstring("instantiate it"));
}

TEST_CASE("a node of another kind in a new capture is named by its mark", "[capture][update]") {
    const UpdateReport report = refused_update({.weight = 6, .count = 4, .fills = true});
    CHECK(report.verdict() == UpdateVerdict::node_kind_changed);
    CHECK_THAT(report.to_string(), ContainsSubstring("kernel \"last\"") && ContainsSubstring("kind: kernel -> memset"));
}

TEST_CASE("another order of the same work in a new capture is told edge by edge", "[capture][update]") {
    const DeviceBuffer<int> cells(3);
    const Stream stream;
    const Stream side;
    const auto work = [&](bool forks) {
        return capture(stream, [&](StreamCapture& c) {
            const cudaStream_t where = forks ? side.get() : c.stream();
            c.step("a", [&](cudaStream_t s) { cudag::launch(s, {}, store, cells.data(), 1); });
            if (forks) c.fork(side);
            c.step("b", [&] { cudag::launch(where, {}, store, cells.data() + 1, 2); });
            c.step("c", [&](cudaStream_t s) { cudag::launch(s, {}, store, cells.data() + 2, 3); });
            if (forks) c.join(side);
        });
    };
    Exec exec = work(false).instantiate();
    const UpdateReport report = exec.update(work(true));
    CHECK(report.verdict() == UpdateVerdict::topology_changed);
    CHECK(report.needs_instantiate());
    REQUIRE(report.differences().size() == 2);
    for (const cudag::Difference& difference : report.differences())
        CHECK(difference.kind == DifferenceKind::edge);
    CHECK_THAT(report.to_string(), ContainsSubstring("kernel \"c\"") && ContainsSubstring("edge from kernel \"b\"") &&
                                       ContainsSubstring("edge from kernel \"a\""));
    CHECK(exec.update(work(false)).updated());
}

TEST_CASE("a copy in another direction in a new capture is named", "[capture][update]") {
    const auto cell = device({1});
    const PinnedBuffer<int> pinned(1);
    *pinned.begin() = 2;
    const Stream stream;
    const auto work = [&](bool down) {
        return capture(stream, [&](StreamCapture& c) {
            if (down)
                cudag::memcpy_async(c.stream(), pinned, cell);
            else
                cudag::memcpy_async(c.stream(), cell, pinned);
            c.mark("transfer");
        });
    };
    Exec exec = work(true).instantiate();
    const UpdateReport report = exec.update(work(false));
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    CHECK(report.verdict() == UpdateVerdict::parameters_changed);
    CHECK(report.needs_instantiate());
    CHECK_THAT(report.to_string(), ContainsSubstring("memcpy \"transfer\"") &&
                                       ContainsSubstring("direction: device to host -> host to device"));
    run(exec, stream);
    CHECK(*pinned.begin() == 1);
}

TEST_CASE("captures that an exec cannot take are instantiated where that is asked for, and counted",
          "[capture][update][instantiate]") {
    const Decoder decoder;
    Exec exec = decoder.capture({.weight = 1, .count = 4}).instantiate();
    CHECK(exec.update_or_instantiate(decoder.capture({.weight = 2, .count = 4})).updated());
    CHECK(exec.update_counts() == UpdateCounts{1, 0});
    CHECK(decoder.result(exec) == std::vector{102, 0, 0, 4});

    const Graph longer = decoder.capture({.weight = 3, .count = 4, .another_node = true});
    const UpdateReport report = exec.update_or_instantiate(longer);
    CHECK_FALSE(report.updated());
    CHECK_THAT(report.to_string(), ContainsSubstring("kernel \"another\""));
    CHECK(exec.update_counts() == UpdateCounts{1, 1});
    CHECK(decoder.result(exec) == std::vector{103, 0, 0, 4});

    CHECK(exec.update_or_instantiate(decoder.capture({.weight = 4, .count = 4, .another_node = true})).updated());
    CHECK(exec.update_counts() == UpdateCounts{2, 1});
    exec.update(longer.find(add).at(0), arg<0>(decoder.cell(2)));
    CHECK(decoder.result(exec) == std::vector{0, 0, 104, 4});
    CHECK(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("an exec keeps what its last capture retained, and lets go of what the one before did",
          "[capture][update][owners]") {
    const Stream stream;
    Watched first;
    Watched second;
    const auto work = [&](std::shared_ptr<int> cell, int value) {
        return capture(stream, [&](StreamCapture& c) {
            cudag::launch(c.stream(), {}, store, cell.get(), value);
            c.retain(cell);
        });
    };
    const auto plain = device({0});
    Exec exec = work(std::shared_ptr<int>(plain.data(), [](int*) {}), 1).instantiate();
    REQUIRE(exec.update(work(first.take(), 2)).updated());
    CHECK(first.alive());
    run(exec, stream);
    CHECK(first.value() == 2);
    REQUIRE(exec.update(work(second.take(), 3)).updated());
    CHECK(released(first, stream));
    CHECK(second.alive());
    run(exec, stream);
    CHECK(second.value() == 3);
}

TEST_CASE("a capture that fails leaves the exec as it was", "[capture][update]") {
    const Decoder decoder;
    Exec exec = decoder.capture({.weight = 1, .count = 4}).instantiate();
    CHECK_THROWS_AS(exec.update(capture(decoder.stream(),
                                        [](cudaStream_t) {
                                            void* memory = nullptr;
                                            static_cast<void>(cudaMalloc(&memory, 16));
                                        })),
                    cudag::CaptureError);
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    CHECK(decoder.result(exec) == std::vector{101, 0, 0, 4});
    CHECK(exec.update(decoder.capture({.weight = 2, .count = 4})).updated());
    CHECK(decoder.result(exec) == std::vector{102, 0, 0, 4});
}

TEST_CASE("a captured graph updates an exec of a built one, and the other way round", "[capture][update]") {
    const auto cell = device({0});
    const Stream stream;
    const auto captured = [&](int value) {
        return capture(stream, [&](cudaStream_t s) { cudag::launch(s, {}, store, cell.data(), value); });
    };
    const auto built = [&](int value) {
        cudag::GraphBuilder b;
        b.kernel({}, store, cell.data(), value);
        return std::move(b).build();
    };
    Exec exec = built(1).instantiate();
    REQUIRE(exec.update(captured(2)).updated());
    run(exec, stream);
    CHECK(read(cell) == std::vector{2});
    Exec other = captured(3).instantiate();
    REQUIRE(other.update(built(4)).updated());
    run(other, stream);
    CHECK(read(cell) == std::vector{4});
    for (const cudag::Difference& difference : cudag::diff(captured(5), built(5)))
        FAIL_CHECK(to_string(difference));
    const auto differences = cudag::diff(captured(5), built(6));
    REQUIRE(differences.size() == 1);
    CHECK(differences.front().field == "argument 1");
    CHECK(differences.front().old_value == "5");
    CHECK(differences.front().new_value == "6");
}

namespace {

/// A graph that stores `value` in memory of its own and reads it from there.
Graph stored_in_own_memory(const DeviceBuffer<int>& result, int value) {
    return capture(Stream(), [&](cudaStream_t s) {
        void* memory = nullptr;
        cudag::check(cudaMallocAsync(&memory, sizeof(int), s));
        cudag::launch(s, {}, store, static_cast<int*>(memory), value);
        cudag::launch(s, {}, add, result, static_cast<int*>(memory), 0);
        cudag::check(cudaFreeAsync(memory, s));
    });
}

} // namespace

TEST_CASE("captures with memory of their own follow each other in one exec", "[capture][update][memory]") {
    const auto result = device({0});
    const Stream stream;
    Exec exec = stored_in_own_memory(result, 1).instantiate();
    for (int turn = 2; turn < 5; ++turn) {
        const UpdateReport report = exec.update(stored_in_own_memory(result, turn));
        INFO(report.to_string());
        REQUIRE(report.updated());
        run(exec, stream);
        CHECK(read(result) == std::vector{turn});
    }
}

TEST_CASE("a captured graph with memory nodes has one exec at a time, and updates no other one",
          "[capture][update][memory]") {
    const auto result = device({0});
    const Stream stream;
    const Graph graph = stored_in_own_memory(result, 1);
    Exec own = graph.instantiate();
    const auto error = refused<cudag::InstantiateError>([&] { static_cast<void>(graph.instantiate()); });
    CHECK_THAT(error.what(), ContainsSubstring("alloc") && ContainsSubstring("one Exec at a time"));
    Exec other = stored_in_own_memory(result, 2).instantiate();
    const UpdateReport report = other.update(graph);
    CHECK(report.verdict() == UpdateVerdict::not_supported);
    CHECK_FALSE(report.needs_instantiate());
    CHECK_THAT(report.to_string(), ContainsSubstring("destroy that Exec first"));
    run(other, stream);
    CHECK(read(result) == std::vector{2});
    run(own, stream);
    CHECK(read(result) == std::vector{1});
}
