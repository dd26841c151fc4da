// DeviceScalar: set in the order of a stream, read by graphs at an address that stays.
#include <cudag/device_scalar.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "gate.hpp"
#include "native.hpp"
#include "watched.hpp"

using cudag::CaptureError;
using cudag::CaptureMode;
using cudag::CaptureStatus;
using cudag::DeviceScalar;
using cudag::Error;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::PinnedBuffer;
using cudag::Stream;
using cudag::StreamCapture;

namespace {

/// Bytes of a size that is no multiple of four.
template <std::size_t N>
struct Bytes {
    std::array<unsigned char, N> at;
    bool operator==(const Bytes&) const = default;
};

/// Cannot be made without a value.
struct Step {
    explicit Step(int n) : number(n) {}
    int number;
};

template <std::size_t N>
void check_bytes(const Stream& stream) {
    CAPTURE(N);
    Bytes<N> value{};
    for (std::size_t i = 0; i < N; ++i)
        value.at[i] = static_cast<unsigned char>(i * 37 + 1);
    DeviceScalar<Bytes<N>> scalar(Bytes<N>{});
    CHECK(scalar.get(stream) == Bytes<N>{});
    scalar.set(value, stream);
    CHECK(scalar.get(stream) == value);
}

template <std::size_t... N>
void check_all_sizes(const Stream& stream, std::index_sequence<N...>) {
    (check_bytes<N + 1>(stream), ...);
}

} // namespace

TEST_CASE("a scalar has its first value when it is made", "[memory][scalar]") {
    const Stream stream;
    CHECK(DeviceScalar<float>(1.5f).get(stream) == 1.5f);
    CHECK(DeviceScalar<std::int64_t>(std::numeric_limits<std::int64_t>::min()).get(stream) ==
          std::numeric_limits<std::int64_t>::min());
    CHECK(DeviceScalar<bool>(true).get(stream));
    CHECK(DeviceScalar<Step>(Step(4)).get(stream).number == 4);
    CHECK(read(DeviceScalar<int>(7).span()) == std::vector{7});
}

TEST_CASE("a scalar holds values of every size up to 16 bytes", "[memory][scalar]") {
    check_all_sizes(Stream(), std::make_index_sequence<16>());
}

TEST_CASE("a scalar holds what is equal in parts and what is not", "[memory][scalar]") {
    const Stream stream;
    DeviceScalar<double> scalar(0.0);
    for (const double value : {1.0, -0.0, 1e300, std::numeric_limits<double>::infinity(), 3.0}) {
        scalar.set(value, stream);
        CHECK(scalar.get(stream) == value);
    }
    DeviceScalar<std::array<int, 4>> four({1, 1, 2, 2});
    CHECK(four.get(stream) == std::array{1, 1, 2, 2});
    four.set({5, 6, 6, 5}, stream);
    CHECK(four.get(stream) == std::array{5, 6, 6, 5});
}

TEST_CASE("a scalar is set from its value, whatever stands behind that", "[memory][scalar]") {
    DeviceScalar<int> one(0);
    DeviceScalar<std::array<int, 2>> two({0, 0});
    const std::array values{7, 7};
    const std::array<std::array<int, 2>, 2> pairs{{{1, 2}, {2, 2}}};
    const Stream stream;
    const Graph graph = cudag::capture(stream, [&](cudaStream_t s) {
        one.set(values[0], s);
        two.set(pairs[0], s);
    });
    const std::vector<cudag::Node> nodes = graph.nodes();
    REQUIRE(nodes.size() == 4); // three elements are set, and two copied
    for (std::size_t i = 0; i < 3; ++i)
        CHECK(memset_params(nodes[i]).width == 1);
    CHECK(memset_params(nodes[0]).dst == one.data());
}

TEST_CASE("a scalar is set between the launches of a graph, in the stream's order", "[memory][scalar]") {
    DeviceScalar<int> scalar(1);
    const int* const address = scalar.data();
    const PinnedBuffer<int> results(3);
    const auto sums = device({0, 0, 0});
    const Stream stream;
    std::vector<Exec> execs;
    for (std::size_t i = 0; i < 3; ++i) {
        GraphBuilder b;
        b.kernel({}, add, sums.span().subspan(i, 1), scalar, 100);
        execs.push_back(std::move(b).build().instantiate());
    }
    execs[0].launch(stream);
    for (int value = 2; value < 4; ++value) {
        int temporary = value;
        scalar.set(temporary, stream);
        temporary = -1; // copied by then
        execs[static_cast<std::size_t>(value - 1)].launch(stream);
    }
    stream.synchronize();
    CHECK(read(sums) == std::vector{101, 102, 103});
    CHECK(scalar.data() == address);
}

