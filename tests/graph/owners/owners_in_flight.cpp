// What updates keep alive while launches are in flight: what those use, until the last one has ended.
#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "owners_sample.hpp"

using cudag::arg;
using owners::Sample;

TEST_CASE("a replaced argument goes when the launch that used it has ended", "[owners][update]") {
    Watched first;
    Watched second;
    Sample s;
    s.exec->update(s.node, arg<0>(first.take()));
    s.launch_held_up();
    s.exec->update(s.node, arg<0>(second.take()));
    CHECK(first.alive());
    CHECK(second.alive());
    s.gate.open();
    CHECK(released(first, s.stream));
    CHECK(first.value() == 7);
    CHECK(second.alive());
    run(*s.exec, s.stream);
    CHECK(second.value() == 7);
}

TEST_CASE("a launch in another device's stream than the last one does not wait", "[owners][update][device]") {
    int devices = 0;
    cudag::check(cudaGetDeviceCount(&devices));
    if (devices < 2) {
        WARN("skipped: it needs two devices, and there is one");
        return;
    }
    const cudag::Stream first;
    cudag::check(cudaSetDevice(1));
    const cudag::Stream second;
    cudag::check(cudaSetDevice(0));
    std::atomic<bool> closed = false;
    cudag::PinnedBuffer<int> from(1); // a launch waits for copies within the host
    cudag::PinnedBuffer<int> next(1);
    from[0] = 1;
    next[0] = 2;
    const cudag::DeviceBuffer<int> to(1);
    cudag::GraphBuilder b;
    const auto wait = b.host([&] { closed.wait(true); });
    const auto copy = b.memcpy(to, from).after(wait);
    cudag::Exec exec = std::move(b).build().instantiate();
    exec.update(copy, to, std::move(next)); // launches are tracked from now on
    run(exec, second);

    closed = true;
    std::atomic<bool> returned = false;
    bool in_time = false;
    std::thread opens([&] {
        for (int i = 0; i < 2000 && !returned; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        in_time = returned;
        closed = false;
        closed.notify_all();
    });
    exec.launch(first);
    returned = true;
    opens.join();
    first.synchronize();
    CHECK(in_time);
    CHECK(read(to) == std::vector{2});
}

TEST_CASE("arguments replaced twice in flight both go when the launch has ended", "[owners][update]") {
    Watched first;
    Watched second;
    Watched third;
    Sample s;
    s.exec->update(s.node, arg<0>(first.take()));
    s.launch_held_up();
    s.exec->update(s.node, arg<0>(second.take()));
    s.exec->update(s.node, arg<0>(third.take()));
    CHECK(first.alive());
    CHECK(third.alive());
    s.gate.open();
    CHECK(released(first, s.stream));
    CHECK(released(second, s.stream));
    CHECK(third.alive());
}

TEST_CASE("each launch in flight keeps the argument of its time", "[owners][update]") {
    Watched first;
    Watched second;
    Sample s;
    s.exec->update(s.node, arg<0>(first.take()));
    s.launch_held_up();
    s.exec->update(s.node, arg<0>(second.take()));
    s.exec->launch(s.stream);
    s.exec->update(s.node, arg<0>(s.borrowed));
    CHECK(first.alive());
    CHECK(second.alive());
    s.gate.open();
    CHECK(released(first, s.stream));
    CHECK(released(second, s.stream));
    CHECK(first.value() == 7);
    CHECK(second.value() == 7);
}

TEST_CASE("an exec destroyed in flight keeps its updates' owners until the launch has ended", "[owners][update]") {
    Watched cell;
    Sample s;
    s.exec->update(s.node, arg<0>(cell.take()));
    s.launch_held_up();
    s.exec.reset();
    CHECK(cell.alive());
    s.gate.open();
    CHECK(released(cell, s.stream));
    CHECK(cell.value() == 7);
}

TEST_CASE("an exec destroyed in flight keeps what was replaced before, too", "[owners][update]") {
    Watched first;
    Watched second;
    Sample s;
    s.exec->update(s.node, arg<0>(first.take()));
    s.launch_held_up();
    s.exec->update(s.node, arg<0>(second.take()));
    s.exec.reset();
    CHECK(first.alive());
    s.gate.open();
    CHECK(released(first, s.stream));
    CHECK(released(second, s.stream));
    CHECK(first.value() == 7);
}

TEST_CASE("memory of a buffer given to an update is freed after the launch that uses it", "[owners][update]") {
    const cudag::PinnedBuffer<int> result(1);
    Sample s;
    std::weak_ptr<void> memory;
    {
        const auto from = device({30});
        memory = from.owner();
        s.exec->update(s.node, result, from, 3);
    }
    s.launch_held_up();
    s.exec->update(s.node, result, s.borrowed, 0);
    CHECK_FALSE(memory.expired());
    s.gate.open();
    s.stream.synchronize();
    CHECK(result[0] == 33);
    CHECK(released(memory, s.stream));
}
