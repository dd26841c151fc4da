// Copies in two and three dimensions: padding is skipped, extents must match.
#include <algorithm>
#include <array>

#include "cuda_version.hpp"
#include "native.hpp"
#include "region_kernels.hpp"

using cudag::DeviceBuffer;
using cudag::DeviceSpan2D;
using cudag::DeviceSpan3D;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::HostSpan2D;
using cudag::HostSpan3D;
using cudag::PinnedBuffer;

namespace {

constexpr std::size_t bytes_of_ints(std::size_t count) {
    return count * sizeof(int);
}

/// What `b.memcpy2d` or `b.memcpy3d` refuses with `text`, before CUDA is asked; the graph stays empty.
void check_refused(CallRef<GraphBuilder&> add, const std::string& text) {
    GraphBuilder b;
    const auto error = refused<GraphError>([&] { add(b); });
    CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
    CHECK_THAT(error.what(), ContainsSubstring("memcpy at ") && ContainsSubstring(text) && ContainsSubstring(__FILE__));
    CHECK(error.operation().empty());
    CHECK(std::move(b).build().node_count() == 0);
}

} // namespace

TEST_CASE("a 2D copy to the device skips the padding of both sides", "[builder][memcpy][2d]") {
    const std::vector host{1, 2, -1, 3, 4, -1};
    const auto memory = device(std::vector<int>(8, 9));
    GraphBuilder b;
    const auto node = b.memcpy2d(DeviceSpan2D<int>(memory, 2, 2, bytes_of_ints(4)),
                                 HostSpan2D<const int>(host, 2, 2, bytes_of_ints(3)));
    CHECK(memcpy_params(node).kind == cudaMemcpyHostToDevice);
    CHECK(node.kind() == cudag::NodeKind::memcpy);
    run(std::move(b));
    CHECK(read(memory) == std::vector{1, 2, 9, 9, 3, 4, 9, 9});
}

TEST_CASE("a 2D copy to the host and one across the device tell their direction", "[builder][memcpy][2d]") {
    const auto from = device({1, 2, 3, 4, 5, 6});
    const auto to = device(std::vector<int>(6, 9));
    const PinnedBuffer<int> pinned(4);
    GraphBuilder b;
    const auto across = b.memcpy2d(DeviceSpan2D<int>(to, 3, 2), DeviceSpan2D<int>(from, 3, 2));
    const auto down =
        b.memcpy2d(HostSpan2D<int>(pinned, 2, 2), DeviceSpan2D<int>(to, 3, 2).subspan(1, 0, 2, 2)).after(across);
    CHECK(memcpy_params(across).kind == cudaMemcpyDeviceToDevice);
    CHECK(memcpy_params(down).kind == cudaMemcpyDeviceToHost);
    run(std::move(b));
    CHECK(read(to) == std::vector{1, 2, 3, 4, 5, 6});
    CHECK(std::vector(pinned.begin(), pinned.end()) == std::vector{2, 3, 5, 6});
}

TEST_CASE("a 2D copy between host ranges is one from host to host", "[builder][memcpy][2d]") {
    std::array from{1.5F, 2.5F, 3.5F, 4.5F};
    std::array to{0.0F, 0.0F};
    GraphBuilder b;
    const auto node = b.memcpy2d(HostSpan2D<float>(to, 1, 2), HostSpan2D<float>(from, 2, 2).subspan(1, 0, 1, 2));
    CHECK(memcpy_params(node).kind == cudaMemcpyHostToHost);
    run(std::move(b));
    CHECK(to == std::array{2.5F, 4.5F});
}

TEST_CASE("CUDA gets addresses, pitches and bytes of a 2D copy", "[builder][memcpy][2d]") {
    const DeviceBuffer<double> from(20);
    const DeviceBuffer<double> to(20);
    GraphBuilder b;
    const DeviceSpan2D<double> source(from, 5, 4);
    const cudaMemcpy3DParms params =
        memcpy_params(b.memcpy2d(DeviceSpan2D<double>(to, 2, 3, 48), source.subspan(1, 1, 2, 3)));
    CHECK(params.srcPtr.ptr == from.data() + 6);
    CHECK(params.srcPtr.pitch == 40);
    CHECK(params.dstPtr.ptr == to.data());
    CHECK(params.dstPtr.pitch == 48);
    CHECK(params.extent.width == 2 * sizeof(double));
    CHECK(params.extent.height == 3);
    CHECK(params.extent.depth == 1);
}

