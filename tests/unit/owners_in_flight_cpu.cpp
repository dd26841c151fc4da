// Owners live as long as a launch may use them, also when calls fail in between.
#include "allocation_faults.hpp"
#include "gate.hpp"
#include "live_counts.hpp"
#include "pipeline.hpp"
#include "thrown.hpp"

#include <catch.hpp>
#include <cudart_cpu/control.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace {

/// One of cudag's, which has a clock, or another one, whose launches are marked by events.
class TestStream {
  public:
    explicit TestStream(bool has_clock) {
        if (has_clock)
            own_.emplace();
        else
            cudag::check(cudaStreamCreate(&plain_));
    }
    ~TestStream() {
        if (!own_) cudaStreamDestroy(plain_);
    }
    TestStream(const TestStream&) = delete;
    TestStream& operator=(const TestStream&) = delete;

    operator cudag::StreamRef() const { return own_ ? cudag::StreamRef(*own_) : cudag::StreamRef(plain_); }
    [[nodiscard]] cudaStream_t native() const { return own_ ? own_->get() : plain_; }
    /// Lets go of nothing.
    void wait() const { cudag::check(cudaStreamSynchronize(native())); }
    /// Waits, and lets go of what is not needed any more.
    void synchronize() const {
        if (own_) return own_->synchronize();
        cudag::check(cudaStreamSynchronize(plain_));
        cudag::Stream().synchronize();
    }

  private:
    std::optional<cudag::Stream> own_;
    cudaStream_t plain_ = nullptr;
};

std::vector<int> values(const cudag::DeviceBuffer<int>& memory) {
    std::vector<int> result(memory.size());
    cudag::check(cudaMemcpy(result.data(), memory.data(), result.size() * sizeof(int), cudaMemcpyDeviceToHost));
    return result;
}

/// Two copies after a host node that waits for the gate: launches stay in flight until it opens. The graph borrows
/// their destinations: a call that freed those of a former test would wait for every launch, cudaFree does.
struct HeldCopies {
    explicit HeldCopies(bool has_clock) : stream(has_clock) {
        cudag::GraphBuilder builder;
        const cudag::HostNode wait = builder.host(gate.waiter());
        first = builder.memcpy(to_first.span(), from).after(wait);
        second = builder.memcpy(to_second.span(), from).after(wait);
        exec = std::make_unique<cudag::Exec>(std::move(builder).build().instantiate());
    }

    ~HeldCopies() { gate.open(); } // a test that fails may not have
    HeldCopies(const HeldCopies&) = delete;
    HeldCopies& operator=(const HeldCopies&) = delete;

    void finish() {
        gate.open();
        stream.synchronize();
    }

    Gate gate;
    std::vector<int> from{1, 2, 3};
    cudag::DeviceBuffer<int> to_first{3}, to_second{3}; // a launch waits for copies within the host
    TestStream stream;
    cudag::MemcpyNode first, second;
    std::unique_ptr<cudag::Exec> exec;
};

/// A source that only the Exec owns from now on.
std::weak_ptr<std::vector<int>> give(cudag::Exec& exec, const cudag::MemcpyNode& node,
                                     const cudag::DeviceBuffer<int>& to, int value) {
    auto source = std::make_shared<std::vector<int>>(3, value);
    const std::weak_ptr<std::vector<int>> watch = source;
    exec.update(node, to.span(), std::move(source));
    return watch;
}

/// Graphs of a copy after a host node that waits for the gate.
struct HeldGraphs {
    using Source = std::shared_ptr<std::vector<int>>;

    explicit HeldGraphs(bool has_clock) : stream(has_clock) {}
    ~HeldGraphs() { gate.open(); } // a test that fails may not have
    HeldGraphs(const HeldGraphs&) = delete;
    HeldGraphs& operator=(const HeldGraphs&) = delete;

