// CaptureCache: work on buffers that are others at each call.
#include <memory>

#include "bind_kernels.hpp"
#include "cuda_version.hpp"
#include "graphed.hpp"
#include "opaque.hpp"

using cudag::CaptureCache;
using cudag::DeviceBuffer;
using cudag::DeviceSpan;
using cudag::GraphError;
using cudag::KeyState;
using cudag::launch;
using cudag::RunKind;
using cudag::Stream;
using cudag::UpdateError;

namespace {

using Cells = std::vector<int>;

/// *to = *from + 1, twice copied, from call to call in other buffers.
struct Increment {
    int calls = 0;

    RunKind run(CaptureCache& cache, const Stream& stream, const DeviceBuffer<int>& to, const DeviceBuffer<int>& from) {
        return cache.run(stream, "increment", {to, from}, [&, this](cudaStream_t s) {
            ++calls;
            launch(s, {}, add, to.data(), from.data(), 1);
            cudag::memcpy_async(s, to.span().subspan(1, 1), to.span().subspan(0, 1));
        });
    }
};

} // namespace

TEST_CASE("a replay works on the buffers that it is given", "[capture][cache]") {
    const Stream stream;
    CaptureCache cache({.warm_up = 1});
    Increment increment;
    for (const RunKind kind : {RunKind::eager, RunKind::captured, RunKind::replayed, RunKind::replayed}) {
        const auto to = device({0, 0}), from = device({10 * increment.calls});
        const int expected = 10 * increment.calls + 1;
        CHECK(increment.run(cache, stream, to, from) == kind);
        CHECK(read(stream, to.span()) == Cells{expected, expected});
    }
    CHECK(increment.calls == 2);
}

TEST_CASE("a replay's buffer may be longer, not shorter, and there must be as many", "[capture][cache]") {
    const Stream stream;
    CaptureCache cache({.warm_up = 0});
    Increment increment;
    const auto to = device({0, 0}), from = device({5}), longer = device({0, 0, 9});
    CHECK(increment.run(cache, stream, to, from) == RunKind::captured);
    CHECK_THAT(refused<UpdateError>([&] { increment.run(cache, stream, from, from); }).what(),
               ContainsSubstring("cannot be bound to 4 bytes"));
    const auto nothing = [](cudaStream_t) {};
    CHECK_THAT(refused<GraphError>([&] { cache.run(stream, "increment", {to}, nothing); }).what(),
               ContainsSubstring("key \"increment\" was captured with 2 changing buffers, and is run with 1"));
    CHECK(cache.stats().replays == 0);
    CHECK(increment.run(cache, stream, longer, from) == RunKind::replayed);
    CHECK(read(stream, longer.span()) == Cells{6, 6, 9});
    CHECK(read(stream, to.span()) == Cells{6, 6}); // of the first call
}

TEST_CASE("buffers may be spans, also of const elements, shared, empty, and unused", "[capture][cache]") {
    const Stream stream;
    CaptureCache cache({.warm_up = 0});
    const auto unused = device({1});
    for (const int value : {5, 6}) {
        const auto to = std::make_shared<DeviceBuffer<int>>(1);
        const auto from = device({value});
        const DeviceSpan<const int> input = from.span();
        const DeviceSpan<float> none;
        cache.run(stream, 1, {to, input, none, unused},
                  [&](cudaStream_t s) { launch(s, {}, add, to->data(), input.data(), 1); });
        CHECK(read(stream, to->span()) == Cells{value + 1});
    }
    CHECK(cache.stats().replays == 1);
}

TEST_CASE("a buffer is found in an object that a kernel takes", "[capture][cache]") {
    const Stream stream;
    CaptureCache cache({.warm_up = 0});
    for (const int value : {5, 6}) {
        const DeviceBuffer<int> to(1), from = device({value});
        cache.run(stream, 1, {to, from}, [&](cudaStream_t s) {
            launch(s, {}, add_to, ToAndFrom{to.data(), from.data()}, 1);
        });
        CHECK(read(stream, to.span()) == Cells{value + 1});
    }
    CHECK(cache.stats().replays == 1);
}

TEST_CASE("buffers that touch without overlapping are bound", "[capture][cache]") {
    const Stream stream;
    CaptureCache cache({.warm_up = 0});
    Increment increment;
    const auto to = device({0, 0}), from = device({5}), cells = device({0, 0, 7});
    CHECK(increment.run(cache, stream, to, from) == RunKind::captured);
    const auto run = [&](DeviceSpan<int> next_to, DeviceSpan<int> next_from) {
        return cache.run(stream, "increment", {next_to, next_from}, [&](cudaStream_t) { ++increment.calls; });
    };
    CHECK(run(cells.span().subspan(0, 2), cells.span().subspan(2, 1)) == RunKind::replayed);
    CHECK(read(stream, cells.span()) == Cells{8, 8, 7});
    CHECK(increment.calls == 1);
}

