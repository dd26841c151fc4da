// Owners that a graph was made with: kept by the Exec and its launches without CUDA's user objects, wherever the
// launches go, and by calls that never wait for the device.
#include "allocation_faults.hpp"
#include "gate.hpp"
#include "kernels.hpp"
#include "live_counts.hpp"

#include <cudag/cudag.hpp>

#include <catch.hpp>
#include <cudart_cpu/control.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using Owned = std::vector<int>;

/// A graph whose launches wait for the gate, and then copy from memory that nobody else owns.
struct Kept {
    Gate gate;
    cudag::DeviceBuffer<int> to{1};
    std::weak_ptr<Owned> source;
    std::weak_ptr<int> callable;

    void write(cudag::GraphBuilder& builder, int value = 7) {
        auto owned = std::make_shared<Owned>(1, value);
        auto inside = std::make_shared<int>(value);
        source = owned;
        callable = inside;
        const auto wait = builder.host(gate.waiter());
        const auto copy = builder.memcpy(to.span(), std::move(owned)).after(wait);
        builder.host([inside = std::move(inside)] {}).after(copy);
    }
    cudag::Graph build(int value = 7) {
        cudag::GraphBuilder builder;
        write(builder, value);
        return std::move(builder).build();
    }
    [[nodiscard]] bool is_alive() const { return !source.expired() && !callable.expired(); }
    [[nodiscard]] bool is_gone() const { return source.expired() && callable.expired(); }
    [[nodiscard]] int value() const {
        int result = 0;
        cudag::check(cudaMemcpy(&result, to.data(), sizeof result, cudaMemcpyDeviceToHost));
        return result;
    }
};

void look_at(const int* value) {
    static_cast<void>(*const_cast<const volatile int*>(value));
}

/// Lets go of what no launch uses any more; waits for nothing.
void let_go() {
    for (int i = 0; i < 5; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        cudag::Stream().synchronize();
    }
}

bool goes(const Kept& kept) {
    for (int i = 0; i < 2000 && !kept.is_gone(); ++i)
        let_go();
    return kept.is_gone();
}

enum class In { stream, raw, raw_gone, default_stream, native, two_streams };

/// Launches in one way or another, into streams that exist as long as this, or no longer than the launch.
class Launcher {
  public:
    explicit Launcher(In in) : in_(in) { cudag::check(cudaStreamCreateWithFlags(&raw_, cudaStreamNonBlocking)); }
    ~Launcher() {
        if (raw_ != nullptr) static_cast<void>(cudaStreamDestroy(raw_));
    }
    Launcher(const Launcher&) = delete;
    Launcher& operator=(const Launcher&) = delete;

    void operator()(cudag::Exec& exec) {
        switch (in_) {
        case In::stream:
            return exec.launch(own_);
        case In::raw:
            return exec.launch(raw_);
        case In::raw_gone:
            exec.launch(raw_);
            cudag::check(cudaStreamDestroy(std::exchange(raw_, nullptr)));
            return;
        case In::default_stream:
            return exec.launch(cudag::StreamRef(cudaStreamPerThread));
        case In::native:
            cudag::check(cudaGraphLaunch(exec.native(), raw_));
            return;
        case In::two_streams:
            exec.launch(raw_);
            exec.launch(own_);
            exec.launch(raw_);
            return;
        }
    }

  private:
    In in_;
    cudag::Stream own_;
    cudaStream_t raw_ = nullptr;
};

In each_way() {
    return GENERATE(In::stream, In::raw, In::raw_gone, In::default_stream, In::native, In::two_streams);
}

