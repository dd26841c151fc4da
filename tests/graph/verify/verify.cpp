// verify(): functions against their captured graphs, and graphs against their nodes one after another.
#include <cudag/verify.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "test.hpp"

using Catch::Matchers::ContainsSubstring;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::PinnedBuffer;
using cudag::Stream;
using cudag::Verification;
using cudag::VerifyCause;

namespace {

using Ints = std::vector<int>;

} // namespace

TEST_CASE("a function equals its graph, and has run once afterwards", "[verify]") {
    auto x = device({1, 2}), y = device({0, 0});
    const Stream stream;
    const auto step = [&](cudaStream_t s) {
        cudag::memcpy_async(s, y, x);
        cudag::memset_async(s, x, 7);
        cudag::launch(s, {}, add, cudag::out(y.span().first(1)), cudag::in(x.span().first(1)), 3);
    };
    const Verification result = cudag::verify(stream, step);
    CHECK(result.ok());
    CHECK(result.equal());
    CHECK(result.cause == VerifyCause::none);
    CHECK(result.bytes == 4 * sizeof(int));
    CHECK(result.launches == 3);
    CHECK(result.to_string() == "equal: 16 bytes after 3 launches\n");
    CHECK(read(x) == Ints{7, 7});
    CHECK(read(y) == Ints{10, 2});
}

TEST_CASE("work in place starts from equal memory each time", "[verify]") {
    auto x = device({1});
    const Stream stream;
    const auto step = [&](cudaStream_t s) {
        for (int i = 0; i < 3; ++i)
            cudag::launch(s, {}, add, cudag::out(x), cudag::in(x), 5);
    };
    CHECK(cudag::verify(stream, step).ok());
    CHECK(read(x) == Ints{16});
    const Graph graph = cudag::capture(stream, step);
    CHECK(cudag::verify(graph, stream).ok());
    CHECK(read(x) == Ints{31});
}

TEST_CASE("a value that changes from call to call is found, with kernel, argument and values", "[verify]") {
    auto x = device({0}), y = device({0});
    const Stream stream;
    int counter = 0;
    const Verification result = cudag::verify(stream, [&](cudaStream_t s) {
        cudag::memset_async(s, x, 1);
        cudag::launch(s, {}, store, cudag::out(y), ++counter);
    });
    CHECK(!result.ok());
    CHECK(result.cause == VerifyCause::recorded);
    CHECK(counter == 3);
    REQUIRE(result.differences.size() == 1);
    const cudag::VerifiedDifference& difference = result.differences[0];
    CHECK_THAT(difference.node, ContainsSubstring("kernel") && ContainsSubstring("store"));
    CHECK(difference.argument == 0);
    CHECK(difference.element == 0);
    CHECK(difference.address == reinterpret_cast<std::uintptr_t>(y.data()));
    CHECK(difference.expected == "2 (0x00000002)");
    CHECK(difference.actual == "1 (0x00000001)");
    REQUIRE(result.changes.size() == 1);
    CHECK_THAT(result.changes[0], ContainsSubstring("argument 1: 1 -> 3"));
    CHECK_THAT(result.to_string(), ContainsSubstring("the function does other work than was recorded") &&
                                       ContainsSubstring("first: kernel") &&
                                       ContainsSubstring("2 (0x00000002) expected"));
    CHECK(read(y) == Ints{2});
}

TEST_CASE("differing elements are counted by their sizes", "[verify]") {
    auto x = device(std::vector<int>(100, 0));
    const Stream stream;
    int value = 0x00ffff00;
    const Verification result = cudag::verify(stream, [&](cudaStream_t s) {
        cudag::memset_async(s, x, ++value); // one byte of each element, and then two
        cudag::memset_async(s, x.span().subspan(10, 20), value);
        cudag::memset_async(s, x.span().subspan(50, 1), 5);
    });
    REQUIRE(result.differences.size() == 2);
    CHECK(result.differences[0].elements == 79);
    CHECK(result.differences[0].element == 0);
    CHECK(result.differences[1].elements == 20);
    CHECK(result.differences[1].element == 0);
    CHECK_THAT(result.to_string(), ContainsSubstring("found; 79 elements differ\n"));
}

