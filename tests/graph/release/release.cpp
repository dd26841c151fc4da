// CapturePool::release and restore: the memory goes and comes again, and launches in between are refused by name.
#include <cudag/capture_pool.hpp>

#include <cstdint>
#include <optional>
#include <thread>
#include <utility>

#include "gate.hpp"
#include "test.hpp"

using cudag::CaptureError;
using cudag::CapturePool;
using cudag::DeviceBuffer;
using cudag::DeviceSpan;
using cudag::Error;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::KeptContents;
using cudag::ReleasedMemory;
using cudag::Stream;

namespace {

/// A graph that stores 7 into `cell`, which it keeps or borrows.
template <class Cell>
Graph storing(const Cell& cell) {
    GraphBuilder b;
    b.kernel({}, store, cell, 7).label("seven");
    return std::move(b).build();
}

std::string refusal_of(Exec& exec, const Stream& stream) {
    const std::uint64_t before = exec.replays();
    const auto error = refused<Error>([&] { exec.launch(stream); });
    CHECK(error.code() == cuda_code(cudaErrorNotReady));
    CHECK(exec.replays() == before);
    return error.what();
}

} // namespace

TEST_CASE("released memory comes again at its address, with its contents, and graphs run", "[memory][release]") {
    const Stream stream;
    CapturePool pool("activations", {.releasable = true});
    CHECK(pool.is_releasable());
    const DeviceBuffer<int> cell = pool.allocate<int>(1), other = pool.allocate<int>(2);
    write(other.span(), {3, 4});
    const Graph graph = storing(cell);
    Exec exec = graph.instantiate();
    exec.launch(stream);
    stream.synchronize();
    const std::size_t reserved = pool.reserved_bytes();

    const ReleasedMemory released = pool.release();
    CHECK(released == ReleasedMemory{reserved, 0, reserved, 0});
    CHECK(pool.is_released());
    CHECK(pool.reserved_bytes() == 0);
    CHECK(pool.count() == 2);
    CHECK(pool.restore() == reserved);
    CHECK_FALSE(pool.is_released());
    CHECK(pool.reserved_bytes() == reserved);
    CHECK(read(cell) == std::vector{7});
    CHECK(read(other) == std::vector{3, 4});

    write(cell.span(), {0});
    exec.launch(stream);
    stream.synchronize();
    CHECK(read(cell) == std::vector{7});
}

TEST_CASE("a release waits for work in flight", "[memory][release]") {
    const Stream stream;
    CapturePool pool("activations", {.releasable = true});
    const DeviceBuffer<int> cell = pool.allocate<int>(1);
    Exec exec = storing(cell).instantiate();
    for (int i = 0; i < 20; ++i)
        exec.launch(stream);
    pool.release();
    pool.restore();
    CHECK(read(cell) == std::vector{7});
    stream.synchronize();
}

TEST_CASE("work that a release waits for may give buffers back", "[memory][release]") {
    const Stream stream;
    CapturePool pool("activations", {.releasable = true});
    const DeviceBuffer<int> cell = pool.allocate<int>(1);
    std::optional<DeviceBuffer<int>> given = pool.allocate<int>(1);
    Gate gate;
    GraphBuilder b;
    b.host([&] {
        gate.node()();
        given.reset();
    });
    Exec exec = std::move(b).build().instantiate();
    exec.launch(stream);
    std::thread releases([&] { pool.release(); });
    while (!pool.is_released())
        std::this_thread::yield();
    gate.open();
    releases.join();
    CHECK(pool.count() == 1);
    pool.restore();
    stream.synchronize();
}

TEST_CASE("other threads launch their graphs while a pool is released", "[memory][release]") {
    CapturePool pool("activations", {.releasable = true});
    const DeviceBuffer<int> cell = pool.allocate<int>(1);
    std::thread launches([] {
        const Stream stream;
        const DeviceBuffer<int> own(1);
        Exec exec = storing(own).instantiate();
        for (int i = 0; i < 50; ++i)
            exec.launch(stream);
        stream.synchronize();
    });
    for (int i = 0; i < 10; ++i) {
        pool.release();
        pool.restore();
    }
    launches.join();
}

TEST_CASE("only the contents asked for are kept", "[memory][release]") {
    CapturePool pool("activations", {.releasable = true});
    const DeviceBuffer<int> cell = pool.allocate<int>(3);
    write(cell.span(), {1, 2, 3});
    SECTION("those of buffers") {
        CHECK(pool.release({.contents = KeptContents::buffers}).kept == 12);
        CHECK(pool.memory().kept == 12);
        pool.restore();
        CHECK(read(cell) == std::vector{1, 2, 3});
    }
    SECTION("none") {
        CHECK(pool.release({.contents = KeptContents::none}).kept == 0);
        pool.restore();
        write(cell.span(), {4, 5, 6});
        CHECK(read(cell) == std::vector{4, 5, 6});
    }
    CHECK(pool.memory().kept == 0);
}