TEST_CASE("setting a scalar does not wait for its stream", "[memory][scalar]") {
    DeviceScalar<int> scalar(1);
    const auto seen = device({0});
    const Stream stream;
    scalar.set(1, stream); // loads what sets it
    stream.synchronize();
    Gate gate;
    GraphBuilder b;
    const auto wait = b.host(gate.node());
    b.kernel({}, add, seen, scalar, 0).after(wait);
    Exec exec = std::move(b).build().instantiate();
    exec.launch(stream);
    gate.wait_until_entered();
    scalar.set(2, stream);
    CHECK_FALSE(stream.query());
    gate.open();
    CHECK(scalar.get(stream) == 2);
    CHECK(read(seen) == std::vector{1});
}

TEST_CASE("a scalar is an operand of copies and fills", "[memory][scalar]") {
    DeviceScalar<int> scalar(1);
    const PinnedBuffer<int> result(1);
    const Stream stream;
    cudag::memset_async(stream, scalar, 3);
    cudag::memcpy_async(stream, result, scalar);
    stream.synchronize();
    CHECK(result[0] == 3);
    GraphBuilder b;
    const auto fill = b.memset(scalar, 4);
    b.memcpy(result, scalar).after(fill);
    run(std::move(b));
    CHECK(result[0] == 4);
    CHECK(scalar.get(stream) == 4);
}

TEST_CASE("a node keeps a scalar", "[memory][scalar]") {
    const Stream stream;
    const auto cell = device({0});
    std::weak_ptr<void> memory;
    {
        std::optional<Exec> exec;
        {
            const DeviceScalar<int> scalar(5);
            memory = scalar.owner();
            GraphBuilder b;
            b.kernel({}, add, cell, scalar, 1);
            exec = std::move(b).build().instantiate();
        }
        CHECK_FALSE(memory.expired());
        run(*exec, stream);
        CHECK(read(cell) == std::vector{6});
    }
    CHECK(released(memory, stream));
}

TEST_CASE("reading a scalar throws what a host node threw", "[memory][scalar]") {
    const DeviceScalar<int> scalar(5);
    const Stream stream;
    GraphBuilder b;
    b.host([] { throw std::runtime_error("from the host node"); });
    Exec exec = std::move(b).build().instantiate();
    exec.launch(stream);
    CHECK_THROWS_MATCHES(scalar.get(stream), cudag::HostError, MessageMatches(ContainsSubstring("from the host node")));
    CHECK(scalar.get(stream) == 5);
}

TEST_CASE("a moved-from scalar is refused by name", "[memory][scalar]") {
    const Stream stream;
    DeviceScalar<float> first(1.0f);
    DeviceScalar<float> second = std::move(first);
    CHECK(second.get(stream) == 1.0f);
    const auto set = refused<Error>([&] { first.set(2.0f, stream); });
    CHECK_THAT(set.what(), StartsWith("cudag: DeviceScalar::set at ") && ContainsSubstring("device_scalar.cpp") &&
                               EndsWith("the scalar was moved from"));
    const auto get = refused<Error>([&] { static_cast<void>(first.get(stream)); });
    CHECK_THAT(get.what(), StartsWith("cudag: DeviceScalar::get at ") && EndsWith("the scalar was moved from"));
    CHECK(second.get(stream) == 1.0f);
}

TEST_CASE("a captured set carries the value into every run", "[capture][scalar]") {
    const auto mode = GENERATE(CaptureMode::global, CaptureMode::thread_local_, CaptureMode::relaxed);
    CAPTURE(cudag::to_string(mode));
    DeviceScalar<double> scalar(0.5);
    const Stream stream;
    StreamCapture c(stream, {mode});
    {
        auto temporary = std::make_unique<double>(1.0 / 3.0);
        scalar.set(*temporary, stream);
        *temporary = -1.0;
    }
    CHECK(c.status() == CaptureStatus::active);
    const Graph graph = std::move(c).finish();
    const auto nodes = graph.nodes();
    REQUIRE(nodes.size() == 3); // halves that differ, put together before they are copied
    CHECK(nodes[0].kind() == cudag::NodeKind::memset);
    CHECK(nodes[1].kind() == cudag::NodeKind::memset);
    CHECK(nodes[2].kind() == cudag::NodeKind::memcpy);
    CHECK(scalar.get(stream) == 0.5);
    Exec exec = graph.instantiate();
    for (int i = 0; i < 2; ++i) {
        scalar.set(2.0, stream);
        exec.launch(stream);
        CHECK(scalar.get(stream) == 1.0 / 3.0);
    }
}

