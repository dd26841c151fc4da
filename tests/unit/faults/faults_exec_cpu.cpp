// Every runtime call that fails while an Exec is launched, uploaded or updated.
#include "faults.hpp"
#include "live_counts.hpp"
#include "pipeline.hpp"

#include <catch.hpp>

#include <memory>

namespace {

std::shared_ptr<std::vector<int>> filled(int value) {
    return std::make_shared<std::vector<int>>(Pipeline::size, value);
}

/// Walks through the calls of `update`: after each failure the Exec must run as it did, in the end as `updated` says.
template <class Update>
void check_update(Pipeline& pipeline, Update&& update, const std::vector<int>& updated) {
    const NothingLeft check;
    cudag::Exec exec = pipeline.build().instantiate();
    const std::vector<int> before = pipeline.expected();
    CHECK(pipeline.run(exec) == before);
    const Faults faults = for_every_call_failing([&] { update(exec); }, [&] { CHECK(pipeline.run(exec) == before); });
    CHECK(faults.thrown == 1);
    CHECK(faults.ignored == 0);
    CHECK(pipeline.run(exec) == updated);
}

template <class Update>
void check_is_update_error(Update&& update) {
    Pipeline pipeline;
    cudag::Exec exec = pipeline.build().instantiate();
    cudart_cpu::fail_call(1, cudaErrorMemoryAllocation);
    CHECK_THROWS_AS(update(pipeline, exec), cudag::UpdateError);
}

} // namespace

TEST_CASE("a launch that fails runs nothing", "[unit][faults]") {
    const NothingLeft check;
    Pipeline pipeline;
    cudag::Exec exec = pipeline.build().instantiate();
    const Faults faults = for_every_call_failing([&] { exec.launch(pipeline.stream); },
                                                 [&] {
                                                     pipeline.stream.synchronize();
                                                     CHECK(pipeline.runs == 0);
                                                     CHECK(exec.replays() == 0);
                                                 });
    CHECK(faults.thrown == 3); // two ask which stream it is, since the graph has a host node
    CHECK(faults.ignored == 0);
    pipeline.stream.synchronize();
    CHECK(pipeline.runs == 1);
    CHECK(exec.replays() == 1);
}

TEST_CASE("an Exec that keeps an update's owners counts the launches that ran, and only those", "[unit][faults]") {
    Pipeline pipeline;
    cudag::Exec exec = pipeline.build().instantiate();
    const auto other = filled(5);
    exec.update(pipeline.upload, pipeline.kernel_x(), other);
    const bool has_clock = GENERATE(true, false);
    cudaStream_t plain = nullptr; // whose launches are marked by events
    cudag::check(cudaStreamCreate(&plain));
    const cudag::StreamRef stream = has_clock ? cudag::StreamRef(pipeline.stream) : cudag::StreamRef(plain);
    const auto agree = [&] {
        cudag::check(cudaStreamSynchronize(stream.get()));
        CHECK(exec.replays() == static_cast<std::uint64_t>(pipeline.runs));
    };
    // Each update retires an owner, so that each launch needs a mark.
    const Faults faults = for_every_call_failing([&] { exec.launch(stream); }, agree,
                                                 [&] { exec.update(pipeline.upload, pipeline.kernel_x(), filled(5)); });
    CHECK(faults.thrown >= (has_clock ? 3 : 6)); // two ask which stream it is, as there is a host node; the launch
    agree();
    cudag::check(cudaStreamDestroy(plain));
}

TEST_CASE("an upload that fails leaves the Exec ready to launch", "[unit][faults]") {
    const NothingLeft check;
    Pipeline pipeline;
    cudag::Exec exec = pipeline.build().instantiate();
    const Faults faults = for_every_call_failing([&] { exec.upload(pipeline.stream); });
    CHECK(faults.thrown == 1);
    CHECK(faults.ignored == 0);
    CHECK(pipeline.run(exec) == pipeline.expected());
}

TEST_CASE("a kernel update that fails changes nothing", "[unit][faults]") {
    Pipeline pipeline;
    const NothingLeft check;
    const auto plus = std::make_shared<cudag::PinnedBuffer<int>>(Pipeline::size);
    std::fill(plus->begin(), plus->end(), 100);
    SECTION("all arguments, with an owner") {
        check_update(
            pipeline,
            [&](cudag::Exec& exec) { exec.update(pipeline.kernel, pipeline.kernel_x(), plus, Pipeline::size, 5); },
            pipeline.expected(5, 100));
    }
    SECTION("one argument") {
        check_update(
            pipeline, [&](cudag::Exec& exec) { exec.update(pipeline.kernel, cudag::arg<3>(11)); },
            pipeline.expected(11));
    }
    SECTION("an owner by position") {
        check_update(
            pipeline, [&](cudag::Exec& exec) { exec.update(pipeline.kernel, cudag::arg<1>(plus)); },
            pipeline.expected(Pipeline::factor, 100));
    }
    SECTION("the configuration") {
        check_update(
            pipeline,
            [&](cudag::Exec& exec) {
                exec.update(pipeline.kernel, cudag::grid_1d(Pipeline::size, 4), cudag::arg<3>(2));
            },
            pipeline.expected(2));
    }
}

