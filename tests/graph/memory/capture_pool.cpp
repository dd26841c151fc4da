// CapturePool: memory that comes back, is used again, and lives as long as whoever may use it.
#include <cudag/capture_pool.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "gate.hpp"
#include "watched.hpp"

using cudag::capture;
using cudag::CaptureError;
using cudag::CaptureMode;
using cudag::CapturePool;
using cudag::CaptureStatus;
using cudag::DeviceBuffer;
using cudag::Error;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::PinnedBuffer;
using cudag::Stream;
using cudag::StreamCapture;

namespace {

template <class T>
std::weak_ptr<const void> watch(const T& owner) {
    return std::shared_ptr<const void>(owner.owner());
}

/// The capture mode of this thread.
cudaStreamCaptureMode thread_mode() {
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    cudag::check(cudaThreadExchangeStreamCaptureMode(&mode));
    cudaStreamCaptureMode back = mode;
    cudag::check(cudaThreadExchangeStreamCaptureMode(&back));
    return mode;
}

bool is_aligned(const void* address) {
    return reinterpret_cast<std::uintptr_t>(address) % 256 == 0;
}

} // namespace

TEST_CASE("a pool's buffer is device memory that streams use at once", "[memory][pool]") {
    CapturePool pool;
    const DeviceBuffer<int> buffer = pool.allocate<int>(3);
    CHECK(buffer.size() == 3);
    CHECK(is_aligned(buffer.data()));
    cudaPointerAttributes attributes{};
    cudag::check(cudaPointerGetAttributes(&attributes, buffer.data()));
    CHECK(attributes.type == cudaMemoryTypeDevice);

    const Stream stream;
    const PinnedBuffer<int> result(3);
    cudag::memset_async(stream, buffer, 5);
    cudag::launch(stream, {}, store, buffer, 7);
    cudag::memcpy_async(stream, result, buffer);
    stream.synchronize();
    CHECK(std::vector(result.begin(), result.end()) == std::vector{7, 5, 5});
}

TEST_CASE("a pool counts its buffers and their bytes", "[memory][pool]") {
    CapturePool pool;
    CHECK(pool.count() == 0);
    CHECK(pool.bytes() == 0);
    CHECK(pool.reserved_bytes() == 0);
    std::optional<DeviceBuffer<int>> first = pool.allocate<int>(3);
    const DeviceBuffer<double> second = pool.allocate<double>(1000);
    CHECK(pool.count() == 2);
    CHECK(pool.bytes() == 12 + 8000);
    const std::size_t reserved = pool.reserved_bytes();
    CHECK(reserved >= pool.bytes());
    first.reset();
    CHECK(pool.count() == 1);
    CHECK(pool.bytes() == 8000);
    CHECK(pool.reserved_bytes() == reserved);
}

TEST_CASE("a pool takes no more for a buffer than its alignment needs", "[memory][pool]") {
    CapturePool pool;
    const auto least = pool.allocate<char>(1);
    const std::size_t step = pool.reserved_bytes();
    CHECK(step >= 256);
    const auto exact = pool.allocate<char>(step);
    CHECK(pool.reserved_bytes() == 2 * step);
    const auto more = pool.allocate<char>(step + 1);
    CHECK(pool.reserved_bytes() == 4 * step);
}

TEST_CASE("memory that came back to a pool is used again", "[memory][pool]") {
    CapturePool pool;
    const void* const memory = pool.allocate<int>(1000).data();
    const std::size_t reserved = pool.reserved_bytes();
    SECTION("by a buffer of the same size") {
        const auto again = pool.allocate<int>(1000);
        CHECK(again.data() == memory);
    }
    SECTION("by a smaller one of another type") {
        const auto again = pool.allocate<char>(1);
        CHECK(again.data() == memory);
    }
    SECTION("by several that fit") {
        const auto one = pool.allocate<int>(100);
        const auto two = pool.allocate<int>(100);
        CHECK(is_aligned(two.data()));
        CHECK(two.data() >= one.data() + 100);
    }
    CHECK(pool.reserved_bytes() == reserved);
}

