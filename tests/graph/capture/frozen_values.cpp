// CaptureCache: replays that are verified by another capture, and the frozen values that it finds.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <cudag/format.hpp>

#include "bind_kernels.hpp"
#include "graphed.hpp"

using cudag::CaptureCache;
using cudag::CaptureError;
using cudag::CapturePool;
using cudag::check;
using cudag::DeviceBuffer;
using cudag::Difference;
using cudag::DifferenceKind;
using cudag::FrozenValueError;
using cudag::launch;
using cudag::PinnedBuffer;
using cudag::RunKind;
using cudag::Steps;
using cudag::Stream;

namespace {

/// A cache that verifies each hit, and its stream. Its functions may allocate memory.
struct Verified {
    Stream stream;
    CaptureCache cache{{.warm_up = 0, .mode = cudag::CaptureMode::relaxed, .verify = 1}};

    template <class Function>
    RunKind run(Function&& function) {
        return cache.run(stream, "work", std::forward<Function>(function));
    }
    /// Captures the work of the first call, and returns the only difference of the second call's.
    template <class Make, class Value>
    Difference difference(const Make& make, const Value& first, const Value& second) {
        CHECK(run(make(first)) == RunKind::captured);
        CHECK(run(make(first)) == RunKind::replayed);
        const auto error = refused<FrozenValueError>([&] { run(make(second)); });
        CHECK(run(make(first)) == RunKind::replayed);
        REQUIRE(error.differences().size() == 1);
        return error.differences().front();
    }
};

/// Work that is the same in each call, whatever else it does: three replays are launched.
template <class Function>
void check_stable(const Function& function, cudag::CaptureCacheOptions options = {}) {
    const Stream stream;
    options.warm_up = 0;
    options.mode = cudag::CaptureMode::relaxed; // it may allocate memory
    options.verify = 1;
    CaptureCache cache(options);
    CHECK(cache.run(stream, 1, function) == RunKind::captured);
    for (int i = 0; i < 3; ++i)
        CHECK(cache.run(stream, 1, function) == RunKind::replayed);
    stream.synchronize();
}

} // namespace

TEST_CASE("a value that the key lacks is named: node, argument, old and new value", "[capture][verify]") {
    Verified verified;
    const auto cell = device({0});
    const auto work = [&](int by) {
        return [&, by](Steps& steps) {
            steps.step("count", [&](cudaStream_t s) { launch(s, {}, add, cell.data(), cell.data(), by); });
        };
    };
    CHECK(verified.run(work(3)) == RunKind::captured);
    CHECK(verified.run(work(3)) == RunKind::replayed);
    const auto error = refused<FrozenValueError>([&] { verified.run(work(4)); });
    CHECK_THAT(error.what(), ContainsSubstring("CaptureCache: key \"work\": replay 2: the function, captured again, "
                                               "records other work than the kept graph"));
    CHECK_THAT(error.what(), ContainsSubstring("put what changes into the key"));
    CHECK_THAT(error.what(), ContainsSubstring("\n  kernel \"count\" (add) at ") &&
                                 ContainsSubstring("frozen_values.cpp:") && ContainsSubstring(": argument 2: 3 -> 4"));
    CHECK(error.labels() == Labels{"count"});
    CHECK(std::string(error.location().file).ends_with("frozen_values.cpp"));
    CHECK_THAT(error.what(), ContainsSubstring(fmt::format("frozen_values.cpp:{}: argument 2", error.location().line)));
    CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
    REQUIRE(error.differences().size() == 1);
    const Difference& difference = error.differences().front();
    CHECK(difference.kind == DifferenceKind::parameter);
    CHECK(difference.field == "argument 2");
    CHECK(difference.old_value == "3");
    CHECK(difference.new_value == "4");
    CHECK(difference.before == cudag::Node());
    CHECK(difference.after == cudag::Node());
}

TEST_CASE("a frozen value launches nothing, and leaves the graph usable", "[capture][verify]") {
    Verified verified;
    const auto cell = device({0});
    const auto run = [&](int by) {
        return verified.run([&, by](cudaStream_t s) { launch(s, {}, add, cell.data(), cell.data(), by); });
    };
    run(3);
    for (int i = 0; i < 2; ++i) {
        static_cast<void>(refused<FrozenValueError>([&] { run(4); }));
        CHECK(read(verified.stream, cell.span()) == std::vector{3});
        cudag::CaptureCacheStats stats = verified.cache.stats();
        CHECK(std::exchange(stats.bytes, 0) != 0);
        CHECK(stats == cudag::CaptureCacheStats{0, 1, 0, 0, 0, 1, 1});
    }
    CHECK(run(3) == RunKind::replayed);
    CHECK(read(verified.stream, cell.span()) == std::vector{6});
    CHECK(verified.cache.report().keys.front().state == cudag::KeyState::captured);
    CHECK(verified.cache.forget("work"));
    CHECK(verified.cache.stats().graphs == 0);
    CHECK(run(4) == RunKind::captured);
    CHECK(read(verified.stream, cell.span()) == std::vector{10});
}

