// Every runtime call that fails while a memset is disabled, updated and enabled: what is promised holds after each.
#include "faults.hpp"
#include "gate.hpp"
#include "pipeline.hpp"
#include "several_devices.hpp"

#include <catch.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>

namespace {

/// A launch fills the second addend if, and only if, the Exec says that the memset is enabled.
void check_consistent(Pipeline& pipeline, cudag::Exec& exec, int fill) {
    constexpr int before = 1;
    const cudag::Stream stream;
    cudag::memset_async(stream, pipeline.kernel_y(), before);
    stream.synchronize();
    const int addend = exec.is_enabled(pipeline.set) ? fill : before;
    CHECK(pipeline.run(exec) == pipeline.expected(Pipeline::factor, addend));
}

/// A gate > a memset > a host node, and whether the gate holds the last one up.
struct HeldMemset {
    HeldMemset() {
        cudag::GraphBuilder b;
        const auto held = b.host([this] { gate->waiter()(); });
        set = b.memset(cells, 7).label("fill").after(held);
        b.host([this] { passed = true; }).after(set);
        graph.emplace(std::move(b).build());
    }

    [[nodiscard]] bool keeps_order(cudag::Exec& exec) {
        gate = std::make_unique<Gate>();
        passed = false;
        exec.launch(stream);
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        const bool kept = !passed;
        gate->open();
        stream.synchronize();
        return kept;
    }

    cudag::DeviceBuffer<int> cells{4};
    cudag::Stream stream;
    std::unique_ptr<Gate> gate;
    std::atomic<bool> passed = false;
    cudag::MemsetNode set;
    std::optional<cudag::Graph> graph;
};

} // namespace

TEST_CASE("a disabled memset keeps the order whatever fails", "[unit][faults]") {
    HeldMemset sample;
    cudag::Exec exec = sample.graph->instantiate();
    const auto verify = [&] { CHECK(sample.keeps_order(exec)); };
    const auto disable = [&] { exec.disable(sample.set); };
    static_cast<void>(for_every_call_failing(disable, verify));
    static_cast<void>(for_every_call_failing([&] { exec.enable(sample.set); }, verify, disable));
    disable();
    int value = 100;
    const auto update = [&] { exec.update(sample.set, sample.cells, ++value); };
    static_cast<void>(for_every_call_failing(update, verify));
    static_cast<void>(for_every_call_failing([&] { static_cast<void>(exec.update(*sample.graph).updated()); }, verify));
    verify();
}

TEST_CASE("a disabled memset whose update went half wrong is made good once, by the next launch", "[unit][faults]") {
    HeldMemset sample;
    cudag::Exec exec = sample.graph->instantiate();
    exec.disable(sample.set);
    CHECK(sample.keeps_order(exec)); // and opens the gate
    const auto calls_of = [&](const auto& call) {
        const std::uint64_t before = cudart_cpu::call_count();
        call();
        return cudart_cpu::call_count() - before;
    };
    const auto launch = [&] {
        exec.launch(sample.stream);
        sample.stream.synchronize();
    };
    const auto update = [&] { exec.update(sample.set, sample.cells, 100); };
    update();
    launch(); // the first one after an update makes more calls
    const std::uint64_t usual = calls_of(launch);
    cudart_cpu::fail_call(calls_of(update), cudaErrorMemoryAllocation); // the last call, whose failure is not told
    update();
    cudart_cpu::fail_call(0, cudaSuccess);
    CHECK(calls_of(launch) > usual);
    CHECK(calls_of(launch) == usual);

    const auto upload = [&] { exec.upload(sample.stream); };
    const std::uint64_t usual_upload = calls_of(upload);
    cudart_cpu::fail_call(calls_of(update), cudaErrorMemoryAllocation);
    update();
    cudart_cpu::fail_call(0, cudaSuccess);
    CHECK(calls_of(upload) > usual_upload); // kernels launch what was uploaded
    CHECK(calls_of(upload) == usual_upload);
}