    /// Of `from`, which it borrows.
    [[nodiscard]] cudag::Graph build() {
        cudag::GraphBuilder builder;
        const cudag::HostNode wait = builder.host(gate.waiter());
        copy = builder.memcpy(to.span(), from).after(wait);
        return std::move(builder).build();
    }
    /// Of a source that the graph owns.
    [[nodiscard]] cudag::Graph build(int value, std::weak_ptr<std::vector<int>>& watch) {
        const auto source = std::make_shared<std::vector<int>>(3, value);
        watch = source;
        cudag::GraphBuilder builder;
        const cudag::HostNode wait = builder.host(gate.waiter());
        copy = builder.memcpy(to.span(), source).after(wait);
        return std::move(builder).build();
    }
    /// Gives the last graph's copy a source that it owns from now on.
    std::weak_ptr<std::vector<int>> give(cudag::Graph& graph, int value) const {
        auto source = std::make_shared<std::vector<int>>(3, value);
        const std::weak_ptr<std::vector<int>> watch = source;
        graph.update(copy, to.span(), std::move(source));
        return watch;
    }
    void finish() {
        gate.open();
        stream.synchronize();
    }

    Gate gate;
    std::vector<int> from{1, 2, 3};
    cudag::DeviceBuffer<int> to{3};
    TestStream stream;
    cudag::MemcpyNode copy; ///< of the last graph
};

constexpr cudag::UpdateOptions by_structure{.match = cudag::Match::structure};

/// A copy whose source an update has given, launched once: its launches are marked.
struct MarkedCopy {
    explicit MarkedCopy(bool has_clock) : stream(has_clock) {
        cudag::GraphBuilder builder;
        node = builder.memcpy(to.span(), from);
        exec = std::make_unique<cudag::Exec>(std::move(builder).build().instantiate());
        static_cast<void>(give(*exec, node, to, 10));
        exec->launch(stream);
        stream.synchronize();
    }

    std::vector<int> from{1, 2, 3};
    cudag::DeviceBuffer<int> to{3};
    TestStream stream;
    cudag::MemcpyNode node;
    std::unique_ptr<cudag::Exec> exec;
};

} // namespace

TEST_CASE("an owner that an update replaces lives until the launch that uses it has ended", "[unit][owners]") {
    const NothingLeft check;
    HeldCopies held(GENERATE(true, false));
    const auto used = give(*held.exec, held.first, held.to_first, 10);
    held.exec->launch(held.stream);
    const auto next = give(*held.exec, held.first, held.to_first, 20);
    CHECK_FALSE(used.expired());
    held.finish();
    CHECK(values(held.to_first) == std::vector<int>(3, 10));

    held.exec->launch(held.stream);
    held.stream.synchronize();
    CHECK(values(held.to_first) == std::vector<int>(3, 20));
    CHECK(used.expired());
    CHECK_FALSE(next.expired());
}

TEST_CASE("an owner that no launch used goes with the update that replaces it", "[unit][owners]") {
    HeldCopies held(GENERATE(true, false));
    const auto unused = give(*held.exec, held.first, held.to_first, 10);
    const auto next = give(*held.exec, held.first, held.to_first, 20);
    CHECK(unused.expired());
    CHECK_FALSE(next.expired());
}

TEST_CASE("an owner outlives an Exec that is destroyed in flight", "[unit][owners]") {
    const NothingLeft check;
    HeldCopies held(GENERATE(true, false));
    const auto used = give(*held.exec, held.first, held.to_first, 10);
    held.exec->launch(held.stream);
    held.exec.reset();
    CHECK_FALSE(used.expired());
    held.finish();
    CHECK(values(held.to_first) == std::vector<int>(3, 10));
    held.stream.synchronize();
    CHECK(used.expired());
}