TEST_CASE("a 2D copy within one buffer moves a block", "[builder][memcpy][2d]") {
    const auto memory = device({1, 2, 0, 0, 3, 4, 0, 0});
    const DeviceSpan2D<int> all(memory, 4, 2);
    GraphBuilder b;
    b.memcpy2d(all.subspan(2, 0, 2, 2), all.subspan(0, 0, 2, 2));
    run(std::move(b));
    CHECK(read(memory) == std::vector{1, 2, 1, 2, 3, 4, 3, 4});
}

TEST_CASE("a 3D copy skips the padding of rows and slices", "[builder][memcpy][3d]") {
    std::vector<int> host(2 * 3 * 4, -1);
    const HostSpan3D<int> source(host.data(), 2, 2, 2, bytes_of_ints(4), 3);
    int next = 1;
    for (std::size_t z = 0; z < 2; ++z)
        for (std::size_t y = 0; y < 2; ++y)
            for (std::size_t x = 0; x < 2; ++x)
                source(x, y, z) = next++;
    const auto memory = device(std::vector<int>(8, 9));
    GraphBuilder b;
    const auto node = b.memcpy3d(DeviceSpan3D<int>(memory, 2, 2, 2), source);
    CHECK(memcpy_params(node).kind == cudaMemcpyHostToDevice);
    run(std::move(b));
    CHECK(read(memory) == std::vector{1, 2, 3, 4, 5, 6, 7, 8});
}

TEST_CASE("a 3D copy takes a box out of a box", "[builder][memcpy][3d]") {
    const DeviceBuffer<int> memory(3 * 3 * 3);
    std::vector<int> host(4, 9);
    const DeviceSpan3D<int> all(memory, 3, 3, 3);
    GraphBuilder b;
    const auto fill = b.kernel({}, number_box, all);
    b.memcpy3d(HostSpan3D<int>(host, 1, 2, 2), all.subspan(2, 1, 1, 1, 2, 2)).after(fill);
    run(std::move(b));
    CHECK(host == std::vector{112, 122, 212, 222});
}

TEST_CASE("a slice of a 3D region is a 2D region", "[builder][memcpy][3d]") {
    const DeviceBuffer<int> memory(2 * 2 * 2);
    std::vector<int> host(4, 9);
    const DeviceSpan3D<int> all(memory, 2, 2, 2);
    GraphBuilder b;
    const auto fill = b.kernel({}, number_box, all);
    b.memcpy2d(HostSpan2D<int>(host, 2, 2), all.slice(1)).after(fill);
    run(std::move(b));
    CHECK(host == std::vector{100, 101, 110, 111});
}

TEST_CASE("a kernel takes regions as parameters, and const ones for others", "[builder][kernel][2d]") {
    const auto in = device({1, 2, 3, 0, 4, 5, 6, 0});
    const auto out = device(std::vector<int>(6, 9));
    const DeviceSpan2D<int> from(in, 3, 2, bytes_of_ints(4));
    GraphBuilder b;
    b.kernel({}, transpose, from, DeviceSpan2D<int>(out, 2, 3));
    run(std::move(b));
    CHECK(read(out) == std::vector{1, 4, 2, 5, 3, 6});
}

