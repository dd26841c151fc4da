// Fills of elements of any size: CUDA repeats 1, 2 or 4 bytes.
#include "native.hpp"

#include <cmath>
#include <cstdint>

using cudag::DeviceBuffer;
using cudag::DeviceSpan2D;
using cudag::DynamicParam;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::Stream;
using cudag::UpdateError;

namespace {

struct Six {
    std::uint16_t x, y, z;
    friend bool operator==(const Six&, const Six&) = default;
};
struct Odd {
    unsigned char bytes[5];
    friend bool operator==(const Odd&, const Odd&) = default;
};
struct Pairs {
    float x, y, z;
    friend bool operator==(const Pairs&, const Pairs&) = default;
};

template <class T>
void check_fill(const T& value, const T& other) {
    const auto memory = device(std::vector<T>(5, other));
    GraphBuilder b;
    b.memset(memory.span().subspan(1, 3), value);
    run(std::move(b));
    CHECK(read(memory) == std::vector<T>{other, value, value, value, other});

    write(memory.span(), std::vector<T>(5, other));
    const Stream stream;
    memset_async(stream, memory.span().subspan(0, 2), value);
    const Graph captured =
        capture(stream, [&](cudaStream_t s) { cudag::memset_async(s, memory.span().subspan(4, 1), value); });
    Exec exec = captured.instantiate();
    exec.launch(stream);
    stream.synchronize();
    CHECK(read(memory) == std::vector<T>{value, value, other, other, value});
}

template <class T>
void check_clear(const T& other) {
    const auto memory = device(std::vector<T>(4, other));
    GraphBuilder b;
    b.clear(memory.span().subspan(1, 2));
    run(std::move(b));
    CHECK(read(memory) == std::vector<T>{other, T{}, T{}, other});
    const Stream stream;
    clear_async(stream, memory);
    stream.synchronize();
    CHECK(read(memory) == std::vector<T>(4));
}

template <class T>
void check_refused(const T& value, const char* bytes) {
    const DeviceBuffer<T> memory(4);
    GraphBuilder b;
    const auto error = refused<GraphError>([&] { b.memset(memory, value); });
    CHECK_THAT(error.what(), ContainsSubstring("memset at ") && ContainsSubstring(__FILE__) &&
                                 ContainsSubstring(bytes) && ContainsSubstring("clear(range)"));
    const Stream stream;
    CHECK_THROWS_AS(memset_async(stream, memory, value), GraphError);
    CHECK_THROWS_AS(b.memset2d(DeviceSpan2D<T>(memory, 2, 2), value), GraphError);
    CHECK(std::move(b).build().node_count() == 0);
}

} // namespace

TEST_CASE("a memset fills elements of 8 bytes and more whose bytes repeat", "[builder][memset]") {
    check_fill<double>(0.0, 1.5);
    check_fill<std::int64_t>(-1, 7);
    check_fill<std::uint64_t>(0x0102030401020304U, 7);
    check_fill<std::uint64_t>(0x0102010201020102U, 7);
    check_fill<Pairs>({2.5F, 2.5F, 2.5F}, {1, 2, 3});
    check_fill<Six>({9, 9, 9}, {1, 2, 3});
    check_fill<Odd>({{7, 7, 7, 7, 7}}, {{1, 2, 3, 4, 5}});
}

TEST_CASE("a memset converts its value to elements of 8 bytes", "[builder][memset]") {
    const auto memory = device(std::vector<double>(2, 1.0));
    GraphBuilder b;
    b.memset(memory, 0);
    run(std::move(b));
    CHECK(read(memory) == std::vector<double>(2));
    const auto pointers = device(std::vector<int*>(2, reinterpret_cast<int*>(16)));
    GraphBuilder c;
    c.memset(pointers, nullptr);
    run(std::move(c));
    CHECK(read(pointers) == std::vector<int*>(2));
}