TEST_CASE("an owner from a graph's updates lives until the launch that uses it has ended", "[unit][owners]") {
    const NothingLeft check;
    HeldGraphs held(GENERATE(true, false));
    const bool is_of_whole = GENERATE(false, true); // the Exec has it by an update of the whole
    cudag::GraphBuilder builder;
    builder.host(held.gate.waiter());
    cudag::Exec blocker = std::move(builder).build().instantiate();
    cudag::GraphBuilder copies; // without a host node: what calls those is kept, too
    held.copy = copies.memcpy(held.to.span(), held.from);
    cudag::Graph graph = std::move(copies).build();
    std::optional<cudag::Exec> exec;
    if (is_of_whole) exec = graph.instantiate();
    const auto used = held.give(graph, 10);
    if (is_of_whole)
        REQUIRE(exec->update(graph).updated());
    else
        exec = graph.instantiate();
    blocker.launch(held.stream);
    exec->launch(held.stream);
    static_cast<void>(held.give(graph, 20));
    exec->update(held.copy, held.to.span(), held.from);
    CHECK_FALSE(used.expired());
    held.finish();
    CHECK(values(held.to) == std::vector<int>(3, 10));
    held.stream.synchronize();
    CHECK(used.expired());
}

TEST_CASE("what an update by structure came from lives until its launches have ended", "[unit][owners]") {
    const NothingLeft check;
    HeldGraphs held(GENERATE(true, false));
    std::optional<cudag::Exec> exec = held.build().instantiate();
    std::weak_ptr<std::vector<int>> used;
    REQUIRE(exec->update(held.build(10, used), by_structure).updated());
    exec->launch(held.stream);
    SECTION("another one follows") {
        REQUIRE(exec->update(held.build(), by_structure).updated());
    }
    SECTION("an update of the whole follows") {
        REQUIRE(exec->update(held.build()).updated());
    }
    SECTION("the Exec goes") {
        exec.reset();
    }
    CHECK_FALSE(used.expired());
    held.finish();
    CHECK(values(held.to) == std::vector<int>(3, 10));
    held.stream.synchronize();
    CHECK(used.expired());
}

TEST_CASE("a host task of a whole update outlives an Exec that is destroyed in flight", "[unit][owners]") {
    HeldGraphs held(true);
    auto number = std::make_shared<std::atomic<int>>(0);
    const auto build = [&](int value) {
        cudag::GraphBuilder builder;
        const cudag::HostNode wait = builder.host(held.gate.waiter());
        builder.host([number, value] { *number += value; }).after(wait);
        return std::move(builder).build();
    };
    std::optional<cudag::Exec> exec = build(1).instantiate();
    REQUIRE(exec->update(build(10)).updated());
    exec->launch(held.stream);
    exec.reset();
    std::vector<std::unique_ptr<std::array<char, 64>>> others; // in the place of what is gone
    for (int i = 0; i < 1000; ++i)
        others.push_back(std::make_unique<std::array<char, 64>>());
    const std::weak_ptr<std::atomic<int>> watch = number;
    held.finish();
    CHECK(*number == 10);
    number.reset();
    held.stream.synchronize();
    CHECK(watch.expired());
}

TEST_CASE("owners whose launches have ended go when an Exec is destroyed, not made", "[unit][owners]") {
    HeldCopies held(false);
    const cudag::Graph graph = cudag::GraphBuilder().build();
    std::optional<cudag::Exec> other = graph.instantiate();
    const auto used = give(*held.exec, held.first, held.to_first, 10);
    held.exec->launch(held.stream);
    held.exec.reset(); // while its launch is in flight
    CHECK_FALSE(used.expired());
    held.gate.open();
    held.stream.wait();
    const cudag::Exec made = graph.instantiate();
    CHECK_FALSE(used.expired());
    other.reset();
    CHECK(used.expired());
}