TEST_CASE("work of the host is found in the given memory", "[verify]") {
    auto x = device({0});
    PinnedBuffer<int> y(1);
    y[0] = 4;
    const Stream stream;
    const Verification result = cudag::verify(stream,
                                              [&](cudaStream_t s) {
                                                  cudag::memset_async(s, x, 1);
                                                  y[0] = 0;
                                              },
                                              {.memory = {y}, .launches = 1});
    CHECK(result.cause == VerifyCause::recorded);
    CHECK(result.changes.empty());
    REQUIRE(result.differences.size() == 1);
    CHECK(result.differences[0].node.empty());
    CHECK(result.differences[0].expected == "0 (0x00000000)");
    CHECK(result.differences[0].actual == "4 (0x00000004)");
    CHECK_THAT(result.to_string(), ContainsSubstring("memory without a known writer, element 0"));
    CHECK(y[0] == 0);
    CHECK(read(x) == Ints{1});
}

TEST_CASE("kernels with raw pointers are unverified until their memory is given", "[verify]") {
    auto x = device({1}), y = device({2});
    const Stream stream;
    int factor = 0;
    const auto step = [&](cudaStream_t s) {
        cudag::launch(s, {}, store, y.data(), 3);
        cudag::launch(s, {}, add, x.data(), y.data(), factor);
    };
    const Verification unknown = cudag::verify(stream, step);
    CHECK(unknown.equal());
    CHECK(!unknown.ok());
    CHECK(unknown.bytes == 0);
    CHECK(unknown.unverified.size() == 3);
    CHECK_THAT(unknown.to_string(), ContainsSubstring("not verified: kernel") && ContainsSubstring("argument 0"));
    const Verification known = cudag::verify(stream, step, {.memory = {x, y}});
    CHECK(known.ok());
    CHECK(known.bytes == 2 * sizeof(int));
    const auto counting = [&](cudaStream_t s) {
        ++factor;
        step(s);
    };
    const Verification different = cudag::verify(stream, counting, {.memory = {x, y}});
    REQUIRE(different.differences.size() == 1);
    CHECK_THAT(different.differences[0].node, ContainsSubstring("add"));
    CHECK(different.differences[0].argument == 0);
}

TEST_CASE("a reader that nothing orders after a fill is named", "[verify]") {
#ifdef CUDART_CPU
    constexpr std::size_t count = 1 << 10;
#else
    constexpr std::size_t count = 1 << 26; // the fill takes so long that the reader begins meanwhile
#endif
    const cudag::DeviceBuffer<int> filled(count), last(1);
    const Stream stream;
    cudag::check(cudaMemset(filled.data(), 0, count * sizeof(int)));
    cudag::check(cudaMemset(last.data(), 0, sizeof(int)));
    cudag::check(cudaDeviceSynchronize());
    GraphBuilder b({.races = cudag::Races::allowed});
    b.memset(filled, 7).label("fill");
    b.kernel({}, add, last, filled.span().last(1), 1).label("reader");
    const Verification result = cudag::verify(std::move(b).build(), stream, {.launches = 16});
    CHECK(result.cause == VerifyCause::order);
    REQUIRE(result.differences.size() == 1);
    CHECK(result.differences[0].label == "reader");
    CHECK(result.differences[0].expected.starts_with("8 "));
}

TEST_CASE("children run node by node as a whole", "[verify]") {
    auto x = device({1}), y = device({0});
    const Stream stream;
    GraphBuilder inner;
    inner.kernel({}, add, cudag::out(x), cudag::in(x), 1).after(inner.kernel({}, add, cudag::out(x), cudag::in(x), 1));
    GraphBuilder b;
    const Graph part = std::move(inner).build();
    const auto child = b.child(part);
    b.memcpy(y, x).after(child);
    CHECK(cudag::verify(std::move(b).build(), stream).ok());
    CHECK(read(y) == Ints{3});
}

