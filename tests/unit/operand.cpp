// Which ranges memcpy and memset take, and what they read from them.
#include <cudag/detail/operand.hpp>
#include <cudag/error.hpp>

#include "thrown.hpp"

#include <catch.hpp>

#include <array>
#include <deque>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace {

using cudag::DeviceBuffer;
using cudag::DeviceSpan;
using cudag::PinnedBuffer;
using cudag::Side;
using cudag::detail::Owners;

/// As a forwarding reference deduces R.
template <class R>
constexpr bool is_operand = cudag::detail::OperandArgument<R>;
template <class R>
constexpr bool lives_on = cudag::detail::outlives_call<R>;

// Ranges with a length, of either side.
static_assert(is_operand<DeviceBuffer<int>&> && is_operand<const DeviceBuffer<int>&> && is_operand<DeviceSpan<int>>);
static_assert(is_operand<PinnedBuffer<int>&> && is_operand<DeviceSpan<const int>&> && is_operand<std::span<int>>);
static_assert(is_operand<std::vector<int>&> && is_operand<const std::vector<int>&> && is_operand<std::span<int, 4>>);
static_assert(is_operand<std::array<int, 4>&> && is_operand<int (&)[4]> && is_operand<std::string&>);
static_assert(is_operand<std::shared_ptr<DeviceBuffer<int>>> && is_operand<std::shared_ptr<std::vector<int>>&>);
static_assert(is_operand<const std::shared_ptr<const std::vector<int>>&>);

// What has no length, or is not contiguous, is none.
static_assert(!is_operand<int*> && !is_operand<int*&> && !is_operand<void*&> && !is_operand<std::nullptr_t>);
static_assert(!is_operand<int&> && !is_operand<std::shared_ptr<int>&> && !is_operand<std::unique_ptr<int[]>&>);
static_assert(!is_operand<std::list<int>&> && !is_operand<std::deque<int>&>);

// A temporary that owns its memory is gone when the node runs; views and shared owners are not.
static_assert(lives_on<std::vector<int>&> && lives_on<const std::array<int, 4>&> && lives_on<int (&)[4]>);
static_assert(lives_on<std::span<int>> && lives_on<DeviceSpan<int>> && lives_on<std::shared_ptr<std::vector<int>>>);
static_assert(lives_on<DeviceBuffer<int>> && lives_on<PinnedBuffer<int>>);
static_assert(!lives_on<std::vector<int>> && !lives_on<std::array<int, 4>> && !lives_on<const std::vector<int>>);
static_assert(!lives_on<std::string>);

template <class R>
using OperandOf = decltype(cudag::detail::to_operand(std::declval<R&>(), 0, std::declval<Owners&>()));

static_assert(OperandOf<DeviceBuffer<int>>::side == Side::device);
static_assert(OperandOf<DeviceSpan<const int>>::side == Side::device);
static_assert(OperandOf<std::shared_ptr<DeviceBuffer<int>>>::side == Side::device);
static_assert(OperandOf<PinnedBuffer<int>>::side == Side::host);
static_assert(OperandOf<std::vector<int>>::side == Side::host);
static_assert(OperandOf<std::shared_ptr<PinnedBuffer<int>>>::side == Side::host);

static_assert(std::is_same_v<OperandOf<const std::vector<int>>::element_type, const int>);
static_assert(std::is_same_v<OperandOf<DeviceSpan<const int>>::element_type, const int>);
static_assert(std::is_same_v<OperandOf<std::span<const int>>::element_type, const int>);
static_assert(std::is_same_v<OperandOf<const DeviceBuffer<int>>::element_type, int>);

static_assert(cudag::detail::copy_kind(Side::host, Side::host) == cudaMemcpyHostToHost);
static_assert(cudag::detail::copy_kind(Side::host, Side::device) == cudaMemcpyDeviceToHost);
static_assert(cudag::detail::copy_kind(Side::device, Side::host) == cudaMemcpyHostToDevice);
static_assert(cudag::detail::copy_kind(Side::device, Side::device) == cudaMemcpyDeviceToDevice);

template <class T, class V>
unsigned fill_bits(const V& value) {
    T memory[4] = {};
    DeviceSpan<T> span(memory, 4);
    cudag::detail::CallEffects effects;
    const auto set = cudag::detail::set_params(span, value, effects, {});
    CHECK(set.destination == memory);
    CHECK(set.size == 4);
    CHECK(set.element_bytes == sizeof(T));
    return set.value;
}

} // namespace

TEST_CASE("parts of a span have its memory", "[unit][operand]") {
    int memory[8] = {};
    const DeviceSpan<int> span(memory, 8);
    const auto is = [&](DeviceSpan<int> part, std::size_t offset, std::size_t size) {
        return part.data() == memory + offset && part.size() == size;
    };
    CHECK(is(span.first(3), 0, 3));
    CHECK(is(span.last(3), 5, 3));
    CHECK(is(span.subspan(3), 3, 5));
    CHECK(is(span.subspan(3, 2), 3, 2));
    CHECK(is(span.first(0), 0, 0));
    CHECK(is(span.last(8), 0, 8));
    CHECK(is(span.subspan(8), 8, 0));
}

TEST_CASE("a copy knows both ranges and the direction", "[unit][operand]") {
    std::vector<float> host(8);
    float device[8] = {};
    DeviceSpan<float> span(device, 8);
    Owners owners;
    const auto up = cudag::detail::copy_params(span, host, owners);
    CHECK(up.destination == device);
    CHECK(up.source == host.data());
    CHECK(up.destination_size == 8);
    CHECK(up.source_size == 8);
    CHECK(up.element_bytes == sizeof(float));
    CHECK(up.kind == cudaMemcpyHostToDevice);
    CHECK(owners.empty());
}

TEST_CASE("owned operands are kept: the destination under 0, the source under 1", "[unit][operand]") {
    auto destination = std::make_shared<std::vector<int>>(4);
    auto source = std::make_shared<const std::vector<int>>(4);
    Owners owners;
    const auto copy = cudag::detail::copy_params(destination, source, owners);
    CHECK(copy.kind == cudaMemcpyHostToHost);
    CHECK(copy.destination == destination->data());
    REQUIRE(owners.size() == 2);
    CHECK(owners[0].argument == 0);
    CHECK(owners[0].object == destination);
    CHECK(owners[1].argument == 1);
    CHECK(owners[1].object == source);
}

TEST_CASE("a null shared_ptr is no operand", "[unit][operand]") {
    std::shared_ptr<std::vector<int>> nothing;
    std::vector<int> host(4);
    Owners owners;
    const auto error =
        thrown<cudag::GraphError>([&] { static_cast<void>(cudag::detail::copy_params(nothing, host, owners)); });
    CHECK_THAT(error.what(), ContainsSubstring("null"));
}

TEST_CASE("a fill holds the bits of the element", "[unit][operand]") {
    CHECK(fill_bits<unsigned char>(255) == 0xFFU);
    CHECK(fill_bits<signed char>(-1) == 0xFFU);
    CHECK(fill_bits<unsigned short>(0xABCD) == 0xABCDU);
    CHECK(fill_bits<int>(-2) == 0xFFFFFFFEU);
    CHECK(fill_bits<float>(1.0f) == 0x3F800000U);
    CHECK(fill_bits<float>(1) == 0x3F800000U);
}

TEST_CASE("a fill value that the element cannot hold is refused", "[unit][operand]") {
    const auto error = thrown<cudag::GraphError>([] { static_cast<void>(fill_bits<unsigned char>(256)); });
    CHECK_THAT(error.what(), ContainsSubstring("256 does not fit the parameter type unsigned char"));
}
