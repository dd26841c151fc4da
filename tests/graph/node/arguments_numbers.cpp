// Numbers as kernel arguments: any integer that fits exactly, and floating-point values of the same kind or narrower.
#include <cstdint>
#include <limits>

#include "test.hpp"

using cudag::DeviceBuffer;
using cudag::GraphBuilder;
using cudag::GraphError;

namespace {

template <class T>
using limits = std::numeric_limits<T>;

/// The numbers that a kernel receives for these arguments.
template <class... A>
Numbers received(const A&... arguments) {
    const DeviceBuffer<Numbers> out(1);
    GraphBuilder b;
    b.kernel({}, write_numbers, out, arguments...);
    run(std::move(b));
    return read(out).front();
}

/// One sound argument for each parameter of write_numbers but the first.
struct Arguments {
    long long i8 = 0, u8 = 0, i16 = 0, u16 = 0, i32 = 0, u32 = 0, i64 = 0;
    std::uint64_t u64 = 0;
    long long f32 = 0, f64 = 0;
};

cudag::KernelNode<Numbers*, signed char, unsigned char, short, unsigned short, int, unsigned, long long,
                  unsigned long long, float, double>
add_node(GraphBuilder& b, const DeviceBuffer<Numbers>& out, const Arguments& a) {
    return b.kernel({}, write_numbers, out, a.i8, a.u8, a.i16, a.u16, a.i32, a.u32, a.i64, a.u64, a.f32, a.f64);
}

/// What is said about the one argument of `arguments` that does not fit.
std::string refusal(const Arguments& arguments) {
    const DeviceBuffer<Numbers> out(1);
    GraphBuilder b;
    const auto error = refused<GraphError>([&] { add_node(b, out, arguments); });
    CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
    CHECK(error.operation().empty());
    CHECK_THAT(error.what(), ContainsSubstring("kernel write_numbers") && ContainsSubstring(__FILE__));
    CHECK(std::move(b).build().node_count() == 0);
    return error.what();
}

} // namespace

TEST_CASE("every number arrives as its own type", "[arguments]") {
    const Numbers n = received(static_cast<signed char>(-5), static_cast<unsigned char>(250), static_cast<short>(-3000),
                               static_cast<unsigned short>(60000), -7, 8U, -9LL, 10ULL, 1.5F, -2.5);
    CHECK(n.i8 == -5);
    CHECK(n.u8 == 250);
    CHECK(n.i16 == -3000);
    CHECK(n.u16 == 60000);
    CHECK(n.i32 == -7);
    CHECK(n.u32 == 8);
    CHECK(n.i64 == -9);
    CHECK(n.u64 == 10);
    CHECK(n.f32 == 1.5F);
    CHECK(n.f64 == -2.5);
}

TEST_CASE("the smallest values fit, given as wider integers", "[arguments]") {
    const DeviceBuffer<Numbers> out(1);
    GraphBuilder b;
    add_node(b, out,
             {limits<signed char>::min(), 0, limits<short>::min(), 0, limits<int>::min(), 0, limits<long long>::min(),
              0, -(1LL << 24), limits<long long>::min()});
    run(std::move(b));
    const Numbers n = read(out).front();
    CHECK(n.i8 == limits<signed char>::min());
    CHECK(n.u8 == 0);
    CHECK(n.i16 == limits<short>::min());
    CHECK(n.i32 == limits<int>::min());
    CHECK(n.i64 == limits<long long>::min());
    CHECK(n.f32 == -16777216.0F);
    CHECK(n.f64 == -9223372036854775808.0);
}

TEST_CASE("the largest values fit, given as wider integers", "[arguments]") {
    const DeviceBuffer<Numbers> out(1);
    GraphBuilder b;
    add_node(b, out,
             {limits<signed char>::max(), limits<unsigned char>::max(), limits<short>::max(),
              limits<unsigned short>::max(), limits<int>::max(), limits<unsigned>::max(), limits<long long>::max(),
              limits<std::uint64_t>::max(), 1LL << 24, 1LL << 53});
    run(std::move(b));
    const Numbers n = read(out).front();
    CHECK(n.i8 == limits<signed char>::max());
    CHECK(n.u8 == limits<unsigned char>::max());
    CHECK(n.i16 == limits<short>::max());
    CHECK(n.u16 == limits<unsigned short>::max());
    CHECK(n.i32 == limits<int>::max());
    CHECK(n.u32 == limits<unsigned>::max());
    CHECK(n.i64 == limits<long long>::max());
    CHECK(n.u64 == limits<std::uint64_t>::max());
    CHECK(n.f32 == 16777216.0F);
    CHECK(n.f64 == 9007199254740992.0);
}