TEST_CASE("every n-th replay of a key calls the function, no other", "[capture][verify]") {
    const Stream stream;
    CaptureCache cache({.warm_up = 1, .verify = 3});
    const auto cells = device({0, 0});
    std::vector<int> calls(2);
    std::vector<unsigned> verified;
    const auto run = [&](std::size_t key) {
        cache.run(stream, key, [&, key](cudaStream_t s) {
            ++calls[key];
            launch(s, {}, add, cells.data() + key, cells.data() + key, 1);
        });
    };
    for (unsigned i = 0; i < 11; ++i) { // an eager run, a capture, nine replays
        const int before = calls[0];
        run(0);
        if (calls[0] != before) verified.push_back(i);
        if (i % 2 == 0) run(1);
    }
    CHECK(verified == std::vector{0U, 1U, 4U, 7U, 10U});
    CHECK(calls == std::vector{5, 3}); // four replays of the other key
    CHECK(read(stream, cells.span()) == std::vector{11, 6});
}

TEST_CASE("without .verify no hit calls the function", "[capture][verify]") {
    const Stream stream;
    CaptureCache cache({.warm_up = 0});
    const auto cell = device({0});
    int calls = 0;
    for (int by = 1; by < 5; ++by)
        cache.run(stream, 1, [&, by](cudaStream_t s) {
            ++calls;
            launch(s, {}, add, cell.data(), cell.data(), by);
        });
    CHECK(calls == 1);
    CHECK(read(stream, cell.span()) == std::vector{4});
}

TEST_CASE("frozen addresses, sizes, shapes, kernels and fills are found", "[capture][verify]") {
    Verified verified;
    const auto cells = device({0, 0, 0, 0});
    const auto at = [&](int i) { return cells.data() + i; };
    SECTION("an address") {
        const auto found = verified.difference(
            [](int* to) { return [to](cudaStream_t s) { launch(s, {}, store, to, 1); }; }, at(0), at(1));
        CHECK(found.field == "argument 0");
        CHECK(found.old_value == fmt::format("{}", static_cast<void*>(at(0))));
        CHECK(found.new_value == fmt::format("{}", static_cast<void*>(at(1))));
    }
    SECTION("a grid") {
        const auto work = [&](unsigned blocks) {
            return [&, blocks](cudaStream_t s) { launch(s, {.grid = {blocks}}, store, at(0), 1); };
        };
        CHECK(verified.difference(work, 1U, 2U).field == "grid");
    }
    SECTION("a kernel") {
        using Kernel = void (*)(int*, const int*, int);
        const auto work = [&](Kernel kernel) {
            return [&, kernel](cudaStream_t s) { launch(s, {}, kernel, at(0), at(1), 1); };
        };
        const auto found = verified.difference(work, Kernel(add), Kernel(subtract));
        CHECK(found.field == "kernel");
        CHECK(found.kind == DifferenceKind::function);
    }
    SECTION("the value of a memset") {
        const auto work = [&](int value) {
            return [&, value](cudaStream_t s) { check(cudaMemsetAsync(at(0), value, 4, s)); };
        };
        CHECK(verified.difference(work, 1, 2).field == "value");
    }
    SECTION("the size of a copy") {
        const auto work = [&](std::size_t bytes) {
            return [&, bytes](cudaStream_t s) {
                check(cudaMemcpyAsync(at(2), at(0), bytes, cudaMemcpyDeviceToDevice, s));
            };
        };
        CHECK(verified.difference(work, std::size_t{4}, std::size_t{8}).field == "bytes");
    }
    SECTION("an address in an object") {
        const auto work = [&](int* to) {
            return [&, to](cudaStream_t s) { launch(s, {}, add_to, ToAndFrom{to, at(3)}, 1); };
        };
        CHECK(verified.difference(work, at(0), at(1)).field == "argument 0");
    }
    SECTION("a host function") {
        using Host = void (*)(void*);
        const auto work = [&](Host host) {
            return [host](cudaStream_t s) { check(cudaLaunchHostFunc(s, host, nullptr)); };
        };
        const auto found = verified.difference(work, Host([](void*) {}), Host([](void* p) {
                                                   if (p != nullptr) throw 1;
                                               }));
        CHECK(found.field == "function");
    }
}