/// A graph of `kept`, in one of the places where it may stand.
cudag::Graph graph_in(const std::string& place, Kept& kept) {
    if (place == "alone") return kept.build();
    if (place == "clone") return kept.build().clone();
    if (place == "captured") {
        const cudag::Stream stream;
        return cudag::capture(stream, [&](cudag::StreamCapture& capture) {
            auto owned = std::make_shared<Owned>(1, 7);
            auto inside = std::make_shared<int>(7);
            kept.source = owned;
            kept.callable = inside;
            const auto waiter = std::make_shared<std::function<void()>>(kept.gate.waiter());
            capture.retain(inside, waiter);
            const auto wait = [](void* call) { (*static_cast<std::function<void()>*>(call))(); };
            cudag::check(cudaLaunchHostFunc(capture.stream(), wait, waiter.get()));
            cudag::memcpy_async(capture.stream(), kept.to.span(), owned);
        });
    }
    cudag::GraphBuilder outer;
    if (place == "child") {
        outer.child(kept.build());
    } else if (place == "child's clone") {
        const cudag::Graph inner = kept.build();
        outer.child(inner);
    } else if (place == "inner child") {
        cudag::GraphBuilder middle;
        middle.child(kept.build());
        outer.child(std::move(middle).build());
    } else {
        const auto cell = std::make_shared<cudag::DeviceBuffer<int>>(1);
        auto inside = std::make_shared<int>(7);
        auto alias = std::shared_ptr<int>(cell->data(), [cell](int*) {});
        kept.callable = inside;
        auto owned = std::make_shared<Owned>(1, 7);
        kept.source = owned;
        const auto wait = outer.host(kept.gate.waiter());
        const cudag::Condition condition = outer.condition(1);
        outer
            .if_(condition,
                 [&](cudag::GraphBuilder& body) {
                     body.memset(kept.to.span(), 0);
                     body.retain(owned, inside);
                 })
            .after(wait);
    }
    return std::move(outer).build();
}

/// Calls `work`, which must not wait for the gate; opens that if it does.
bool returns_while_closed(Gate& gate, const std::function<void()>& work) {
    std::atomic<bool> returned = false;
    bool in_time = false;
    std::thread opens([&] {
        for (int i = 0; i < 1000 && !returned; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        in_time = returned;
        if (!in_time) gate.open();
    });
    work();
    returned = true;
    opens.join();
    return in_time;
}

} // namespace

TEST_CASE("owners outlive Graph and Exec, wherever the launch is and they stand", "[unit][owners]") {
    const NothingLeft check;
    const std::string place = GENERATE("alone", "clone", "captured", "child", "child's clone", "inner child", "body");
    const In in = each_way();
    CAPTURE(place, static_cast<int>(in));
    Kept kept;
    Launcher launch(in);
    {
        cudag::Exec exec = graph_in(place, kept).instantiate();
        launch(exec);
    }
    let_go();
    CHECK(kept.is_alive());
    kept.gate.open();
    CHECK(goes(kept));
}

TEST_CASE("owners stay until the last launch has ended, whichever streams there were", "[unit][owners]") {
    const NothingLeft check;
    const bool starts_in_own = GENERATE(false, true);
    const int launches = GENERATE(2, 3);
    const cudag::DeviceBuffer<int> to(1);
    const auto turns = std::make_shared<std::counting_semaphore<>>(0);
    std::weak_ptr<Owned> watch;
    Launcher own(In::stream), raw(In::raw);
    {
        cudag::GraphBuilder builder;
        const auto wait = builder.host([turns] { turns->acquire(); });
        auto owned = std::make_shared<Owned>(1, 7);
        watch = owned;
        builder.memcpy(to.span(), std::move(owned)).after(wait);
        cudag::Exec exec = std::move(builder).build().instantiate();
        for (int i = 0; i < launches; ++i)
            ((i % 2 == 0) == starts_in_own ? own : raw)(exec);
    }
    turns->release(launches - 1);
    let_go();
    CHECK_FALSE(watch.expired());
    turns->release();
    for (int i = 0; i < 2000 && !watch.expired(); ++i)
        let_go();
    CHECK(watch.expired());
}

TEST_CASE("graphs with owners have no user objects, whatever is made of them", "[unit][owners]") {
    const NothingLeft check;
    const std::string place = GENERATE("alone", "clone", "captured", "child", "child's clone", "inner child", "body");
    CAPTURE(place);
    Kept kept;
    kept.gate.open();
    const std::size_t before = cudart_cpu::live().user_objects;
    const cudag::Stream stream;
    cudag::Graph graph = graph_in(place, kept);
    graph.retain(std::make_shared<int>(1));
    cudag::Exec exec = graph.instantiate();
    exec.launch(stream);
    static_cast<void>(exec.native());
    if (place != "body") {
        const cudag::Graph copy = graph.clone();
        CHECK(exec.update(copy).updated());
        exec.launch(stream);
    }
    CHECK(cudart_cpu::live().user_objects == before);
    stream.synchronize();
}

