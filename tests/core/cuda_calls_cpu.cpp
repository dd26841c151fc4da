// The calls that cudag makes of CUDA, counted and made to fail: what it asks, and what it leaves behind.
#include "cuda/cuda_log.hpp"
#include "cuda/device_guard.hpp"
#include "cuda/driver.hpp"
#include "cuda/function_cache.hpp"
#include "cuda/kernel_function.hpp"
#include "cuda/open_captures.hpp"
#include "cuda/progress.hpp"
#include "owners/stream_clock.hpp"
#include "several_devices.hpp"

#include "catch.hpp"
#include "kernels.hpp"

#include <cudag/buffer.hpp>
#include <cudag/buffer_param.hpp>
#include <cudag/builder.hpp>
#include <cudag/capture.hpp>
#include <cudag/detail/kernel_call.hpp>
#include <cudag/dynamic_param.hpp>
#include <cudag/event.hpp>
#include <cudag/exec.hpp>
#include <cudag/stream.hpp>
#include <cudag/stream_capture.hpp>
#include <cudag/update_options.hpp>

#include <cudart_cpu/control.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using cudag::check;
using cudag::Event;
using cudag::Stream;
using cudag::detail::describe_failure;
using cudag::detail::hint;
using cudag::detail::kernel_function;
using cudag::detail::OpenCapture;
using cudag::detail::StreamClock;
using cudag::detail::Subject;

