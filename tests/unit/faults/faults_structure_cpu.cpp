// Every runtime call that fails in an update by structure: all of its nodes change, or none; and which calls it makes.
#include "faults.hpp"
#include "live_counts.hpp"
#include "pipeline.hpp"

#include <catch.hpp>

#include <optional>
#include <string>

namespace {

constexpr cudag::UpdateOptions by_structure{.match = cudag::Match::structure};

/// Where a node stands that has nothing to do with the others.
enum class Beside { first, last };

cudag::Graph build(Pipeline& pipeline, Beside beside) {
    cudag::GraphBuilder builder;
    if (beside == Beside::first) builder.host([] {}).label("beside");
    pipeline.write(builder);
    if (beside == Beside::last) builder.host([] {}).label("beside");
    return std::move(builder).build();
}

} // namespace

TEST_CASE("an update by structure that fails at any node changes none", "[unit][faults]") {
    const NothingLeft check;
    Pipeline pipeline, other;
    cudag::Exec exec = build(pipeline, Beside::last).instantiate();
    const cudag::Graph graph = build(other, Beside::first);
    for (int& value : other.in)
        value += 100;
    const int runs = pipeline.runs;
    unsigned launches = 0;
    const Faults faults = for_every_call_failing([&] { return exec.update(graph, by_structure).updated(); },
                                                 [&] {
                                                     CHECK(pipeline.run(exec) == pipeline.expected());
                                                     ++launches;
                                                 });
    CHECK(faults.thrown == 6); // two copies, a fill, a kernel, two host nodes
    CHECK(faults.ignored == 0);
    CHECK(pipeline.runs == runs + static_cast<int>(launches));
    CHECK(other.run(exec) == other.expected());
    CHECK(other.runs == 1);
}

TEST_CASE("what CUDA refuses in an update by structure is reported with the node, and changes none", "[unit][faults]") {
    const NothingLeft check;
    Pipeline pipeline, other;
    cudag::Exec exec = build(pipeline, Beside::last).instantiate();
    const cudag::Graph graph = build(other, Beside::first);
    unsigned refused = 0;
    for (std::uint64_t call = 1;; ++call) {
        CAPTURE(call);
        cudart_cpu::fail_call(call, cudaErrorInvalidValue);
        const cudag::UpdateReport report = exec.update(graph, by_structure);
        cudart_cpu::fail_call(0, cudaSuccess);
        CHECK(cudaGetLastError() == cudaSuccess);
        if (report.updated()) break;
        ++refused;
        CHECK(report.verdict() == cudag::UpdateVerdict::refused);
        CHECK(report.needs_instantiate());
        CHECK_THAT(report.reason(), ContainsSubstring("CUDA refused the update of ") && ContainsSubstring("\"") &&
                                        ContainsSubstring("fault injected"));
        REQUIRE_FALSE(report.differences().empty());
        CHECK_THAT(report.reason(), ContainsSubstring(report.differences().front().node));
        CHECK(pipeline.run(exec) == pipeline.expected());
    }
    CHECK(refused == 6);
    CHECK(other.run(exec) == other.expected());
}

TEST_CASE("an update by structure makes one call for each node that differs", "[unit]") {
    const NothingLeft check;
    constexpr std::size_t count = 20;
    const cudag::DeviceBuffer<int> x(count), y(1);
    const auto build = [&](bool backwards, int changed) {
        cudag::GraphBuilder builder;
        if (backwards) builder.memset(y, 0); // else the order were the same
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t place = backwards ? count - 1 - i : i;
            const int factor = static_cast<int>(place) < changed ? 7 : 1;
            builder.kernel({}, multiply_add, x.data() + place, x.data() + place, 1, factor);
        }
        if (!backwards) builder.memset(y, 0);
        return std::move(builder).build();
    };
    cudag::Exec exec = build(false, 0).instantiate();
    const auto calls_of = [&](const cudag::Graph& graph) {
        const std::uint64_t before = cudart_cpu::call_count();
        CHECK(exec.update(graph, by_structure).updated());
        return cudart_cpu::call_count() - before;
    };
    const cudag::Graph same = build(false, 0), changed = build(false, 3), backwards = build(true, 3);
    CHECK(calls_of(same) == 0);
    CHECK(calls_of(changed) == 3);
    CHECK(calls_of(same) == 3);
    CHECK(calls_of(backwards) == 3);
    CHECK(calls_of(backwards) == 0);
}

TEST_CASE("an update by structure by captured graphs, which are read then, fails and changes nothing",
          "[unit][faults]") {
    const cudag::DeviceBuffer<int> x(2), one(1);
    const cudag::Stream stream;
    cudag::check(cudaMemset(one.data(), 0, sizeof(int)));
    cudag::check(cudaDeviceSynchronize());
    const auto recorded = [&](bool backwards, int factor) {
        const cudag::Stream side;
        return cudag::capture(stream, [&](cudag::StreamCapture& capture) {
            capture.fork(side);
            for (const bool is_side : {backwards, !backwards})
                cudag::launch(is_side ? side.get() : capture.stream(), {}, multiply_add, x.data() + (is_side ? 1 : 0),
                              one.data(), 1, factor);
            capture.join(side);
        });
    };
    std::optional<cudag::Graph> next;
    std::optional<cudag::Exec> exec;
    const auto result = [&] {
        const std::vector<int> start{1, 10};
        std::vector<int> values(2);
        cudag::check(cudaMemcpy(x.data(), start.data(), x.size_bytes(), cudaMemcpyHostToDevice));
        cudag::check(cudaStreamSynchronize(cudaStreamLegacy));
        exec->launch(stream);
        stream.synchronize();
        cudag::check(cudaMemcpy(values.data(), x.data(), x.size_bytes(), cudaMemcpyDeviceToHost));
        return values;
    };
    bool updated = false;
    const auto prepare = [&] { // anew each time: a graph is read once
        updated = false;
        next = recorded(true, 3);
        exec = recorded(false, 2).instantiate();
    };
    const Faults faults = for_every_call_failing(
        [&] {
            updated = exec->update(*next, by_structure).updated();
            return updated;
        },
        [&] {
            CHECK(result() == (updated ? std::vector{3, 30} : std::vector{2, 20}));
        },
        prepare);
    CHECK(faults.thrown >= 3);
    CHECK(result() == std::vector{3, 30});
}

TEST_CASE("a report of what CUDA refuses tells nothing of an order of nodes tried before", "[unit][faults]") {
    const cudag::DeviceBuffer<int> cells(4);
    const auto build = [&](bool backwards, int value) {
        cudag::GraphBuilder b;
        for (const bool is_left : {!backwards, backwards}) {
            const auto first = b.kernel({.priority = is_left ? -1 : -2}, multiply_add, cells.data() + 3,
                                        cells.data() + 3, 0, 1); // no update changes the priority
            b.memset(cells.span().subspan(is_left ? 0 : 1, 1), 1).after(first);
        }
        b.memset(cells.span().subspan(2, 1), value);
        return std::move(b).build();
    };
    cudag::Exec exec = build(false, 1).instantiate();
    const cudag::Graph next = build(true, 2);
    cudart_cpu::fail_call(1, cudaErrorInvalidValue);
    const cudag::UpdateReport report = exec.update(next, by_structure);
    cudart_cpu::fail_call(0, cudaSuccess);
    CHECK(report.verdict() == cudag::UpdateVerdict::refused);
    CHECK(report.differences().size() == 1);
    CHECK(exec.update(next, by_structure).updated());
}