TEST_CASE("a launch of a graph with owners is one call of CUDA's, in any stream", "[unit][owners]") {
    const In in = GENERATE(In::stream, In::raw, In::default_stream);
    cudag::GraphBuilder builder;
    builder.host([owner = std::make_shared<int>(1)] {});
    builder.memset(cudag::DeviceBuffer<int>(1), 0);
    cudag::GraphBuilder outer; // without host nodes, of which more is asked
    outer.memset(cudag::DeviceBuffer<int>(1), 0);
    cudag::Exec exec = std::move(outer).build().instantiate();
    Launcher launch(in);
    launch(exec);
    const std::uint64_t before = cudart_cpu::call_count();
    launch(exec);
    CHECK(cudart_cpu::call_count() == before + 1);
    cudag::check(cudaDeviceSynchronize());
}

TEST_CASE("an update of the whole keeps its owners, and the last ones for their launch", "[unit][owners]") {
    const NothingLeft check;
    const In in = GENERATE(In::stream, In::raw, In::two_streams);
    Kept first, second, third;
    first.gate.open();
    third.gate.open();
    Launcher launch(in);
    std::optional<cudag::Exec> exec = first.build().instantiate();
    const auto update = [&](Kept& next, int value) {
        const auto graph = next.build(value);
        REQUIRE(exec->update(graph).updated());
    };
    launch(*exec);
    cudag::check(cudaDeviceSynchronize());
    update(second, 8);
    launch(*exec);
    update(third, 9);
    let_go();
    CHECK(first.is_alive()); // the Exec was made with them
    CHECK(second.is_alive());
    CHECK(third.is_alive());
    second.gate.open();
    CHECK(goes(second));
    CHECK(third.is_alive());
    launch(*exec);
    cudag::check(cudaDeviceSynchronize());
    CHECK(second.value() == 8);
    CHECK(third.value() == 9);
    exec.reset();
    CHECK(goes(first));
    CHECK(goes(third));
}

TEST_CASE("the update of a whole graph by the Exec's own lets the last one's owners go", "[unit][owners]") {
    const NothingLeft check;
    Kept own, other;
    own.gate.open();
    other.gate.open();
    const cudag::Graph graph = own.build();
    cudag::Exec exec = graph.instantiate();
    {
        const cudag::Graph next = other.build();
        REQUIRE(exec.update(next).updated());
    }
    CHECK(other.is_alive());
    REQUIRE(exec.update(graph).updated());
    CHECK(goes(other));
    CHECK(own.is_alive());
}

TEST_CASE("a refused update of a whole graph keeps nothing", "[unit][owners]") {
    const NothingLeft check;
    Kept own, other;
    own.gate.open();
    cudag::Exec exec = own.build().instantiate();
    {
        cudag::GraphBuilder builder;
        other.write(builder);
        builder.host([] {});
        CHECK_FALSE(exec.update(std::move(builder).build()).updated());
    }
    CHECK(goes(other));
    CHECK(own.is_alive());
}

TEST_CASE("an update of the whole that CUDA refuses keeps nothing", "[unit][owners][faults]") {
    const NothingLeft check;
    Kept own;
    own.gate.open();
    std::optional<cudag::Exec> exec = own.build().instantiate();
    std::uint64_t call = 1;
    for (bool is_updated = false; !is_updated; ++call) {
        CAPTURE(call);
        Kept other;
        other.gate.open();
        {
            const cudag::Graph next = other.build();
            cudart_cpu::fail_call(call, cudaErrorMemoryAllocation);
            try {
                is_updated = exec->update(next).updated();
            } catch (const cudag::Error&) {
            }
            cudart_cpu::fail_call(0, cudaSuccess);
        }
        if (is_updated)
            CHECK(other.is_alive());
        else
            CHECK(goes(other));
    }
    CHECK(call > 3); // an edge, the update itself
    exec.reset();
    CHECK(goes(own));
}