TEST_CASE("pieces that came back to a pool become one again, whichever is first", "[memory][pool]") {
    CapturePool pool;
    const void* const memory = pool.allocate<int>(3000).data();
    const std::size_t reserved = pool.reserved_bytes();
    std::vector<std::optional<DeviceBuffer<int>>> pieces;
    for (int i = 0; i < 3; ++i)
        pieces.emplace_back(pool.allocate<int>(900));
    CHECK(pool.reserved_bytes() == reserved);
    const auto order = GENERATE(
        table<unsigned, unsigned, unsigned>({{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}));
    pieces[std::get<0>(order)].reset();
    pieces[std::get<1>(order)].reset();
    pieces[std::get<2>(order)].reset();
    const auto whole = pool.allocate<int>(3000);
    CHECK(whole.data() == memory);
    CHECK(pool.reserved_bytes() == reserved);
}

TEST_CASE("a pool takes the smallest piece that is large enough", "[memory][pool]") {
    CapturePool pool;
    std::optional large = pool.allocate<char>(1 << 20);
    std::optional small = pool.allocate<char>(1 << 10);
    const void* const memory = small->data();
    large.reset();
    small.reset();
    const auto again = pool.allocate<char>(1000);
    CHECK(again.data() == memory);
}

TEST_CASE("buffers of a pool never overlap", "[memory][pool]") {
    CapturePool pool;
    const Stream stream;
    std::vector<DeviceBuffer<int>> all;
    for (int i = 0; i < 40; ++i) {
        const auto size = static_cast<std::size_t>(1 + (i * 37) % 200);
        all.push_back(pool.allocate<int>(size));
        if (i % 3 == 2) all.erase(all.begin() + i % static_cast<int>(all.size()));
    }
    for (std::size_t i = 0; i < all.size(); ++i)
        cudag::memset_async(stream, all[i], static_cast<int>(i));
    stream.synchronize();
    CHECK(pool.count() == all.size());
    for (std::size_t i = 0; i < all.size(); ++i)
        CHECK(read(all[i]) == std::vector<int>(all[i].size(), static_cast<int>(i)));
}

TEST_CASE("a buffer of no elements takes nothing from its pool", "[memory][pool]") {
    CapturePool pool;
    const auto buffer = pool.allocate<int>(0);
    CHECK(buffer.data() == nullptr);
    CHECK(buffer.empty());
    CHECK(pool.count() == 0);
    CHECK(pool.reserved_bytes() == 0);
}

TEST_CASE("sealed pool refuses", "[memory][pool]") {
    CapturePool pool("scratch");
    std::optional buffer = pool.allocate<float>(4);
    CHECK_FALSE(pool.is_sealed());
    pool.seal();
    CHECK(pool.is_sealed());
    const auto error = refused<CaptureError>([&] { static_cast<void>(pool.allocate<float>(100)); });
    CHECK(error.code() == cuda_code(cudaErrorNotPermitted));
    CHECK(error.operation().empty());
    CHECK_THAT(error.what(), StartsWith("cudag: CapturePool \"scratch\" made at ") &&
                                 ContainsSubstring("capture_pool.cpp") &&
                                 ContainsSubstring(": allocation of 100 elements of 4 bytes at ") &&
                                 EndsWith(": the pool is sealed; allocate before seal(), or call unseal()"));
    SECTION("whether or not it would need new memory") {
        buffer.reset();
        static_cast<void>(refused<CaptureError>([&] { static_cast<void>(pool.allocate<float>(4)); }));
        static_cast<void>(refused<CaptureError>([&] { static_cast<void>(pool.allocate<float>(0)); }));
        CHECK(pool.count() == 0);
    }
    SECTION("until it is unsealed") {
        pool.unseal();
        CHECK_FALSE(pool.is_sealed());
        const auto other = pool.allocate<float>(4);
        CHECK(pool.count() == 2);
    }
}

TEST_CASE("a size that overflows is refused before the pool asks CUDA", "[memory][pool]") {
    CapturePool pool;
    const std::size_t most = std::numeric_limits<std::size_t>::max();
    for (const std::size_t count : {most / sizeof(double) + 1, most / sizeof(double), most}) {
        const auto error = refused<Error>([&] { static_cast<void>(pool.allocate<double>(count)); });
        CHECK(error.code() == cuda_code(cudaErrorMemoryAllocation));
        CHECK(error.operation().empty());
        CHECK_THAT(error.what(), StartsWith("cudag: CapturePool made at ") &&
                                     ContainsSubstring(std::to_string(count) + " elements of 8 bytes") &&
                                     EndsWith("the size overflows; ask for fewer elements"));
    }
    CHECK(pool.count() == 0);
}

TEST_CASE("memory that the device does not have is refused, and the pool is as before", "[memory][pool]") {
    CapturePool pool("large");
    const auto buffer = pool.allocate<char>(1000);
    const std::size_t reserved = pool.reserved_bytes();
    const std::size_t count = std::size_t{1} << 50U;
    const auto error = refused<Error>([&] { static_cast<void>(pool.allocate<char>(count)); });
    CHECK(error.code() == cuda_code(cudaErrorMemoryAllocation));
    CHECK(error.operation() == "cudaMallocFromPoolAsync");
    CHECK_THAT(error.what(), ContainsSubstring("CapturePool \"large\"") && ContainsSubstring(std::to_string(count)) &&
                                 ContainsSubstring("(the pool holds " + std::to_string(reserved) + " bytes)"));
    CHECK(pool.count() == 1);
    CHECK(pool.reserved_bytes() == reserved);
    CHECK_NOTHROW(pool.allocate<char>(16));
}

TEST_CASE("a moved-from pool is refused by name", "[memory][pool]") {
    CapturePool pool;
    const auto buffer = pool.allocate<int>(1);
    CapturePool other = std::move(pool);
    CHECK(other.count() == 1);
    CHECK(pool.owner() == nullptr);
    const auto error = refused<Error>([&] { static_cast<void>(pool.allocate<int>(1)); });
    CHECK_THAT(error.what(), ContainsSubstring("a moved-from CapturePool was used"));
    static_cast<void>(refused<Error>([&] { pool.seal(); }));
    static_cast<void>(refused<Error>([&] { static_cast<void>(pool.count()); }));
    pool = std::move(other);
    CHECK(pool.count() == 1);
}

TEST_CASE("a pool lives on in its buffers", "[memory][pool]") {
    std::optional<CapturePool> pool(std::in_place);
    std::optional buffer = pool->allocate<int>(1);
    const auto state = watch(*pool);
    pool.reset();
    CHECK_FALSE(state.expired());
    write(buffer->span(), {3});
    CHECK(read(*buffer) == std::vector{3});
    const auto memory = watch(*buffer);
    buffer.reset();
    CHECK(memory.expired());
    CHECK(state.expired());
}

TEST_CASE("a graph that has a pool's buffer has its memory for itself", "[memory][pool]") {
    CapturePool pool;
    const Stream stream;
    const PinnedBuffer<int> result(1);
    const void* memory = nullptr;
    {
        std::optional<Exec> exec;
        {
            GraphBuilder b;
            const auto cell = pool.allocate<int>(1);
            memory = cell.data();
            const auto fill = b.kernel({}, store, cell, 7);
            b.memcpy(result, cell).after(fill);
            exec = std::move(b).build().instantiate();
        }
        CHECK(pool.count() == 1);
        const auto other = pool.allocate<int>(1);
        CHECK(other.data() != memory);
        write(other.span(), {9});
        run(*exec, stream);
        CHECK(result[0] == 7);
        CHECK(read(other) == std::vector{9});
    }
    for (int attempt = 0; attempt < 20000 && pool.count() != 0; ++attempt) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        stream.synchronize();
    }
    CHECK(pool.count() == 0);
    const auto again = pool.allocate<int>(1);
    CHECK(pool.count() == 1);
}

