// Pointers and objects as kernel arguments.
#include <cstdint>
#include <memory>

#include "test.hpp"

using cudag::DeviceBuffer;
using cudag::DeviceSpan;
using cudag::GraphBuilder;
using cudag::PinnedBuffer;

namespace {

/// The address that a kernel receives for `argument`.
template <class A>
std::uint64_t received(const A& argument) {
    const DeviceBuffer<std::uint64_t> out(1);
    GraphBuilder b;
    b.kernel({}, write_address, out, argument);
    run(std::move(b));
    return read(out).front();
}

std::uint64_t number(const void* address) {
    return reinterpret_cast<std::uint64_t>(address);
}

/// A device cell behind a shared_ptr that owns nothing.
std::shared_ptr<int> shared_cell(const DeviceBuffer<int>& buffer) {
    return {buffer.data(), [](int*) {}};
}

} // namespace

TEST_CASE("nullptr is a null pointer", "[arguments]") {
    CHECK(received(nullptr) == 0);
    CHECK(received(static_cast<int*>(nullptr)) == 0);
}

TEST_CASE("buffers, spans and raw pointers become their address", "[arguments]") {
    const DeviceBuffer<int> buffer(4);
    const PinnedBuffer<int> pinned(4);
    CHECK(received(buffer) == number(buffer.data()));
    CHECK(received(buffer.span()) == number(buffer.data()));
    CHECK(received(buffer.span().subspan(2, 1)) == number(buffer.data() + 2));
    CHECK(received(buffer.data() + 1) == number(buffer.data() + 1));
    CHECK(received(DeviceSpan<const int>(buffer.span())) == number(buffer.data()));
    CHECK(received(pinned) == number(pinned.data()));
}

TEST_CASE("shared pointers become their address", "[arguments]") {
    const DeviceBuffer<int> buffer(4);
    CHECK(received(shared_cell(buffer)) == number(buffer.data()));
    const auto shared = std::make_shared<DeviceBuffer<int>>(4);
    CHECK(received(shared) == number(shared->data()));
    const auto pinned = std::make_shared<PinnedBuffer<int>>(4);
    CHECK(received(pinned) == number(pinned->data()));
}

TEST_CASE("an empty shared pointer or buffer is a null pointer", "[arguments]") {
    CHECK(received(std::shared_ptr<int>()) == 0);
    CHECK(received(std::shared_ptr<DeviceBuffer<int>>()) == 0);
    CHECK(received(DeviceBuffer<int>(0)) == 0);
}

TEST_CASE("a mutable buffer becomes a pointer to const", "[arguments]") {
    const auto from = device({4});
    const auto to = device({0});
    GraphBuilder b;
    b.kernel({}, add, to, from, 3);
    run(std::move(b));
    CHECK(read(to) == std::vector{7});
}

TEST_CASE("a kernel writes pinned memory", "[arguments]") {
    const PinnedBuffer<int> cell(1);
    cell[0] = 0;
    GraphBuilder b;
    b.kernel({}, store, cell, 21);
    run(std::move(b));
    CHECK(cell[0] == 21);
}

TEST_CASE("a buffer becomes a span parameter", "[arguments]") {
    const auto out = device({0});
    const auto in = device({1, 2, 3, 4});
    GraphBuilder b;
    SECTION("as a span of const") {
        b.kernel({}, sum, out, DeviceSpan<const int>(in.span()));
        run(std::move(b));
        CHECK(read(out) == std::vector{10});
    }
    SECTION("as a span of mutable elements") {
        b.kernel({}, sum, out, in.span().subspan(1, 2));
        run(std::move(b));
        CHECK(read(out) == std::vector{5});
    }
    SECTION("as a buffer") {
        b.kernel({}, sum, out, in);
        run(std::move(b));
        CHECK(read(out) == std::vector{10});
    }
    SECTION("as a shared buffer") {
        b.kernel({}, sum, out, std::make_shared<DeviceBuffer<int>>(device({8, 9})));
        run(std::move(b));
        CHECK(read(out) == std::vector{17});
    }
}

TEST_CASE("objects, enumerators and bools arrive by value", "[arguments]") {
    const DeviceBuffer<Objects> out(1);
    GraphBuilder b;
    b.kernel({}, write_objects, out, Point{1.25, -2.5F, 'p'}, Colour::green, true);
    run(std::move(b));
    const Objects received = read(out).front();
    CHECK(received.point.x == 1.25);
    CHECK(received.point.y == -2.5F);
    CHECK(received.point.name == 'p');
    CHECK(received.colour == Colour::green);
    CHECK(received.flag);
}

TEST_CASE("an object that converts to the parameter arrives converted", "[arguments]") {
    struct Polar {
        double radius;
        operator Point() const { return {radius, 0, 'c'}; }
    };
    const DeviceBuffer<Objects> out(1);
    GraphBuilder b;
    b.kernel({}, write_objects, out, Polar{3}, Colour::red, false);
    run(std::move(b));
    const Objects received = read(out).front();
    CHECK(received.point.x == 3);
    CHECK(received.point.name == 'c');
    CHECK(received.colour == Colour::red);
    CHECK_FALSE(received.flag);
}