TEST_CASE("what others make of the native graph keeps the owners", "[unit][owners]") {
    const NothingLeft check;
    const std::string place = GENERATE("alone", "child", "captured");
    Kept kept;
    const std::size_t before = cudart_cpu::live().user_objects;
    cudaGraphExec_t exec = nullptr;
    {
        const cudag::Graph graph = graph_in(place, kept);
        CHECK(cudart_cpu::live().user_objects == before);
        cudaGraph_t clone = nullptr;
        cudag::check(cudaGraphClone(&clone, graph.native()));
        CHECK(cudart_cpu::live().user_objects == before + 1);
        static_cast<void>(graph.native());
        CHECK(cudart_cpu::live().user_objects == before + 1);
        cudag::check(cudaGraphInstantiate(&exec, clone, 0));
        cudag::check(cudaGraphDestroy(clone));
    }
    let_go();
    CHECK(kept.is_alive());
    const cudag::Stream stream;
    cudag::check(cudaGraphLaunch(exec, stream.get()));
    cudag::check(cudaGraphExecDestroy(exec));
    let_go();
    CHECK(kept.is_alive());
    kept.gate.open();
    CHECK(goes(kept));
}

TEST_CASE("after native() what cudag makes of a graph still has no user objects", "[unit][owners]") {
    const NothingLeft check;
    const std::string place = GENERATE("alone", "child", "captured");
    Kept kept;
    kept.gate.open();
    const std::size_t before = cudart_cpu::live().user_objects;
    std::optional<cudag::Exec> exec, of_clone, of_child, updated;
    {
        const cudag::Graph graph = graph_in(place, kept);
        CHECK(graph.native() != nullptr);
        CHECK(cudart_cpu::live().user_objects == before + 1);
        exec = graph.instantiate();
        of_clone = graph.clone().instantiate();
        updated = graph.clone().instantiate();
        REQUIRE(updated->update(graph).updated());
        cudag::GraphBuilder outer;
        outer.child(graph);
        of_child = std::move(outer).build().instantiate();
        CHECK(cudart_cpu::live().user_objects == before + 1);
    }
    updated.reset(); // which had the graph
    let_go();
    exec->launch(cudaStreamPerThread);
    of_clone->launch(cudaStreamPerThread);
    CHECK(cudart_cpu::live().user_objects == before + 1); // while the first Exec has its graph
    exec.reset();
    cudag::check(cudaDeviceSynchronize());
    let_go();
    CHECK(cudart_cpu::live().user_objects == before);
    CHECK(kept.is_alive());
    of_clone.reset();
    of_child.reset();
    CHECK(goes(kept));
}

TEST_CASE("what an update replaces stays for others' launches until a later one has ended", "[unit][owners]") {
    const NothingLeft check;
    const bool is_launched_again = GENERATE(false, true);
    Gate gate;
    const cudag::DeviceBuffer<int> to(1);
    const Owned borrowed(1, 5);
    cudag::GraphBuilder builder;
    const auto wait = builder.host(gate.waiter());
    const auto copy = builder.memcpy(to.span(), borrowed).after(wait);
    std::optional<cudag::Exec> exec = std::move(builder).build().instantiate();
    const auto give = [&](int value) {
        auto owned = std::make_shared<Owned>(1, value);
        const std::weak_ptr<Owned> watch = owned;
        exec->update(copy, to.span(), std::move(owned));
        return watch;
    };
    const auto is_gone = [](const std::weak_ptr<Owned>& watch) {
        for (int i = 0; i < 2000 && !watch.expired(); ++i)
            let_go();
        return watch.expired();
    };
    const auto first = give(6);
    const cudag::Stream stream;
    cudag::check(cudaGraphLaunch(exec->native(), stream.get()));
    const auto second = give(7);
    let_go();
    CHECK_FALSE(first.expired());
    if (is_launched_again)
        exec->launch(stream);
    else
        exec.reset();
    let_go();
    CHECK_FALSE(first.expired());
    gate.open();
    CHECK(is_gone(first));
    CHECK(second.expired() != is_launched_again);
}