TEST_CASE("a launch in flight keeps a pool's memory when buffer, pool, graph and exec are gone", "[memory][pool]") {
    const Stream stream;
    const auto result = device({0});
    std::weak_ptr<const void> state;
    Gate gate;
    {
        CapturePool pool;
        state = watch(pool);
        GraphBuilder b;
        const auto cell = pool.allocate<int>(1);
        const auto wait = b.host(gate.node());
        const auto fill = b.kernel({}, store, cell, 7).after(wait);
        b.kernel({}, add, result, cell, 1).after(fill);
        Exec exec = std::move(b).build().instantiate();
        exec.launch(stream);
        gate.wait_until_entered();
    }
    CHECK_FALSE(state.expired());
    gate.open();
    CHECK(released(state, stream));
    CHECK(read(result) == std::vector{8});
}

TEST_CASE("threads allocate from one pool at once", "[memory][pool]") {
    CapturePool pool;
    std::vector<std::vector<DeviceBuffer<int>>> kept(4);
    std::vector<std::thread> threads;
    for (auto& mine : kept)
        threads.emplace_back([&] {
            for (std::size_t i = 1; i <= 50; ++i) {
                const auto dropped = pool.allocate<int>(i * 10);
                mine.push_back(pool.allocate<int>(i));
            }
        });
    for (std::thread& each : threads)
        each.join();
    CHECK(pool.count() == 200);
    std::vector<const int*> addresses;
    for (const auto& mine : kept)
        for (const auto& buffer : mine)
            addresses.push_back(buffer.data());
    std::sort(addresses.begin(), addresses.end());
    CHECK(std::adjacent_find(addresses.begin(), addresses.end()) == addresses.end());
    kept.clear();
    CHECK(pool.count() == 0);
    CHECK(pool.bytes() == 0);
}