TEST_CASE("values that came by reference, or from globals, are found as well", "[capture][verify]") {
    Verified verified;
    const auto cell = device({0});
    int by = 3;
    const auto work = [&](cudaStream_t s) { launch(s, {}, store, cell.data(), by); };
    verified.run(work);
    verified.run(work);
    by = 4;
    CHECK_THAT(refused<FrozenValueError>([&] { verified.run(work); }).what(),
               ContainsSubstring("(store)") || ContainsSubstring("argument 1: 3 -> 4"));
    by = 3;
    CHECK(verified.run(work) == RunKind::replayed);
}

TEST_CASE("more, less and other work is found, and named alone", "[capture][verify]") {
    Verified verified;
    const auto cells = device({0, 0});
    const auto work = [&](const std::string& nodes) {
        return [&, nodes](cudaStream_t s) {
            for (const char node : nodes)
                if (node == 'k')
                    launch(s, {}, store, cells.data(), static_cast<int>(nodes.size()));
                else
                    check(cudaMemsetAsync(cells.data(), 0, 4, s));
        };
    };
    verified.run(work("km"));
    const auto found = [&](const std::string& nodes) {
        return std::string(refused<FrozenValueError>([&] { verified.run(work(nodes)); }).what());
    };
    CHECK_THAT(found("kmm"), ContainsSubstring("node: missing -> there") && !ContainsSubstring("argument"));
    CHECK_THAT(found("k"), ContainsSubstring("node: there -> missing") && !ContainsSubstring("argument"));
    CHECK_THAT(found("mk"), ContainsSubstring("kind: kernel -> memset") && !ContainsSubstring("argument"));
    CHECK_THAT(found(""), ContainsSubstring("node: there -> missing"));
    CHECK(verified.run(work("km")) == RunKind::replayed);
}

TEST_CASE("another order of the work is found, with the values that differ", "[capture][verify]") {
    Verified verified;
    const Stream other;
    const auto cells = device({0, 0});
    const auto work = [&](bool joined) {
        return [&, joined](Steps& steps) {
            const cudaStream_t s = steps.stream();
            launch(s, {}, store, cells.data(), 1);
            steps.fork(other);
            if (joined) steps.join(other);
            launch(s, {}, store, cells.data() + (joined ? 0 : 1), 2);
            launch(other.get(), {}, store, cells.data(), 3);
            steps.join(other);
        };
    };
    verified.run(work(false));
    CHECK(verified.run(work(false)) == RunKind::replayed);
    const auto error = refused<FrozenValueError>([&] { verified.run(work(true)); });
    CHECK_THAT(error.what(), ContainsSubstring("argument 0"));
}

TEST_CASE("many differences are listed by ten, and reported in full", "[capture][verify]") {
    Verified verified;
    const auto cell = device({0});
    const auto work = [&](int value) {
        return [&, value](cudaStream_t s) {
            for (int i = 0; i < 12; ++i)
                launch(s, {}, store, cell.data(), value);
        };
    };
    verified.run(work(1));
    const auto error = refused<FrozenValueError>([&] { verified.run(work(2)); });
    CHECK(error.differences().size() == 12);
    CHECK_THAT(error.what(), ContainsSubstring("and 2 more"));
}

TEST_CASE("buffers in the list may change, and nothing else", "[capture][verify]") {
    const Stream stream;
    CaptureCache cache({.warm_up = 0, .verify = 1});
    const auto run = [&](const DeviceBuffer<int>& to, const DeviceBuffer<int>& from, int by) {
        return cache.run(stream, 1, {to, from}, [&](cudaStream_t s) {
            launch(s, {}, add_to, ToAndFrom{to.data(), from.data()}, by);
            cudag::memcpy_async(s, to.span().subspan(1, 1), to.span().subspan(0, 1));
        });
    };
    const auto a = device({0, 0}), b = device({5, 0}), c = device({7, 0});
    CHECK(run(a, b, 1) == RunKind::captured);
    CHECK(run(c, a, 1) == RunKind::replayed);
    CHECK(read(stream, c.span()) == std::vector{7, 7});
    CHECK_THAT(refused<FrozenValueError>([&] { run(b, c, 2); }).what(), ContainsSubstring("argument 1: 1 -> 2"));
    CHECK(read(stream, b.span()) == std::vector{5, 0});
    CHECK(run(b, c, 1) == RunKind::replayed);
    CHECK(read(stream, b.span()) == std::vector{8, 8});
    const auto unlisted = device({9});
    CHECK_THAT(refused<FrozenValueError>([&] {
                   cache.run(stream, 1, {a, b}, [&](cudaStream_t s) {
                       launch(s, {}, add_to, ToAndFrom{a.data(), unlisted.data()}, 1);
                       cudag::memcpy_async(s, a.span().subspan(1, 1), a.span().subspan(0, 1));
                   });
               }).what(),
               ContainsSubstring("argument 0: "));
}

