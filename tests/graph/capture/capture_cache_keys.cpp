// The keys of a CaptureCache: which are equal, which goes, and what lives how long.
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "graphed.hpp"

using cudag::CaptureCache;
using cudag::launch;
using cudag::RunKind;
using cudag::Stream;

namespace {

struct Shape {
    int rows, columns;
    friend bool operator==(const Shape&, const Shape&) = default;
};

struct Collides {
    int value;
    friend bool operator==(const Collides&, const Collides&) = default;
};

enum class Phase { prefill, decode };

/// Stores `value` in cell `at`.
auto storing(const cudag::DeviceBuffer<int>& cells, int at, int value) {
    return [&cells, at, value](cudaStream_t s) { launch(s, {}, store, cells.data() + at, value); };
}

/// How the third call of `key` runs, after two calls of `before`.
template <class A, class B>
RunKind third(const A& before, const B& key) {
    const Stream stream;
    CaptureCache cache({.warm_up = 2});
    const auto nothing_much = [](cudaStream_t s) { launch(s, {}, nothing); };
    for (int i = 0; i < 2; ++i)
        cache.run(stream, before, nothing_much);
    const RunKind kind = cache.run(stream, key, nothing_much);
    stream.synchronize();
    return kind;
}

} // namespace

template <>
struct std::hash<Collides> {
    std::size_t operator()(const Collides&) const { return 7; }
};

TEST_CASE("equal keys of one type are one key", "[capture][cache]") {
    CHECK(third(1, 1) == RunKind::captured);
    CHECK(third(1, 2) == RunKind::eager);
    CHECK(third(1, 1L) == RunKind::eager);
    CHECK(third(Shape{1, 2}, Shape{1, 2}) == RunKind::captured);
    CHECK(third(Shape{1, 2}, Shape{2, 1}) == RunKind::eager);
    CHECK(third(Collides{1}, Collides{1}) == RunKind::captured);
    CHECK(third(Collides{1}, Collides{2}) == RunKind::eager);
    CHECK(third(Phase::decode, Phase::decode) == RunKind::captured);
    CHECK(third(Phase::decode, Phase::prefill) == RunKind::eager);
    CHECK(third(std::tuple(1, 2.5F), std::tuple(1, 2.5F)) == RunKind::captured);
    CHECK(third(std::tuple(1, Shape{2, 3}), std::tuple(1, Shape{2, 4})) == RunKind::eager);
    CHECK(third(std::pair(1, 2), std::pair(2, 1)) == RunKind::eager);
    CHECK(third(std::array{1, 2}, std::array{1, 2}) == RunKind::captured);
    CHECK(third(std::vector{1, 2}, std::vector{1, 2}) == RunKind::captured);
    CHECK(third(std::vector{1, 2}, std::vector{1, 2, 3}) == RunKind::eager);
}

TEST_CASE("text is compared as text, however it is given", "[capture][cache]") {
    std::string text = "decode";
    const char* const pointer = text.c_str();
    CHECK(third("decode", std::string("decode")) == RunKind::captured);
    CHECK(third(std::string_view("decode"), pointer) == RunKind::captured);
    const Stream stream;
    CaptureCache cache({.warm_up = 1});
    const auto function = [](cudaStream_t s) { launch(s, {}, nothing); };
    cache.run(stream, pointer, function);
    text = "encode"; // where the pointer still points
    CHECK(cache.run(stream, pointer, function) == RunKind::eager);
    stream.synchronize();
}

TEST_CASE("a key has a text where it can be told, and a number elsewhere", "[capture][cache]") {
    const Stream stream;
    CaptureCache cache;
    const auto function = [](cudaStream_t s) { launch(s, {}, nothing); };
    cache.run(stream, "decode", function);
    cache.run(stream, std::tuple(4, true, std::string("x"), Shape{1, 2}), function);
    cache.run(stream, Shape{1, 2}, function);
    cache.run(stream, Phase::decode, function);
    std::vector<std::string> texts;
    for (const cudag::KeyReport& key : cache.report().keys)
        texts.push_back(key.key);
    CHECK(texts == std::vector<std::string>{"\"decode\"", "(4, true, \"x\", ?)", "key 3", "1"});
    stream.synchronize();
}

TEST_CASE("keys are counted apart, whatever comes between", "[capture][cache]") {
    const auto cells = device({0, 0, 0});
    const Stream stream;
    CaptureCache cache({.warm_up = 2});
    for (int turn = 0; turn < 5; ++turn)
        for (int key = 0; key < 3; ++key) {
            const RunKind kind = cache.run(stream, key, storing(cells, key, 10 * turn + key));
            CHECK(kind == (turn < 2 ? RunKind::eager : turn == 2 ? RunKind::captured : RunKind::replayed));
        }
    CHECK(read(stream, cells.span()) == std::vector{20, 21, 22}); // as they were captured
}