TEST_CASE("a refused update of a disabled memset is the last call that is made", "[unit][faults]") {
    HeldMemset sample;
    cudag::Exec exec = sample.graph->instantiate();
    exec.disable(sample.set);
    const auto calls_if_refused = [&](std::uint64_t call) -> std::optional<std::uint64_t> {
        const std::uint64_t before = cudart_cpu::call_count();
        cudart_cpu::fail_call(call, cudaErrorInvalidValue);
        bool is_refused = false;
        try {
            exec.update(sample.set, sample.cells, 100);
        } catch (const cudag::UpdateError&) {
            is_refused = true;
        }
        cudart_cpu::fail_call(0, cudaSuccess);
        return is_refused ? std::optional(cudart_cpu::call_count() - before) : std::nullopt;
    };
    static_cast<void>(calls_if_refused(1)); // its words ask for CUDA's log, once in a process
    std::uint64_t call = 1;
    while (const auto calls = calls_if_refused(call)) {
        CHECK(*calls == call);
        ++call;
    }
    CHECK(call > 1);
    CHECK(sample.keeps_order(exec));
}

TEST_CASE("a memset is disabled on the device of its memory, without a switch where that is the current one",
          "[unit][device]") {
    const SeveralDevices devices(2);
    const auto calls_to_disable = [](int device, int current) {
        cudag::check(cudaSetDevice(device));
        HeldMemset sample;
        cudag::Exec exec = sample.graph->instantiate();
        exec.disable(sample.set); // makes the device's scratch memory, once in the process
        exec.enable(sample.set);
        cudag::check(cudaSetDevice(current));
        const std::uint64_t before = cudart_cpu::call_count();
        exec.disable(sample.set);
        return cudart_cpu::call_count() - before;
    };
    const std::uint64_t own = calls_to_disable(0, 0);
    const std::uint64_t other = calls_to_disable(0, 1);
    CHECK(other > own);
    CHECK(calls_to_disable(1, 1) == own);
    CHECK(calls_to_disable(1, 0) == other);
}

TEST_CASE("a disable that fails leaves the memset enabled", "[unit][faults]") {
    Pipeline pipeline;
    cudag::Exec exec = pipeline.build().instantiate();
    exec.disable(pipeline.set); // makes the scratch memory, once in the process
    const Faults faults = for_every_call_failing(
        [&] {
            try {
                exec.disable(pipeline.set);
            } catch (const cudag::UpdateError&) {
                if (!exec.is_enabled(pipeline.set)) throw std::logic_error("disabled although it failed");
                throw;
            }
        },
        [&] { check_consistent(pipeline, exec, Pipeline::fill); }, [&] { exec.enable(pipeline.set); });
    CHECK(faults.thrown >= 2); // CUDA's own switch, the new parameters
    CHECK_FALSE(exec.is_enabled(pipeline.set));
}

TEST_CASE("an enable that fails leaves the memset disabled", "[unit][faults]") {
    Pipeline pipeline;
    cudag::Exec exec = pipeline.build().instantiate();
    exec.update(pipeline.set, pipeline.kernel_y(), 100);
    const Faults faults =
        for_every_call_failing([&] { exec.enable(pipeline.set); }, [&] { check_consistent(pipeline, exec, 100); },
                               [&] { exec.disable(pipeline.set); });
    CHECK(faults.thrown >= 2);
    CHECK(exec.is_enabled(pipeline.set));
    check_consistent(pipeline, exec, 100);
}

TEST_CASE("a disabled memset stays disabled whatever fails while it is updated", "[unit][faults]") {
    Pipeline pipeline;
    cudag::Graph graph = pipeline.build();
    cudag::Exec exec = graph.instantiate();
    exec.disable(pipeline.set);
    const auto verify = [&] {
        CHECK_FALSE(exec.is_enabled(pipeline.set));
        check_consistent(pipeline, exec, 0);
    };
    int value = 100;
    static_cast<void>(for_every_call_failing([&] { exec.update(pipeline.set, pipeline.kernel_y(), ++value); }, verify));
    graph.update(pipeline.set, pipeline.kernel_y(), 200);
    static_cast<void>(for_every_call_failing([&] { exec.apply(graph); }, verify));
    static_cast<void>(for_every_call_failing([&] { static_cast<void>(exec.update(graph).updated()); }, verify));
    exec.enable(pipeline.set);
    check_consistent(pipeline, exec, 200);
}
