// Regions of memory: where their elements lie, and which ranges they are made of.
#include <cudag/detail/copy_3d.hpp>
#include <cudag/error.hpp>

#include "thrown.hpp"

#include <catch.hpp>

#include <array>
#include <list>
#include <memory>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

namespace {

using cudag::ArraySpan;
using cudag::DeviceBuffer;
using cudag::DeviceSpan;
using cudag::DeviceSpan2D;
using cudag::DeviceSpan3D;
using cudag::HostSpan2D;
using cudag::HostSpan3D;
using cudag::detail::MultiDimensional;
using cudag::detail::OfDimensions;

static_assert(std::is_trivially_copyable_v<DeviceSpan2D<int>> && std::is_trivially_copyable_v<DeviceSpan3D<int>>);
static_assert(std::is_trivially_copyable_v<ArraySpan<int>>);

// A view of T is one of const T, never the reverse, and never one of the other side.
static_assert(std::is_convertible_v<DeviceSpan2D<int>, DeviceSpan2D<const int>>);
static_assert(std::is_convertible_v<HostSpan3D<int>, HostSpan3D<const int>>);
static_assert(std::is_convertible_v<ArraySpan<int>, ArraySpan<const int>>);
static_assert(!std::is_convertible_v<DeviceSpan2D<const int>, DeviceSpan2D<int>>);
static_assert(!std::is_convertible_v<ArraySpan<const int>, ArraySpan<int>>);
static_assert(!std::is_convertible_v<DeviceSpan2D<int>, HostSpan2D<int>>);
static_assert(!std::is_constructible_v<DeviceSpan2D<int>, std::vector<int>&, int, int>);
static_assert(!std::is_constructible_v<HostSpan2D<int>, DeviceSpan<int>, int, int>);
static_assert(!std::is_constructible_v<HostSpan2D<int>, DeviceBuffer<int>&, int, int>);
static_assert(!std::is_constructible_v<HostSpan2D<int>, std::list<int>&, int, int>);
static_assert(std::is_constructible_v<HostSpan2D<const int>, const std::vector<int>&, int, int>);

// An array has any number of dimensions; plain ranges have none.
static_assert(OfDimensions<DeviceSpan2D<int>&, 2> && !OfDimensions<DeviceSpan2D<int>, 3>);
static_assert(OfDimensions<const HostSpan3D<int>&, 3> && !OfDimensions<HostSpan3D<int>, 2>);
static_assert(OfDimensions<ArraySpan<int>, 2> && OfDimensions<const ArraySpan<int>&, 3>);
static_assert(!MultiDimensional<DeviceSpan<int>> && !MultiDimensional<std::vector<int>&> && !MultiDimensional<int*>);

std::vector<int> numbers(std::size_t count) {
    std::vector<int> values(count);
    std::iota(values.begin(), values.end(), 0);
    return values;
}

} // namespace

TEST_CASE("a 2D region finds its elements", "[unit][region]") {
    std::vector<int> values = numbers(12);
    const HostSpan2D<int> all(values, 4, 3);
    CHECK(all.pitch() == 16);
    CHECK(all(3, 2) == 11);
    const HostSpan2D<int> part = all.subspan(1, 1, 2, 2);
    CHECK(part.width() == 2);
    CHECK(part.height() == 2);
    CHECK(part.pitch() == 16);
    CHECK(part(0, 0) == 5);
    CHECK(part(1, 1) == 10);
    part(0, 1) = -1;
    CHECK(values[9] == -1);
}

TEST_CASE("a pitch counts bytes, also where it is no multiple of an element", "[unit][region]") {
    std::array<unsigned short, 8> values{};
    const HostSpan2D<unsigned short> rows(values, 2, 3, 5);
    CHECK(reinterpret_cast<const char*>(&rows(0, 2)) == reinterpret_cast<const char*>(values.data()) + 10);
}