TEST_CASE("Execs destroyed in flight do not wait for each other's launches", "[unit][owners]") {
    const NothingLeft check;
    const In in = GENERATE(In::stream, In::raw, In::raw_gone);
    constexpr std::size_t count = 12;
    std::vector<Kept> kept(count);
    std::vector<std::unique_ptr<Launcher>> launchers;
    for (Kept& each : kept) {
        launchers.push_back(std::make_unique<Launcher>(in));
        cudag::Exec exec = each.build().instantiate();
        (*launchers.back())(exec);
    }
    for (const Kept& each : kept)
        CHECK(each.is_alive());
    kept[4].gate.open();
    CHECK(goes(kept[4]));
    for (std::size_t i = 0; i < count; ++i)
        if (i != 4) CHECK(kept[i].is_alive());
    for (Kept& each : kept)
        each.gate.open();
    for (const Kept& each : kept)
        CHECK(goes(each));
}

TEST_CASE("owners stay where CUDA cannot mark the end of an Exec, until it can", "[unit][owners][faults]") {
    // The second means that memory which the exec has allocated is not freed.
    const cudaError_t reason = GENERATE(cudaErrorMemoryAllocation, cudaErrorInvalidValue);
    for (std::uint64_t call = 1; call <= 6; ++call) { // the seventh destroys cudag's stream
        CAPTURE(call, reason);
        const NothingLeft check;
        Kept kept;
        Launcher launch(In::raw);
        {
            std::optional<cudag::Exec> exec = kept.build().instantiate();
            launch(*exec);
            cudart_cpu::fail_call(call, reason);
            exec.reset();
            cudart_cpu::fail_call(0, cudaSuccess);
        }
        CHECK(cudaGetLastError() == cudaSuccess);
        let_go();
        CHECK(kept.is_alive());
        kept.gate.open();
        CHECK(goes(kept));
        CHECK(kept.value() == 7);
    }
}

TEST_CASE("instantiating and updating never wait for launches, whatever memory they let go", "[unit][owners]") {
    const NothingLeft check;
    Gate gate;
    cudag::GraphBuilder builder;
    builder.host(gate.waiter());
    cudag::Exec blocker = std::move(builder).build().instantiate();
    const cudag::Stream blocked;
    const cudag::Stream stream;

    const cudag::DeviceBuffer<int> borrowed(1);
    cudag::GraphBuilder written;
    const auto set = written.memset(cudag::DeviceBuffer<int>(1), 1);
    cudag::Graph graph = std::move(written).build();
    cudag::Exec exec = graph.instantiate();
    cudag::Exec never_launched = graph.instantiate();
    exec.update(set, cudag::DeviceBuffer<int>(1), 2);
    const auto other = [&] {
        cudag::GraphBuilder b;
        b.memset(cudag::DeviceBuffer<int>(1), 3);
        return std::move(b).build();
    };
    std::vector<cudag::Graph> others;
    for (int i = 0; i < 6; ++i)
        others.push_back(other());
    cudag::GraphBuilder twice;
    twice.memset(cudag::DeviceBuffer<int>(1), 3);
    twice.memset(cudag::DeviceBuffer<int>(1), 3);
    const cudag::Graph larger = std::move(twice).build();
    std::vector<cudag::DeviceBuffer<int>> buffers;
    for (int i = 0; i < 8; ++i)
        buffers.emplace_back(1);
    const auto next = [&] {
        cudag::DeviceBuffer<int> buffer = std::move(buffers.back());
        buffers.pop_back();
        return buffer;
    };
    std::vector<cudag::Exec> kept;
    exec.launch(stream);
    cudag::check(cudaStreamSynchronize(stream.get())); // cudag does not see that it has ended
    blocker.launch(blocked);

    CHECK(returns_while_closed(gate, [&] {
        exec.update(set, next(), 2); // retires the one before, whose launch has ended
        exec.update(set, next(), 2); // of no launch
        exec.update(set, borrowed.span(), 2);
        never_launched.update(set, next(), 2);
        never_launched.update(set, next(), 2);
        graph.update(set, next(), 4);
        graph.update(set, borrowed.span(), 4);
        CHECK(exec.apply(graph) == 1);
        kept.push_back(graph.instantiate());
        for (cudag::Graph& each : others) {
            CHECK(exec.update(each).updated());
            const cudag::Graph last = std::move(each); // the Exec alone has it from here on
        }
        CHECK(exec.update(larger).needs_instantiate());
        CHECK(exec.update_or_instantiate(larger).needs_instantiate());
        exec.launch(stream);
    }));
    gate.open();
    blocked.synchronize();
}

