// Memset nodes: elements of 1, 2 and 4 bytes, with values of every type.
#include <cstring>
#include <string_view>

#include "cuda_version.hpp"
#include "native.hpp"

using cudag::DeviceBuffer;
using cudag::DeviceSpan;
using cudag::GraphBuilder;

namespace {

/// The element that a memset of `value` to a T was asked for, from what CUDA was given.
template <class T, class V>
T element_of_memset(const V& value) {
    const DeviceBuffer<T> buffer(3);
    GraphBuilder b;
    const auto node = b.memset(buffer, value);
    const cudaMemsetParams params = memset_params(node);
    CHECK(params.dst == buffer.data());
    CHECK(params.elementSize == sizeof(T));
    CHECK(params.width == 3);
    CHECK(params.height == 1);
    run(std::move(b));
    T element{};
    std::memcpy(&element, &params.value, sizeof(T));
    CHECK(read(buffer) == std::vector<T>(3, element));
    return element;
}

} // namespace

TEST_CASE("memset sets elements of 1 byte", "[builder]") {
    CHECK(element_of_memset<unsigned char>(200) == 200);
    CHECK(element_of_memset<signed char>(-100) == -100);
    CHECK(element_of_memset<char>('x') == 'x');
}

TEST_CASE("memset sets elements of 2 bytes", "[builder]") {
    CHECK(element_of_memset<unsigned short>(65535) == 65535);
    CHECK(element_of_memset<short>(-30000) == -30000);
}

TEST_CASE("memset sets elements of 4 bytes", "[builder]") {
    CHECK(element_of_memset<int>(-2) == -2);
    CHECK(element_of_memset<unsigned>(0xfedcba98U) == 0xfedcba98U);
    CHECK(element_of_memset<float>(1.5F) == 1.5F);
    CHECK(element_of_memset<float>(3) == 3.0F);
    CHECK(element_of_memset<int>(std::size_t{77}) == 77);
}

TEST_CASE("memset takes the converted value of a wider type", "[builder]") {
    CHECK(element_of_memset<unsigned char>(255LL) == 255);
}

TEST_CASE("memset sets only the given part of a buffer", "[builder]") {
    const auto buffer = device({1, 2, 3, 4, 5});
    GraphBuilder b;
    b.memset(buffer.span().subspan(1, 3), -1);
    run(std::move(b));
    CHECK(read(buffer) == std::vector{1, -1, -1, -1, 5});
}

TEST_CASE("a memset value that its elements cannot hold is refused", "[builder]") {
    const DeviceBuffer<unsigned char> bytes(4);
    GraphBuilder b;
    const auto error = refused<cudag::GraphError>([&] { b.memset(bytes, 256); });
    CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
    CHECK_THAT(error.what(), ContainsSubstring("256") && ContainsSubstring("unsigned char"));
    CHECK(std::string_view(error.location().file) == __FILE__);
    CHECK(std::move(b).build().node_count() == 0);
}

TEST_CASE("memset of no elements is refused", "[builder]") {
    const DeviceBuffer<int> empty(0);
    GraphBuilder b;
    const auto error = refused<cudag::GraphError>([&] { b.memset(empty, 1); });
    CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
    CHECK_THAT(error.what(), ContainsSubstring("memset of 0 elements"));
    CHECK(error.operation().empty());
    CHECK(error.location().line == __LINE__ - 4);
    CHECK(std::move(b).build().node_count() == 0);
}

TEST_CASE("memset of a null range is refused", "[builder]") {
    GraphBuilder b;
    const auto error = refused<cudag::GraphError>([&] { b.memset(DeviceSpan<int>(nullptr, 4), 1); });
    CHECK_THAT(error.what(), ContainsSubstring("destination is null"));
}

TEST_CASE("what CUDA refuses names CUDA's function", "[builder]") {
    const DeviceBuffer<int> buffer(4);
    GraphBuilder b;
    const DeviceSpan<int> beyond(buffer.data(), std::size_t{1} << 40U);
    const auto error = refused<cudag::GraphError>([&] { b.memset(beyond, 1); });
    CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
    CHECK_THAT(error.operation(), StartsWith("cudaGraphAdd")); // "MemsetNode", or "Node"
    CHECK_THAT(error.what(), ContainsSubstring(error.operation()) && ContainsSubstring(__FILE__));
    CHECK(error.log().empty() == !has_log());
    CHECK(std::move(b).build().node_count() == 0);
}
