// CUDA arrays: their making, what CUDA says about them, and copies in streams.
#include "arrays.hpp"

#include "nodes.hpp"

#include <numeric>
#include <vector>

namespace {

std::vector<int> numbers(std::size_t count, int first = 1) {
    std::vector<int> values(count);
    std::iota(values.begin(), values.end(), first);
    return values;
}

bool same_extent(const cudaExtent& a, const cudaExtent& b) {
    return a.width == b.width && a.height == b.height && a.depth == b.depth;
}

const cudaChannelFormatDesc ints = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindSigned);

} // namespace

TEST_CASE("an array says what it is made of", "[arrays]") {
    const IntArray line(8);
    const IntArray plane(8, 4);
    const IntArray box(8, 4, 2);
    const IntArray layers(8, 4, 2, cudaArrayLayered);
    cudaChannelFormatDesc desc{};
    cudaExtent extent{};
    unsigned flags = 99;
    const auto has = [&](cudaArray_t array, const cudaExtent& its_extent, unsigned its_flags) {
        REQUIRE_CUDA(cudaArrayGetInfo(&desc, &extent, &flags, array));
        return same_extent(extent, its_extent) && flags == its_flags && desc.x == 32 && desc.y == 0 &&
               desc.f == cudaChannelFormatKindSigned;
    };
    REQUIRE(has(line, make_cudaExtent(8, 0, 0), cudaArrayDefault));
    REQUIRE(has(plane, make_cudaExtent(8, 4, 0), cudaArrayDefault));
    REQUIRE(has(box, make_cudaExtent(8, 4, 2), cudaArrayDefault));
    REQUIRE(has(layers, make_cudaExtent(8, 4, 2), cudaArrayLayered));
    REQUIRE_CUDA(cudaArrayGetInfo(nullptr, nullptr, nullptr, plane));
    cudaChannelFormatDesc again{};
    REQUIRE_CUDA(cudaGetChannelDesc(&again, plane));
    REQUIRE(again.x == 32);
}

TEST_CASE("bad arrays are refused", "[arrays]") {
    cudaArray_t array = nullptr;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMallocArray(nullptr, &ints, 8, 4, 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMallocArray(&array, nullptr, 8, 4, 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMallocArray(&array, &ints, std::size_t{1} << 40, 1, 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMalloc3DArray(&array, &ints, make_cudaExtent(8, 0, 2), 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue,
                       cudaMalloc3DArray(&array, &ints, make_cudaExtent(8, 4, 6), cudaArrayCubemap));
    const cudaChannelFormatDesc three = cudaCreateChannelDesc(32, 32, 32, 0, cudaChannelFormatKindSigned);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidChannelDescriptor, cudaMallocArray(&array, &three, 8, 4, 0));
    const cudaChannelFormatDesc odd = cudaCreateChannelDesc(24, 0, 0, 0, cudaChannelFormatKindSigned);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidChannelDescriptor, cudaMallocArray(&array, &odd, 8, 4, 0));
    const cudaChannelFormatDesc mixed = cudaCreateChannelDesc(32, 16, 0, 0, cudaChannelFormatKindSigned);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidChannelDescriptor, cudaMallocArray(&array, &mixed, 8, 4, 0));
    REQUIRE_CUDA(cudaFreeArray(nullptr));
}

TEST_CASE("a matrix goes to an array and back", "[arrays][copies]") {
    const IntArray array(4, 3);
    const std::vector<int> source = numbers(12);
    REQUIRE_CUDA(cudaMemcpy2DToArray(array, 0, 0, source.data(), 16, 16, 3, cudaMemcpyHostToDevice));
    std::vector<int> back(15, poison);
    REQUIRE_CUDA(cudaMemcpy2DFromArray(back.data(), 20, array, 0, 0, 16, 3, cudaMemcpyDeviceToHost));
    REQUIRE(back == std::vector{1, 2, 3, 4, poison, 5, 6, 7, 8, poison, 9, 10, 11, 12, poison});
}

TEST_CASE("a copy to an array begins at its offset, in bytes and rows", "[arrays][copies]") {
    const IntArray array(4, 3);
    array.write(std::vector<int>(12, 0));
    const std::vector<int> source = numbers(4);
    REQUIRE_CUDA(cudaMemcpy2DToArray(array, 4, 1, source.data(), 8, 8, 2, cudaMemcpyHostToDevice));
    REQUIRE(array.read() == std::vector{0, 0, 0, 0, 0, 1, 2, 0, 0, 3, 4, 0});
    std::vector<int> back(2, poison);
    REQUIRE_CUDA(cudaMemcpy2DFromArray(back.data(), 4, array, 8, 1, 4, 2, cudaMemcpyDeviceToHost));
    REQUIRE(back == std::vector{2, 4});
}

TEST_CASE("a box goes between pitched memory and an array, all in the array's elements", "[arrays][copies]") {
    const IntArray array(3, 2, 2);
    array.write(std::vector<int>(12, 0));
    std::vector<int> source = numbers(16);
    cudaMemcpy3DParms params{};
    params.srcPtr = make_cudaPitchedPtr(source.data(), 16, 4, 2);
    params.srcPos = make_cudaPos(1, 0, 0);
    params.dstArray = array;
    params.dstPos = make_cudaPos(1, 0, 0);
    params.extent = make_cudaExtent(2, 2, 2);
    params.kind = cudaMemcpyHostToDevice;
    REQUIRE_CUDA(cudaMemcpy3D(&params));
    REQUIRE(array.read() == std::vector{0, 2, 3, 0, 6, 7, 0, 10, 11, 0, 14, 15});
}

