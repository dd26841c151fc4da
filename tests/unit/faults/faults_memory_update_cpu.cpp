// Every allocation of host memory that fails while graphs and execs change, in cudag and in the CUDA Runtime.
#include "allocation_faults.hpp"
#include "pipeline.hpp"

#include <catch.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr int new_factor = 5;
constexpr int new_fill = 9;

/// A graph and its exec, and what updates of them take.
struct Sample {
    Sample() { static_cast<void>(graph.native()); }

    /// What a launch computes, and how often it counts itself.
    std::pair<std::vector<int>, int> result(cudag::Exec& of) {
        const int before = pipeline.runs;
        std::vector<int> out = pipeline.run(of);
        return {std::move(out), pipeline.runs - before};
    }
    void change_graph() {
        graph.update(pipeline.kernel, cudag::arg<3>(new_factor));
        graph.update(pipeline.set, pipeline.kernel_y(), new_fill);
    }

    Pipeline pipeline;
    cudag::Graph graph = pipeline.build();
    cudag::Exec exec = graph.instantiate();
    std::shared_ptr<std::vector<int>> owned = std::make_shared<std::vector<int>>(Pipeline::size, 2);
    Pipeline other_pipeline;
    cudag::Graph other = other_pipeline.build();
};

struct Change {
    std::string name;
    std::function<void(Sample&)> run;
    std::function<void(Sample&)> prepare = [](Sample&) {};
};

/// Each failure must change nothing that `result` tells, and the change can be made then.
template <class Result>
void check_change(const Change& change, const Result& result) {
    CAPTURE(change.name);
    Sample reference;
    change.prepare(reference);
    const auto before = result(reference);
    change.run(reference);
    const auto after = result(reference);
    CHECK(before != after);
    for (std::size_t n = 1;; ++n) {
        CAPTURE(n);
        Sample sample;
        change.prepare(sample);
        const std::optional<bool> failed = fails_without_allocation(n, [&] { change.run(sample); });
        if (!failed) return;
        CHECK(cudaGetLastError() == cudaSuccess);
        if (*failed) {
            CHECK(result(sample) == before);
            change.run(sample);
        }
        CHECK(result(sample) == after);
    }
}

} // namespace

TEST_CASE("an update of an exec for which there is no memory changes nothing, and can be made again",
          "[unit][faults]") {
    const auto result = [](Sample& s) { return s.result(s.exec); };
    const std::vector<Change> changes{
        {"kernel",
         [](Sample& s) {
             s.exec.update(s.pipeline.kernel, s.pipeline.kernel_x(), s.pipeline.kernel_y(), Pipeline::size, new_factor);
         }},
        {"argument", [](Sample& s) { s.exec.update(s.pipeline.kernel, cudag::arg<3>(new_factor)); }},
        {"copy", [](Sample& s) { s.exec.update(s.pipeline.upload, s.pipeline.kernel_x(), *s.owned); }},
        {"copy with an owner", [](Sample& s) { s.exec.update(s.pipeline.upload, s.pipeline.kernel_x(), s.owned); }},
        {"fill", [](Sample& s) { s.exec.update(s.pipeline.set, s.pipeline.kernel_y(), new_fill); }},
        {"host function",
         [](Sample& s) { s.exec.update(s.pipeline.count, [&runs = s.pipeline.runs] { runs += 10; }); }},
        {"apply", [](Sample& s) { static_cast<void>(s.exec.apply(s.graph)); }, [](Sample& s) { s.change_graph(); }},
        {"apply after updates", [](Sample& s) { static_cast<void>(s.exec.apply(s.graph)); },
         [](Sample& s) {
             s.exec.update(s.pipeline.upload, s.pipeline.kernel_x(), s.owned);
             s.change_graph();
         }},
    };
    for (const Change& change : changes)
        check_change(change, result);
}

TEST_CASE("a fill for whose disabling there is no memory stays enabled, and can be disabled then", "[unit][faults]") {
    const auto result = [](Sample& s) {
        const auto [out, runs] = s.result(s.exec); // as before, or of what was never set
        return std::pair(s.exec.is_enabled(s.pipeline.set), runs);
    };
    check_change({"disable", [](Sample& s) { s.exec.disable(s.pipeline.set); }}, result);
}

TEST_CASE("an update of a whole exec for which there is no memory changes nothing, and can be made again",
          "[unit][faults]") {
    const auto change_other = [](Sample& s) {
        s.other.update(s.other_pipeline.kernel, cudag::arg<3>(new_factor));
        s.other.update(s.other_pipeline.set, s.other_pipeline.kernel_y(), new_fill);
    };
    const auto result = [](Sample& s) {
        const int before = s.pipeline.runs;
        const std::vector<int> out = s.pipeline.run(s.exec);
        return std::pair(s.pipeline.runs - before, out == s.pipeline.expected());
    };
    check_change({"update", [](Sample& s) { static_cast<void>(s.exec.update(s.other)); }, change_other}, result);
}

