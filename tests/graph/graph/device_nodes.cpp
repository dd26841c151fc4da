// Nodes that kernels change.
#include "attributes.hpp"
#include "device_node_kernels.hpp"

using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::LaunchConfig;

namespace {

/// A kernel that plans, and the kernel it plans for: 32 threads a block.
struct Sample {
    cudag::DeviceBuffer<unsigned> count = device({0U, 0U});
    cudag::DeviceBuffer<unsigned> other = device({0U});
    cudag::DeviceBuffer<unsigned> blocks = device({1U});
    cudag::DeviceBuffer<unsigned> failures = device({0U});
    cudag::DeviceBuffer<unsigned> done = device({0U});
    cudag::KernelNode<unsigned*, unsigned*, unsigned> worker;
    cudag::Graph graph;
    cudag::Exec exec = graph.instantiate();
    cudag::Stream stream;

    enum class Planner { grid, memory };

    explicit Sample(Planner planner) : graph(build(planner)) {}

    /// Runs once after `planned` blocks have been asked for; returns how many threads ran, and the sum of the weights.
    std::vector<unsigned> threads_and_weight(unsigned planned) {
        write(count.span(), {0U, 0U});
        write(blocks.span(), {planned});
        run(exec, stream);
        CHECK(read(failures) == std::vector{0U});
        return read(count);
    }

  private:
    cudag::Graph build(Planner planner) {
        GraphBuilder b;
        worker = b.kernel({.grid = 1, .block = 32, .device_updatable = true}, count_threads, count.data(),
                          count.data() + 1, 1U)
                     .label("worker");
        if (planner == Planner::grid)
            worker.after(b.kernel({}, plan, worker.on_device(), blocks, 7U, failures));
        else
            worker.after(b.kernel({}, redirect, worker.on_device(), other, failures));
        b.kernel({}, count_threads, done.data(), done.data(), 0U).after(worker);
        return std::move(b).build();
    }
};

} // namespace

TEST_CASE("a kernel computes the grid and an argument of the next one", "[graph][device]") {
    Sample s(Sample::Planner::grid);
    CHECK(s.threads_and_weight(3) == std::vector{96U, 21U});
    CHECK(s.threads_and_weight(10) == std::vector{320U, 70U});
    CHECK(s.threads_and_weight(1) == std::vector{32U, 7U});
}

TEST_CASE("a kernel switches the next one off and on, and what comes after runs", "[graph][device]") {
    Sample s(Sample::Planner::grid);
    CHECK(s.threads_and_weight(0) == std::vector{0U, 0U});
    CHECK(read(s.done) == std::vector{1U});
    CHECK(s.threads_and_weight(2) == std::vector{64U, 14U});
    CHECK(read(s.done) == std::vector{2U});
}

TEST_CASE("a kernel gives the next one another pointer", "[graph][device]") {
    Sample s(Sample::Planner::memory);
    CHECK(s.threads_and_weight(1) == std::vector{0U, 1U});
    CHECK(read(s.other) == std::vector{32U});
}

TEST_CASE("an update by the host replaces what kernels changed, and is uploaded by the launch", "[graph][device]") {
    Sample s(Sample::Planner::memory);
    CHECK(s.threads_and_weight(1) == std::vector{0U, 1U});
    s.exec.update(s.worker, cudag::arg<2>(5U));
    CHECK(s.threads_and_weight(1) == std::vector{0U, 5U});
    CHECK(read(s.other) == std::vector{64U});
}

TEST_CASE("a device-updatable node has a handle for kernels, shown in DOT", "[graph][device]") {
    const Sample s(Sample::Planner::grid);
    CHECK(s.worker.on_device().native() != nullptr);
    CHECK(attribute(s.worker, cudaLaunchAttributeDeviceUpdatableKernelNode).deviceUpdatableKernelNode.deviceUpdatable !=
          0);
    CHECK_THAT(s.graph.dot(), ContainsSubstring(">>> device_updatable"));
}

TEST_CASE("a graph with device-updatable nodes has one exec at a time", "[graph][device]") {
    Sample s(Sample::Planner::grid);
    const auto error = refused<cudag::InstantiateError>([&] { static_cast<void>(s.graph.instantiate()); });
    CHECK(error.code() == cuda_code(cudaErrorNotSupported));
    CHECK(error.labels() == Labels{"worker"});
    CHECK_THAT(error.what(), ContainsSubstring("\"worker\"") && ContainsSubstring("one Exec at a time"));
    CHECK(s.threads_and_weight(3) == std::vector{96U, 21U});
}

TEST_CASE("a graph with device-updatable nodes is not cloned", "[graph][device]") {
    Sample s(Sample::Planner::grid);
    const auto error = refused<GraphError>([&] { static_cast<void>(s.graph.clone()); });
    CHECK(error.code() == cuda_code(cudaErrorNotSupported));
    CHECK(error.labels() == Labels{"worker"});
    CHECK(s.threads_and_weight(3) == std::vector{96U, 21U});
}

TEST_CASE("a graph with device-updatable nodes is not updated as a whole", "[graph][device]") {
    Sample s(Sample::Planner::grid);
    const Sample other(Sample::Planner::grid);
    for (const cudag::Match match : {cudag::Match::order, cudag::Match::structure}) {
        const cudag::UpdateReport report = s.exec.update(other.graph, {.match = match});
        CHECK_FALSE(report.updated());
        CHECK(report.verdict() == cudag::UpdateVerdict::not_supported);
        CHECK(report.needs_instantiate());
        CHECK_THAT(report.reason(), ContainsSubstring("\"worker\"") && ContainsSubstring("device-updatable"));
    }
    CHECK(s.threads_and_weight(3) == std::vector{96U, 21U});
}

TEST_CASE("a graph with device-updatable nodes is no child by clone", "[graph][device]") {
    Sample s(Sample::Planner::grid);
    GraphBuilder b;
    const auto error = refused<GraphError>([&] { b.child(s.graph); });
    CHECK(error.code() == cuda_code(cudaErrorNotSupported));
    CHECK_THAT(error.what(), ContainsSubstring("\"worker\"") && ContainsSubstring("std::move(graph)"));
    CHECK(std::move(b).build().node_count() == 0);
}
