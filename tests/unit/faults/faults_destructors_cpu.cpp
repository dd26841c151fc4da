// Destructors go on after calls that fail, tell of them, and leave no error behind for the user's own calls.
#include "allocation_faults.hpp"
#include "capture_mode.hpp"
#include "faults.hpp"
#include "kernels.hpp"
#include "live_counts.hpp"
#include "printed.hpp"

#include <cudag/cudag.hpp>
#include <cudag/observer.hpp>

#include <catch.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

/// Makes each call of the destructor of what `make` returns fail.
template <class Make>
Faults fail_destructor(Make&& make) {
    using Object = std::invoke_result_t<Make&>;
    std::unique_ptr<Object> object;
    const Faults faults =
        for_every_call_failing([&] { object.reset(); }, [] {}, [&] { object = std::make_unique<Object>(make()); });
    CHECK(faults.thrown == 0);
    CHECK(faults.ignored > 0);
    return faults;
}

cudag::Graph graph_with_owner() {
    cudag::GraphBuilder builder;
    const cudag::DeviceBuffer<int> x(4);
    builder.memset(x, 1);
    return std::move(builder).build();
}

} // namespace

TEST_CASE("destructors of streams, events and buffers ignore failures", "[unit][faults]") {
    CHECK(fail_destructor([] { return cudag::Stream(); }).ignored == 1);
    CHECK(fail_destructor([] { return cudag::Event(); }).ignored == 1);
    CHECK(fail_destructor([] { return cudag::DeviceBuffer<int>(4); }).ignored == 1);
    CHECK(fail_destructor([] { return cudag::PinnedBuffer<int>(4); }).ignored == 1);
}

