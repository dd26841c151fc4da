// Every runtime call that fails while a region is captured into a builder's graph.
#include "faults.hpp"
#include "live_counts.hpp"
#include "pipeline.hpp"

#include <cudag/cudag.hpp>

#include <catch.hpp>

#include <optional>
#include <string>

using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::Stream;

namespace {

/// A builder with one node, and a stream to capture.
class Target {
  public:
    Target() {
        cudag::check(cudaMemset(x_.data(), 0, x_.size_bytes()));
        cudag::check(cudaMemset(y_.data(), 0, y_.size_bytes()));
        cudag::check(cudaDeviceSynchronize()); // before the kernels, in other streams
    }

    void renew() {
        stream_.emplace();
        builder_.emplace();
        builder_->kernel({}, multiply_add, x_, x_, 1, 1).label("before");
        regions_ = 0;
    }

    void capture(bool breaks) {
        breaks_ = breaks;
        builder_->capture(*stream_, [&](cudaStream_t s) {
            cudag::launch(s, {}, multiply_add, y_, y_, 1, 1);
            if (breaks) cudag::check(cudaDeviceSynchronize());
        });
        regions_ = 1;
    }

    /// Whether the builder has lost its graph, as it says by name. Else it builds a graph that runs, with a region if
    /// one was captured.
    [[nodiscard]] bool is_lost() {
        cudaStreamCaptureStatus status{};
        REQUIRE(cudaStreamIsCapturing(stream_->get(), &status) == cudaSuccess);
        const bool is_open = status != cudaStreamCaptureStatusNone;
        if (is_open) { // its end was the call that failed
            cudaGraph_t graph = nullptr;
            static_cast<void>(cudaStreamEndCapture(stream_->get(), &graph));
            static_cast<void>(cudaGetLastError());
        }
        try {
            builder_->check();
        } catch (const GraphError& error) {
            CHECK_THAT(error.what(), ContainsSubstring("the graph under construction was lost when the capture at "));
            CHECK_THROWS_AS(builder_->kernel({}, multiply_add, x_, x_, 1, 1), GraphError);
            return true;
        }
        CHECK_FALSE((is_open && !breaks_));
        const cudag::Graph graph = std::move(*builder_).build();
        CHECK(graph.node_count() == 1 + regions_);
        CHECK(graph.nodes()[0].label() == "before");
        std::size_t count = 0;
        REQUIRE(cudaGraphGetNodes(graph.native(), nullptr, &count) == cudaSuccess);
        CHECK(count == 1 + regions_);
        cudag::Exec exec = graph.instantiate();
        exec.launch(*stream_);
        stream_->synchronize();
        return false;
    }

  private:
    cudag::DeviceBuffer<int> x_{1};
    cudag::DeviceBuffer<int> y_{1}; ///< of the region, which nothing orders
    std::optional<Stream> stream_;
    std::optional<GraphBuilder> builder_;
    std::size_t regions_ = 0;
    bool breaks_ = false; ///< the capture, of which only its end is left then
};

} // namespace

TEST_CASE("a region whose call fails is not in the graph, and only the end of its capture loses that",
          "[unit][faults]") {
    Target target;
    target.renew();
    target.capture(false); // the calls that a process makes once
    CHECK_FALSE(target.is_lost());
    unsigned lost = 0;
    const Faults faults = for_every_call_failing([&] { target.capture(false); },
                                                 [&] { lost += target.is_lost() ? 1U : 0U; }, [&] { target.renew(); });
    CHECK(faults.thrown > 5);
    CHECK(lost == 1);
}

TEST_CASE("a broken capture loses no graph unnamed, whichever call of the way back fails", "[unit][faults]") {
    Target target;
    std::uint64_t calls = 0;
    unsigned lost = 0;
    for (std::uint64_t call = 1; call == 1 || call <= calls + 1; ++call) {
        CAPTURE(call);
        target.renew();
        const std::uint64_t before = cudart_cpu::call_count();
        cudart_cpu::fail_call(call, cudaErrorMemoryAllocation);
        CHECK_THROWS_AS(target.capture(true), cudag::Error);
        calls = cudart_cpu::call_count() - before;
        cudart_cpu::fail_call(0, cudaSuccess);
        CHECK(cudaGetLastError() == cudaSuccess);
        const bool undisturbed = calls < call;
        if (target.is_lost()) {
            CHECK_FALSE(undisturbed);
            ++lost;
        }
    }
    CHECK(lost > 3); // the clone, the nodes in it
}