TEST_CASE("a launch with released memory is refused by label of node, graph and pool", "[memory][release]") {
    const Stream stream;
    CapturePool pool("activations", {.releasable = true});
    const DeviceBuffer<int> cell = pool.allocate<int>(1);
    const DeviceBuffer<int> own(1);
    const bool keeps_buffer = GENERATE(true, false);
    CAPTURE(keeps_buffer);
    Exec exec = (keeps_buffer ? storing(cell) : storing(cell.data())).name("decode").instantiate();
    Exec unrelated = storing(own).instantiate();
    pool.release();
    const std::string text = refusal_of(exec, stream);
    CHECK_THAT(text, StartsWith("cudag: launch of an Exec of the graph \"decode\" made at "));
    CHECK_THAT(text, ContainsSubstring(": kernel \"seven\" at "));
    CHECK_THAT(text, ContainsSubstring(" uses the released memory of CapturePool \"activations\" made at "));
    CHECK_THAT(text, ContainsSubstring("; call restore() of that pool before the launch"));
    CHECK(refused<Error>([&] { exec.launch(stream); }).labels() == Labels{"decode", "activations"});
    unrelated.launch(stream);
    pool.restore();
    exec.launch(stream);
    stream.synchronize();
    CHECK(read(cell) == std::vector{7});
    CHECK(read(own) == std::vector{7});
}

TEST_CASE("a graph that keeps the pool alone is refused too", "[memory][release]") {
    const Stream stream;
    CapturePool pool("activations", {.releasable = true});
    const DeviceBuffer<int> own(1);
    Graph graph = storing(own);
    graph.retain(pool);
    Exec exec = graph.instantiate();
    exec.launch(stream); // nothing is released yet
    pool.release();
    CHECK_THAT(refusal_of(exec, stream), ContainsSubstring("the graph keeps the released memory of CapturePool"));
    pool.restore();
    exec.launch(stream);
    stream.synchronize();
}

TEST_CASE("an update decides which memory a launch uses", "[memory][release]") {
    const Stream stream;
    CapturePool pool("activations", {.releasable = true});
    const DeviceBuffer<int> cell = pool.allocate<int>(1), own(1);
    GraphBuilder b;
    const auto node = b.kernel({}, store, own.data(), 7).label("seven");
    Exec exec = std::move(b).build().instantiate();
    const bool keeps_buffer = GENERATE(true, false);
    if (keeps_buffer)
        exec.update(node, cell, 8);
    else
        exec.update(node, cell.data(), 8);
    pool.release();
    CHECK_THAT(refusal_of(exec, stream), ContainsSubstring("kernel \"seven\" at "));
    exec.update(node, own.data(), 9);
    exec.launch(stream);
    stream.synchronize();
    CHECK(read(own) == std::vector{9});
    pool.restore();
}

TEST_CASE("copies, fills, children and captured work with released memory are refused", "[memory][release]") {
    const Stream stream;
    CapturePool pool("activations", {.releasable = true});
    const DeviceBuffer<int> cells = pool.allocate<int>(4), own(4);
    std::optional<Exec> exec;
    SECTION("a copy") {
        GraphBuilder b;
        b.memcpy(own.span(), cells.span()).label("copy");
        exec = std::move(b).build().instantiate();
    }
    SECTION("a fill") {
        GraphBuilder b;
        b.memset(cells.span(), 1).label("fill");
        exec = std::move(b).build().instantiate();
    }
    SECTION("a child") {
        GraphBuilder b;
        const Graph inner = storing(cells.data());
        b.child(inner);
        exec = std::move(b).build().instantiate();
    }
    SECTION("captured work") {
        exec =
            cudag::capture(stream, [&](cudaStream_t s) { cudag::launch(s, {}, store, cells.data(), 1); }).instantiate();
    }
    SECTION("a graph given by a whole update") {
        exec = storing(own.data()).instantiate();
        REQUIRE(exec->update(storing(cells.data())).updated());
    }
    exec->launch(stream);
    pool.release();
    CHECK_THAT(refusal_of(*exec, stream), ContainsSubstring(" uses the released memory of CapturePool"));
    pool.restore();
    exec->launch(stream);
    stream.synchronize();
}

TEST_CASE("of two released pools each is refused until it is restored", "[memory][release]") {
    const Stream stream;
    CapturePool first("first", {.releasable = true}), second("second", {.releasable = true});
    const DeviceBuffer<int> a = first.allocate<int>(1), b = second.allocate<int>(1);
    Exec one = storing(a).instantiate(), two = storing(b).instantiate();
    first.release();
    second.release();
    CHECK_THAT(refusal_of(one, stream), ContainsSubstring("\"first\""));
    CHECK_THAT(refusal_of(two, stream), ContainsSubstring("\"second\""));
    first.restore();
    one.launch(stream);
    CHECK_THAT(refusal_of(two, stream), ContainsSubstring("\"second\""));
    second.restore();
    two.launch(stream);
    stream.synchronize();
}