TEST_CASE("a pool allocates while a stream is captured, in every mode, and no node arises", "[capture][pool]") {
    const auto mode = GENERATE(CaptureMode::global, CaptureMode::thread_local_, CaptureMode::relaxed);
    CAPTURE(cudag::to_string(mode));
    CapturePool pool;
    const Stream stream;
    const auto result = device({0});
    const cudaStreamCaptureMode before = thread_mode();
    StreamCapture c(stream, {mode});
    {
        const auto first = pool.allocate<int>(1);
        const auto large = pool.allocate<int>(std::size_t{3} << 20U);
        CHECK(c.status() == CaptureStatus::active);
        CHECK(thread_mode() == before);
        cudag::launch(stream, {}, store, first.data(), 7);
        cudag::launch(stream, {}, add, large.data(), first.data(), 1);
        cudag::launch(stream, {}, add, result.data(), large.data(), 10);
        c.retain(pool);
    }
    const Graph graph = std::move(c).finish();
    CHECK(graph.node_count() == 3);
    CHECK(graph.find(store).size() == 1);
    CHECK(graph.find(add).size() == 2);
    Exec exec = graph.instantiate();
    run(exec, stream);
    CHECK(read(result) == std::vector{18});
}

TEST_CASE("a pool allocates while another thread captures in global mode", "[capture][pool]") {
    CapturePool pool;
    const Stream stream;
    const auto result = device({0});
    StreamCapture c(stream, {CaptureMode::global});
    std::optional<DeviceBuffer<int>> buffer;
    std::thread([&] { buffer = pool.allocate<int>(1); }).join();
    cudag::launch(stream, {}, store, buffer->data(), 4);
    cudag::launch(stream, {}, add, result.data(), buffer->data(), 1);
    Exec exec = std::move(c).finish().instantiate();
    run(exec, stream);
    CHECK(read(result) == std::vector{5});
}

TEST_CASE("a pool is made and dropped while a stream is captured", "[capture][pool]") {
    const Stream stream;
    const auto cell = device({0});
    StreamCapture c(stream, {CaptureMode::global});
    {
        CapturePool pool;
        const auto buffer = pool.allocate<int>(1000);
        CHECK(c.status() == CaptureStatus::active);
    }
    CHECK(c.status() == CaptureStatus::active);
    cudag::launch(stream, {}, store, cell.data(), 3);
    Exec exec = std::move(c).finish().instantiate();
    run(exec, stream);
    CHECK(read(cell) == std::vector{3});
}

TEST_CASE("pool shared by two graphs and outliving its creator", "[capture][pool]") {
    const Stream stream;
    const auto results = device({0, 0});
    std::weak_ptr<const void> state;
    {
        std::vector<Exec> execs;
        {
            CapturePool pool;
            state = watch(pool);
            const void* scratch = nullptr;
            std::size_t reserved = 0;
            for (int i = 0; i < 2; ++i) {
                const Graph graph = capture(stream, [&](StreamCapture& c) {
                    const auto buffer = pool.allocate<int>(1000);
                    c.retain(pool);
                    cudag::launch(stream, {}, store, buffer.data(), 10 * (i + 1));
                    cudag::launch(stream, {}, add, results.data() + i, buffer.data(), 1);
                    if (i == 0) {
                        scratch = buffer.data();
                        reserved = pool.reserved_bytes();
                    }
                    CHECK(buffer.data() == scratch);
                });
                execs.push_back(graph.instantiate());
            }
            CHECK(pool.reserved_bytes() == reserved);
            CHECK(pool.count() == 0);
        }
        CHECK_FALSE(state.expired());
        for (int round = 0; round < 2; ++round) {
            write(results.span(), {0, 0});
            for (Exec& each : execs)
                run(each, stream);
            CHECK(read(results) == std::vector{11, 21});
        }
        execs.erase(execs.begin());
        stream.synchronize();
        CHECK_FALSE(state.expired());
        run(execs[0], stream);
        CHECK(read(results) == std::vector{11, 21});
    }
    CHECK(released(state, stream));
}