TEST_CASE("a memset with bytes that do not repeat is refused", "[builder][memset]") {
    check_refused(1.5, "8 bytes");
    check_refused(-0.0, "8 bytes");
    check_refused(std::int64_t{1}, "8 bytes");
    check_refused(Pairs{1, 2, 1}, "12 bytes");
    check_refused(Six{1, 1, 2}, "6 bytes");
    check_refused(Odd{{1, 1, 1, 1, 2}}, "5 bytes");
}

TEST_CASE("clear sets the bytes of any elements to 0", "[builder][memset]") {
    check_clear<double>(1.5);
    check_clear<char>('x');
    check_clear<Six>({1, 2, 3});
    check_clear<Odd>({{1, 2, 3, 4, 5}});
    check_clear<Pairs>({1, 2, 3});
    const DeviceBuffer<double> none(0);
    GraphBuilder b;
    CHECK_THROWS_AS(b.clear(none), GraphError);
}

TEST_CASE("clear and memset2d fill blocks of 8-byte elements", "[builder][memset][2d]") {
    const auto memory = device(std::vector<double>(6, 1.0));
    const DeviceSpan2D<double> block(memory, 1, 2, 3 * sizeof(double));
    GraphBuilder b;
    const auto node = b.clear(block).label("clear");
    b.memset2d(DeviceSpan2D<std::int64_t>(reinterpret_cast<std::int64_t*>(memory.data()) + 2, 1, 2, 24), -1)
        .after(node);
    Exec exec = std::move(b).build().instantiate();
    const Stream stream;
    exec.launch(stream);
    stream.synchronize();
    std::vector<double> values = read(memory);
    CHECK(values[0] == 0.0);
    CHECK(values[1] == 1.0);
    CHECK(values[3] == 0.0);
    CHECK(std::isnan(values[2]));
    CHECK(std::isnan(values[5]));
    write(memory.span(), std::vector<double>(6, 1.0));
    exec.update(node, block, 0);
    exec.launch(stream);
    clear_async(stream, DeviceSpan2D<double>(memory.data() + 1, 1, 2, 24));
    stream.synchronize();
    CHECK(read(memory)[0] == 0.0);
    CHECK(read(memory)[4] == 0.0);
}

TEST_CASE("an update of a fill of doubles takes values whose bytes repeat", "[exec][update][memset]") {
    const auto memory = device(std::vector<std::int64_t>(4, 5));
    GraphBuilder b;
    const auto node = b.memset(memory, 0);
    Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    const Stream stream;
    exec.update(node, memory.span().subspan(0, 2), -1);
    const auto error = refused<UpdateError>([&] { exec.update(node, memory, 1); });
    CHECK_THAT(error.what(), ContainsSubstring("update of ") && ContainsSubstring("8 bytes"));
    CHECK_THROWS_AS(graph.update(node, memory, 1), UpdateError);
    exec.launch(stream);
    stream.synchronize();
    CHECK(read(memory) == std::vector<std::int64_t>{-1, -1, 5, 5});
}

TEST_CASE("a DynamicParam drives a fill of doubles by the number of doubles", "[exec][update][memset]") {
    const auto memory = device(std::vector<double>(4, 1.0));
    DynamicParam<int> count(4);
    GraphBuilder b;
    count.drive(b.clear(memory));
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    count.set(3, exec);
    const Stream stream;
    exec.launch(stream);
    stream.synchronize();
    CHECK(read(memory) == std::vector<double>{0, 0, 0, 1});
    CHECK_THROWS_AS(count.set(5, exec), UpdateError);
}

TEST_CASE("bytes of a buffer are filled and copied as any others", "[builder][memset]") {
    const auto memory = device(std::vector<double>(2, 1.0));
    GraphBuilder b;
    b.memset(as_writable_bytes(memory.span().subspan(0, 1)), std::byte{0xFF});
    run(std::move(b));
    CHECK(std::isnan(read(memory)[0]));
    CHECK(read(memory)[1] == 1.0);
    CHECK(as_writable_bytes(memory).size() == 16);
    CHECK(as_bytes(memory).data() == as_writable_bytes(memory).data());
}