TEST_CASE("a region that joins what it forks takes as many calls, however many nodes are before it", "[unit][region]") {
    const cudag::DeviceBuffer<int> x(1), y(1);
    const Stream stream, side;
    const auto calls = [&](int nodes) {
        GraphBuilder builder({.races = cudag::Races::allowed});
        for (int i = 0; i < nodes; ++i)
            builder.kernel({}, multiply_add, x, x, 1, 1);
        const std::uint64_t before = cudart_cpu::call_count();
        builder.capture(stream, [&](cudag::StreamCapture& capture) {
            capture.fork(side);
            cudag::launch(side, {}, multiply_add, y, y, 1, 1);
            capture.join(side);
        });
        return cudart_cpu::call_count() - before;
    };
    static_cast<void>(calls(1)); // those that a process makes once
    CHECK(calls(20) == calls(1));
}

TEST_CASE("a graph that is lost with what a region wrote leaves nothing behind", "[unit][region]") {
    const NothingLeft check;
    const cudag::DeviceBuffer<int> x(1);
    const Stream stream;
    GraphBuilder builder;
    const auto write = [&](GraphBuilder& body) {
        body.capture(stream, [&](cudag::StreamCapture& capture) {
            capture.add([&](GraphBuilder& writer) { writer.kernel({}, multiply_add, x, x, 1, 1); });
            cudag::check(cudaLaunchHostFunc(
                capture.stream(), [](void*) {}, nullptr)); // which no body may have
        });
    };
    CHECK_THROWS_AS(builder.if_(builder.condition(0), write), GraphError);
    CHECK_THROWS_AS(builder.check(), GraphError);
}

TEST_CASE("a region that a body cannot have leaves no node, or a refused graph", "[unit][region][faults]") {
    const cudag::DeviceBuffer<int> x(1);
    const Stream stream;
    const auto forbidden = [&](GraphBuilder& body) {
        body.capture(stream, [&](cudag::StreamCapture& capture) {
            const Stream side;
            capture.fork(side); // so that CUDA is asked for the nodes, which are no line
            cudag::launch(side, {}, multiply_add, x.data(), x.data(), 1, 1);
            cudag::launch(capture.stream(), {}, multiply_add, x.data(), x.data(), 1, 1);
            capture.join(side);
            cudag::check(cudaLaunchHostFunc(
                capture.stream(), [](void*) {}, nullptr)); // which no body may have
        });
    };
    unsigned refused = 0;
    std::uint64_t calls = 0;
    for (std::uint64_t call = 1; call == 1 || call <= calls + 1; ++call) {
        CAPTURE(call);
        GraphBuilder builder;
        const std::uint64_t before = cudart_cpu::call_count();
        std::optional<cudag::IfNode> node;
        try {
            node = builder.if_(builder.condition(0), [&](GraphBuilder& body) {
                cudart_cpu::fail_call(call, cudaErrorMemoryAllocation);
                CHECK_THROWS_AS(forbidden(body), cudag::Error);
                cudart_cpu::fail_call(0, cudaSuccess);
            });
        } catch (const cudag::Error& error) { // else the graph was lost, or not made
            if (std::string(error.what()).find("a node could not be removed") != std::string::npos) ++refused;
        }
        calls = cudart_cpu::call_count() - before;
        static_cast<void>(cudaGetLastError());
        cudaStreamCaptureStatus status{};
        cudag::check(cudaStreamIsCapturing(stream.get(), &status));
        if (status != cudaStreamCaptureStatusNone) { // its end was the call that failed
            cudaGraph_t graph = nullptr;
            static_cast<void>(cudaStreamEndCapture(stream.get(), &graph));
            static_cast<void>(cudaGetLastError());
        }
        if (!node) continue;
        const cudag::Graph graph = std::move(builder).build();
        std::size_t count = 0;
        cudag::check(cudaGraphGetNodes(node->body().native(), nullptr, &count));
        CHECK(count == 0);
    }
    CHECK(refused == 4); // for each node, or for the list of all
}