TEST_CASE("a captured graph that retains a pool's buffer has its memory for itself", "[capture][pool]") {
    CapturePool pool;
    const Stream stream;
    const auto result = device({0});
    const void* memory = nullptr;
    Exec exec = capture(stream, [&](StreamCapture& c) {
                    const auto buffer = pool.allocate<int>(1);
                    memory = buffer.data();
                    c.retain(buffer);
                    cudag::launch(stream, {}, store, buffer.data(), 7);
                    cudag::launch(stream, {}, add, result.data(), buffer.data(), 1);
                }).instantiate();
    CHECK(pool.count() == 1);
    const auto other = pool.allocate<int>(1);
    CHECK(other.data() != memory);
    run(exec, stream);
    CHECK(read(result) == std::vector{8});
}

TEST_CASE("a captured launch that is given a pool's buffer keeps it, one that borrows does not", "[capture][pool]") {
    CapturePool pool;
    const Stream stream;
    const Graph keeps = capture(stream, [&](cudaStream_t s) {
        cudag::launch(s, {}, store, pool.allocate<int>(1), 7);
        cudag::memset_async(s, pool.allocate<int>(1), 7);
    });
    CHECK(pool.count() == 2);
    const Graph borrows = capture(stream, [&](StreamCapture& c) {
        const auto buffer = pool.allocate<int>(1);
        c.retain(pool);
        cudag::launch(stream, {}, store, buffer.span(), 7);
    });
    CHECK(pool.count() == 2);
}

TEST_CASE("a clone of a captured graph keeps the pool", "[capture][pool]") {
    const Stream stream;
    const auto result = device({0});
    std::weak_ptr<const void> state;
    {
        std::optional<Graph> clone;
        {
            CapturePool pool;
            state = watch(pool);
            clone = capture(stream, [&](StreamCapture& c) {
                        const auto buffer = pool.allocate<int>(1);
                        c.retain(pool);
                        cudag::launch(stream, {}, store, buffer.data(), 1);
                        cudag::launch(stream, {}, add, result.data(), buffer.data(), 1);
                    }).clone();
        }
        stream.synchronize();
        CHECK_FALSE(state.expired());
        Exec exec = clone->instantiate();
        run(exec, stream);
        CHECK(read(result) == std::vector{2});
    }
    CHECK(released(state, stream));
}

TEST_CASE("a failed capture keeps no pool", "[capture][pool]") {
    const Stream stream;
    std::weak_ptr<const void> state;
    {
        CapturePool pool;
        state = watch(pool);
        CHECK_THROWS_AS(capture(stream,
                                [&](StreamCapture& c) {
                                    c.retain(pool, pool.allocate<int>(1));
                                    throw std::runtime_error("half-way");
                                }),
                        std::runtime_error);
        CHECK(pool.count() == 0);
    }
    CHECK(released(state, stream));
}

TEST_CASE("what a pool refuses does not break a capture", "[capture][pool]") {
    CapturePool pool;
    const Stream stream;
    const auto cell = device({0});
    StreamCapture c(stream, {CaptureMode::global});
    static_cast<void>(refused<Error>([&] { static_cast<void>(pool.allocate<char>(std::size_t{1} << 50U)); }));
    CHECK(c.status() == CaptureStatus::active);
    pool.seal();
    static_cast<void>(refused<CaptureError>([&] { static_cast<void>(pool.allocate<char>(1)); }));
    CHECK(c.status() == CaptureStatus::active);
    cudag::launch(stream, {}, store, cell.data(), 3);
    Exec exec = std::move(c).finish().instantiate();
    run(exec, stream);
    CHECK(read(cell) == std::vector{3});
}