TEST_CASE("an Exec keeps the owners of a graph that it was updated by and that moved on", "[unit][owners]") {
    const NothingLeft check;
    const bool by_structure = GENERATE(false, true);
    const cudag::DeviceBuffer<int> to(1);
    const auto copy_of = [&](std::shared_ptr<Owned> owned) {
        cudag::GraphBuilder builder;
        builder.memcpy(to.span(), std::move(owned));
        return std::move(builder).build();
    };
    cudag::GraphBuilder outer;
    const cudag::ChildNode child = outer.child(copy_of(std::make_shared<Owned>(1, 5)));
    std::optional<cudag::Exec> exec = std::move(outer).build().instantiate();
    auto owned = std::make_shared<Owned>(1, 6);
    const std::weak_ptr<Owned> watch = owned;
    {
        cudag::Graph next = copy_of(std::move(owned));
        if (by_structure) {
            exec = copy_of(std::make_shared<Owned>(1, 5)).instantiate();
            REQUIRE(exec->update(next, {.match = cudag::Match::structure}).updated());
        } else {
            exec->update(child, next);
        }
        cudag::GraphBuilder().child(std::move(next));
    }
    let_go();
    REQUIRE_FALSE(watch.expired());
    const cudag::Stream stream;
    exec->launch(stream);
    stream.synchronize();
    exec.reset();
    let_go();
    CHECK(watch.expired());
}

TEST_CASE("the owners of an Exec that kernels may launch are CUDA's to keep", "[unit][owners]") {
    const NothingLeft check;
    const std::size_t before = cudart_cpu::live().user_objects;
    cudag::GraphBuilder builder;
    builder.memset(cudag::DeviceBuffer<int>(1), 0);
    std::optional<cudag::Exec> exec = std::move(builder).build().instantiate({.device_launch = true});
    CHECK(cudart_cpu::live().user_objects == before + 1);
    CHECK(exec->native() != nullptr);
    exec->launch(cudaStreamPerThread);
    const std::uint64_t before_end = cudart_cpu::call_count();
    exec.reset();
    // No upload: the exec, its graph, four for the mode of captures; three more if CUDA let go of the memory by then.
    const std::uint64_t calls = cudart_cpu::call_count() - before_end;
    CHECK((calls == 6 || calls == 9));
    cudag::check(cudaDeviceSynchronize());
    let_go();
    CHECK(cudart_cpu::live().user_objects == before);
}

TEST_CASE("CUDA keeps what an Exec that kernels may launch was updated by as a whole", "[unit][owners]") {
    const NothingLeft check;
    const bool is_own = GENERATE(false, true);
    const std::size_t before = cudart_cpu::live().user_objects;
    const auto write = [] {
        cudag::GraphBuilder builder;
        builder.memset(cudag::DeviceBuffer<int>(1), 0);
        return std::move(builder).build();
    };
    cudag::Graph source = write();
    std::optional<cudag::Exec> exec = source.instantiate({.device_launch = true});
    if (is_own)
        REQUIRE(exec->update(source).updated());
    else
        REQUIRE(exec->update(write()).updated());
    let_go();
    CHECK(cudart_cpu::live().user_objects == before + 1); // what the Exec had before has gone
    exec.reset();
    let_go();
    CHECK(cudart_cpu::live().user_objects == before);
}

TEST_CASE("native() costs an Exec that keeps nothing no call at its end", "[unit][owners]") {
    const cudag::DeviceBuffer<int> cell(1);
    const bool has_native = GENERATE(false, true);
    cudag::GraphBuilder builder;
    builder.memset(cell.span(), 0);
    std::optional<cudag::Exec> exec = std::move(builder).build().instantiate();
    if (has_native) CHECK(exec->native() != nullptr);
    exec->launch(cudaStreamPerThread);
    cudag::check(cudaDeviceSynchronize());
    let_go();
    const std::uint64_t calls = cudart_cpu::call_count();
    exec.reset();
    CHECK(cudart_cpu::call_count() == calls + 4); // two for the mode of captures, the exec, its graph
}

