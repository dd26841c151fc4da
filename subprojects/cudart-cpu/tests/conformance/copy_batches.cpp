// Batches of copies.
#include "arrays.hpp"
#include "gate.hpp"
#include "handles.hpp"
#include "memory.hpp"

#include <array>
#include <vector>

#if CUDART_VERSION >= 12080

namespace {

#if CUDART_VERSION >= 13000
cudaError_t copy_all(void** to, void** from, std::size_t* sizes, std::size_t count, cudaMemcpyAttributes* attributes,
                     std::size_t* first, std::size_t attribute_count, cudaStream_t stream) {
    return cudaMemcpyBatchAsync(to, from, sizes, count, attributes, first, attribute_count, stream);
}

cudaError_t copy_all(std::size_t count, cudaMemcpy3DBatchOp* operations, unsigned long long flags,
                     cudaStream_t stream) {
    return cudaMemcpy3DBatchAsync(count, operations, flags, stream);
}
#else
cudaError_t copy_all(void** to, void** from, std::size_t* sizes, std::size_t count, cudaMemcpyAttributes* attributes,
                     std::size_t* first, std::size_t attribute_count, cudaStream_t stream) {
    std::size_t failed = 0;
    return cudaMemcpyBatchAsync(to, from, sizes, count, attributes, first, attribute_count, &failed, stream);
}

cudaError_t copy_all(std::size_t count, cudaMemcpy3DBatchOp* operations, unsigned long long flags,
                     cudaStream_t stream) {
    std::size_t failed = 0;
    return cudaMemcpy3DBatchAsync(count, operations, &failed, flags, stream);
}
#endif

cudaMemcpyAttributes ordered(cudaMemcpySrcAccessOrder order) {
    cudaMemcpyAttributes attributes{};
    attributes.srcAccessOrder = order;
    return attributes;
}

struct TwoCopies {
    DeviceInts first{2};
    DeviceInts second{3};
    std::vector<int> source{1, 2, 3, 4, 5};
    std::array<void*, 2> to{first.data(), second.data()};
    std::array<void*, 2> from{source.data(), source.data() + 2};
    std::array<std::size_t, 2> sizes{2 * sizeof(int), 3 * sizeof(int)};
    std::array<cudaMemcpyAttributes, 2> attributes{ordered(cudaMemcpySrcAccessOrderStream),
                                                   ordered(cudaMemcpySrcAccessOrderDuringApiCall)};
    std::array<std::size_t, 2> first_copies{0, 1};
    Stream stream{cudaStreamNonBlocking};

    cudaError_t submit(std::size_t attribute_count = 2) {
        return copy_all(to.data(), from.data(), sizes.data(), 2, attributes.data(), first_copies.data(),
                        attribute_count, stream);
    }
};

cudaMemcpy3DOperand memory(void* data, std::size_t row = 0, std::size_t height = 0) {
    cudaMemcpy3DOperand operand{};
    operand.type = cudaMemcpyOperandTypePointer;
    operand.op.ptr.ptr = data;
    operand.op.ptr.rowLength = row;
    operand.op.ptr.layerHeight = height;
    return operand;
}

cudaMemcpy3DOperand part_of(cudaArray_t array, std::size_t x, std::size_t y) {
    cudaMemcpy3DOperand operand{};
    operand.type = cudaMemcpyOperandTypeArray;
    operand.op.array.array = array;
    operand.op.array.offset = {x, y, 0};
    return operand;
}

cudaMemcpy3DBatchOp operation(const cudaMemcpy3DOperand& to, const cudaMemcpy3DOperand& from,
                              const cudaExtent& extent) {
    cudaMemcpy3DBatchOp result{};
    result.dst = to;
    result.src = from;
    result.extent = extent;
    result.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    return result;
}

} // namespace

TEST_CASE("a batch does all its copies", "[copy-batches]") {
    TwoCopies batch;
    REQUIRE_CUDA(batch.submit());
    batch.stream.synchronize();
    REQUIRE(batch.first.read() == std::vector{1, 2});
    REQUIRE(batch.second.read() == std::vector{3, 4, 5});
}

TEST_CASE("attributes may be those of all copies", "[copy-batches]") {
    TwoCopies batch;
    REQUIRE_CUDA(batch.submit(1));
    batch.stream.synchronize();
    REQUIRE(batch.second.read() == std::vector{3, 4, 5});
}

TEST_CASE("device memory is read in the stream's order, even if any order is allowed", "[copy-batches]") {
    TwoCopies batch;
    DeviceInts source(2);
    source.write({0, 0});
    batch.attributes[0] = ordered(cudaMemcpySrcAccessOrderAny);
    batch.from[0] = source.data();
    Gate gate;
    gate.block(batch.stream);
    REQUIRE_CUDA(cudaMemsetAsync(source.data(), 1, 2 * sizeof(int), batch.stream));
    REQUIRE_CUDA(batch.submit());
    gate.open();
    batch.stream.synchronize();
    REQUIRE(batch.first.read() == std::vector{0x01010101, 0x01010101});
}