TEST_CASE("elements may differ by a tolerance", "[verify]") {
    auto x = device({0.0f, 0.0f}), source = device({100.0f, 1.0f});
    const Stream stream;
    float factor = 1;
    const auto step = [&](cudaStream_t s) {
        cudag::memset_async(s, x, 0.0f);
        factor += 0.001f;
        cudag::launch(s, {}, saxpy, 2, factor, cudag::in(source), cudag::out(x));
    };
    const Verification exact = cudag::verify(stream, step);
    REQUIRE(exact.differences.size() == 1);
    CHECK(exact.differences[0].element == 0);
    CHECK_THAT(exact.differences[0].expected, ContainsSubstring("(0x"));
    CHECK(cudag::verify(stream, step, {.memory = {{x, 0.1}}}).equal());
    CHECK(!cudag::verify(stream, step, {.memory = {{x, 1e-6}}}).equal());
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(cudag::VerifiedRange(x, -1)); }).what(),
               ContainsSubstring("a tolerance of -1; it must be at least 0"));
    CHECK_THROWS_AS(cudag::VerifiedRange(x, std::numeric_limits<double>::quiet_NaN()), GraphError);
}

TEST_CASE("an exception of the function passes through, and the memory is as before", "[verify]") {
    auto x = device({4});
    const Stream stream;
    int calls = 0;
    const auto step = [&](cudaStream_t s) {
        cudag::memset_async(s, x, 9);
        if (++calls == 2) throw std::runtime_error("stop");
    };
    CHECK_THROWS_AS(cudag::verify(stream, step), std::runtime_error);
    stream.synchronize();
    CHECK(read(x) == Ints{4});
}

TEST_CASE("graphs whose nodes cannot run alone are refused by name", "[verify]") {
    auto x = device({1});
    const Stream stream;
    GraphBuilder conditional;
    conditional.if_(conditional.condition(1), [&](GraphBuilder& body) { body.memset(x, 2); }).label("choose");
    CHECK_THAT(
        refused<GraphError>([&] { static_cast<void>(cudag::verify(std::move(conditional).build(), stream)); }).what(),
        ContainsSubstring("\"choose\"") && ContainsSubstring("so the nodes cannot run one by one"));
    GraphBuilder memory;
    const auto alloc = memory.alloc<int>(4).label("scratch");
    memory.free(alloc).after(alloc);
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(cudag::verify(std::move(memory).build(), stream)); }).what(),
               ContainsSubstring("\"scratch\"") && ContainsSubstring("graph memory lasts for one launch"));
    CHECK_THAT(refused<GraphError>([&] {
                   static_cast<void>(
                       cudag::verify(stream, [&](cudaStream_t s) { cudag::memset_async(s, x, 3); }, {.launches = 0}));
               }).what(),
               ContainsSubstring("launches is 0; compare at least one"));
    CHECK(read(x) == Ints{1});
}

TEST_CASE("captured host functions run in the search, and are listed", "[verify]") {
    auto x = device({0});
    const Stream stream;
    int counter = 0, calls = 0;
    const Verification result = cudag::verify(stream,
                                              [&](cudaStream_t s) {
                                                  cudag::check(cudaLaunchHostFunc(
                                                      s, [](void* count) { ++*static_cast<int*>(count); }, &calls));
                                                  cudag::memset_async(s, x, ++counter);
                                              },
                                              {.launches = 1});
    CHECK(result.cause == VerifyCause::recorded);
    CHECK(result.differences.size() == 1);
    REQUIRE(result.unverified.size() == 1);
    CHECK_THAT(result.unverified[0], ContainsSubstring("host"));
    CHECK(calls == 3); // eagerly, in the launch, and alone
}

TEST_CASE("a function may allocate in the stream", "[verify]") {
    auto x = device({1});
    const Stream stream;
    int counter = 0;
    const auto step = [&](cudaStream_t s) {
        void* scratch = nullptr;
        cudag::check(cudaMallocAsync(&scratch, sizeof(int), s));
        cudag::memset_async(s, cudag::DeviceSpan<int>(static_cast<int*>(scratch), 1), counter);
        cudag::memcpy_async(s, x, cudag::DeviceSpan<int>(static_cast<int*>(scratch), 1));
        cudag::check(cudaFreeAsync(scratch, s));
    };
    CHECK(cudag::verify(stream, step).ok());
    const Verification result = cudag::verify(stream, [&](cudaStream_t s) {
        ++counter;
        step(s);
    });
    CHECK(result.cause == VerifyCause::unknown);
    CHECK(result.differences.size() == 1);
    CHECK_THAT(result.to_string(), ContainsSubstring("the cause is unknown"));
}