TEST_CASE("owners may use cudag and CUDA as they go, and hold the last Exec of others", "[unit][owners]") {
    const NothingLeft check;
    const In in = GENERATE(In::stream, In::raw, In::native);
    const bool is_replaced = GENERATE(false, true);
    Kept last;
    last.gate.open();
    Gate gate;
    std::atomic<int> gone = 0;
    Launcher launch(in);
    {
        auto inner = std::make_shared<cudag::Exec>(last.build().instantiate());
        Launcher in_raw_stream(In::raw);
        in_raw_stream(*inner);
        auto owned = std::shared_ptr<Owned>(new Owned(1, 7), [inner, &gone](Owned* values) mutable {
            const cudag::DeviceBuffer<int> memory(1);
            cudag::Exec other = [&] {
                cudag::GraphBuilder builder;
                builder.memset(memory.span(), 1);
                return std::move(builder).build().instantiate();
            }();
            const cudag::Stream stream;
            other.launch(stream);
            cudag::check(cudaStreamSynchronize(stream.get()));
            inner.reset();
            delete values;
            ++gone;
        });
        inner.reset();
        const auto graph = [&](std::shared_ptr<Owned> from) {
            cudag::GraphBuilder builder;
            const auto wait = builder.host(gate.waiter());
            builder.memcpy(cudag::DeviceBuffer<int>(1), std::move(from)).after(wait);
            return std::move(builder).build();
        };
        cudag::Exec exec = graph(is_replaced ? std::make_shared<Owned>(1, 1) : owned).instantiate();
        if (is_replaced) REQUIRE(exec.update(graph(std::move(owned))).updated());
        owned.reset();
        launch(exec);
        if (is_replaced) REQUIRE(exec.update(graph(std::make_shared<Owned>(1, 2))).updated());
    }
    let_go();
    CHECK(gone == 0);
    gate.open();
    for (int i = 0; i < 2000 && gone == 0; ++i)
        let_go();
    CHECK(gone == 1);
    CHECK(goes(last));
}

TEST_CASE("owners go, and Execs end, while this thread captures", "[unit][owners]") {
    const NothingLeft check;
    const In in = GENERATE(In::stream, In::raw, In::native);
    Kept early, late;
    Launcher launch(in);
    std::optional<cudag::Exec> before = early.build().instantiate();
    std::optional<cudag::Exec> within = late.build().instantiate();
    launch(*before);
    launch(*within);
    before.reset();
    const cudag::Stream captured;
    const cudag::DeviceBuffer<int> cell(1);
    const cudag::Graph graph = cudag::capture(captured, [&](cudaStream_t stream) {
        within.reset();
        CHECK(late.is_alive());
        early.gate.open();
        late.gate.open();
        for (int i = 0; i < 2000 && !(early.is_gone() && late.is_gone()); ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            const cudag::Graph lets_go = cudag::GraphBuilder().build();
        }
        CHECK(early.is_gone());
        CHECK(late.is_gone());
        cudag::check(cudaMemsetAsync(cell.data(), 0, sizeof(int), stream));
    });
    CHECK(graph.nodes().size() == 1);
}

