// Copies, fills, buffers and graph memory.
#include <cudag/cudag.hpp>

#include <memory>
#include <vector>

__global__ void scale(float* x, int n, float factor);

void memory(cudag::GraphBuilder& builder, cudag::Stream& stream, cudag::DeviceBuffer<float>& x,
            cudag::PinnedBuffer<float>& y, const cudag::AllocNode<float>& alloc) {
    std::vector<float> host(4);
    builder.memcpy(x, y);
    builder.memcpy(alloc.span(), host);
    builder.memset(x, 1.0f);
    builder.free(builder.alloc<float>(4));
    cudag::memcpy_async(stream, x, y);
    cudag::memset_async(stream, x, 1.0f);
    cudag::CapturePool pool;
    static_cast<void>(pool.allocate<float>(4));
#if CUDAG_MISTAKE == 1 // expect-error: cudag: memcpy(destination, source) copies all of two ranges of one length
    builder.memcpy(x, y, 4 * sizeof(float));
#elif CUDAG_MISTAKE == 2  // expect-error: cudag: memcpy(destination, source) copies all of two ranges of one
    builder.memcpy(x.data(), y.data(), 4 * sizeof(float), cudaMemcpyHostToDevice);
#elif CUDAG_MISTAKE == 3  // expect-error: cudag: memcpy(destination, source) copies all of two ranges of one
    builder.memcpy(x);
#elif CUDAG_MISTAKE == 4  // expect-error: cudag: memset(range, value) sets all elements of a range
    builder.memset(x, 0, 4 * sizeof(float));
#elif CUDAG_MISTAKE == 5  // expect-error: cudag: memset(range, value) sets all elements of a range
    builder.memset(x);
#elif CUDAG_MISTAKE == 6  // expect-error: cudag: a stream is a cudag::Stream or a cudaStream_t
    cudag::memcpy_async(x, y, stream);
#elif CUDAG_MISTAKE == 7  // expect-error: cudag: memcpy_async(stream, destination, source)
    cudag::memcpy_async(stream, x, y, 4);
#elif CUDAG_MISTAKE == 8  // expect-error: cudag: memset_async(stream, range, value)
    cudag::memset_async(stream, x);
#elif CUDAG_MISTAKE == 9  // expect-error: cudag: an AllocNode is no memory itself: pass its span()
    builder.memcpy(alloc, y);
#elif CUDAG_MISTAKE == 10 // expect-error: cudag: an AllocNode is no memory itself: pass its span()
    builder.memset(alloc, 1.0f);
#elif CUDAG_MISTAKE == 11 // expect-error: cudag: alloc needs the type of the elements: alloc<float>(count)
    auto a = builder.alloc(4);
#elif CUDAG_MISTAKE == 12 // expect-error: cudag: free(alloc) takes an alloc node or its span()
    builder.free(x);
#elif CUDAG_MISTAKE == 13 // expect-error: cudag: free(alloc) takes an alloc node or its span()
    builder.free(x.data());
#elif CUDAG_MISTAKE == 14 // expect-error: cudag: allocate needs the type of the elements: allocate<float>(count)
    auto b = pool.allocate(4);
#elif CUDAG_MISTAKE == 15 // expect-error: cudag: a DeviceBuffer has one owner: std::move(buffer), or its span()
    auto copy = x;
#elif CUDAG_MISTAKE == 16 // expect-error: cudag: device memory is not readable on the host
    host[0] = x[0];
#elif CUDAG_MISTAKE == 17 // expect-error: cudag: a buffer is made with a count, and filled by copies
    cudag::DeviceBuffer<float> copy(host);
#elif CUDAG_MISTAKE == 18 // expect-error: cudag: a DeviceSpan has a length: DeviceSpan(pointer, count)
    cudag::DeviceSpan<float> span(x.data());
#elif CUDAG_MISTAKE == 19 // expect-error: cudag: an operand is a DeviceBuffer, DeviceSpan, PinnedBuffer,
    builder.memcpy(x.data(), y.data());
#elif CUDAG_MISTAKE == 20 // expect-error: cudag: memcpy needs the same element type on both sides
    builder.memcpy(x, std::make_shared<std::vector<int>>(4));
#elif CUDAG_MISTAKE == 21 // expect-error: cudag: a buffer is made with a count, and filled by copies
    cudag::PinnedBuffer<float> copy(host);
#elif CUDAG_MISTAKE == 22 // expect-error: cudag: memcpy2d(destination, source)
    builder.memcpy2d(x, 16, y, 16, 4, 4, cudaMemcpyHostToDevice);
#elif CUDAG_MISTAKE == 23 // expect-error: cudag: a DeviceSpan of a buffer is its span()
    cudag::DeviceSpan<float> span = x;
#elif CUDAG_MISTAKE == 24 // expect-error: cudag: a PinnedBuffer has one owner: std::move(buffer), or its span()
    auto copy = y;
#elif CUDAG_MISTAKE == 25 // expect-error: cudag: alloc needs the type of the elements: alloc<float>(count)
    builder.memset(builder.alloc(4).span(), 1.0f);
#endif
}
