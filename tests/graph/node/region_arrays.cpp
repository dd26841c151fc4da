// Copies to and from CUDA arrays.
#include "native.hpp"

using cudag::ArraySpan;
using cudag::DeviceSpan2D;
using cudag::DeviceSpan3D;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::HostSpan2D;
using cudag::HostSpan3D;

namespace {

/// An array of ints; dimensions that it does not have are 0.
class Array {
  public:
    explicit Array(std::size_t width, std::size_t height = 0, std::size_t depth = 0) {
        const cudaChannelFormatDesc ints = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindSigned);
        cudag::check(cudaMalloc3DArray(&array_, &ints, make_cudaExtent(width, height, depth)));
    }
    ~Array() { CHECK(cudaFreeArray(array_) == cudaSuccess); }
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;

    operator cudaArray_t() const { return array_; }

  private:
    cudaArray_t array_ = nullptr;
};

} // namespace

TEST_CASE("an array span knows the extent of its array", "[builder][memcpy][array]") {
    const Array line(5);
    const Array rows(4, 3);
    const Array box(4, 3, 2);
    const auto extent = [](cudaArray_t array) {
        const ArraySpan<int> span(array);
        CHECK(span.array() == array);
        return std::vector{span.width(), span.height(), span.depth()};
    };
    CHECK(extent(line) == std::vector<std::size_t>{5, 1, 1});
    CHECK(extent(rows) == std::vector<std::size_t>{4, 3, 1});
    CHECK(extent(box) == std::vector<std::size_t>{4, 3, 2});
}

TEST_CASE("2D copies move data to an array, to another and back", "[builder][memcpy][array]") {
    const std::vector host{1, 2, 3, 4, 5, 6, 7, 8};
    std::vector<int> result(8, 9);
    const Array first(4, 2);
    const Array second(4, 2);
    GraphBuilder b;
    const auto up = b.memcpy2d(ArraySpan<int>(first), HostSpan2D<const int>(host, 4, 2));
    const auto across = b.memcpy2d(ArraySpan<int>(second), ArraySpan<int>(first)).after(up);
    const auto down =
        b.memcpy2d(HostSpan2D<int>(result, 4, 2), ArraySpan<const int>(ArraySpan<int>(second))).after(across);
    CHECK(memcpy_params(up).kind == cudaMemcpyHostToDevice);
    CHECK(memcpy_params(across).kind == cudaMemcpyDeviceToDevice);
    CHECK(memcpy_params(down).kind == cudaMemcpyDeviceToHost);
    run(std::move(b));
    CHECK(result == host);
}

TEST_CASE("a 2D copy takes a region of an array", "[builder][memcpy][array]") {
    const auto memory = device({1, 2, 3, 4, 5, 6, 7, 8});
    std::vector<int> result(2, 9);
    const Array array(4, 2);
    const ArraySpan<int> all(array);
    GraphBuilder b;
    const auto up = b.memcpy2d(all, DeviceSpan2D<int>(memory, 4, 2));
    const ArraySpan<int> part = all.subspan(1, 0, 3, 2).subspan(1, 1, 2, 1);
    const auto down = b.memcpy2d(HostSpan2D<int>(result, 2, 1), part).after(up);
    const cudaMemcpy3DParms params = memcpy_params(down);
    CHECK(params.srcPos.x == 2);
    CHECK(params.srcPos.y == 1);
    CHECK(params.extent.width == 2);
    run(std::move(b));
    CHECK(result == std::vector{7, 8});
}

TEST_CASE("3D copies fill and read an array", "[builder][memcpy][array]") {
    std::vector host{1, 2, 3, 4, 5, 6, 7, 8};
    const auto memory = device(std::vector<int>(2, 9));
    const Array array(2, 2, 2);
    const ArraySpan<int> all(array);
    GraphBuilder b;
    const auto up = b.memcpy3d(all, HostSpan3D<int>(host, 2, 2, 2));
    b.memcpy3d(DeviceSpan3D<int>(memory, 1, 1, 2), all.subspan(1, 0, 0, 1, 1, 2)).after(up);
    run(std::move(b));
    CHECK(read(memory) == std::vector{2, 6});
}

TEST_CASE("a copy to an array of another extent is refused", "[builder][memcpy][array]") {
    const Array array(4, 2);
    const auto memory = device(std::vector<int>(8, 0));
    GraphBuilder b;
    const auto error = refused<GraphError>([&] { b.memcpy2d(ArraySpan<int>(array), DeviceSpan2D<int>(memory, 2, 4)); });
    CHECK_THAT(error.what(), ContainsSubstring("the destination is 4 x 2 x 1 elements, the source 2 x 4 x 1"));
    CHECK(std::move(b).build().node_count() == 0);
}