TEST_CASE("a size_t becomes an int where it fits", "[arguments]") {
    const std::size_t n = 12;
    CHECK(received(n, n, n, n, n, n, n, n, n, n).i32 == 12);
}

TEST_CASE("a char is a number", "[arguments]") {
    CHECK(received('a', 'b', 0, 0, 0, 0, 0, 0U, 0, 0).i8 == 'a');
}

TEST_CASE("a float becomes a double", "[arguments]") {
    CHECK(received(0, 0, 0, 0, 0, 0, 0, 0U, 0.25F, 0.1F).f64 == static_cast<double>(0.1F));
}

TEST_CASE("floating-point values that are no numbers arrive", "[arguments]") {
    const Numbers n = received(0, 0, 0, 0, 0, 0, 0, 0U, -limits<float>::infinity(), limits<double>::quiet_NaN());
    CHECK(n.f32 == -limits<float>::infinity());
    CHECK(n.f64 != n.f64);
}

TEST_CASE("an integer beyond its parameter is refused with position, value and type", "[arguments]") {
    CHECK_THAT(refusal({.i8 = 128}), ContainsSubstring("argument 1: 128 ") && ContainsSubstring("signed char"));
    CHECK_THAT(refusal({.i8 = -129}), ContainsSubstring("argument 1: -129 "));
    CHECK_THAT(refusal({.u8 = 256}), ContainsSubstring("argument 2: 256 ") && ContainsSubstring("unsigned char"));
    CHECK_THAT(refusal({.i16 = 32768}), ContainsSubstring("argument 3: 32768 ") && ContainsSubstring("short"));
    CHECK_THAT(refusal({.u16 = 65536}), ContainsSubstring("argument 4: 65536 ") && ContainsSubstring("unsigned short"));
    CHECK_THAT(refusal({.i32 = 2147483648LL}),
               ContainsSubstring("argument 5: 2147483648 ") && ContainsSubstring("int"));
    CHECK_THAT(refusal({.u32 = 4294967296LL}), ContainsSubstring("argument 6: 4294967296 "));
}

TEST_CASE("a negative integer for an unsigned parameter is refused", "[arguments]") {
    CHECK_THAT(refusal({.u8 = -1}), ContainsSubstring("argument 2: -1 "));
    CHECK_THAT(refusal({.u16 = -1}), ContainsSubstring("argument 4: -1 "));
    CHECK_THAT(refusal({.u32 = -1}), ContainsSubstring("argument 6: -1 "));
    CHECK_THAT(refusal({.u32 = limits<long long>::min()}), ContainsSubstring("argument 6: -9223372036854775808 "));
}

TEST_CASE("a large unsigned integer for a signed parameter is refused", "[arguments]") {
    const DeviceBuffer<int> cell(1);
    GraphBuilder b;
    CHECK_THAT(refused<GraphError>([&] { b.kernel({}, store, cell, 3000000000U); }).what(),
               ContainsSubstring("argument 1: 3000000000 ") && ContainsSubstring("kernel store"));
    CHECK_THAT(refused<GraphError>([&] { b.kernel({}, store, cell, limits<std::uint64_t>::max()); }).what(),
               ContainsSubstring("argument 1: 18446744073709551615 "));
}

TEST_CASE("an integer that a floating-point parameter would round is refused", "[arguments]") {
    CHECK_THAT(refusal({.f32 = (1LL << 24) + 1}),
               ContainsSubstring("argument 9: 16777217 ") && ContainsSubstring("float"));
    CHECK_THAT(refusal({.f64 = -(1LL << 53) - 1}),
               ContainsSubstring("argument 10: -9007199254740993 ") && ContainsSubstring("double"));
    CHECK_THAT(refusal({.f64 = limits<long long>::max()}), ContainsSubstring("argument 10: 9223372036854775807 "));
}

TEST_CASE("a refused argument says where the call stands", "[arguments]") {
    const DeviceBuffer<int> cell(1);
    GraphBuilder b;
    const auto error = refused<GraphError>([&] { b.kernel({}, store, cell, 1LL << 40U); });
    CHECK(error.location().line == __LINE__ - 1);
}
