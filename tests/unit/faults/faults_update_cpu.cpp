// Every runtime call that fails while several nodes are updated at once: all of them change, or none.
#include "allocation_faults.hpp"
#include "faults.hpp"
#include "gate.hpp"
#include "growth_kernels.hpp"
#include "live_counts.hpp"
#include "pipeline.hpp"

#include <catch.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace {

constexpr int new_factor = 5;
constexpr int new_fill = 9;

/// Gives two nodes of `graph` new values.
void change(cudag::Graph& graph, const Pipeline& pipeline) {
    graph.update(pipeline.kernel, cudag::arg<3>(new_factor));
    graph.update(pipeline.set, pipeline.kernel_y(), new_fill);
}

} // namespace

TEST_CASE("an apply that fails at any node changes none", "[unit][faults]") {
    const NothingLeft check;
    Pipeline pipeline;
    cudag::Graph graph = pipeline.build();
    cudag::Exec exec = graph.instantiate();
    change(graph, pipeline);
    const Faults faults = for_every_call_failing([&] { return exec.apply(graph); },
                                                 [&] { CHECK(pipeline.run(exec) == pipeline.expected()); });
    CHECK(faults.thrown == 2);
    CHECK(faults.ignored == 0);
    CHECK(pipeline.run(exec) == pipeline.expected(new_factor, new_fill));
}

TEST_CASE("a graph's update that fails changes nothing", "[unit][faults]") {
    const NothingLeft check;
    Pipeline pipeline;
    cudag::Graph graph = pipeline.build();
    cudag::Exec exec = graph.instantiate();
    const Faults faults = for_every_call_failing([&] { graph.update(pipeline.kernel, cudag::arg<3>(new_factor)); },
                                                 [&] { CHECK(exec.apply(graph) == 0); });
    CHECK(faults.thrown == 1);
    CHECK(exec.apply(graph) == 1);
    CHECK(pipeline.run(exec) == pipeline.expected(new_factor));
}

TEST_CASE("only a copy whose values CUDA refuses is told about kinds of memory", "[unit][faults]") {
    Pipeline pipeline;
    const cudag::Graph graph = pipeline.build();
    cudag::Exec exec = graph.instantiate();
    const auto why = [&](cudaError_t code) -> std::string {
        cudart_cpu::fail_call(1, code);
        try {
            exec.update(pipeline.upload, pipeline.kernel_x(), pipeline.in);
        } catch (const cudag::UpdateError& error) {
            return error.what();
        }
        return "";
    };
    CHECK_THAT(why(cudaErrorMemoryAllocation),
               ContainsSubstring("out of memory") && !ContainsSubstring("kind of memory"));
    CHECK_THAT(why(cudaErrorInvalidValue), // for another reason, as CUDA's log says
               ContainsSubstring("fault injected") && !ContainsSubstring("kind of memory"));
}

TEST_CASE("an update of the whole that fails changes nothing", "[unit][faults]") {
    const NothingLeft check;
    Pipeline pipeline;
    cudag::Exec exec = pipeline.build().instantiate();
    Pipeline other;
    cudag::Graph graph = other.build();
    change(graph, other);
    const Faults faults = for_every_call_failing([&] { return exec.update(graph).updated(); },
                                                 [&] { CHECK(pipeline.run(exec) == pipeline.expected()); });
    CHECK(faults.thrown >= 3); // edges, owners, the update
    CHECK(faults.ignored == 0);
    CHECK(other.run(exec) == other.expected(new_factor, new_fill));
}

TEST_CASE("an update of the whole by captured graphs, which are read then, fails and changes nothing",
          "[unit][faults]") {
    const cudag::DeviceBuffer<int> one(1);
    cudag::PinnedBuffer<int> x(1);
    const cudag::Stream stream;
    const auto recorded = [&](int factor) {
        return cudag::capture(
            stream, [&](cudaStream_t s) { cudag::launch(s, {}, multiply_add, x.data(), one.data(), 1, factor); });
    };
    cudag::check(cudaMemset(one.data(), 0, sizeof(int)));
    cudag::check(cudaDeviceSynchronize());
    std::optional<cudag::Graph> next;
    std::optional<cudag::Exec> exec;
    const auto run = [&] {
        x[0] = 1;
        exec->launch(stream);
        stream.synchronize();
        return x[0];
    };
    bool updated = false;
    const auto prepare = [&] { // anew each time: a graph is read once
        updated = false;
        next = recorded(3);
        exec = recorded(2).instantiate();
    };
    const auto update = [&] {
        updated = exec->update(*next).updated();
        return updated;
    };
    const Faults faults = for_every_call_failing(
        update, [&] { CHECK(run() == (updated ? 3 : 2)); }, prepare);
    CHECK(faults.thrown >= 1);
    CHECK(run() == 3);
}