TEST_CASE("keys that come but once evict no graph, and are known for long", "[capture][cache]") {
    const auto cells = device({0});
    const Stream stream;
    CaptureCache cache({.warm_up = 1, .capacity = 2, .known_keys = 5});
    cache.run(stream, "kept", storing(cells, 0, 1));
    cache.run(stream, "kept", storing(cells, 0, 1));
    for (int key = 0; key < 10; ++key)
        cache.run(stream, key, storing(cells, 0, 2));
    CHECK(cache.stats().keys == 6);
    CHECK(cache.stats().graphs == 1);
    CHECK(cache.stats().evictions == 5);
    CHECK(cache.run(stream, "kept", storing(cells, 0, 1)) == RunKind::replayed);
    CHECK(cache.run(stream, 9, storing(cells, 0, 2)) == RunKind::captured);
    CHECK(cache.run(stream, 4, storing(cells, 0, 2)) == RunKind::eager); // had gone
    stream.synchronize();
}

TEST_CASE("a graph in flight is not evicted, and nobody waits for it", "[capture][cache]") {
    const auto cells = device({0, 0, 0});
    const Stream stream, beside;
    Gate gate;
    CaptureCache cache({.warm_up = 0, .capacity = 1});
    cache.run(stream, 0, [&](cudaStream_t s) {
        hold_up(s, gate);
        launch(s, {}, store, cells.data(), 1);
    });
    gate.wait_until_entered();
    CHECK(cache.run(beside, 1, storing(cells, 1, 2)) == RunKind::eager);
    CHECK(cache.run(beside, 1, storing(cells, 1, 2)) == RunKind::captured);
    CHECK(cache.stats().graphs == 2);
    CHECK(cache.stats().evictions == 0);
    CHECK_FALSE(stream.query());
    gate.open();
    stream.synchronize();
    beside.synchronize();
    cache.run(beside, 2, storing(cells, 2, 3));
    CHECK(cache.stats().graphs == 1);
    CHECK(cache.stats().evictions == 1);
    CHECK(read(beside, cells.span()) == std::vector{1, 2, 3});
}

TEST_CASE("forgetting and clearing wait for what is in flight", "[capture][cache]") {
    const auto cells = device({0});
    const Stream stream;
    CaptureCache cache({.warm_up = 0});
    const bool all = GENERATE(false, true);
    cache.run(stream, 1, storing(cells, 0, 5));
    if (all)
        cache.clear();
    else
        CHECK(cache.forget(1));
    CHECK(cudaStreamQuery(stream.get()) == cudaSuccess);
    CHECK(cache.stats().keys == 0);
    CHECK(cache.stats().graphs == 0);
    CHECK(cache.run(stream, 1, storing(cells, 0, 6)) == RunKind::captured);
    CHECK(read(stream, cells.span()) == std::vector{6});
}

TEST_CASE("what a captured function holds and returns lives as long as its graph", "[capture][cache]") {
    Watched held, returned;
    const Stream stream;
    CaptureCache cache({.warm_up = 0});
    const auto run = [&] {
        return cache.run(stream, 1, [in = held.take(), out = returned.take()](cudaStream_t s) mutable {
            launch(s, {}, add, out.get(), in.get(), 4);
            return std::move(out);
        });
    };
    CHECK(run() == RunKind::captured);
    CHECK(run() == RunKind::replayed);
    CHECK(held.alive());
    CHECK(returned.alive());
    stream.synchronize();
    CHECK(returned.value() == 4);
    cache.forget(1);
    CHECK(released(held, stream));
    CHECK(released(returned, stream));
}

TEST_CASE("what a function returns in an eager run lives until that has ended", "[capture][cache]") {
    Watched returned;
    const Stream stream;
    Gate gate;
    CaptureCache cache;
    CHECK(cache.run(stream, 1, [&, out = returned.take()](cudaStream_t s) mutable {
        hold_up(s, gate);
        launch(s, {}, store, out.get(), 4);
        return std::move(out);
    }) == RunKind::eager);
    gate.wait_until_entered();
    CHECK(returned.alive());
    gate.open();
    CHECK(released(returned, stream));
    CHECK(returned.value() == 4);
}

TEST_CASE("functions of all kinds run: with a const call, move-only, by reference, free", "[capture][cache]") {
    const auto cells = device({0});
    const Stream stream;
    CaptureCache cache({.warm_up = 1});
    int calls = 0;
    const auto constant = [&](cudaStream_t s) {
        ++calls;
        launch(s, {}, add, cells.data(), cells.data(), 1);
    };
    auto only = [&, unique = std::make_unique<int>(0)](cudaStream_t s) {
        ++*unique;
        constant(s);
    };
    for (int run = 0; run < 3; ++run) {
        cache.run(stream, "const", constant);
        cache.run(stream, "reference", std::ref(only));
        cache.run(stream, "moved", [&, unique = std::make_unique<int>(0)](cudaStream_t s) {
            ++*unique;
            constant(s);
        });
        cache.run(
            stream, "function", +[](cudaStream_t s) { launch(s, {}, nothing); });
    }
    CHECK(calls == 6);
    CHECK(read(stream, cells.span()) == std::vector{9});
}