TEST_CASE("a destructor tells of a call that fails on stderr, once for each code in a row", "[unit][faults]") {
    const auto destroy = [](cudaError_t failure) {
        const auto event = std::make_unique<std::optional<cudag::Event>>(std::in_place);
        const cudaEvent_t native = (*event)->get();
        cudart_cpu::fail_call(1, failure);
        event->reset();
        cudart_cpu::fail_call(0, cudaSuccess);
        cudag::check(cudaEventDestroy(native)); // it is still there
    };
    destroy(cudaErrorUnknown); // whatever was told before
    for (const cudaError_t about_all :
         {cudaErrorCudartUnloading, cudaErrorContextIsDestroyed, cudaErrorIllegalAddress, cudaErrorLaunchTimeout,
          cudaErrorAssert, cudaErrorHardwareStackError, cudaErrorIllegalInstruction, cudaErrorLaunchFailure})
        CHECK(printed([&] { destroy(about_all); }).empty());
    for (const cudaError_t beside : {cudaErrorLaunchOutOfResources, cudaErrorTooManyPeers,
                                     cudaErrorHostMemoryNotRegistered, cudaErrorCooperativeLaunchTooLarge})
        CHECK_FALSE(printed([&] { destroy(beside); }).empty());
    const std::string told = printed([&] { destroy(cudaErrorInvalidValue); });
    CHECK_THAT(told, Catch::Matchers::StartsWith("cudag: in a destructor: cudaEventDestroy: "));
    CHECK_THAT(told, ContainsSubstring("cudaErrorInvalidValue"));
    CHECK(std::ranges::count(told, '\n') == 1);
    CHECK(printed([&] { destroy(cudaErrorInvalidValue); }).empty());
    CHECK_FALSE(printed([&] { destroy(cudaErrorUnknown); }).empty());
    CHECK(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("a destructor tells of a call that fails also where there is no memory for CUDA's account",
          "[unit][faults]") {
    std::set<std::string> told;
    for (std::size_t allocation = 1; allocation <= 12; ++allocation) {
        // two codes in turn, so that each is told
        const cudaError_t code = allocation % 2 == 0 ? cudaErrorInvalidValue : cudaErrorUnknown;
        std::optional<cudag::Event> event(std::in_place);
        const cudaEvent_t native = event->get();
        cudart_cpu::fail_call(1, code);
        told.insert(printed([&] { fails_without_allocation(allocation, [&] { event.reset(); }); }));
        cudart_cpu::fail_call(0, cudaSuccess);
        static_cast<void>(cudaEventDestroy(native));
        CHECK(cudaPeekAtLastError() == cudaSuccess);
    }
    CHECK(told.count("cudag: in a destructor: cudaEventDestroy failed\n") == 1);
}

TEST_CASE("destructors of builders, graphs and execs ignore failures", "[unit][faults]") {
    fail_destructor([] { return cudag::GraphBuilder(); });
    fail_destructor([] { return graph_with_owner(); });
    fail_destructor([] { return graph_with_owner().instantiate(); });
    fail_destructor([] {
        const cudag::Graph graph = graph_with_owner();
        static_cast<void>(graph.native());
        return graph.clone();
    });
}

TEST_CASE("an Exec that keeps owners ignores failures at its end", "[unit][faults]") {
    const cudag::Stream stream;
    std::vector<int> host(4);
    fail_destructor([&] {
        cudag::GraphBuilder builder;
        const cudag::MemcpyNode copy = builder.memcpy(cudag::PinnedBuffer<int>(4), host);
        cudag::Exec exec = std::move(builder).build().instantiate();
        exec.update(copy, cudag::PinnedBuffer<int>(4), host);
        exec.launch(stream);
        stream.synchronize();
        return exec;
    });
}

TEST_CASE("an allocation ignores failures in freeing what launches have finished with", "[unit][faults]") {
    std::optional<cudag::DeviceBuffer<int>> buffer;
    const auto leave_owners_behind = [&] {
        buffer.reset();
        cudaGraph_t clone = nullptr;
        REQUIRE(cudaGraphClone(&clone, graph_with_owner().native()) == cudaSuccess);
        REQUIRE(cudaGraphDestroy(clone) == cudaSuccess); // the last to use the owner, and no call of cudag's
    };
    const Faults faults = for_every_call_failing([&] { buffer.emplace(4); }, [] {}, leave_owners_behind);
    CHECK(faults.thrown == 1);
    CHECK(faults.ignored > 0);
}

TEST_CASE("an observer receives every failure of a destructor", "[unit][faults]") {
    std::vector<std::string> told;
    const cudag::Observer former = cudag::set_observer([&](const cudag::Observation& event) {
        if (const auto* failure = event.find<cudag::ObservedFailure>()) told.push_back(failure->text);
    });
    const std::string on_stderr = printed([] {
        fail_destructor([] { return cudag::Event(); });
        fail_destructor([] { return cudag::Event(); });
    });
    cudag::set_observer(former);
    REQUIRE(told.size() == 2);
    for (const std::string& text : told)
        CHECK_THAT(text, Catch::Matchers::StartsWith("cudag: in a destructor: cudaEventDestroy: ") &&
                             ContainsSubstring("cudaErrorMemoryAllocation"));
    CHECK(std::ranges::count(on_stderr, '\n') <= 1); // the code may have been printed before
}

TEST_CASE("a failure while owners are freed leaves the thread's capture mode as it was", "[unit][faults]") {
    const cudaStreamCaptureMode before = capture_mode();
    bool has_failed_to_restore = false;
    const cudag::Observer former = cudag::set_observer([&](const cudag::Observation& event) {
        const auto* failure = event.find<cudag::ObservedFailure>();
        if (failure != nullptr && failure->text.find("cudaThreadExchangeStreamCaptureMode") != std::string::npos)
            has_failed_to_restore = true;
    });
    std::optional<cudag::Graph> graph;
    for_every_call_failing([&] { graph.reset(); },
                           [&] {
                               const bool may_differ = std::exchange(has_failed_to_restore, false);
                               CHECK((may_differ || capture_mode() == before));
                               cudaStreamCaptureMode mode = before;
                               REQUIRE(cudaThreadExchangeStreamCaptureMode(&mode) == cudaSuccess);
                           },
                           [&] {
                               graph.emplace(graph_with_owner());
                               static_cast<void>(graph->native());
                           });
    cudag::set_observer(former);
}