TEST_CASE("data goes from array to array, and across the device", "[arrays][copies]") {
    const IntArray first(4, 2);
    const IntArray second(4, 2);
    first.write(numbers(8));
    second.write(std::vector<int>(8, 0));
    cudaMemcpy3DParms params{};
    params.srcArray = first;
    params.srcPos = make_cudaPos(2, 0, 0);
    params.dstArray = second;
    params.extent = make_cudaExtent(2, 2, 1);
    params.kind = cudaMemcpyDeviceToDevice;
    REQUIRE_CUDA(cudaMemcpy3D(&params));
    REQUIRE(second.read() == std::vector{3, 4, 0, 0, 7, 8, 0, 0});
    REQUIRE_CUDA(cudaMemcpy2DArrayToArray(second, 8, 0, first, 0, 0, 8, 2, cudaMemcpyDeviceToDevice));
    REQUIRE(second.read() == std::vector{3, 4, 1, 2, 7, 8, 5, 6});

    DeviceInts device(8);
    REQUIRE_CUDA(cudaMemcpy2DFromArray(device.data(), 16, second, 0, 0, 16, 2, cudaMemcpyDeviceToDevice));
    REQUIRE(device.read() == second.read());
}

TEST_CASE("asynchronous copies to and from arrays run in their stream", "[arrays][copies]") {
    Stream stream;
    const IntArray array(4, 2);
    std::vector<int> source = numbers(8);
    PinnedInts back(8);
    REQUIRE_CUDA(cudaMemcpy2DToArrayAsync(array, 0, 0, source.data(), 16, 16, 2, cudaMemcpyHostToDevice, stream));
    source.assign(8, 0);
    REQUIRE_CUDA(cudaMemcpy2DFromArrayAsync(back.data(), 16, array, 0, 0, 16, 2, cudaMemcpyDeviceToHost, stream));
    stream.synchronize();
    REQUIRE(back.read() == numbers(8));
}

TEST_CASE("the default kind knows that an array is on the device", "[arrays][copies]") {
    const IntArray array(4, 2);
    const std::vector<int> source = numbers(8);
    std::vector<int> back(8, poison);
    REQUIRE_CUDA(cudaMemcpy2DToArray(array, 0, 0, source.data(), 16, 16, 2, cudaMemcpyDefault));
    REQUIRE_CUDA(cudaMemcpy2DFromArray(back.data(), 16, array, 0, 0, 16, 2, cudaMemcpyDefault));
    REQUIRE(back == source);
}

TEST_CASE("a copy that leaves its array is refused", "[arrays][copies]") {
    const IntArray array(4, 3);
    array.write(numbers(12));
    const std::vector<int> source(64, 0);
    const auto refuse = [&](std::size_t x, std::size_t y, std::size_t width, std::size_t height) {
        REQUIRE_CUDA_ERROR(cudaErrorInvalidValue,
                           cudaMemcpy2DToArray(array, x, y, source.data(), 64, width, height, cudaMemcpyHostToDevice));
    };
    refuse(0, 0, 20, 1);
    refuse(4, 0, 16, 1);
    refuse(0, 0, 16, 4);
    refuse(0, 3, 4, 1);
    cudaMemcpy3DParms params{};
    params.srcPtr = make_cudaPitchedPtr(const_cast<int*>(source.data()), 16, 4, 3);
    params.dstArray = array;
    params.extent = make_cudaExtent(4, 3, 2);
    params.kind = cudaMemcpyHostToDevice;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMemcpy3D(&params));
    REQUIRE(array.read() == numbers(12));
}

TEST_CASE("a copy takes each side from an array or from memory, and from one of them", "[arrays][copies]") {
    const IntArray array(4, 2);
    DeviceInts device(8);
    std::vector<int> host(8, 0);
    cudaMemcpy3DParms params{};
    params.srcPtr = make_cudaPitchedPtr(host.data(), 16, 4, 2);
    params.extent = make_cudaExtent(4, 2, 1);
    params.kind = cudaMemcpyHostToDevice;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMemcpy3D(&params));
    params.dstArray = array;
    params.dstPtr = make_cudaPitchedPtr(device.data(), 16, 4, 2);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMemcpy3D(&params));
}

TEST_CASE("a matrix for an array comes from memory, a matrix from an array goes to memory", "[arrays][copies]") {
    const IntArray array(4, 2);
    std::vector<int> host(8, 0);
    for (const cudaMemcpyKind kind : {cudaMemcpyHostToHost, cudaMemcpyDeviceToHost}) {
        REQUIRE_CUDA_ERROR(cudaErrorInvalidMemcpyDirection,
                           cudaMemcpy2DToArray(array, 0, 0, host.data(), 16, 16, 2, kind));
    }
    for (const cudaMemcpyKind kind : {cudaMemcpyHostToHost, cudaMemcpyHostToDevice}) {
        REQUIRE_CUDA_ERROR(cudaErrorInvalidMemcpyDirection,
                           cudaMemcpy2DFromArray(host.data(), 16, array, 0, 0, 16, 2, kind));
    }
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue,
                       cudaMemcpy2DToArray(array, 0, 0, host.data(), 16, 16, 2, cudaMemcpyDeviceToDevice));
}

TEST_CASE("a copy to an array checks its pitch and kind", "[arrays][copies]") {
    const IntArray array(4, 2);
    const std::vector<int> source(8, 0);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidPitchValue,
                       cudaMemcpy2DToArray(array, 0, 0, source.data(), 8, 16, 2, cudaMemcpyHostToDevice));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidMemcpyDirection,
                       cudaMemcpy2DToArray(array, 0, 0, source.data(), 16, 16, 2, static_cast<cudaMemcpyKind>(7)));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue,
                       cudaMemcpy2DToArray(array, 0, 0, nullptr, 16, 16, 2, cudaMemcpyHostToDevice));
}
