// Copies: the direction follows from the types, and sizes must match.
#include <array>
#include <memory>
#include <span>

#include "cuda_version.hpp"
#include "native.hpp"

using cudag::DeviceBuffer;
using cudag::DeviceSpan;
using cudag::GraphBuilder;
using cudag::PinnedBuffer;

namespace {

/// Copies `source` to `destination` in a graph, and says which direction CUDA was told.
template <class D, class S>
cudaMemcpyKind copy(D& destination, S& source) {
    GraphBuilder b;
    const auto node = b.memcpy(destination, source);
    const cudaMemcpy3DParms params = memcpy_params(node);
    CHECK(params.extent.height == 1);
    CHECK(params.extent.depth == 1);
    run(std::move(b));
    return params.kind;
}

} // namespace

TEST_CASE("a vector to a device buffer is a copy from host to device", "[builder][memcpy]") {
    std::vector host{1, 2, 3};
    const auto memory = device({0, 0, 0});
    CHECK(copy(memory, host) == cudaMemcpyHostToDevice);
    CHECK(read(memory) == host);
}

TEST_CASE("a device buffer to an array is a copy from device to host", "[builder][memcpy]") {
    const auto memory = device({1, 2, 3});
    std::array<int, 3> host{};
    CHECK(copy(host, memory) == cudaMemcpyDeviceToHost);
    CHECK(host == std::array{1, 2, 3});
}

TEST_CASE("between device buffers it is a copy from device to device", "[builder][memcpy]") {
    const auto from = device({1.5F, 2.5F});
    const auto to = device({0.0F, 0.0F});
    CHECK(copy(to, from) == cudaMemcpyDeviceToDevice);
    CHECK(read(to) == std::vector{1.5F, 2.5F});
}

TEST_CASE("between host ranges it is a copy from host to host", "[builder][memcpy]") {
    const PinnedBuffer<int> from(2);
    from[0] = 4;
    from[1] = 5;
    const PinnedBuffer<int> to(2);
    CHECK(copy(to, from) == cudaMemcpyHostToHost);
    CHECK(std::vector(to.begin(), to.end()) == std::vector{4, 5});
}

TEST_CASE("pinned memory is the host's side", "[builder][memcpy]") {
    const PinnedBuffer<int> pinned(1);
    pinned[0] = 7;
    const auto memory = device({0});
    CHECK(copy(memory, pinned) == cudaMemcpyHostToDevice);
    pinned[0] = 0;
    CHECK(copy(pinned, memory) == cudaMemcpyDeviceToHost);
    CHECK(pinned[0] == 7);
}

TEST_CASE("a copy takes const sources and spans of parts", "[builder][memcpy]") {
    const std::vector host{1, 2, 3, 4};
    const auto memory = device({9, 9, 9, 9});
    const DeviceSpan<int> part = memory.span().subspan(1, 2);
    const std::span<const int> two = std::span(host).subspan(2);
    CHECK(copy(part, two) == cudaMemcpyHostToDevice);
    CHECK(read(memory) == std::vector{9, 3, 4, 9});
}

TEST_CASE("a copy takes C arrays", "[builder][memcpy]") {
    int host[] = {6, 7};
    const auto memory = device({0, 0});
    CHECK(copy(memory, host) == cudaMemcpyHostToDevice);
    CHECK(read(memory) == std::vector{6, 7});
}

TEST_CASE("a copy takes shared ownership of host and device ranges", "[builder][memcpy]") {
    const auto host = std::make_shared<std::vector<int>>(std::vector{3, 4});
    const auto memory = std::make_shared<DeviceBuffer<int>>(device({0, 0}));
    CHECK(copy(memory, host) == cudaMemcpyHostToDevice);
    CHECK(read(*memory) == *host);
}

TEST_CASE("CUDA gets addresses and bytes of a copy", "[builder][memcpy]") {
    const DeviceBuffer<double> from(5);
    const DeviceBuffer<double> to(5);
    GraphBuilder b;
    const cudaMemcpy3DParms params = memcpy_params(b.memcpy(to, from));
    CHECK(params.srcPtr.ptr == from.data());
    CHECK(params.dstPtr.ptr == to.data());
    CHECK(params.extent.width == 5 * sizeof(double));
}

TEST_CASE("a copy between different sizes is refused", "[builder][memcpy]") {
    const DeviceBuffer<int> memory(4);
    std::vector<int> host(5);
    GraphBuilder b;
    const auto error = refused<cudag::GraphError>([&] { b.memcpy(memory, host); });
    CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
    CHECK_THAT(error.what(), ContainsSubstring("destination has 4 elements") && ContainsSubstring("source 5") &&
                                 ContainsSubstring(__FILE__));
    CHECK(error.operation().empty());
    CHECK(error.location().line == __LINE__ - 5);
    CHECK(std::move(b).build().node_count() == 0);
}

TEST_CASE("a copy of no elements is refused", "[builder][memcpy]") {
    const DeviceBuffer<int> memory(0);
    std::vector<int> host;
    GraphBuilder b;
    const auto error = refused<cudag::GraphError>([&] { b.memcpy(memory, host); });
    CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
    CHECK_THAT(error.what(), ContainsSubstring("copy of 0 elements"));
    CHECK(std::move(b).build().node_count() == 0);
}

TEST_CASE("a copy to or from null is refused", "[builder][memcpy]") {
    const DeviceBuffer<int> memory(1);
    const DeviceSpan<int> null(nullptr, 1);
    GraphBuilder b;
    CHECK_THAT(refused<cudag::GraphError>([&] { b.memcpy(null, memory); }).what(),
               ContainsSubstring("destination is null"));
    CHECK_THAT(refused<cudag::GraphError>([&] { b.memcpy(memory, null); }).what(), ContainsSubstring("source is null"));
}

TEST_CASE("an empty shared_ptr as an operand is refused", "[builder][memcpy]") {
    const DeviceBuffer<int> memory(1);
    const std::shared_ptr<DeviceBuffer<int>> none;
    GraphBuilder b;
    CHECK_THAT(refused<cudag::GraphError>([&] { b.memcpy(memory, none); }).what(), ContainsSubstring("null"));
    CHECK_THAT(refused<cudag::GraphError>([&] { b.memset(none, 1); }).what(), ContainsSubstring("null"));
    CHECK(std::move(b).build().node_count() == 0);
}

TEST_CASE("pageable memory given as device memory is refused by CUDA", "[builder][memcpy]") {
    std::vector<int> host(4);
    const DeviceBuffer<int> memory(4);
    GraphBuilder b;
    const DeviceSpan<int> wrong(host.data(), host.size());
    const auto error = refused<cudag::GraphError>([&] { b.memcpy(wrong, memory); });
    CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
    CHECK(error.operation() == "cudaGraphAddMemcpyNode1D");
    CHECK(error.log().empty() == !has_log());
    CHECK(std::move(b).build().node_count() == 0);
}
