// 2D memset nodes, and 2D and 3D work in streams.
#include "native.hpp"

using cudag::DeviceBuffer;
using cudag::DeviceSpan2D;
using cudag::DeviceSpan3D;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::HostSpan2D;
using cudag::HostSpan3D;
using cudag::Stream;

namespace {

template <class T>
void check_block(T value) {
    const auto memory = device(std::vector<T>(12, T(1)));
    GraphBuilder b;
    const auto node = b.memset2d(DeviceSpan2D<T>(memory, 4, 3).subspan(1, 1, 2, 2), value);
    const cudaMemsetParams params = memset_params(node);
    CHECK(params.dst == memory.data() + 5);
    CHECK(params.elementSize == sizeof(T));
    CHECK(params.width == 2);
    CHECK(params.height == 2);
    CHECK(params.pitch == 4 * sizeof(T));
    run(std::move(b));
    const T one(1);
    CHECK(read(memory) == std::vector<T>{one, one, one, one, one, value, value, one, one, value, value, one});

    write(memory.span(), std::vector<T>(12, one));
    const Stream stream;
    memset_async(stream, DeviceSpan2D<T>(memory, 4, 3).subspan(2, 0, 1, 3), value);
    stream.synchronize();
    CHECK(read(memory) == std::vector<T>{one, one, value, one, one, one, value, one, one, one, value, one});
}

void check_refused(CallRef<GraphBuilder&> fill, const std::string& text) {
    GraphBuilder b;
    const auto error = refused<GraphError>([&] { fill(b); });
    CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
    CHECK_THAT(error.what(), ContainsSubstring("memset at ") && ContainsSubstring(text) && ContainsSubstring(__FILE__));
    CHECK(error.operation().empty());
    CHECK(std::move(b).build().node_count() == 0);
}

} // namespace

TEST_CASE("a 2D memset sets a block of elements of 1, 2 and 4 bytes", "[builder][memset][2d]") {
    check_block<unsigned char>(200);
    check_block<short>(-30000);
    check_block<int>(-2);
    check_block<float>(1.5F);
}

TEST_CASE("a 2D memset of no elements is refused", "[builder][memset][2d]") {
    const DeviceBuffer<int> memory(8);
    check_refused([&](GraphBuilder& b) { b.memset2d(DeviceSpan2D<int>(memory, 4, 0), 1); }, "memset of 0 elements");
    check_refused([&](GraphBuilder& b) { b.memset2d(DeviceSpan2D<int>(memory, 0, 4), 1); }, "memset of 0 elements");
}

TEST_CASE("a 2D memset of null is refused", "[builder][memset][2d]") {
    check_refused([&](GraphBuilder& b) { b.memset2d(DeviceSpan2D<int>(nullptr, 4, 2), 1); }, "the destination is null");
}

TEST_CASE("a 2D memset refuses a pitch that is none", "[builder][memset][2d]") {
    const DeviceBuffer<int> memory(8);
    check_refused([&](GraphBuilder& b) { b.memset2d(DeviceSpan2D<int>(memory, 4, 2, 12), 1); },
                  "the pitch is 12 bytes, a row of 4 elements has 16");
    check_refused([&](GraphBuilder& b) { b.memset2d(DeviceSpan2D<int>(memory, 2, 2, 10), 1); },
                  "the pitch of 10 bytes is no multiple of the elements' 4");
}

TEST_CASE("a 2D memset refuses a value that its elements cannot hold", "[builder][memset][2d]") {
    const DeviceBuffer<unsigned char> memory(8);
    GraphBuilder b;
    const auto error = refused<GraphError>([&] { b.memset2d(DeviceSpan2D<unsigned char>(memory, 4, 2), 256); });
    CHECK_THAT(error.what(), ContainsSubstring("256") && ContainsSubstring("unsigned char"));
}

TEST_CASE("a 2D memset is drawn with its rows", "[graph][memset][2d]") {
    const DeviceBuffer<int> memory(8);
    GraphBuilder b;
    b.memset2d(DeviceSpan2D<int>(memory, 4, 2), 1);
    CHECK_THAT(std::move(b).build().dot(), ContainsSubstring("memset 4 x 2 x 4 bytes"));
}

TEST_CASE("2D and 3D copies run in a stream", "[stream][memcpy][2d][3d]") {
    const std::vector host{1, 2, 3, 4, 5, 6, 7, 8};
    const auto memory = device(std::vector<int>(8, 0));
    std::vector<int> columns(4, 0);
    std::vector<int> box(2, 0);
    const Stream stream;
    memcpy_async(stream, DeviceSpan2D<int>(memory, 4, 2), HostSpan2D<const int>(host, 4, 2));
    memcpy_async(stream, HostSpan2D<int>(columns, 2, 2), DeviceSpan2D<const int>(memory, 4, 2).subspan(1, 0, 2, 2));
    memcpy_async(stream, HostSpan3D<int>(box, 1, 1, 2), DeviceSpan3D<int>(memory, 2, 2, 2).subspan(1, 1, 0, 1, 1, 2));
    stream.synchronize();
    CHECK(columns == std::vector{2, 3, 6, 7});
    CHECK(box == std::vector{4, 8});
}

TEST_CASE("2D work in a stream refuses what is no copy or fill", "[stream][2d]") {
    const DeviceBuffer<int> memory(8);
    const Stream stream;
    const DeviceSpan2D<int> good(memory, 4, 2);
    const auto copy = refused<GraphError>([&] { memcpy_async(stream, good, DeviceSpan2D<int>(memory, 4, 1)); });
    CHECK_THAT(copy.what(), ContainsSubstring("memcpy_async at ") && ContainsSubstring("4 x 2 x 1 elements"));
    const auto fill = refused<GraphError>([&] { memset_async(stream, DeviceSpan2D<int>(memory, 4, 2, 2), 1); });
    CHECK_THAT(fill.what(), ContainsSubstring("memset_async at ") && ContainsSubstring("the pitch is 2 bytes"));
    stream.synchronize();
}

TEST_CASE("2D work in a stream that CUDA refuses names CUDA's function", "[stream][2d]") {
    const DeviceBuffer<int> memory(64);
    const Stream stream;
    const DeviceSpan2D<int> beyond(memory.data(), 64, 1 << 20, 256);
    const auto fill = refused<cudag::Error>([&] { memset_async(stream, beyond, 1); });
    CHECK(fill.code() == cuda_code(cudaErrorInvalidValue));
    CHECK(fill.operation() == "cuMemsetD2D32Async");
    std::vector<int> host(64);
    const DeviceSpan2D<int> wrong(host.data(), 8, 8);
    const auto copy = refused<cudag::Error>([&] { memcpy_async(stream, wrong, DeviceSpan2D<int>(memory, 8, 8)); });
    CHECK(copy.operation() == "cudaMemcpy3DAsync");
}