TEST_CASE("a parameter that cannot be set in one exec is set in none", "[unit][faults]") {
    const NothingLeft check;
    Pipeline pipeline;
    cudag::DynamicParam<int> factor(Pipeline::factor);
    cudag::GraphBuilder builder;
    cudag::DeviceBuffer<int> x(Pipeline::size);
    const auto upload = builder.memcpy(x, pipeline.in);
    const auto first = builder.kernel(cudag::grid_1d(Pipeline::size, 8), multiply_add, x, x, Pipeline::size, factor);
    builder.memcpy(pipeline.out, x).after(first.after(upload));
    const cudag::Graph graph = std::move(builder).build();
    cudag::Exec one = graph.instantiate();
    cudag::Exec two = graph.instantiate();
    const auto check_both = [&](int by) {
        std::vector<int> expected(pipeline.in);
        for (int& value : expected)
            value = value * by + value;
        CHECK(pipeline.run(one) == expected);
        CHECK(pipeline.run(two) == expected);
        CHECK(factor.value() == by);
    };
    const Faults faults =
        for_every_call_failing([&] { return factor.set(new_factor, one, two); }, [&] { check_both(Pipeline::factor); });
    CHECK(faults.thrown == 2);
    check_both(new_factor);
}

TEST_CASE("an exec that cannot be instantiated anew stays what it was", "[unit][faults]") {
    Pipeline pipeline;
    cudag::Exec exec = pipeline.build().instantiate();
    Pipeline other;
    cudag::GraphBuilder builder;
    other.write(builder);
    builder.host([] {});
    const cudag::Graph larger = std::move(builder).build();
    for (std::uint64_t call = 1; exec.update_counts() == cudag::UpdateCounts{}; ++call) {
        CAPTURE(call);
        CHECK(pipeline.run(exec) == pipeline.expected());
        cudart_cpu::fail_call(call, cudaErrorMemoryAllocation);
        try {
            static_cast<void>(exec.update_or_instantiate(larger));
        } catch (const cudag::InstantiateError&) {
        } catch (const cudag::GraphError&) {
        }
        cudart_cpu::fail_call(0, cudaSuccess);
        REQUIRE(call < 100);
    }
    CHECK(exec.update_counts() == cudag::UpdateCounts{0, 1});
    CHECK(other.run(exec) == other.expected());
}

TEST_CASE("an exec that fails to take its former instance stays what it was", "[unit][faults]") {
    Pipeline pipeline, other;
    const auto larger = [&] {
        cudag::GraphBuilder builder;
        other.write(builder);
        builder.host([] {});
        return std::move(builder).build();
    };
    cudag::Exec exec = pipeline.build().instantiate();
    static_cast<void>(exec.update_or_instantiate(larger()));
    static_cast<void>(exec.update_or_instantiate(pipeline.build()));
    const cudag::Graph next = larger();
    const cudag::UpdateCounts before = exec.update_counts();
    const auto is_unchanged = [&] { return exec.update_counts() == before; };
    for (std::uint64_t call = 1; is_unchanged(); ++call) {
        CAPTURE(call);
        CHECK(pipeline.run(exec) == pipeline.expected());
        cudart_cpu::fail_call(call, cudaErrorMemoryAllocation);
        try {
            static_cast<void>(exec.update_or_instantiate(next));
        } catch (const cudag::Error&) {
            CHECK(is_unchanged());
        }
        cudart_cpu::fail_call(0, cudaSuccess);
        REQUIRE(call < 100);
    }
    CHECK(exec.update_counts() == cudag::UpdateCounts{0, 2, 1});
    CHECK(other.run(exec) == other.expected());
}

TEST_CASE("a bind that fails at any node changes none", "[unit][faults]") {
    const NothingLeft check;
    Pipeline pipeline;
    const cudag::Graph graph = pipeline.build();
    cudag::Exec exec = graph.instantiate();
    const cudag::BufferParam<int> x = graph.parameter(pipeline.kernel_x()), y = graph.parameter(pipeline.kernel_y());
    const cudag::DeviceBuffer<int> to(Pipeline::size), from(Pipeline::size);
    cudag::check(cudaMemset(to.data(), 0, to.size_bytes()));
    const auto is_untouched = [&] {
        std::vector<int> values(Pipeline::size, -1);
        cudag::check(cudaMemcpy(values.data(), to.data(), to.size_bytes(), cudaMemcpyDeviceToHost));
        return values == std::vector<int>(Pipeline::size);
    };
    const Faults faults = for_every_call_failing(
        [&] {
            return exec.bind({{x, to}, {y, from}});
        },
        [&] {
            CHECK(pipeline.run(exec) == pipeline.expected());
            CHECK(is_untouched());
            CHECK(to.owner().use_count() == 1);
        });
    CHECK(faults.thrown == 4);
    CHECK(faults.ignored == 0);
    CHECK(to.owner().use_count() > 1);
    CHECK(pipeline.run(exec) == pipeline.expected());
    CHECK_FALSE(is_untouched());
}