TEST_CASE("a batch takes its place in its stream", "[copy-batches]") {
    DeviceInts from(4);
    DeviceInts to(4);
    Stream stream(cudaStreamNonBlocking);
    from.write({1, 2, 3, 4});
    std::array<void*, 1> destinations{to.data()};
    std::array<void*, 1> sources{from.data()};
    std::array<std::size_t, 1> sizes{to.size_bytes()};
    cudaMemcpyAttributes attributes = ordered(cudaMemcpySrcAccessOrderStream);
    std::size_t first = 0;
    REQUIRE_CUDA(cudaMemsetAsync(from.data(), 0, sizeof(int), stream));
    REQUIRE_CUDA(copy_all(destinations.data(), sources.data(), sizes.data(), 1, &attributes, &first, 1, stream));
    REQUIRE_CUDA(cudaMemsetAsync(to.data() + 3, 0, sizeof(int), stream));
    stream.synchronize();
    REQUIRE(to.read() == std::vector{0, 2, 3, 0});
}

TEST_CASE("attributes of a batch that do not fit its copies are refused", "[copy-batches]") {
    TwoCopies batch;
    SECTION("the first begins at no copy") {
        batch.first_copies[0] = 1;
    }
    SECTION("they are not in order") {
        batch.first_copies[1] = 0;
    }
    SECTION("they begin behind the copies") {
        batch.first_copies[1] = 2;
    }
    SECTION("they have no order of access") {
        batch.attributes[1].srcAccessOrder = cudaMemcpySrcAccessOrderInvalid;
    }
    SECTION("they have flags that do not exist") {
        batch.attributes[1].flags = 0x100;
    }
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, batch.submit());
    batch.stream.synchronize();
    REQUIRE(batch.first.read() == std::vector{poison, poison});
}

TEST_CASE("a batch needs attributes, and not more than copies", "[copy-batches]") {
    TwoCopies batch;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, batch.submit(0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, batch.submit(3));
}

TEST_CASE("the legacy default stream takes no batch", "[copy-batches]") {
    TwoCopies batch;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, copy_all(batch.to.data(), batch.from.data(), batch.sizes.data(), 2,
                                                       batch.attributes.data(), batch.first_copies.data(), 2, nullptr));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, copy_all(0, nullptr, 0, nullptr));
}

TEST_CASE("a batch without arrays is refused", "[copy-batches]") {
    TwoCopies batch;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue,
                       copy_all(nullptr, batch.from.data(), batch.sizes.data(), 2, batch.attributes.data(),
                                batch.first_copies.data(), 2, batch.stream));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue,
                       copy_all(batch.to.data(), nullptr, batch.sizes.data(), 2, batch.attributes.data(),
                                batch.first_copies.data(), 2, batch.stream));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue,
                       copy_all(batch.to.data(), batch.from.data(), nullptr, 2, batch.attributes.data(),
                                batch.first_copies.data(), 2, batch.stream));
}

TEST_CASE("the copies before a wrong one are done", "[copy-batches]") {
    TwoCopies batch;
    batch.sizes[1] = 1000;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, batch.submit());
    batch.stream.synchronize();
    REQUIRE(batch.first.read() == std::vector{1, 2});
}

TEST_CASE("a batch is not captured, and leaves the capture as it is", "[copy-batches]") {
    TwoCopies batch;
    REQUIRE_CUDA(cudaStreamBeginCapture(batch.stream, cudaStreamCaptureModeThreadLocal));
    REQUIRE_CUDA_ERROR(cudaErrorStreamCaptureUnsupported, batch.submit());
    cudaGraph_t graph = nullptr;
    REQUIRE_CUDA(cudaStreamEndCapture(batch.stream, &graph));
    REQUIRE_CUDA(cudaGraphDestroy(graph));
}

TEST_CASE("boxes are copied in batches", "[copy-batches]") {
    const IntArray array(4, 2);
    array.write({0, 0, 0, 0, 0, 0, 0, 0});
    DeviceInts rows(8);
    rows.write({1, 2, 3, 4, 5, 6, 7, 8});
    DeviceInts line(4);
    Stream stream(cudaStreamNonBlocking);
    std::array operations{
        operation(part_of(array, 1, 0), memory(rows.data(), 4), make_cudaExtent(2, 2, 1)),
        operation(memory(line.data()), memory(rows.data() + 4), make_cudaExtent(4 * sizeof(int), 1, 1))};
    REQUIRE_CUDA(copy_all(operations.size(), operations.data(), 0, stream));
    stream.synchronize();
    REQUIRE(array.read() == std::vector{0, 1, 2, 0, 0, 5, 6, 0});
    REQUIRE(line.read() == std::vector{5, 6, 7, 8});
}

TEST_CASE("boxes that cannot be copied are refused", "[copy-batches]") {
    const IntArray array(4, 2);
    DeviceInts rows(8);
    Stream stream(cudaStreamNonBlocking);
    cudaMemcpy3DBatchOp wrong = operation(part_of(array, 0, 0), memory(rows.data()), make_cudaExtent(4, 2, 1));
    unsigned long long flags = 0;
    SECTION("flags") {
        flags = 1;
    }
    SECTION("a side of 0") {
        wrong.extent.height = 0;
    }
    SECTION("rows that are too short") {
        wrong.src.op.ptr.rowLength = 3;
    }
    SECTION("layers that are too low") {
        wrong.src.op.ptr.layerHeight = 1;
    }
    SECTION("no order of access") {
        wrong.srcAccessOrder = cudaMemcpySrcAccessOrderInvalid;
    }
    SECTION("no kind of operand") {
        wrong.src.type = static_cast<cudaMemcpy3DOperandType>(0);
    }
    SECTION("a box that leaves the array") {
        wrong.dst.op.array.offset.x = 1;
    }
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, copy_all(1, &wrong, flags, stream));
}

#endif
