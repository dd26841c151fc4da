// Owners are moved, never copied, and moving cannot fail; references are cheap values.
#include <cudag/cudag.hpp>

#include <catch.hpp>

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

template <class T>
constexpr bool is_owner =
    !std::is_copy_constructible_v<T> && !std::is_copy_assignable_v<T> && std::is_nothrow_move_constructible_v<T> &&
    std::is_nothrow_move_assignable_v<T> && std::is_nothrow_destructible_v<T>;

static_assert(is_owner<cudag::Stream>);
static_assert(is_owner<cudag::Event>);
static_assert(is_owner<cudag::DeviceBuffer<float>>);
static_assert(is_owner<cudag::PinnedBuffer<float>>);
static_assert(is_owner<cudag::CapturePool>);
static_assert(is_owner<cudag::DeviceScalar<float>>);
static_assert(is_owner<cudag::GraphBuilder>);
static_assert(is_owner<cudag::Graph>);
static_assert(is_owner<cudag::Exec>);

template <class T>
constexpr bool is_reference =
    std::is_trivially_copyable_v<T> && std::is_nothrow_copy_constructible_v<T> && std::is_nothrow_copy_assignable_v<T>;

static_assert(is_reference<cudag::StreamRef>);
static_assert(is_reference<cudag::DeviceSpan<float>>);
static_assert(is_reference<cudag::SourceLocation>);
static_assert(is_reference<cudag::LaunchConfig>);
static_assert(is_reference<cudag::Node>);
static_assert(is_reference<cudag::KernelNode<float*, int>>);
static_assert(is_reference<cudag::MemcpyNode>);
static_assert(is_reference<cudag::MemsetNode>);
static_assert(is_reference<cudag::HostNode>);
static_assert(is_reference<cudag::JoinNode>);
static_assert(is_reference<cudag::NativeNode>);

// A stream is named or made, never a literal by mistake.
static_assert(std::is_nothrow_constructible_v<cudag::StreamRef, cudaStream_t>);
static_assert(std::is_constructible_v<cudag::StreamRef, const cudag::Stream&>);
static_assert(!std::is_constructible_v<cudag::StreamRef, std::nullptr_t>);
static_assert(!std::is_constructible_v<cudag::StreamRef, int>);
static_assert(!std::is_default_constructible_v<cudag::StreamRef>);

// Sizes are said, not converted to.
static_assert(std::is_constructible_v<cudag::DeviceBuffer<int>, std::size_t>);
static_assert(!std::is_convertible_v<std::size_t, cudag::DeviceBuffer<int>>);
static_assert(!std::is_convertible_v<std::size_t, cudag::PinnedBuffer<int>>);
static_assert(!std::is_default_constructible_v<cudag::DeviceBuffer<int>>);

// Graphs and Execs come from builders and graphs only.
static_assert(!std::is_default_constructible_v<cudag::Graph>);
static_assert(!std::is_default_constructible_v<cudag::Exec>);

// Reports come from cudag only.
static_assert(!std::is_default_constructible_v<cudag::UpdateReport>);
static_assert(!std::is_constructible_v<cudag::UpdateReport, cudag::UpdateVerdict, const char*,
                                       std::vector<cudag::Difference>, bool>);
static_assert(!std::is_constructible_v<cudag::TuneReport, std::vector<cudag::TuneRow>, std::size_t, cudag::TuneGoal>);
static_assert(!std::is_constructible_v<cudag::HostError, std::shared_ptr<const std::vector<cudag::HostFailure>>>);
static_assert(!std::is_constructible_v<cudag::HostCopy<int>, const int*, std::size_t>);

// A span may gain const, and nothing else.
static_assert(std::is_convertible_v<cudag::DeviceSpan<int>, cudag::DeviceSpan<const int>>);
static_assert(!std::is_constructible_v<cudag::DeviceSpan<int>, cudag::DeviceSpan<const int>>);
static_assert(!std::is_constructible_v<cudag::DeviceSpan<float>, cudag::DeviceSpan<int>>);

} // namespace

TEST_CASE("a buffer of no elements needs no device", "[unit][ownership]") {
    const cudag::DeviceBuffer<double> device(0);
    CHECK(device.empty());
    CHECK(device.size_bytes() == 0);
    CHECK(device.data() == nullptr);
    CHECK(device.span().empty());

    const cudag::PinnedBuffer<double> pinned(0);
    CHECK(pinned.empty());
    CHECK(pinned.begin() == pinned.end());
    CHECK(pinned.span().empty());
}

TEST_CASE("a buffer of more elements than there are addresses is refused before CUDA is asked", "[unit][ownership]") {
    constexpr std::size_t half = std::size_t{1} << 63U;
    const auto allocate = [&] { return cudag::DeviceBuffer<int>(half); };
    CHECK_THROWS_MATCHES(
        allocate(), cudag::Error,
        MessageMatches(StartsWith("cudag: DeviceBuffer of 9223372036854775808 elements of 4 bytes at ") &&
                       EndsWith("ownership.cpp:92: the size overflows; ask for fewer elements")));
    CHECK_THROWS_MATCHES(
        cudag::PinnedBuffer<int>(half), cudag::Error,
        MessageMatches(StartsWith("cudag: PinnedBuffer of 9223372036854775808 elements of 4 bytes at ")));
}

TEST_CASE("a device span knows its size and its parts", "[unit][ownership]") {
    int memory[8] = {};
    const cudag::DeviceSpan<int> span(memory, 8);
    CHECK(span.size() == 8);
    CHECK(span.size_bytes() == 8 * sizeof(int));
    CHECK_FALSE(span.empty());
    const cudag::DeviceSpan<const int> part = span.subspan(2, 3);
    CHECK(part.data() == memory + 2);
    CHECK(part.size() == 3);
    CHECK(cudag::DeviceSpan<int>().empty());
}