TEST_CASE("an owner that is done with goes when a scalar is read or a pool allocates", "[unit][owners]") {
    const cudag::Stream elsewhere;
    const cudag::DeviceScalar<int> scalar(7);
    cudag::CapturePool pool;
    HeldCopies held(false);
    const bool reads = GENERATE(true, false);
    const auto used = give(*held.exec, held.first, held.to_first, 10);
    held.exec->launch(held.stream);
    held.exec.reset();
    held.gate.open();
    cudag::check(cudaDeviceSynchronize());
    CHECK_FALSE(used.expired());
    if (reads)
        CHECK(scalar.get(elsewhere) == 7);
    else
        static_cast<void>(pool.allocate<int>(1));
    CHECK(used.expired());
}

TEST_CASE("a failing question whether a launch has ended lets go of nothing that it uses", "[unit][owners][faults]") {
    HeldCopies held(GENERATE(true, false));
    const auto used = give(*held.exec, held.first, held.to_first, 10);
    held.exec->launch(held.stream);
    held.exec.reset();
    const cudag::Stream other;
    for (std::uint64_t call = 1; call <= 8; ++call) { // a synchronisation asks, after its own call
        cudart_cpu::fail_call(call, cudaErrorMemoryAllocation);
        try {
            other.synchronize();
        } catch (const cudag::Error&) {
        }
        cudart_cpu::fail_call(0, cudaSuccess);
        CHECK_FALSE(used.expired());
    }
    held.finish();
    CHECK(values(held.to_first) == std::vector<int>(3, 10));
    CHECK(used.expired());
}

TEST_CASE("an owner goes with the launches of its own stream, whatever others wait for", "[unit][owners]") {
    const NothingLeft check;
    HeldCopies held(GENERATE(true, false));
    HeldCopies other(GENERATE(true, false));
    const auto used = give(*held.exec, held.first, held.to_first, 10);
    held.exec->launch(held.stream);
    const auto next = give(*held.exec, held.first, held.to_first, 20);
    const auto used_by_other = give(*other.exec, other.first, other.to_first, 30);
    other.exec->launch(other.stream);
    const auto next_of_other = give(*other.exec, other.first, other.to_first, 40);
    CHECK_FALSE(used_by_other.expired());
    other.finish();
    CHECK(used_by_other.expired());
    CHECK_FALSE(used.expired());
    held.finish();
    CHECK(used.expired());
}

TEST_CASE("an Exec that changes streams keeps what each of its launches uses", "[unit][owners]") {
    const NothingLeft check;
    const bool has_clock = GENERATE(true, false);
    HeldCopies held(has_clock);
    const TestStream second(!has_clock);
    std::vector<std::weak_ptr<std::vector<int>>> used;
    const TestStream& first = held.stream;
    for (const auto* stream : {&first, &second, &first, &second}) {
        used.push_back(give(*held.exec, held.first, held.to_first, 10));
        held.exec->launch(*stream);
    }
    used.push_back(give(*held.exec, held.first, held.to_first, 20));
    for (const auto& each : used)
        CHECK_FALSE(each.expired());
    held.finish();
    second.synchronize();
    for (std::size_t i = 0; i < 4; ++i)
        CHECK(used[i].expired());
    CHECK_FALSE(used[4].expired());
}

TEST_CASE("a launch with an update's owners is one call of CUDA's in a Stream, and two in another", "[unit][owners]") {
    const bool has_clock = GENERATE(true, false);
    MarkedCopy copy(has_clock);
    const std::uint64_t before = cudart_cpu::call_count();
    copy.exec->launch(copy.stream);
    CHECK(cudart_cpu::call_count() == before + (has_clock ? 1 : 2));
    copy.stream.synchronize();
}