TEST_CASE("a bind made again that fails at any node changes none", "[unit][faults]") {
    const NothingLeft check;
    const cudag::DeviceBuffer<int> x(1), y(1);
    const cudag::BufferParam<int> in(1), out(1);
    cudag::GraphBuilder b;
    const auto first = b.kernel({}, store_value, in, 1);
    const auto second = b.kernel({}, store_value, out, 2).after(first);
    b.kernel({}, store_value, in, 3).after(second);
    cudag::Exec exec = std::move(b).build().instantiate();
    const auto bind = [&](bool is_swapped) { return exec.bind({{in, is_swapped ? y : x}, {out, is_swapped ? x : y}}); };
    const cudag::Stream stream;
    for (int turn = 0; turn < 4; ++turn) {
        CHECK(bind(turn % 2 == 0) == 3);
        exec.launch(stream);
    }
    stream.synchronize();
    const Faults faults = for_every_call_failing([&] { return bind(true); },
                                                 [&] {
                                                     CHECK(bind(false) == 0);
                                                     CHECK(x.owner().use_count() == 3); // the test's, two nodes'
                                                 });
    CHECK(faults.thrown == 3);
    CHECK(faults.ignored == 0);
    CHECK(bind(true) == 0);
}

TEST_CASE("a host task that an update has brought back is called as before", "[unit][faults]") {
    Gate gate;
    const cudag::Stream stream;
    auto first_calls = std::make_shared<std::atomic<int>>(0);
    const auto apply_in_vain = [&](const cudag::Graph& graph, cudag::Exec& exec) {
        for (std::uint64_t call = 1; call <= 2; ++call) { // the second one after the first one is taken
            cudart_cpu::fail_call(call, cudaErrorInvalidValue);
            CHECK_THROWS_AS(exec.apply(graph), cudag::UpdateError);
            cudart_cpu::fail_call(0, cudaSuccess);
        }
    };
    const cudag::DeviceBuffer<int> cells(1);
    cudag::GraphBuilder b;
    const auto task = b.host([first_calls] {
        ++*first_calls;
        throw std::runtime_error("of the first task");
    });
    const auto fill = b.memset(cells, 1).after(task);
    cudag::Graph graph = std::move(b).build();
    cudag::Exec exec = graph.instantiate();
    graph.update(task, [] {});
    graph.update(fill, cells, 2);
    apply_in_vain(graph, exec);

    cudag::GraphBuilder held;
    held.host(gate.waiter());
    cudag::Exec blocker = std::move(held).build().instantiate();
    blocker.launch(stream);
    exec.launch(stream);
    CHECK(exec.apply(graph) == 2); // what was brought back stays until that launch has ended
    std::vector<std::unique_ptr<std::array<char, 64>>> others; // in the place of what is gone
    for (int i = 0; i < 1000; ++i)
        others.push_back(std::make_unique<std::array<char, 64>>());
    gate.open();
    CHECK_THROWS_MATCHES(stream.synchronize(), cudag::HostError,
                         MessageMatches(ContainsSubstring("of the first task")));
    CHECK(*first_calls == 1);
    exec.launch(stream);
    CHECK_NOTHROW(stream.synchronize());
    CHECK(*first_calls == 1);
}

TEST_CASE("a refused apply for whose words there is no memory changes nothing", "[unit][faults]") {
    const cudag::Stream stream;
    const cudag::DeviceBuffer<int> cells(2);
    const auto first = cells.span().subspan(0, 1), second = cells.span().subspan(1, 1);
    cudag::GraphBuilder b;
    const auto one = b.memset(first, 1);
    const auto two = b.kernel({}, multiply_add, second, first, 1, 1).after(one);
    cudag::Graph graph = std::move(b).build();
    graph.update(one, first, 2);
    graph.update(two, cudag::arg<3>(2));
    unsigned failures = 0;
    for (std::size_t n = 1;; ++n) {
        CAPTURE(n);
        graph.update(one, first, 1);
        graph.update(two, cudag::arg<3>(1));
        cudag::Exec exec = graph.instantiate();
        graph.update(one, first, 2);
        graph.update(two, cudag::arg<3>(2));
        cudart_cpu::fail_call(2, cudaErrorInvalidValue);
        bool is_out_of_memory = false;
        fail_allocation(n);
        try {
            static_cast<void>(exec.apply(graph));
        } catch (const std::bad_alloc&) {
            is_out_of_memory = true;
        } catch (const cudag::Error&) { // of CUDA, which may have found no memory to take back the first fill
        }
        const bool was_last = fail_allocation(0);
        cudart_cpu::fail_call(0, cudaSuccess);
        CHECK(cudaGetLastError() == cudaSuccess);
        failures += is_out_of_memory ? 1 : 0;
        std::vector<int> result{0, 1};
        cudag::check(cudaMemcpy(cells.data(), result.data(), 2 * sizeof(int), cudaMemcpyDefault));
        exec.launch(stream);
        stream.synchronize();
        cudag::check(cudaMemcpy(result.data(), cells.data(), 2 * sizeof(int), cudaMemcpyDefault));
        CHECK(result[1] == 1 + result[0]);
        if (is_out_of_memory || was_last) CHECK(result[0] == 1);
        if (was_last) break;
    }
    CHECK(failures >= 5);
}