TEST_CASE("the function's own memory is no difference", "[capture][verify]") {
    const auto cell = device({4});
    SECTION("buffers that it returns") {
        check_stable([&](cudaStream_t s) {
            auto memory = std::make_shared<std::pair<DeviceBuffer<int>, PinnedBuffer<int>>>(DeviceBuffer<int>(2),
                                                                                            PinnedBuffer<int>(2));
            memory->second.span()[0] = 1;
            cudag::memcpy_async(s, memory->first, memory->second);
            launch(s, {}, add_to, ToAndFrom{memory->first.data() + 1, cell.data()}, 1);
            return memory;
        });
    }
    SECTION("blocks of pools") {
        CapturePool pool;
        check_stable([&](cudaStream_t s) {
            auto memory = std::make_shared<DeviceBuffer<int>>(pool.allocate<int>(8));
            launch(s, {}, add, memory->data() + 7, cell.data(), 1);
            return memory;
        });
    }
    SECTION("graph memory") {
        check_stable(
            [&](cudaStream_t s) {
                int* first = nullptr;
                int* second = nullptr;
                check(cudaMallocAsync(reinterpret_cast<void**>(&first), 64, s));
                check(cudaMallocAsync(reinterpret_cast<void**>(&second), 32, s));
                launch(s, {}, add, first + 15, cell.data(), 1);
                check(cudaMemsetAsync(second, 1, 32, s));
                launch(s, {}, add_to, ToAndFrom{second, first}, 1);
                check(cudaFreeAsync(first, s));
                check(cudaFreeAsync(second, s));
            },
            {.instantiate = {.auto_free_on_launch = true}});
    }
    SECTION("data of host functions") {
        std::vector<std::unique_ptr<int>> data;
        check_stable([&](cudaStream_t s) {
            data.push_back(std::make_unique<int>(1));
            check(cudaLaunchHostFunc(
                s, [](void* counted) { ++*static_cast<int*>(counted); }, data.back().get()));
        });
    }
}

TEST_CASE("another offset in the function's own memory is a difference", "[capture][verify]") {
    Verified verified;
    const auto cell = device({4});
    const auto work = [&](int offset) {
        return [&, offset](cudaStream_t s) {
            int* memory = nullptr;
            check(cudaMallocAsync(reinterpret_cast<void**>(&memory), 64, s));
            auto kept = std::make_shared<DeviceBuffer<int>>(4);
            launch(s, {}, add, memory + offset, cell.data(), 1);
            launch(s, {}, add, kept->data() + offset, cell.data(), 1);
            check(cudaFreeAsync(memory, s));
            return kept;
        };
    };
    verified.run(work(1));
    CHECK(verified.run(work(1)) == RunKind::replayed);
    CHECK(refused<FrozenValueError>([&] { verified.run(work(2)); }).differences().size() == 2);
}

TEST_CASE("an address beyond the function's own memory is a difference", "[capture][verify]") {
    Verified verified;
    const DeviceBuffer<std::uint64_t> out(1);
    const auto work = [&](std::size_t offset) {
        return [&, offset](cudaStream_t s) {
            auto kept = std::make_shared<DeviceBuffer<int>>(4);
            launch(s, {}, write_address, out.data(), static_cast<const void*>(kept->data() + offset));
            return kept;
        };
    };
    verified.run(work(4));
    CHECK(verified.run(work(4)) == RunKind::replayed); // the end
    CHECK(verified.cache.forget("work"));
    verified.run(work(5));
    CHECK(refused<FrozenValueError>([&] { verified.run(work(5)); }).differences().size() == 1);
}