TEST_CASE("a memcpy update that fails changes nothing", "[unit][faults]") {
    Pipeline pipeline;
    check_update(
        pipeline, [&](cudag::Exec& exec) { exec.update(pipeline.upload, pipeline.kernel_x(), filled(4)); },
        std::vector<int>(Pipeline::size, 4 * Pipeline::factor + Pipeline::fill));
}

TEST_CASE("a memset update that fails changes nothing", "[unit][faults]") {
    Pipeline pipeline;
    check_update(
        pipeline, [&](cudag::Exec& exec) { exec.update(pipeline.set, pipeline.kernel_y(), 70); },
        pipeline.expected(Pipeline::factor, 70));
}

TEST_CASE("a host update that fails changes nothing", "[unit][faults]") {
    Pipeline pipeline;
    int other_runs = 0;
    check_update(
        pipeline, [&](cudag::Exec& exec) { exec.update(pipeline.count, [&] { ++other_runs; }); }, pipeline.expected());
    CHECK(pipeline.runs == 2); // before the walk, and after its one failure
    CHECK(other_runs == 1);
}

TEST_CASE("disabling and enabling that fail change nothing", "[unit][faults]") {
    Pipeline pipeline;
    const std::vector<int> without_kernel = pipeline.in;
    SECTION("disable") {
        check_update(
            pipeline, [&](cudag::Exec& exec) { exec.disable(pipeline.kernel); }, without_kernel);
    }
    SECTION("enable") {
        cudag::Exec exec = pipeline.build().instantiate();
        exec.disable(pipeline.kernel);
        const Faults faults = for_every_call_failing([&] { exec.enable(pipeline.kernel); },
                                                     [&] { CHECK_FALSE(exec.is_enabled(pipeline.kernel)); });
        CHECK(faults.thrown == 1);
        CHECK(pipeline.run(exec) == pipeline.expected());
    }
    SECTION("is_enabled") {
        cudag::Exec exec = pipeline.build().instantiate();
        const Faults faults = for_every_call_failing([&] { return exec.is_enabled(pipeline.kernel); });
        CHECK(faults.thrown == 1);
    }
}

TEST_CASE("a refused update is an UpdateError", "[unit][faults]") {
    check_is_update_error([](Pipeline& p, cudag::Exec& exec) { exec.update(p.kernel, cudag::arg<3>(1)); });
    check_is_update_error([](Pipeline& p, cudag::Exec& exec) { exec.update(p.upload, p.kernel_x(), p.in); });
    check_is_update_error([](Pipeline& p, cudag::Exec& exec) { exec.update(p.set, p.kernel_y(), 1); });
    check_is_update_error([](Pipeline& p, cudag::Exec& exec) { exec.update(p.count, [] {}); });
    check_is_update_error([](Pipeline& p, cudag::Exec& exec) { exec.disable(p.kernel); });
}

TEST_CASE("the owner of an update that failed is let go", "[unit][faults]") {
    Pipeline pipeline;
    cudag::Exec exec = pipeline.build().instantiate();
    auto refused = filled(4);
    const std::weak_ptr<std::vector<int>> watch = refused;
    cudart_cpu::fail_call(1, cudaErrorMemoryAllocation);
    CHECK_THROWS_AS(exec.update(pipeline.upload, pipeline.kernel_x(), std::move(refused)), cudag::UpdateError);
    refused.reset();
    CHECK(watch.expired());
}

TEST_CASE("a launch that fails is laid to memory that is not freed only where that can be", "[unit][faults]") {
    const auto graph = [] {
        cudag::GraphBuilder b;
        const auto freed = b.alloc<int>(1).label("freed");
        b.free(freed).after(freed);
        static_cast<void>(b.alloc<int>(1).label("kept"));
        return std::move(b).build();
    };
    const cudag::Stream stream;
    const auto failure = [&](cudag::Exec& exec) {
        cudart_cpu::fail_call(1, cudaErrorInvalidValue);
        std::string text;
        try {
            exec.launch(stream);
        } catch (const cudag::Error& error) {
            text = error.what();
        }
        cudart_cpu::fail_call(0, cudaSuccess);
        stream.synchronize();
        return text;
    };
    {
        cudag::Exec exec = graph().instantiate({.auto_free_on_launch = true});
        exec.launch(stream);
        CHECK_THAT(failure(exec), ContainsSubstring("cuGraphLaunch") && !ContainsSubstring("is not freed"));
    }
    cudag::Exec exec = graph().instantiate();
    CHECK_THAT(failure(exec), ContainsSubstring("cuGraphLaunch") && !ContainsSubstring("is not freed"));
    exec.launch(stream);
    CHECK_THAT(failure(exec),
               ContainsSubstring("alloc \"kept\" at ") && ContainsSubstring("is not freed in this graph"));
}

TEST_CASE("a launch is one call of CUDA's", "[unit][exec]") {
    const cudag::DeviceBuffer<int> x(1);
    cudag::GraphBuilder b;
    b.kernel({}, multiply_add, x, x, 1, 0);
    cudag::Exec exec = std::move(b).build().instantiate();
    const cudag::Stream stream;
    exec.launch(stream);
    const std::uint64_t before = cudart_cpu::call_count();
    exec.launch(stream);
    CHECK(cudart_cpu::call_count() == before + 1);
    stream.synchronize();
}