namespace {

int current_device() {
    int device = -1;
    check(cudaGetDevice(&device));
    return device;
}

/// `call()` with its n-th call of the runtime failing.
template <class Call>
auto with_failing(std::uint64_t n, cudaError_t code, const Call& call) {
    struct Armed {
        Armed(std::uint64_t which, cudaError_t error) { cudart_cpu::fail_call(which, error); }
        ~Armed() { cudart_cpu::fail_call(0, cudaSuccess); }
    };
    const Armed armed(n, code);
    return call();
}

/// Holds a stream up until it is opened.
class Held {
  public:
    explicit Held(const Stream& stream) {
        check(cudaLaunchHostFunc(
            stream.get(), [](void* closed) { static_cast<std::atomic<bool>*>(closed)->wait(true); }, &closed_));
    }
    ~Held() {
        open();
        static_cast<void>(cudaDeviceSynchronize());
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

    void open() {
        closed_ = false;
        closed_.notify_all();
    }

  private:
    std::atomic<bool> closed_ = true;
};

} // namespace

TEST_CASE("what is tried on other devices leaves out the current one, and comes back to it", "[cuda][devices]") {
    const int here = GENERATE(0, 1, 2);
    const SeveralDevices devices(3, here);
    std::vector<int> tried;
    CHECK_FALSE(cudag::detail::succeeds_on_another_device([&] {
        tried.push_back(current_device());
        return false;
    }));
    std::vector<int> others{0, 1, 2};
    others.erase(others.begin() + here);
    CHECK(tried == others);
    CHECK(current_device() == here);
    tried.clear();
    CHECK(cudag::detail::succeeds_on_another_device([&] {
        tried.push_back(current_device());
        return true;
    }));
    CHECK(tried == std::vector{others.front()});
    CHECK(current_device() == here);
}

TEST_CASE("a thread gets the context of the device that it has chosen", "[cuda][devices]") {
    const SeveralDevices devices(3, 2);
    CHECK(cudag::detail::make_context_current(CUDA_SUCCESS) != nullptr);
    CHECK(current_device() == 2);
    CHECK_THROWS_AS(cudag::detail::make_context_current(CUDA_ERROR_DEINITIALIZED), cudag::Error);
}

TEST_CASE("a kernel's function is looked up once, and for each context", "[cuda][functions]") {
    cudag::detail::FunctionCache<4> functions;
    const void* const symbol = cudag::detail::kernel_symbol(sought);
    int looked_up = 0;
    const auto find = [&](std::uint64_t context) {
        return functions.find(symbol, context, [&] {
            ++looked_up;
            return kernel_function<cudag::GraphError>(symbol, [] { return Subject(); });
        });
    };
    const CUfunction found = find(1);
    CHECK(found != nullptr);
    CHECK(find(1) == found);
    CHECK(looked_up == 1);
    CHECK(find(2) == found);
    CHECK(looked_up == 2);
}

TEST_CASE("a thread asks CUDA for a kernel's function once, for launches and all graphs", "[cuda][functions]") {
    const auto calls_of_graph = [] {
        cudag::GraphBuilder builder;
        const std::uint64_t calls = cudart_cpu::call_count();
        builder.kernel({}, sought);
        return cudart_cpu::call_count() - calls;
    };
    static_cast<void>(calls_of_graph()); // with what the process does once
    std::thread([&] {
        const std::uint64_t first = calls_of_graph();
        const std::uint64_t second = calls_of_graph();
        CHECK(second + 1 == first);
        CHECK(calls_of_graph() == second);
    }).join();
}

TEST_CASE("a node follows a parameter by one call of CUDA, whatever it takes from it", "[exec][dynamic]") {
    const cudag::DeviceBuffer<int> cells(2);
    cudag::DynamicParam<int> value(1);
    const auto shape = [](int now) { return cudag::LaunchConfig{.grid = static_cast<unsigned>(now)}; };
    cudag::GraphBuilder builder;
    const auto first = builder.kernel({}, kernels::scoped, cells.data(), value);
    const auto second = builder.kernel({}, kernels::scoped, cells.data(), value).after(first);
    value.drive(second, shape); // in another order than that of the nodes
    value.drive(first, shape);
    cudag::Exec exec = std::move(builder).build().instantiate();
    value.set(2, exec); // the first update of a node costs more
    const std::uint64_t calls = cudart_cpu::call_count();
    CHECK(value.set(3, exec) == 4);
    CHECK(cudart_cpu::call_count() - calls == 2);
}

TEST_CASE("buffers that take turns cost one call for each node, and one for the launch", "[exec][bind]") {
    const cudag::DeviceBuffer<int> x(1), y(1), other(1);
    const cudag::BufferParam<int> in(x), out(y);
    const Stream stream;
    cudag::GraphBuilder builder;
    const auto first = builder.kernel({}, kernels::scoped, in, 1);
    const auto second = builder.kernel({}, kernels::scoped, other, 2).after(first);
    builder.kernel({}, kernels::scoped, out, 3).after(second);
    cudag::Exec exec = std::move(builder).build().instantiate();
    for (int turn = 0; turn < 8; ++turn) {
        const bool is_even = turn % 2 == 0;
        const std::uint64_t calls = cudart_cpu::call_count();
        CHECK(exec.bind({{in, is_even ? y : x}, {out, is_even ? x : y}}) == 2);
        exec.launch(stream);
        CAPTURE(turn);
        if (turn >= 3) CHECK(cudart_cpu::call_count() - calls == 3); // else owners and races are looked at
    }
    stream.synchronize();
}

namespace {

/// The calls of CUDA by an update of an Exec from one capture of `kernels` kernels to the next.
std::uint64_t calls_of_update(int kernels, bool marks, cudag::UpdateOptions options) {
    const Stream stream;
    const cudag::DeviceBuffer<int> cell(1);
    const auto capture = [&](int value) {
        return cudag::capture(stream, [&](cudag::StreamCapture& steps) {
            for (int i = 0; i < kernels; ++i) {
                int* data = cell.data();
                void* arguments[] = {static_cast<void*>(&data), &value};
                check(cudaLaunchKernel(reinterpret_cast<const void*>(kernels::scoped), {1}, {1}, arguments, 0,
                                       stream.get()));
            }
            if (marks) steps.mark("kernels");
        });
    };
    cudag::Exec exec = capture(1).instantiate();
    REQUIRE(exec.update(capture(2), options).updated());
    const std::uint64_t before = cudart_cpu::call_count();
    REQUIRE(exec.update(capture(3), options).updated());
    return cudart_cpu::call_count() - before;
}
std::uint64_t calls_of_a_node(bool marks, cudag::UpdateOptions options) {
    return (calls_of_update(30, marks, options) - calls_of_update(10, marks, options)) / 20;
}

} // namespace

TEST_CASE("an update by a captured graph asks CUDA only for what it checks", "[exec][update][capture]") {
    constexpr std::uint64_t launch = 1, attributes = 2, look = 2, edges = 1, unjoined = 1;
    CHECK(calls_of_a_node(false, {.trust_attributes = true}) == launch);
    CHECK(calls_of_a_node(false, {}) == launch + attributes);
    const auto structure = cudag::Match::structure;
    CHECK(calls_of_a_node(true, {.match = structure}) == launch + unjoined + look + edges + attributes);
    CHECK(calls_of_a_node(true, {.match = structure, .trust_attributes = true}) == launch + unjoined + look + edges);
}

TEST_CASE("an answer of another runtime is told from one of this process's only runtime", "[cuda][failure]") {
    const cudaError_t code = GENERATE(cudaErrorNoDevice, cudaErrorInsufficientDriver);
    const auto describe = [&] {
        return describe_failure(code, "cudaMalloc", Subject(), cudag::detail::Api::driver).text;
    };
    static_cast<void>(describe()); // asks for CUDA's log, once in a process
    const std::string same = with_failing(1, code, describe);
    CHECK_THAT(same, EndsWith(hint(code, "cudaMalloc")) && !ContainsSubstring("two CUDA runtimes"));
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    CHECK_THAT(describe(), ContainsSubstring("two CUDA runtimes in one process") &&
                               ContainsSubstring("answers cudaSuccess: ") && !ContainsSubstring(hint(code, "")));
    CHECK_THAT(with_failing(1, cudaErrorUnknown, describe),
               ContainsSubstring("answers cudaErrorUnknown: ") && ContainsSubstring("fault injected"));
    CHECK(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("calls that an event of an ended capture makes fail have a hint, and others none", "[cuda][failure]") {
    for (const char* const call :
         {"cudaEventSynchronize", "cudaEventQuery", "cudaEventElapsedTime", "cudaStreamWaitEvent"})
        CHECK_THAT(hint(cudaErrorInvalidValue, call), StartsWith("if the event was last recorded in a capture"));
    for (const char* const call : {"cudaMalloc", "cudaEventRecord", "cudaStreamSynchronize", ""})
        CHECK_THAT(hint(cudaErrorInvalidValue, call), Equals(""));
}

TEST_CASE("an event whose first answer fails is asked again, and leaves no error behind", "[cuda][progress]") {
    using cudag::detail::Progress;
    using cudag::detail::progress_of;
    const Stream stream;
    Event event;
    const auto ask = [&] { return progress_of(event.get()); };
    {
        Held held(stream);
        event.record(stream);
        CHECK(ask() == Progress::running);
        CHECK(with_failing(1, cudaErrorMemoryAllocation, ask) == Progress::running);
        static_cast<void>(cudaGetLastError()); // not ready
        held.open();
        stream.synchronize();
    }
    CHECK(with_failing(1, cudaErrorMemoryAllocation, ask) == Progress::done);
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    const cudag::StreamCapture capture(stream, {.mode = cudag::CaptureMode::relaxed});
    event.record(stream);
    CHECK(ask() == Progress::captured);
    CHECK(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("captures under way are counted until each has ended, once", "[cuda][captures]") {
    using cudag::detail::latest_captured;
    using cudag::detail::open_captures;
    const unsigned before = open_captures;
    CHECK(before == 0);
    const Stream stream, other;
    {
        OpenCapture first(stream.get(), {}, "relaxed");
        CHECK(open_captures == before + 1);
        CHECK(latest_captured == stream.get());
        OpenCapture second(other.get(), {}, "relaxed");
        CHECK(open_captures == before + 2);
        CHECK(latest_captured == other.get());
        first.end();
        CHECK(open_captures == before + 1);
        CHECK(latest_captured == other.get());
        first.end();
        CHECK(open_captures == before + 1);
        second.end();
        CHECK(latest_captured == nullptr);
        CHECK(open_captures == before);
    }
    CHECK(open_captures == before);
}

TEST_CASE("an Exec for captures of other code counts as one while it lives", "[cuda][captures]") {
    using cudag::detail::open_captures;
    const cudag::Graph graph = cudag::GraphBuilder().build();
    {
        cudag::Exec first = graph.instantiate({.capturable = true});
        CHECK(open_captures == 1);
        const cudag::Exec second = std::move(first);
        const cudag::Exec other = graph.instantiate();
        CHECK(open_captures == 1);
    }
    CHECK(open_captures == 0);
}

TEST_CASE("a capture under way is in the innermost step that has not ended", "[cuda][captures]") {
    const Stream stream;
    OpenCapture capture(stream.get(), {}, "relaxed");
    CHECK(capture.step_text().empty());
    capture.begin_step("outer", {});
    capture.begin_step("inner", {});
    CHECK_THAT(capture.step_text(), StartsWith(" in step \"inner\" at "));
    capture.end_step();
    CHECK_THAT(capture.step_text(), StartsWith(" in step \"outer\" at "));
    capture.end_step();
    CHECK(capture.step_text().empty());
}

TEST_CASE("a question whether a stream is captured that fails leaves no error behind", "[cuda][captures]") {
    const Stream stream, other;
    const cudag::StreamCapture capture(stream);
    with_failing(1, cudaErrorMemoryAllocation,
                 [&] { cudag::detail::require_recorded(other.get(), [] { return Subject(); }); });
    CHECK(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("a first question for CUDA's log that fails sets no last error, and clears none", "[.][first]") {
    for (std::uint64_t call = 3; call >= 1; --call) // then nothing is remembered, and it is the first one again
        for (const bool has_earlier : {false, true}) {
            CAPTURE(call, has_earlier);
            if (has_earlier) CHECK(cudaSetDevice(99) == cudaErrorInvalidDevice);
            const auto ask = [] { return cudag::detail::log_position(); };
            CHECK(with_failing(call, cudaErrorMemoryAllocation, ask) == std::nullopt);
            CHECK((cudaGetLastError() != cudaSuccess) == has_earlier);
        }
    CHECK(cudag::detail::log_position().has_value());
}

TEST_CASE("a clock marks a launch with one event, however often it is asked", "[clock]") {
    const Stream stream;
    const auto clock = StreamClock::of(stream.get());
    Held held(stream);
    const std::uint64_t first = clock->tick();
    const std::size_t events = cudart_cpu::live().events;
    for (int i = 0; i < 5; ++i) {
        clock->mark(first);
        CHECK_FALSE(clock->has_reached(first));
    }
    CHECK(cudart_cpu::live().events == events + 1);
    const std::uint64_t second = clock->tick();
    CHECK_FALSE(clock->has_reached(first));
    CHECK(cudart_cpu::live().events == events + 1);
    CHECK_FALSE(clock->has_reached(second));
    CHECK_FALSE(clock->has_reached(first));
    CHECK(cudart_cpu::live().events == events + 2);
    held.open();
    stream.synchronize();
    CHECK(clock->has_reached(second));
    CHECK(cudart_cpu::live().events == events);
}

TEST_CASE("a clock takes no launch for ended whose mark CUDA has not recorded", "[clock]") {
    const Stream stream;
    const auto clock = StreamClock::of(stream.get());
    const std::size_t events = cudart_cpu::live().events;
    for (std::uint64_t call = 1;; ++call) {
        CAPTURE(call);
        Held held(stream);
        const std::uint64_t launch = clock->tick();
        const std::uint64_t before = cudart_cpu::call_count();
        const auto ask = [&] { return clock->has_reached(launch); };
        CHECK_FALSE(with_failing(call, cudaErrorMemoryAllocation, ask));
        const bool is_past_all = cudart_cpu::call_count() - before < call;
        CHECK_FALSE(ask());
        CHECK_FALSE(ask());
        CHECK(cudaPeekAtLastError() == cudaSuccess);
        held.open();
        stream.synchronize();
        CHECK(ask());
        CHECK(cudart_cpu::live().events <= events + 1); // whose destruction has failed
        if (is_past_all) break;
    }
}

TEST_CASE("a clock asks nothing of a stream that has gone while it was captured", "[clock]") {
    std::optional<Stream> stream(std::in_place);
    const cudaStream_t handle = stream->get();
    const auto clock = StreamClock::of(handle);
    const std::uint64_t launch = clock->tick();
    check(cudaStreamBeginCapture(handle, cudaStreamCaptureModeThreadLocal));
    stream.reset();
    const std::uint64_t calls = cudart_cpu::call_count();
    clock->mark(launch);
    CHECK_FALSE(clock->has_reached(launch));
    CHECK(cudart_cpu::call_count() == calls);
}