TEST_CASE("memory of the function is told from memory that it was given", "[capture][verify]") {
    Verified verified;
    const auto cell = device({4}), given = device({0, 0, 0, 0});
    const auto work = [&](bool own) {
        return [&, own](cudaStream_t s) {
            auto kept = std::make_shared<DeviceBuffer<int>>(4);
            launch(s, {}, add, own ? kept->data() : given.data(), cell.data(), 1);
            return kept;
        };
    };
    verified.run(work(true));
    CHECK(verified.run(work(true)) == RunKind::replayed);
    CHECK(refused<FrozenValueError>([&] { verified.run(work(false)); }).differences().size() == 1);
}

TEST_CASE("a copy from the function object is compared by its value", "[capture][verify]") {
    Verified verified;
    const auto cell = device({0});
    const auto work = [&](int value) {
        return [to = cell.data(), value](cudaStream_t s) {
            check(cudaMemcpyAsync(to, &value, sizeof value, cudaMemcpyHostToDevice, s));
        };
    };
    const Difference found = verified.difference(work, 0x01020304, 0x01020305);
    CHECK(found.field == "value of the source from byte 0");
    CHECK(found.old_value == "bytes 04 03 02 01");
    CHECK(found.new_value == "bytes 05 03 02 01");
}

TEST_CASE("a function that can no longer be captured is an error of its own", "[capture][verify]") {
    Verified verified;
    const auto cell = device({0});
    bool waits = false, throws = false;
    const auto work = [&](Steps& steps) {
        launch(steps.stream(), {}, add, cell.data(), cell.data(), 1);
        if (waits) steps.step("wait", [](cudaStream_t s) { check(cudaStreamSynchronize(s)); });
        if (throws) throw std::out_of_range("half-way");
    };
    verified.run(work);
    waits = true;
    const auto error = refused<CaptureError>([&] { verified.run(work); });
    CHECK_THAT(error.what(),
               ContainsSubstring("CaptureCache: key \"work\": replay 1: the function could not be captured "
                                 "again for its verification") &&
                   ContainsSubstring("set .verify to 0") && ContainsSubstring("step \"wait\""));
    waits = false;
    throws = true;
    CHECK_THROWS_AS(verified.run(work), std::out_of_range);
    throws = false;
    CHECK(read(verified.stream, cell.span()) == std::vector{1}); // no failed call has launched anything
    CHECK(verified.run(work) == RunKind::replayed);
    CHECK(read(verified.stream, cell.span()) == std::vector{2});
}

TEST_CASE("a verifying cache evicts, forgets and reports as others do", "[capture][verify]") {
    const Stream stream;
    CaptureCache cache({.warm_up = 0, .capacity = 2, .verify = 2});
    const auto cell = device({0});
    for (int key = 0; key < 4; ++key)
        for (int run = 0; run < 2; ++run) { // the second run of the last two keys evicts another one
            cache.run(stream, key, [&](cudaStream_t s) { launch(s, {}, store, cell.data(), key); });
            stream.synchronize();
        }
    cudag::CaptureCacheStats stats = cache.stats();
    CHECK(std::exchange(stats.bytes, 0) != 0);
    CHECK(stats == cudag::CaptureCacheStats{2, 4, 0, 2, 2, 4, 2, 2});
    CHECK(cache.report().keys.back().state == cudag::KeyState::captured);
    CHECK(cache.forget(3));
    CHECK(cache.stats().graphs == 1);
    cache.clear();
    CHECK(cache.stats().graphs == 0);
}

TEST_CASE("verification needs no plan, and no recorder, that instantiation uses", "[capture][verify]") {
    const auto cells = device({0, 0});
    const auto work = [&](cudaStream_t s) {
        launch(s, {}, store, cells.data(), 1);
        launch(s, {}, store, cells.data() + 1, 2);
    };
    check_stable(work, {.instantiate = {.recorder = true}});
    check_stable(work, {.instantiate = {.plan = cudag::Plan::as_written()}});
}

TEST_CASE("a verified function inside another capture becomes part of it", "[capture][verify]") {
    Verified verified;
    const auto cell = device({0});
    const auto work = [&](int by) {
        return [&, by](cudaStream_t s) { launch(s, {}, add, cell.data(), cell.data(), by); };
    };
    verified.run(work(1));
    const cudag::Graph graph =
        cudag::capture(verified.stream, [&](cudaStream_t) { CHECK(verified.run(work(2)) == RunKind::eager); });
    CHECK(graph.node_count() == 1);
}