TEST_CASE("an update of a child, node by node, for which there is no memory changes nothing, and can be made again",
          "[unit][faults]") {
    const cudag::DeviceBuffer<int> cell(1);
    const auto filled = [&](int value, bool had_another) {
        cudag::GraphBuilder b;
        if (had_another) b.remove(b.memset(cell, 0)); // so that CUDA takes it not as a whole
        b.memset(cell, value);
        return std::move(b).build();
    };
    const cudag::Graph before = filled(1, false), after = filled(2, true);
    cudag::GraphBuilder b;
    const auto child = b.child(before);
    const cudag::Graph graph = std::move(b).build();
    const cudag::Stream stream;
    const auto result = [&](cudag::Exec& exec) {
        int value = 0;
        exec.launch(stream);
        stream.synchronize();
        cudag::check(cudaMemcpy(&value, cell.data(), sizeof value, cudaMemcpyDeviceToHost));
        return value;
    };
    for (std::size_t n = 1;; ++n) {
        CAPTURE(n);
        cudag::Exec exec = graph.instantiate();
        const std::optional<bool> failed = fails_without_allocation(n, [&] { exec.update(child, after); });
        CHECK(cudaGetLastError() == cudaSuccess);
        if (!failed) break;
        CHECK(result(exec) == (*failed ? 1 : 2));
        exec.update(child, after);
        CHECK(result(exec) == 2);
    }
}

TEST_CASE("a clone with the owners of updates for which there is no memory leaves the graph as it was",
          "[unit][faults]") {
    Sample sample;
    sample.graph.update(sample.pipeline.upload, sample.pipeline.kernel_x(), sample.owned);
    sample.change_graph();
    cudag::Exec exec = sample.graph.instantiate();
    const auto expected = sample.result(exec);
    for (std::size_t n = 1;; ++n) {
        CAPTURE(n);
        const std::optional<bool> failed =
            fails_without_allocation(n, [&] { static_cast<void>(sample.graph.clone()); });
        CHECK(cudaGetLastError() == cudaSuccess);
        CHECK(sample.owned.use_count() > 1);
        if (!failed) break;
    }
    cudag::Exec of_clone = sample.graph.clone().instantiate();
    CHECK(sample.result(of_clone) == expected);
}

TEST_CASE("an update of a graph for which there is no memory changes nothing, and can be made again",
          "[unit][faults]") {
    const auto result = [](Sample& s) {
        cudag::Exec exec = s.graph.instantiate();
        return s.result(exec);
    };
    const std::vector<Change> changes{
        {"kernel",
         [](Sample& s) {
             s.graph.update(s.pipeline.kernel, s.pipeline.kernel_x(), s.pipeline.kernel_y(), Pipeline::size,
                            new_factor);
         }},
        {"argument", [](Sample& s) { s.graph.update(s.pipeline.kernel, cudag::arg<3>(new_factor)); }},
        {"copy", [](Sample& s) { s.graph.update(s.pipeline.upload, s.pipeline.kernel_x(), *s.owned); }},
        {"copy with an owner", [](Sample& s) { s.graph.update(s.pipeline.upload, s.pipeline.kernel_x(), s.owned); }},
        {"fill", [](Sample& s) { s.graph.update(s.pipeline.set, s.pipeline.kernel_y(), new_fill); }},
        {"host function",
         [](Sample& s) { s.graph.update(s.pipeline.count, [&runs = s.pipeline.runs] { runs += 10; }); }},
    };
    for (const Change& change : changes)
        check_change(change, result);
}

TEST_CASE("a clone and an exec for which there is no memory are not made, and their graph stays what it was",
          "[unit][faults]") {
    const auto check = [](const char* name, const std::function<void(Sample&, int&)>& make) {
        int made = 0;
        const auto result = [&](Sample& s) {
            cudag::Exec exec = s.graph.instantiate();
            CHECK(s.result(exec).first == s.pipeline.expected());
            return std::exchange(made, 0);
        };
        check_change({name, [&](Sample& s) { make(s, made); }}, result);
    };
    check("clone", [](Sample& s, int& made) {
        const cudag::Graph clone = s.graph.clone();
        made = 1;
    });
    check("instantiate", [](Sample& s, int& made) {
        const cudag::Exec exec = s.graph.instantiate();
        made = 1;
    });
}