TEST_CASE("a launch whose mark fails is marked anew, and not waited for", "[unit][owners][faults]") {
    MarkedCopy copy(false);
    Gate gate;
    cudag::GraphBuilder builder;
    builder.host(gate.waiter());
    cudag::Exec blocker = std::move(builder).build().instantiate();
    blocker.launch(copy.stream);
    std::atomic<bool> returned = false;
    bool in_time = false;
    std::thread opens([&] {
        for (int i = 0; i < 500 && !returned; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        in_time = returned;
        if (!in_time) gate.open();
    });
    cudart_cpu::fail_call(2, cudaErrorMemoryAllocation); // the second of two
    copy.exec->launch(copy.stream);
    cudart_cpu::fail_call(0, cudaSuccess);
    returned = true;
    opens.join();
    CHECK(in_time);
    CHECK(cudaGetLastError() == cudaSuccess);

    const auto next = give(*copy.exec, copy.node, copy.to, 20);
    gate.open();
    copy.stream.synchronize();
    CHECK(values(copy.to) == std::vector<int>(3, 10));
    CHECK_FALSE(next.expired());
}

TEST_CASE("a launch that fails does not let go of what an earlier one uses", "[unit][owners][faults]") {
    HeldCopies held(GENERATE(true, false));
    const auto first = give(*held.exec, held.first, held.to_first, 10);
    const auto second = give(*held.exec, held.second, held.to_second, 10);
    held.exec->launch(held.stream);
    static_cast<void>(give(*held.exec, held.first, held.to_first, 20));

    // Of the second launch's calls, whichever it is, the one that launches fails.
    for (std::uint64_t call = 1; held.exec->replays() == 1; ++call) {
        cudart_cpu::fail_call(call, cudaErrorMemoryAllocation);
        try {
            held.exec->launch(held.stream);
        } catch (const cudag::Error& error) {
            if (error.operation().ends_with("GraphLaunch")) break;
        }
    }
    cudart_cpu::fail_call(0, cudaSuccess);
    REQUIRE(held.exec->replays() == 1);

    static_cast<void>(give(*held.exec, held.second, held.to_second, 20));
    held.exec.reset();
    CHECK_FALSE(first.expired());
    CHECK_FALSE(second.expired());
    held.finish();
    CHECK(values(held.to_first) == std::vector<int>(3, 10));
    CHECK(values(held.to_second) == std::vector<int>(3, 10));
}

TEST_CASE("an owner goes when a Stream has gone, whichever of the calls in between fails", "[unit][owners][faults]") {
    for (std::uint64_t call = 1; call <= 8; ++call) {
        CAPTURE(call);
        HeldCopies held(true);
        std::optional<cudag::Stream> stream(std::in_place);
        const auto used = give(*held.exec, held.first, held.to_first, 10);
        held.exec->launch(*stream);
        std::thread opens([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            held.gate.open();
        });
        cudart_cpu::fail_call(call, cudaErrorMemoryAllocation);
        stream.reset();
        cudart_cpu::fail_call(0, cudaSuccess);
        held.exec.reset(); // the owner waits for the launch
        opens.join();
        for (int i = 0; i < 2000 && !used.expired(); ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            cudag::Stream().synchronize();
        }
        CHECK(used.expired());
        CHECK(values(held.to_first) == std::vector<int>(3, 10));
    }
}

TEST_CASE("a Stream that was waited for holds no events, however many owners its launches have brought",
          "[unit][owners]") {
    HeldCopies held(true);
    held.gate.open();
    held.stream.synchronize();
    const std::size_t events = cudart_cpu::live().events;
    for (int i = 0; i < 20; ++i) {
        static_cast<void>(give(*held.exec, held.first, held.to_first, i));
        held.exec->launch(held.stream);
    }
    static_cast<void>(give(*held.exec, held.first, held.to_first, 20));
    CHECK(cudart_cpu::live().events > events);
    held.stream.synchronize();
    CHECK(cudart_cpu::live().events == events);
}

TEST_CASE("owners of a child that was moved into a graph go when its node is removed", "[unit][owners]") {
    auto owner = std::make_shared<int>(0);
    const std::weak_ptr<int> watched = owner;
    cudag::GraphBuilder inner;
    inner.host([] {});
    inner.retain(owner);
    owner.reset();
    cudag::Graph child = std::move(inner).build();
    static_cast<void>(child.instantiate()); // CUDA has the owners from here on
    CHECK_FALSE(watched.expired());
    cudag::GraphBuilder b;
    b.remove(b.child(std::move(child)));
    CHECK(watched.expired());
}

TEST_CASE("an Exec that goes from stream to stream and back keeps what its last launch uses, by one mark",
          "[unit][owners]") {
    const bool has_clock = GENERATE(true, false);
    const bool other_has_clock = GENERATE(true, false);
    MarkedCopy marked(has_clock);
    const TestStream other(other_has_clock);
    Gate gate;
    cudag::GraphBuilder builder;
    builder.host(gate.waiter());
    cudag::Exec blocker = std::move(builder).build().instantiate();
    const std::size_t events = cudart_cpu::live().events;
    for (int i = 0; i < 3; ++i)
        for (const TestStream* stream : {&other, static_cast<const TestStream*>(&marked.stream)}) {
            const std::uint64_t before = cudart_cpu::call_count();
            marked.exec->launch(*stream);
            if (!has_clock && !other_has_clock)
                CHECK(cudart_cpu::call_count() - before <= 4); // two questions, the launch and its mark
            stream->wait();
        }
    CHECK(cudart_cpu::live().events == events);
    const auto used = give(*marked.exec, marked.node, marked.to, 20);
    marked.exec->launch(marked.stream);
    marked.stream.wait();
    blocker.launch(other);
    marked.exec->launch(other);
    static_cast<void>(give(*marked.exec, marked.node, marked.to, 30));
    const cudag::Stream elsewhere;
    elsewhere.synchronize();
    marked.stream.wait();
    elsewhere.synchronize();
    CHECK_FALSE(used.expired());
    gate.open();
    other.synchronize();
    CHECK(used.expired());
    CHECK(values(marked.to) == std::vector<int>(3, 20));
}

TEST_CASE("an owner goes in the stream of its last use, though others still wait in an earlier one", "[unit][owners]") {
    const bool has_clock = GENERATE(true, false);
    MarkedCopy marked(has_clock), held(has_clock);
    const TestStream other(has_clock);
    Gate gate;
    cudag::GraphBuilder builder;
    builder.host(gate.waiter());
    cudag::Exec blocker = std::move(builder).build().instantiate();
    const auto used = give(*marked.exec, marked.node, marked.to, 40);
    marked.exec->launch(held.stream);
    held.stream.wait();
    blocker.launch(held.stream);
    held.exec->launch(held.stream);
    const auto waits = give(*held.exec, held.node, held.to, 20);
    static_cast<void>(give(*held.exec, held.node, held.to, 30));
    marked.exec->launch(other);
    static_cast<void>(give(*marked.exec, marked.node, marked.to, 50));
    other.wait();
    cudag::Stream().synchronize();
    CHECK(used.expired());
    CHECK_FALSE(waits.expired());
    gate.open();
    held.stream.synchronize();
    CHECK(waits.expired());
}

TEST_CASE("an owner goes when its own launch has ended, while a later one of the Exec runs", "[unit][owners]") {
    MarkedCopy marked(GENERATE(true, false));
    Gate first, second;
    const auto make_blocker = [](const Gate& gate) {
        cudag::GraphBuilder builder;
        builder.host(gate.waiter());
        return std::move(builder).build().instantiate();
    };
    cudag::Exec before = make_blocker(first), between = make_blocker(second);
    const auto used = give(*marked.exec, marked.node, marked.to, 20);
    before.launch(marked.stream);
    marked.exec->launch(marked.stream);
    const auto next = give(*marked.exec, marked.node, marked.to, 30);
    between.launch(marked.stream);
    marked.exec->launch(marked.stream);
    static_cast<void>(give(*marked.exec, marked.node, marked.to, 40));
    CHECK_FALSE(used.expired());
    first.open();
    const cudag::Stream elsewhere;
    for (int i = 0; i < 2000 && !used.expired(); ++i) {
        elsewhere.synchronize();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    CHECK(used.expired());
    CHECK_FALSE(next.expired());
    second.open();
    marked.stream.synchronize();
    CHECK(next.expired());
    CHECK(values(marked.to) == std::vector<int>(3, 30));
}

TEST_CASE("owners that wait for one launch go after one question, however many they are", "[unit][owners]") {
    MarkedCopy marked(false);
    Gate gate;
    cudag::GraphBuilder builder;
    builder.host(gate.waiter());
    cudag::Exec blocker = std::move(builder).build().instantiate();
    const auto calls_for = [&](int owners) {
        marked.exec->launch(marked.stream);
        std::weak_ptr<std::vector<int>> last;
        for (int i = 0; i < owners; ++i)
            last = give(*marked.exec, marked.node, marked.to, i);
        static_cast<void>(give(*marked.exec, marked.node, marked.to, owners));
        marked.stream.wait();
        const cudag::Stream elsewhere;
        const std::uint64_t before = cudart_cpu::call_count();
        elsewhere.synchronize();
        CHECK(last.expired());
        return cudart_cpu::call_count() - before;
    };
    blocker.launch(marked.stream);
    gate.open();
    CHECK(calls_for(60) <= calls_for(1) + 5);
}

TEST_CASE("an Exec that no update has given an owner is launched without a mark", "[unit][owners]") {
    const TestStream stream(false);
    cudag::Exec exec = cudag::GraphBuilder().build().instantiate();
    const std::size_t events = cudart_cpu::live().events;
    exec.launch(stream);
    const std::uint64_t before = cudart_cpu::call_count();
    exec.launch(stream);
    CHECK(cudart_cpu::call_count() - before <= 1);
    CHECK(cudart_cpu::live().events == events);
    stream.synchronize();
}

TEST_CASE("a launch for whose mark there is neither CUDA's nor any memory is waited for", "[unit][owners][faults]") {
    MarkedCopy marked(false);
    cudag::GraphBuilder builder;
    builder.host([] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); });
    cudag::Exec slow = std::move(builder).build().instantiate();
    unsigned waited = 0;
    for (std::uint64_t call = 5; call <= 15 && waited == 0; ++call)
        for (std::size_t allocation = 1; allocation <= 60 && waited == 0; ++allocation) {
            CAPTURE(call, allocation);
            const auto used = give(*marked.exec, marked.node, marked.to, 20);
            slow.launch(marked.stream);
            cudart_cpu::fail_call(call, cudaErrorMemoryAllocation);
            const auto failed = fails_without_allocation(allocation, [&] { marked.exec->launch(marked.stream); });
            cudart_cpu::fail_call(0, cudaSuccess);
            CHECK(cudaGetLastError() == cudaSuccess);
            static_cast<void>(give(*marked.exec, marked.node, marked.to, 30));
            const bool has_ended = cudaStreamQuery(marked.stream.native()) == cudaSuccess;
            if (failed == false && has_ended) ++waited;
            if (failed != true && used.expired()) CHECK(has_ended);
            marked.stream.synchronize();
        }
    CHECK(waited > 0);
}

TEST_CASE("a launch in a captured stream that would be marked is refused as any other", "[unit][owners]") {
    MarkedCopy marked(GENERATE(true, false));
    const cudaStream_t stream = marked.stream.native();
    cudag::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    const auto error = thrown<cudag::CaptureError>([&] { marked.exec->launch(marked.stream); });
    CHECK_THAT(error.operation(), ContainsSubstring("GraphLaunch"));
    CHECK_THAT(error.what(), ContainsSubstring("or make the graph a child node"));
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    cudaGraph_t graph = nullptr;
    static_cast<void>(cudaStreamEndCapture(stream, &graph));
    if (graph != nullptr) cudag::check(cudaGraphDestroy(graph));
    static_cast<void>(cudaGetLastError());
    marked.exec->launch(marked.stream);
    marked.stream.synchronize();
}