TEST_CASE("a pool allocates on its own device, whichever is current", "[capture][pool][device]") {
    int devices = 0;
    cudag::check(cudaGetDeviceCount(&devices));
    if (devices < 2) {
        WARN("skipped: it needs two devices, and there is one");
        return;
    }
    cudag::check(cudaSetDevice(1));
    std::optional<CapturePool> pool(std::in_place);
    cudag::check(cudaSetDevice(0));
    const Stream stream;
    StreamCapture c(stream, {.allow_empty = true});
    std::optional buffer = pool->allocate<int>(100);
    CHECK(c.status() == CaptureStatus::active);
    CHECK(std::move(c).finish().node_count() == 0);
    int current = -1;
    cudag::check(cudaGetDevice(&current));
    CHECK(current == 0);
    cudaPointerAttributes attributes{};
    cudag::check(cudaPointerGetAttributes(&attributes, buffer->data()));
    CHECK(attributes.device == 1);
    pool.reset();
    buffer.reset();
    cudag::check(cudaGetDevice(&current));
    CHECK(current == 0);
}

TEST_CASE("a pool is found by its id as long as something keeps it", "[memory][pool]") {
    std::optional<CapturePool> pool(std::in_place);
    const cudag::PoolId id = pool->id();
    CHECK(id != cudag::PoolId());
    CHECK(pool->id() == id);
    CHECK(CapturePool().id() != id);
    CapturePool other = CapturePool::find(id);
    CHECK(other.owner() == pool->owner());
    const auto buffer = other.allocate<int>(4);
    CHECK(pool->count() == 1);
    pool.reset();
    other = CapturePool();
    CHECK(CapturePool::find(id).count() == 1); // the buffer keeps it
}

TEST_CASE("a pool that has ended, or never was, is refused by its number", "[memory][pool]") {
    cudag::PoolId id;
    {
        CapturePool pool;
        id = pool.id();
    }
    const auto error = refused<cudag::Error>([&] { static_cast<void>(CapturePool::find(id)); });
    CHECK_THAT(error.what(), ContainsSubstring("there is no CapturePool " + std::to_string(id.value)));
    CHECK_THROWS_AS(CapturePool::find({}), cudag::Error);
    const Stream stream;
    CHECK_THROWS_AS(cudag::capture(stream, [](cudaStream_t) {}, {.allow_empty = true, .pool = id}), cudag::Error);
    CHECK(cudag::capture(stream, [](cudaStream_t) {}, {.allow_empty = true}).node_count() == 0);
}

TEST_CASE("a capture, or a region, retains the pool of its options", "[memory][pool][capture]") {
    const Stream stream;
    for (const bool in_builder : {false, true}) {
        std::optional<CapturePool> pool(std::in_place);
        const std::weak_ptr<const void> kept = watch(*pool);
        const cudag::CaptureOptions options{.pool = pool->id()};
        const auto record = [&](cudaStream_t s) {
            const auto cell = pool->allocate<int>(1);
            cudag::launch(s, {}, store, cell.data(), 3); // borrowed
        };
        std::optional<cudag::Graph> graph;
        if (in_builder) {
            GraphBuilder b;
            b.capture(stream, record, options);
            graph = std::move(b).build();
        } else {
            graph = cudag::capture(stream, record, options);
        }
        pool.reset();
        CHECK_FALSE(kept.expired());
        cudag::Exec exec = graph->instantiate();
        run(exec, stream);
    }
}

TEST_CASE("a pool keeps what is recorded in it until it is cleared, or ends", "[memory][pool]") {
    std::weak_ptr<int> first, second;
    std::optional<CapturePool> pool(std::in_place);
    const auto record = [&] {
        const auto owner = std::make_shared<int>(1);
        pool->record(owner, std::shared_ptr<int>());
        return std::weak_ptr<int>(owner);
    };
    first = record();
    CHECK_FALSE(first.expired());
    pool->clear();
    CHECK(first.expired());
    second = record();
    std::shared_ptr<const void> retained = pool->owner();
    pool.reset();
    CHECK_FALSE(second.expired());
    retained.reset();
    CHECK(second.expired());
}