TEST_CASE("a copy between different extents is refused", "[builder][memcpy][2d][3d]") {
    const DeviceBuffer<int> memory(24);
    check_refused(
        [&](GraphBuilder& b) { b.memcpy2d(DeviceSpan2D<int>(memory, 4, 3), DeviceSpan2D<int>(memory, 4, 2)); },
        "the destination is 4 x 3 x 1 elements, the source 4 x 2 x 1");
    check_refused(
        [&](GraphBuilder& b) { b.memcpy2d(DeviceSpan2D<int>(memory, 3, 4), DeviceSpan2D<int>(memory, 4, 3)); },
        "the destination is 3 x 4 x 1 elements, the source 4 x 3 x 1");
    check_refused(
        [&](GraphBuilder& b) { b.memcpy3d(DeviceSpan3D<int>(memory, 2, 3, 4), DeviceSpan3D<int>(memory, 2, 3, 3)); },
        "the destination is 2 x 3 x 4 elements, the source 2 x 3 x 3");
}

TEST_CASE("a 2D or 3D copy of no elements is refused", "[builder][memcpy][2d][3d]") {
    const DeviceBuffer<int> memory(24);
    const DeviceSpan2D<int> none(memory, 4, 0);
    check_refused([&](GraphBuilder& b) { b.memcpy2d(none, none); }, "a copy of 4 x 0 x 1 elements");
    const DeviceSpan2D<int> no_columns(memory, 0, 4);
    check_refused([&](GraphBuilder& b) { b.memcpy2d(no_columns, no_columns); }, "a copy of 0 x 4 x 1 elements");
    const DeviceSpan3D<int> no_slices(memory, 4, 3, 0);
    check_refused([&](GraphBuilder& b) { b.memcpy3d(no_slices, no_slices); }, "a copy of 4 x 3 x 0 elements");
    check_refused([&](GraphBuilder& b) { b.memcpy2d(DeviceSpan2D<int>(), DeviceSpan2D<int>()); }, "0 x 0 x 1 elements");
}

TEST_CASE("a pitch or slice height smaller than its row or slice is refused", "[builder][memcpy][2d][3d]") {
    const DeviceBuffer<int> memory(24);
    const DeviceSpan2D<int> good(memory, 4, 2);
    const DeviceSpan2D<int> in_elements(memory, 4, 2, 4);
    check_refused([&](GraphBuilder& b) { b.memcpy2d(in_elements, good); },
                  "the destination's pitch is 4 bytes, its rows of 4 elements have 16");
    check_refused([&](GraphBuilder& b) { b.memcpy2d(good, in_elements); },
                  "the source's pitch is 4 bytes, its rows of 4 elements have 16");
    const DeviceSpan3D<int> box(memory, 2, 3, 2);
    const DeviceSpan3D<int> flat(memory.data(), 2, 3, 2, 8, 2);
    check_refused([&](GraphBuilder& b) { b.memcpy3d(box, flat); }, "the source's slice height is 2 rows, its height 3");
    const DeviceSpan3D<int> narrow(memory.data(), 2, 3, 2, 7, 3);
    check_refused([&](GraphBuilder& b) { b.memcpy3d(narrow, box); }, "the destination's pitch is 7 bytes");
}

TEST_CASE("the pitch of one row says nothing", "[builder][memcpy][2d]") {
    const auto from = device({1, 2, 3, 4});
    const auto to = device({0, 0, 0, 0});
    GraphBuilder b;
    b.memcpy2d(DeviceSpan2D<int>(to, 4, 1, 0), DeviceSpan2D<int>(from, 4, 1, 4));
    run(std::move(b));
    CHECK(read(to) == std::vector{1, 2, 3, 4});
}

TEST_CASE("the slice height of one slice says nothing", "[builder][memcpy][3d]") {
    const auto from = device({1, 2, 3, 4});
    const auto to = device({0, 0, 0, 0});
    GraphBuilder b;
    b.memcpy3d(DeviceSpan3D<int>(to.data(), 2, 2, 1, bytes_of_ints(2), 0),
               DeviceSpan3D<int>(from.data(), 2, 2, 1, bytes_of_ints(2), 1));
    run(std::move(b));
    CHECK(read(to) == std::vector{1, 2, 3, 4});
}

