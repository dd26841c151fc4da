// Every runtime call that fails while a graph is tuned.
#include "faults.hpp"
#include "pipeline.hpp"

#include <catch.hpp>

#include <optional>
#include <utility>
#include <vector>

TEST_CASE("a graph that cannot be tuned is as it was, and no Exec or event is left", "[unit][faults]") {
    Pipeline pipeline;
    const cudag::Graph graph = pipeline.build();
    const cudag::TuneOptions options{
        .candidates = std::vector<cudag::Plan>{{}, cudag::Plan::as_written(), {.lanes = 1}}, .repetitions = 1};
    std::optional<cudag::Tuned> tuned;
    cudart_cpu::LiveCounts before;
    const auto verify = [&] {
        if (tuned) { // what failed was to end something, which is still there then
            CHECK(pipeline.run(tuned->exec) == pipeline.expected());
            tuned.reset();
        } else {
            CHECK(cudart_cpu::live().graph_execs == before.graph_execs);
            CHECK(cudart_cpu::live().events == before.events);
        }
        cudag::Exec exec = graph.instantiate();
        CHECK(pipeline.run(exec) == pipeline.expected());
    };
    const Faults faults = for_every_call_failing([&] { tuned = cudag::tune(graph, pipeline.stream, options); }, verify,
                                                 [&] { before = cudart_cpu::live(); });
    CHECK(faults.thrown > 50);
    CHECK(pipeline.run(tuned->exec) == pipeline.expected());
}
