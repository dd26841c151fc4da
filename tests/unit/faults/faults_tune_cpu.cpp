// Every runtime call that fails while a graph is tuned.
#include "faults.hpp"
#include "pipeline.hpp"

#include <catch.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
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
            pipeline.stream.synchronize(); // lets go of the marks behind launches of Execs that are gone
            CHECK(cudart_cpu::live().graph_execs == before.graph_execs);
            CHECK(cudart_cpu::live().events == before.events);
        }
        cudag::Exec exec = graph.instantiate();
        CHECK(pipeline.run(exec) == pipeline.expected());
    };
    const Faults faults = for_every_call_failing([&] { tuned = cudag::tune(graph, pipeline.stream, options); }, verify,
                                                 [&] {
                                                     pipeline.stream.synchronize();
                                                     before = cudart_cpu::live();
                                                 });
    CHECK(faults.thrown > 50);
    CHECK(pipeline.run(tuned->exec) == pipeline.expected());
}

TEST_CASE("where tune fails, no launch of its own is in flight", "[unit][faults]") {
    cudag::GraphBuilder b;
    std::atomic<int> calls = 0;
    b.host([&] {
        std::this_thread::sleep_for(std::chrono::microseconds(500));
        ++calls;
    });
    const cudag::Graph graph = std::move(b).build();
    const cudag::Stream stream;
    const cudag::TuneOptions options{.candidates = std::vector<cudag::Plan>{{}}, .repetitions = 1};
    const Faults faults = for_every_call_failing([&] { static_cast<void>(cudag::tune(graph, stream, options)); },
                                                 [&] {
                                                     const int before = calls;
                                                     stream.synchronize();
                                                     CHECK(calls == before);
                                                 });
    CHECK(faults.thrown > 20);
}

TEST_CASE("tune chooses the plan that is clearly quicker, whichever comes first", "[unit]") {
    cudart_cpu::set_workers(4);
    cudag::GraphBuilder b;
    for (int i = 0; i < 3; ++i)
        b.host([] { std::this_thread::sleep_for(std::chrono::milliseconds(4)); });
    const cudag::Graph graph = std::move(b).build();
    const cudag::Stream stream;
    const cudag::Plan in_line{.lanes = 1}; // one after the other
    for (const std::size_t quick : {0U, 1U}) {
        const auto candidates =
            quick == 0 ? std::vector<cudag::Plan>{{}, in_line} : std::vector<cudag::Plan>{in_line, {}};
        const cudag::Tuned tuned = cudag::tune(graph, stream, {.candidates = candidates, .repetitions = 2});
        CHECK(tuned.report.chosen_index() == quick);
        bool ends_early = false; // a busy machine may delay a node: then the rounds go on
        for (int attempt = 0; attempt < 10 && !ends_early; ++attempt) {
            const cudag::Tuned sure = cudag::tune(graph, stream, {.candidates = candidates});
            CHECK(sure.report.chosen_index() == quick);
            ends_early = std::ranges::all_of(sure.report.rows(), [](const auto& row) { return row.rounds == 4; });
        }
        CHECK(ends_early); // after four rounds only one can be the best
    }
    cudart_cpu::set_workers(0);
}
