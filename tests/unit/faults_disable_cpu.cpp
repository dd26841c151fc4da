// Every runtime call that fails while a memset is disabled, updated and enabled: what is promised holds after each.
#include "faults.hpp"
#include "pipeline.hpp"

#include <catch.hpp>

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

} // namespace

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
