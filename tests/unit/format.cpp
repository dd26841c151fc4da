// Node kinds and source locations as text.
#include <cudag/format.hpp>
#include <cudag/span_3d.hpp>

#include <catch.hpp>

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

using cudag::NodeKind;
using cudag::SourceLocation;

namespace {

SourceLocation here(SourceLocation location = SourceLocation::current()) {
    return location;
}

struct NamedKind {
    NodeKind kind;
    cudaGraphNodeType type;
    std::string_view name;
};

constexpr NamedKind kinds[] = {
    {NodeKind::kernel, cudaGraphNodeTypeKernel, "kernel"},
    {NodeKind::memcpy, cudaGraphNodeTypeMemcpy, "memcpy"},
    {NodeKind::memset, cudaGraphNodeTypeMemset, "memset"},
    {NodeKind::host, cudaGraphNodeTypeHost, "host"},
    {NodeKind::child, cudaGraphNodeTypeGraph, "child"},
    {NodeKind::empty, cudaGraphNodeTypeEmpty, "empty"},
    {NodeKind::wait_event, cudaGraphNodeTypeWaitEvent, "wait_event"},
    {NodeKind::record_event, cudaGraphNodeTypeEventRecord, "record_event"},
    {NodeKind::signal_semaphore, cudaGraphNodeTypeExtSemaphoreSignal, "signal_semaphore"},
    {NodeKind::wait_semaphore, cudaGraphNodeTypeExtSemaphoreWait, "wait_semaphore"},
    {NodeKind::alloc, cudaGraphNodeTypeMemAlloc, "alloc"},
    {NodeKind::free, cudaGraphNodeTypeMemFree, "free"},
    {NodeKind::conditional, cudaGraphNodeTypeConditional, "conditional"},
#if CUDART_VERSION >= 13050
    {NodeKind::memcpy_batch, cudaGraphNodeTypeMemcpyBatch, "memcpy_batch"},
#else
    {NodeKind::memcpy_batch, cudaGraphNodeType(14), "memcpy_batch"},
#endif
};

} // namespace

TEST_CASE("every node kind has CUDA's value and a name", "[unit][format]") {
    for (const NamedKind& named : kinds) {
        CAPTURE(named.name);
        CHECK(static_cast<unsigned>(named.kind) == static_cast<unsigned>(named.type));
        CHECK(to_string(named.kind) == named.name);
        CHECK(fmt::format("{}", named.kind) == named.name);
    }
}

TEST_CASE("a kind that cudag does not know is unknown", "[unit][format]") {
    CHECK(to_string(static_cast<NodeKind>(4711)) == "unknown");
    CHECK(fmt::format("{}", static_cast<NodeKind>(4711)) == "unknown");
}

TEST_CASE("a node kind takes the format of a string", "[unit][format]") {
    CHECK(fmt::format("[{:>8}]", NodeKind::host) == "[    host]");
    CHECK(fmt::format("[{:-<8}]", NodeKind::host) == "[host----]");
}

TEST_CASE("a source location is where it is made", "[unit][format]") {
    const SourceLocation location = here();
    const unsigned line = __LINE__ - 1;
    CHECK(location.line == line);
    CHECK_THAT(location.file, EndsWith("format.cpp"));
    CHECK_THAT(location.function, !Equals("here"));
}

TEST_CASE("a source location that was not given is nowhere", "[unit][format]") {
    constexpr SourceLocation nowhere;
    CHECK(nowhere.line == 0);
    CHECK(nowhere.file == std::string_view());
    CHECK(nowhere.function == std::string_view());
}

TEST_CASE("a source location reads as compilers write it", "[unit][format]") {
    constexpr SourceLocation location{"pipeline.cpp", "run", 42};
    CHECK(fmt::format("{}", location) == "pipeline.cpp:42");
    CHECK(fmt::format("[{:>18}]", location) == "[   pipeline.cpp:42]");
}

TEST_CASE("how graphs are matched has a name", "[unit][format]") {
    for (const auto& [match, name] :
         {std::pair(cudag::Match::order, "order"), std::pair(cudag::Match::structure, "structure")}) {
        CHECK(to_string(match) == name);
        CHECK(fmt::format("{}", match) == name);
    }
}

TEST_CASE("a side has a name and is in the type of a 2D or 3D span", "[unit][format]") {
    for (const auto& [side, name] : {std::pair(cudag::Side::host, "host"), std::pair(cudag::Side::device, "device")}) {
        CHECK(to_string(side) == name);
        CHECK(fmt::format("{}", side) == name);
    }
    STATIC_REQUIRE(std::is_same_v<cudag::Span2D<int, cudag::Side::host>, cudag::HostSpan2D<int>>);
    STATIC_REQUIRE(std::is_same_v<cudag::Span3D<int, cudag::Side::device>, cudag::DeviceSpan3D<int>>);
}