TEST_CASE("a captured set of equal parts is one node", "[capture][scalar]") {
    DeviceScalar<double> scalar(0.5);
    const Stream stream;
    const Graph graph = cudag::capture(stream, [&](cudaStream_t s) { scalar.set(0.0, s); });
    REQUIRE(graph.node_count() == 1);
    CHECK(graph.nodes()[0].kind() == cudag::NodeKind::memset);
    Exec exec = graph.instantiate();
    exec.launch(stream);
    CHECK(scalar.get(stream) == 0.0);
}

TEST_CASE("a captured graph sees the value that a scalar is set to before each launch", "[capture][scalar]") {
    DeviceScalar<int> scalar(1);
    const auto sum = device({0});
    const Stream stream;
    const Graph graph = cudag::capture(stream, [&](cudaStream_t s) { cudag::launch(s, {}, add, sum, scalar, 100); });
    Exec exec = graph.instantiate();
    for (int value = 5; value < 8; ++value) {
        scalar.set(value, stream);
        exec.launch(stream);
        stream.synchronize();
        CHECK(read(sum) == std::vector{100 + value});
    }
}

TEST_CASE("a captured set keeps the scalar with the graph", "[capture][scalar]") {
    const Stream stream;
    const auto cell = device({0});
    std::weak_ptr<void> memory;
    {
        std::optional<Exec> exec;
        {
            DeviceScalar<int> scalar(0);
            memory = scalar.owner();
            exec = cudag::capture(stream, [&](cudaStream_t s) {
                       scalar.set(5, s);
                       cudag::launch(s, {}, add, cell.data(), scalar.data(), 1);
                   }).instantiate();
        }
        CHECK_FALSE(memory.expired());
        run(*exec, stream);
        CHECK(read(cell) == std::vector{6});
    }
    CHECK(released(memory, stream));
}

TEST_CASE("reading a scalar in a captured stream is refused, and the capture stands", "[capture][scalar]") {
    DeviceScalar<int> scalar(1);
    const auto cell = device({0});
    const Stream stream;
    StreamCapture c(stream);
    const auto error = refused<CaptureError>([&] { static_cast<void>(scalar.get(stream)); });
    CHECK(error.code() == cuda_code(cudaErrorStreamCaptureUnsupported));
    CHECK(error.operation().empty());
    CHECK_THAT(error.what(), StartsWith("cudag: DeviceScalar::get at ") && ContainsSubstring("device_scalar.cpp") &&
                                 ContainsSubstring("the stream is captured, its work has not run"));
    CHECK(c.status() == CaptureStatus::active);
    cudag::launch(stream, {}, add, cell, scalar, 2);
    Exec exec = std::move(c).finish().instantiate();
    run(exec, stream);
    CHECK(read(cell) == std::vector{3});
}

TEST_CASE("a scalar in the legacy stream while a blocking one is captured is refused", "[capture][scalar]") {
    DeviceScalar<int> scalar(1);
    cudaStream_t blocking = nullptr;
    cudag::check(cudaStreamCreate(&blocking));
    {
        StreamCapture c(blocking);
        const auto set = refused<CaptureError>([&] { scalar.set(2, cudaStreamLegacy); });
        CHECK(set.code() == cuda_code(cudaErrorStreamCaptureImplicit));
        CHECK_THAT(set.what(), StartsWith("cudag: DeviceScalar::set at ") && ContainsSubstring("device_scalar.cpp"));
        CHECK(c.status() == CaptureStatus::active);
        const auto get = refused<CaptureError>([&] { static_cast<void>(scalar.get(cudaStreamLegacy)); });
        CHECK(get.code() == cuda_code(cudaErrorStreamCaptureImplicit));
        CHECK(c.status() == CaptureStatus::active);
    }
    CHECK(scalar.get(blocking) == 1);
    cudag::check(cudaStreamDestroy(blocking));
}