TEST_CASE("buffers that replays could not exchange run eagerly, and the report says why", "[capture][cache]") {
    const Stream stream;
    CaptureCache cache({.warm_up = 0, .retries = 0});
    const auto cells = device({0, 0});
    const DeviceBuffer<int> tiles(2);
    for (int call = 1; call <= 2; ++call) {
        CHECK(cache.run(stream, "overlap", {cells, cells.span().subspan(0, 1)},
                        [&](cudaStream_t s) { launch(s, {}, add, cells.data(), cells.data(), 1); }) == RunKind::eager);
        CHECK(read(stream, cells.span()) == Cells{call, 0});
        CHECK(cache.run(stream, "tile", {tiles}, [&](cudaStream_t s) {
            cudag::memcpy_async(s, cudag::DeviceSpan2D<int>(tiles, 1, 2), cudag::DeviceSpan2D<int>(cells, 1, 2));
        }) == RunKind::eager);
        CHECK(read(stream, tiles.span()) == Cells{call, 0});
    }
    const auto keys = cache.report().keys;
    REQUIRE(keys.size() == 2);
    CHECK(keys[0].state == KeyState::eager);
    CHECK_THAT(keys[0].reason, ContainsSubstring("buffers 0 and 1 of the run overlap"));
    CHECK_THAT(keys[1].reason, ContainsSubstring("1D copies only"));
}

TEST_CASE("a pointer to a buffer's end is exchanged with the buffer", "[capture][cache]") {
    const Stream stream;
    CaptureCache cache({.warm_up = 0});
    const DeviceBuffer<int> out(1), x(5), y(5);
    for (const DeviceBuffer<int>* buffer : {&x, &y, &x}) {
        const RunKind kind = cache.run(stream, 1, {*buffer}, [&](cudaStream_t s) {
            launch(s, {}, count_range, buffer->data(), buffer->data() + buffer->size(), out.data());
        });
        CHECK(kind == (cache.stats().replays == 0 ? RunKind::captured : RunKind::replayed));
        CHECK(read(stream, out.span()) == Cells{5});
    }
}

TEST_CASE("a pointer that may be a buffer's end or another buffer makes the key run eagerly", "[capture][cache]") {
    const Stream stream;
    CaptureCache cache({.warm_up = 0, .retries = 0});
    const DeviceBuffer<int> out(1);
    for (int call = 0; call < 2; ++call) {
        const DeviceBuffer<int> cells(6);
        const auto a = cells.span().subspan(0, 4), b = cells.span().subspan(4, 2);
        CHECK(cache.run(stream, 1, {a, b}, [&](cudaStream_t s) {
            launch(s, {}, count_range, a.data(), b.data(), out.data());
            launch(s, {}, store, b.data(), 1);
        }) == RunKind::eager);
        CHECK(read(stream, out.span()) == Cells{4});
    }
    CHECK_THAT(cache.report().keys.at(0).reason,
               ContainsSubstring("cannot exchange buffer 0") && ContainsSubstring("argument 1 is 0x"));
}

TEST_CASE("buffers that lie next to each other are told apart by spans", "[capture][cache]") {
    const Stream stream;
    CaptureCache cache({.warm_up = 0});
    for (const int value : {5, 6}) {
        const auto cells = device({0, value});
        const auto to = cells.span().subspan(0, 1), from = cells.span().subspan(1, 1);
        CHECK(cache.run(stream, 1, {to, from}, [&](cudaStream_t s) { launch(s, {}, add, to, from, 1); }) ==
              (value == 5 ? RunKind::captured : RunKind::replayed));
        CHECK(read(stream, to) == Cells{value + 1});
    }
}

TEST_CASE("a key whose work has a node that cudag does not know runs eagerly", "[capture][cache]") {
    if (reads_conditionals()) return; // then it is known
    const Stream stream;
    CaptureCache cache({.warm_up = 0, .retries = 0});
    for (int call = 0; call < 3; ++call) {
        const auto cell = device({0});
        CHECK(cache.run(stream, 1, {cell}, [&](cudaStream_t s) {
            launch(s, {}, store, cell.data(), 1);
            enqueue_conditional(s, cell.data(), 2);
        }) == RunKind::eager);
        CHECK(read(stream, cell.span()) == Cells{2});
    }
    CHECK_THAT(cache.report().keys.at(0).reason,
               ContainsSubstring("conditional") && ContainsSubstring("cudag did not make this node"));
}