TEST_CASE("what owns memory last breaks no capture as it goes", "[unit][owners]") {
    const NothingLeft check;
    const cudag::CaptureMode mode = GENERATE(cudag::CaptureMode::global, cudag::CaptureMode::thread_local_);
    const auto graph = [] {
        void* memory = nullptr;
        cudag::check(cudaMalloc(&memory, sizeof(int)));
        cudag::GraphBuilder builder;
        builder.memset(cudag::DeviceBuffer<int>(1), 0);
        builder.retain(std::shared_ptr<void>(memory, [](void* last) { static_cast<void>(cudaFree(last)); }));
        return std::move(builder).build();
    };
    const cudag::Stream stream, captured;
    const cudag::DeviceBuffer<int> cell(1);
    std::optional<cudag::Graph> never_used = graph();
    std::optional<cudag::Graph> used = graph();
    static_cast<void>(used->instantiate());
    std::optional<cudag::Exec> never_launched = graph().instantiate();
    std::optional<cudag::Exec> launched = graph().instantiate();
    launched->launch(stream);
    cudag::Exec updated = graph().instantiate();
    REQUIRE(updated.update(graph()).updated());
    const cudag::Graph next = graph();
    stream.synchronize();

    const cudag::Graph made = cudag::capture(captured,
                                             [&](cudaStream_t native) {
                                                 SECTION("a Graph that was never used") {
                                                     never_used.reset();
                                                 }
                                                 SECTION("a Graph after its Exec") {
                                                     used.reset();
                                                 }
                                                 SECTION("an Exec that was never launched") {
                                                     never_launched.reset();
                                                 }
                                                 SECTION("an Exec whose launch has ended") {
                                                     launched.reset();
                                                 }
                                                 SECTION("what an Exec had before an update") {
                                                     CHECK(updated.update(next).updated());
                                                 }
                                                 cudag::check(cudaMemsetAsync(cell.data(), 0, sizeof(int), native));
                                             },
                                             {.mode = mode});
    CHECK(made.nodes().size() == 1);
}

TEST_CASE("a capture keeps its owners where a call on it finds no memory", "[unit][owners][faults]") {
    const cudag::Stream stream;
    const cudag::DeviceBuffer<int> to(1);
    cudag::Event event({.timing = false});
    for (std::size_t n = 1;; ++n) {
        CAPTURE(n);
        const NothingLeft check;
        cudag::StreamCapture capture(stream);
        auto owned = std::make_shared<Owned>(1, 7);
        const std::weak_ptr<Owned> watch = owned;
        cudag::memcpy_async(stream, to.span(), std::move(owned));
        const std::optional<bool> failed = fails_without_allocation(n, [&] { capture.record(event); });
        CHECK_FALSE(watch.expired());
        const cudag::Graph graph = std::move(capture).finish();
        CHECK_FALSE(watch.expired());
        if (!failed) break;
    }
}

TEST_CASE("threads launch, update and end Execs that share owners", "[unit][owners][threads]") {
    const NothingLeft check;
    Kept kept; // of which launches only read what they own: they run at once
    {
        const cudag::Graph graph = [&kept] {
            auto owned = std::make_shared<Owned>(1, 7);
            auto inside = std::make_shared<int>(7);
            kept.source = owned;
            kept.callable = inside;
            cudag::GraphBuilder builder;
            const cudag::DeviceBuffer<int> cells(1);
            builder.kernel({}, look_at, cells);
            builder.host([owned = std::move(owned), inside = std::move(inside)] { look_at(inside.get()); });
            return std::move(builder).build();
        }();
        std::vector<std::thread> threads;
        for (unsigned number = 0; number < 4; ++number)
            threads.emplace_back([&graph, number] {
                Launcher raw(In::raw), own(In::stream), native(In::native);
                for (unsigned i = 0; i < 10; ++i) {
                    cudag::Exec exec = graph.instantiate();
                    raw(exec);
                    if ((number + i) % 2 == 0) native(exec);
                    const cudag::Graph next = graph.clone();
                    if (exec.update(next).updated()) own(exec);
                    if (i % 3 == 0) raw(exec);
                }
            });
        for (std::thread& thread : threads)
            thread.join();
        CHECK(kept.is_alive());
    }
    CHECK(goes(kept));
}

TEST_CASE("more Execs may end in flight than are asked about at a time, in any order", "[unit][owners]") {
    const NothingLeft check;
    constexpr std::size_t count = 40;
    std::vector<Kept> kept(count);
    for (Kept& each : kept) {
        Launcher launch(In::raw);
        cudag::Exec exec = each.build().instantiate();
        launch(exec);
    }
    kept[count - 3].gate.open();
    CHECK(goes(kept[count - 3]));
    for (Kept& each : kept)
        each.gate.open();
    for (const Kept& each : kept)
        CHECK(goes(each));
}