TEST_CASE("a 3D region finds its elements, slices and parts", "[unit][region]") {
    const std::vector<int> values = numbers(2 * 3 * 4);
    const HostSpan3D<const int> all(values, 4, 3, 2);
    CHECK(all.pitch() == 16);
    CHECK(all.slice_height() == 3);
    CHECK(all(1, 2, 1) == 21);
    CHECK(all.slice(1)(0, 1) == 16);
    const HostSpan3D<const int> part = all.subspan(2, 1, 0, 2, 2, 2);
    CHECK(part.slice_height() == 3);
    CHECK(part(1, 1, 1) == 23);
    CHECK(part.slice(1)(0, 0) == 18);
}

TEST_CASE("a 3D region of memory with padding steps over it", "[unit][region]") {
    const std::vector<int> values = numbers(2 * 3 * 4);
    const HostSpan3D<const int> box(values.data(), 2, 2, 2, 16, 3);
    CHECK(box(1, 1, 1) == 17);
}

TEST_CASE("a region that does not fit into its range is refused with both sizes", "[unit][region]") {
    std::vector<int> values(11);
    const auto text = [&](std::size_t width, std::size_t height, std::size_t pitch) {
        return std::string(thrown<cudag::GraphError>([&] {
                               static_cast<void>(HostSpan2D<int>(values, width, height, pitch));
                           }).what());
    };
    CHECK_THAT(text(4, 3, 16), ContainsSubstring("a region of 4 x 3 x 1 elements with a pitch of 16 bytes does not fit "
                                                 "into a range of 11 elements of 4 bytes"));
    CHECK_THAT(text(12, 1, 0), ContainsSubstring("12 x 1 x 1"));
    CHECK_THAT(text(2, 3, 20), ContainsSubstring("pitch of 20 bytes"));
    constexpr auto most = static_cast<std::size_t>(-1);
    CHECK_THAT(text(most, 1, 4), ContainsSubstring("does not fit"));
    CHECK_THAT(text(1, most, 4), ContainsSubstring("does not fit"));
    CHECK_THAT(text(1, 3, most), ContainsSubstring("does not fit"));
    CHECK_THAT(thrown<cudag::GraphError>([&] { static_cast<void>(HostSpan3D<int>(values, 2, 2, 3)); }).what(),
               ContainsSubstring("2 x 2 x 3 elements"));
    CHECK_THAT(thrown<cudag::GraphError>([&] { static_cast<void>(HostSpan3D<int>(values, 1, most, 2)); }).what(),
               ContainsSubstring("does not fit"));
}

TEST_CASE("the last row of a region needs no padding", "[unit][region]") {
    std::vector<int> values(11);
    CHECK_NOTHROW(HostSpan2D<int>(values, 3, 3, 16));
    CHECK_NOTHROW(HostSpan2D<int>(values, 0, 100));
    CHECK_NOTHROW(HostSpan2D<int>(values, 100, 0));
}

TEST_CASE("regions are made of device ranges, too", "[unit][region]") {
    int memory[12] = {};
    const DeviceSpan<int> range(memory, 12);
    CHECK(DeviceSpan2D<int>(range, 4, 3).data() == memory);
    CHECK(DeviceSpan2D<const int>(range, 4, 2, 20).pitch() == 20);
    CHECK(DeviceSpan3D<int>(range, 2, 2, 3).depth() == 3);
    CHECK_THROWS_AS(DeviceSpan2D<int>(range, 4, 4), cudag::GraphError);
}

TEST_CASE("a region copy knows both sides, their padding and the direction", "[unit][region]") {
    std::vector<float> host(8);
    float memory[24] = {};
    const auto up =
        cudag::detail::copy_3d(DeviceSpan3D<float>(memory, 2, 2, 2, 12, 4), HostSpan3D<float>(host, 2, 2, 2));
    CHECK(up.destination.data == memory);
    CHECK(up.destination.pitch == 12);
    CHECK(up.destination.slice_height == 4);
    CHECK(up.source.data == host.data());
    CHECK(up.source.extent.depth == 2);
    CHECK(up.element_bytes == sizeof(float));
    CHECK(up.kind == cudaMemcpyHostToDevice);
}