TEST_CASE("an array span of no array is refused", "[builder][memcpy][array]") {
    const auto error = refused<GraphError>([] { ArraySpan<int>(nullptr); });
    CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
    CHECK_THAT(error.what(), ContainsSubstring("ArraySpan: the array is null"));
}

TEST_CASE("an array span of another element size is refused", "[builder][memcpy][array]") {
    const Array array(4, 2);
    const auto error = refused<GraphError>([&] { ArraySpan<double>{array}; });
    CHECK_THAT(error.what(), ContainsSubstring("elements have 4 bytes, the span's type 8"));
}

TEST_CASE("a region beyond its array is refused", "[builder][memcpy][array]") {
    const Array array(4, 2);
    const ArraySpan<int> all(array);
    const auto text = [&](std::size_t x, std::size_t y, std::size_t width, std::size_t height) {
        return std::string(refused<GraphError>([&] { static_cast<void>(all.subspan(x, y, width, height)); }).what());
    };
    CHECK_THAT(text(2, 0, 3, 1), ContainsSubstring("3 x 1 x 1 elements at (2, 0, 0) are not within 4 x 2 x 1"));
    CHECK_THAT(text(0, 1, 1, 2), ContainsSubstring("not within"));
    CHECK_THAT(text(5, 0, 0, 0), ContainsSubstring("not within"));
    CHECK_THAT(text(1, 0, static_cast<std::size_t>(-1), 1), ContainsSubstring("not within"));
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(all.subspan(0, 0, 1, 1, 1, 1)); }).what(),
               ContainsSubstring("not within"));
}

TEST_CASE("an empty region at the end of an array lies in it", "[builder][memcpy][array]") {
    const Array array(4, 2);
    const ArraySpan<int> end = ArraySpan<int>(array).subspan(4, 2, 0, 0);
    CHECK(end.position().x == 4);
    CHECK(end.width() == 0);
}

TEST_CASE("a graph's array copy gets another array, and is drawn in elements", "[graph][update][array]") {
    const std::vector host{1, 2, 3, 4};
    std::vector<int> result(4, 9);
    const Array first(2, 2);
    const Array second(2, 2);
    GraphBuilder b;
    const auto up = b.memcpy2d(ArraySpan<int>(first), HostSpan2D<const int>(host, 2, 2));
    b.memcpy2d(HostSpan2D<int>(result, 2, 2), ArraySpan<int>(second)).after(up);
    cudag::Graph graph = std::move(b).build();
    CHECK_THAT(graph.dot(), ContainsSubstring("memcpy 2 elements x 2 rows"));
    graph.update(up, ArraySpan<int>(second), HostSpan2D<const int>(host, 2, 2));
    cudag::Exec exec = graph.instantiate();
    run(exec, cudag::Stream());
    CHECK(result == host);
}

TEST_CASE("regions of one array race where they overlap, and of two never", "[builder][races][array]") {
    std::vector<int> host(8);
    const HostSpan2D<int> rows(host, 4, 2);
    const Array first(8, 2), second(8, 2);
    const auto races = [&](const ArraySpan<int>& a, const ArraySpan<int>& b) {
        GraphBuilder builder({.races = cudag::Races::allowed});
        builder.memcpy2d(a, HostSpan2D<const int>(rows));
        builder.memcpy2d(b, HostSpan2D<const int>(rows));
        return std::move(builder).build().races();
    };
    const ArraySpan<int> all(first);
    CHECK(races(all.subspan(0, 0, 4, 2), all.subspan(4, 0, 4, 2)).empty());
    CHECK(races(all.subspan(0, 0, 4, 2), ArraySpan<int>(second).subspan(0, 0, 4, 2)).empty());
    const auto found = races(all.subspan(0, 0, 4, 2), all.subspan(3, 0, 4, 2));
    REQUIRE(found.size() == 1);
    CHECK(found[0].element == 3);
    CHECK(found[0].first_writes);
}

TEST_CASE("boxes of an array race in their common slices only", "[builder][races][array]") {
    std::vector<int> up(4), down(4);
    const Array array(2, 2, 3);
    const auto races = [&](std::size_t z) {
        GraphBuilder builder({.races = cudag::Races::allowed});
        const ArraySpan<int> boxes(array);
        builder.memcpy3d(boxes.subspan(0, 0, 1, 2, 2, 1), HostSpan3D<const int>(up, 2, 2, 1));
        builder.memcpy3d(HostSpan3D<int>(down, 2, 2, 1), boxes.subspan(0, 0, z, 2, 2, 1));
        return std::move(builder).build().races();
    };
    CHECK(races(0).empty());
    CHECK(races(2).empty());
    REQUIRE(races(1).size() == 1);
    CHECK(races(1)[0].first_argument == 0);
    CHECK(races(1)[0].second_argument == 1);
}