TEST_CASE("a released pool allocates nothing, and takes buffers back", "[memory][release]") {
    CapturePool pool("activations", {.releasable = true});
    std::optional<DeviceBuffer<int>> gone = pool.allocate<int>(100);
    int* const address = gone->data();
    pool.release();
    const auto error = refused<CaptureError>([&] { static_cast<void>(pool.allocate<int>(1)); });
    CHECK_THAT(error.what(), ContainsSubstring("the pool's memory is released; call restore() before"));
    gone.reset();
    CHECK(pool.count() == 0);
    pool.restore();
    CHECK(pool.allocate<int>(100).data() == address);
}

TEST_CASE("a second release, and a restore of present memory, do nothing", "[memory][release]") {
    CapturePool pool("activations", {.releasable = true});
    CHECK(pool.restore() == 0);
    CHECK(pool.release() == ReleasedMemory()); // it has no memory yet
    CHECK(pool.restore() == 0);
    const DeviceBuffer<int> cell = pool.allocate<int>(1);
    const std::size_t given = pool.release().pools;
    CHECK(given != 0);
    CHECK(given == pool.memory().released);
    CHECK(pool.release() == ReleasedMemory());
    CHECK(pool.restore() != 0);
    CHECK(pool.restore() == 0);
}

TEST_CASE("an ordinary pool refuses a release, and names the option", "[memory][release]") {
    CapturePool pool("activations");
    CHECK_FALSE(pool.is_releasable());
    const auto error = refused<Error>([&] { pool.release(); });
    CHECK(error.code() == cuda_code(cudaErrorNotPermitted));
    CHECK_THAT(error.what(), StartsWith("cudag: CapturePool \"activations\" made at "));
    CHECK_THAT(error.what(), ContainsSubstring("make the pool with {.releasable = true}"));
    CHECK_FALSE(pool.is_released());
    CHECK(pool.restore() == 0);
    const CapturePool moved = std::move(pool);
    CHECK_THAT(refused<Error>([&] { pool.release(); }).what(), ContainsSubstring("a moved-from CapturePool"));
}

TEST_CASE("a pool may end while its memory is released", "[memory][release]") {
    const Stream stream;
    const DeviceBuffer<int> own(1);
    Exec exec = storing(own).instantiate();
    {
        CapturePool pool("activations", {.releasable = true});
        const DeviceBuffer<int> cell = pool.allocate<int>(1);
        pool.release();
    }
    exec.launch(stream);
    stream.synchronize();
}

TEST_CASE("a releasable pool grows, also during captures and after a restoration", "[memory][release]") {
    const Stream stream;
    CapturePool pool("activations", {.releasable = true});
    std::optional<DeviceBuffer<int>> cell;
    Exec exec = cudag::capture(stream, [&](cudag::StreamCapture& capture) {
                    cell = pool.allocate<int>(1);
                    cudag::launch(capture.stream(), {}, store, *cell, 5);
                }).instantiate();
    pool.release();
    pool.restore();
    const std::size_t reserved = pool.reserved_bytes();
    const DeviceBuffer<char> large = pool.allocate<char>(reserved + 1);
    CHECK(pool.reserved_bytes() > 2 * reserved - 1);
    exec.launch(stream);
    stream.synchronize();
    CHECK(read(*cell) == std::vector{5});
}

TEST_CASE("footprints show released memory, and the contents on the host", "[memory][release][footprint]") {
    CapturePool pool("activations", {.releasable = true});
    const DeviceBuffer<int> cell = pool.allocate<int>(256);
    const Graph graph = storing(cell);
    const std::size_t reserved = pool.reserved_bytes(), device = graph.memory().device(), host = graph.memory().host();
    CHECK(graph.memory().released() == 0);
    pool.release({.contents = KeptContents::buffers});
    CHECK(graph.memory().device() == device - reserved);
    CHECK(graph.memory().host() == host + 1024);
    CHECK(graph.memory().released() == reserved);
    CHECK_THAT(to_string(graph.memory()), ContainsSubstring("; released: "));
    CHECK_THAT(to_string(graph.memory()), ContainsSubstring("contents of CapturePool \"activations\""));
    CHECK_THAT(to_string(pool.memory()), ContainsSubstring(" released, 1.0 KiB kept on the host"));
    pool.restore();
    CHECK(graph.memory().device() == device);
    CHECK(graph.memory().host() == host);
    CHECK_THAT(to_string(graph.memory()), !ContainsSubstring("released"));
}

TEST_CASE("the amounts of a release have a text", "[memory][release]") {
    CHECK(to_string(ReleasedMemory()) == "0 bytes released");
    CHECK(to_string(ReleasedMemory{2048, 1024, 512, 256}) ==
          "3.0 KiB released (pools 2.0 KiB, graph memory 1.0 KiB), 512 bytes kept on the host, 256 bytes in pools that "
          "are not releasable");
}