TEST_CASE("a 2D or 3D copy to or from null is refused", "[builder][memcpy][2d][3d]") {
    const DeviceBuffer<int> memory(4);
    const DeviceSpan2D<int> good(memory, 2, 2);
    const DeviceSpan2D<int> null(nullptr, 2, 2);
    check_refused([&](GraphBuilder& b) { b.memcpy2d(null, good); }, "the destination is null");
    check_refused([&](GraphBuilder& b) { b.memcpy2d(good, null); }, "the source is null");
    check_refused(
        [&](GraphBuilder& b) { b.memcpy3d(DeviceSpan3D<int>(memory, 2, 1, 2), DeviceSpan3D<int>(nullptr, 2, 1, 2)); },
        "the source is null");
}

TEST_CASE("a region beyond the end of its memory is refused by CUDA", "[builder][memcpy][2d]") {
    const DeviceBuffer<int> small(64);
    const DeviceBuffer<int> large(1024);
    GraphBuilder b;
    const DeviceSpan2D<int> beyond(small.data(), 16, 16, 64);
    const auto error = refused<GraphError>([&] { b.memcpy2d(beyond, DeviceSpan2D<int>(large, 16, 16)); });
    CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
    CHECK(error.operation() == "cudaGraphAddNode");
    CHECK(error.log().empty() == !has_log());
    CHECK(std::move(b).build().node_count() == 0);
}

TEST_CASE("a body refuses a 2D copy of pageable memory by name", "[builder][memcpy][2d][conditional]") {
    const DeviceBuffer<int> memory(4);
    std::vector<int> host(4);
    GraphBuilder b;
    const auto condition = b.condition(1);
    const auto error = refused<GraphError>([&] {
        b.if_(condition,
              [&](GraphBuilder& then) { then.memcpy2d(DeviceSpan2D<int>(memory, 2, 2), HostSpan2D<int>(host, 2, 2)); });
    });
    CHECK_THAT(error.what(), ContainsSubstring("memcpy at ") && ContainsSubstring("not page-locked"));
    const PinnedBuffer<int> pinned(4);
    std::fill(pinned.begin(), pinned.end(), 3);
    b.if_(condition,
          [&](GraphBuilder& then) { then.memcpy2d(DeviceSpan2D<int>(memory, 2, 2), HostSpan2D<int>(pinned, 2, 2)); });
    run(std::move(b));
    CHECK(read(memory) == std::vector{3, 3, 3, 3});
}

TEST_CASE("a 2D copy is cloned and drawn", "[graph][memcpy][2d]") {
    const auto from = device({1, 2, 3, 4});
    const auto to = device({0, 0, 0, 0});
    GraphBuilder b;
    b.memcpy2d(DeviceSpan2D<int>(to, 2, 2), DeviceSpan2D<int>(from, 2, 2)).label("block");
    const cudag::Graph clone = std::move(b).build().clone();
    CHECK_THAT(clone.dot(), ContainsSubstring("block\\nmemcpy 8 bytes x 2 rows"));
    cudag::Exec exec = clone.instantiate();
    run(exec, cudag::Stream());
    CHECK(read(to) == std::vector{1, 2, 3, 4});
}

TEST_CASE("an adopted 2D copy is described, and changed in the graph", "[graph][adopt][2d]") {
    const auto from = device({1, 2, 3, 4, 5, 6});
    const auto to = device({0, 0, 0, 0});
    GraphBuilder b;
    b.memcpy2d(DeviceSpan2D<int>(to, 2, 2), DeviceSpan2D<int>(from, 2, 2));
    const cudag::Graph original = std::move(b).build();
    cudaGraph_t copy = nullptr;
    cudag::check(cudaGraphClone(&copy, original.native()));
    cudag::Graph graph = cudag::Graph::adopt(copy);
    CHECK_THAT(graph.dot(), ContainsSubstring("memcpy 8 bytes x 2 rows"));
    const auto node = graph.nodes().at(0).as<cudag::MemcpyNode>();
    graph.update(node, DeviceSpan2D<int>(to, 2, 2), DeviceSpan2D<int>(from, 3, 2).subspan(1, 0, 2, 2));
    cudag::Exec exec = graph.instantiate();
    run(exec, cudag::Stream());
    CHECK(read(to) == std::vector{2, 3, 5, 6});
}
