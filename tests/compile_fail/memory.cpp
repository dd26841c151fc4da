// Copies, fills, buffers and graph memory.
#include <cudag/cudag.hpp>

#include <list>
#include <memory>
#include <string>
#include <utility>
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

// Graph memory of constants.
void alloc_of_const(cudag::GraphBuilder& b) {
#if CUDAG_MISTAKE == 26 // expect-error: cudag: graph memory holds trivially copyable, non-const elements
    b.alloc<const int>(1);
#else
    b.alloc<int>(1);
#endif
}

// A PinnedBuffer of elements that nobody can write.
void buffer_of_const() {
#if CUDAG_MISTAKE == 27 // expect-error: cudag: a buffer holds trivially copyable, non-const elements
    cudag::PinnedBuffer<const int> buffer(4);
    static_cast<void>(buffer);
#else
    cudag::PinnedBuffer<int> buffer(4);
    static_cast<void>(buffer);
#endif
}

// A DeviceBuffer of elements that bytes do not make.
void buffer_of_strings() {
#if CUDAG_MISTAKE == 28 // expect-error: cudag: a buffer holds trivially copyable, non-const elements
    cudag::DeviceBuffer<std::string> buffer(4);
    static_cast<void>(buffer);
#else
    cudag::DeviceBuffer<char> buffer(4);
    static_cast<void>(buffer);
#endif
}

// A 2D copy to const memory.
void memcpy2d_const_destination(cudag::GraphBuilder& builder, [[maybe_unused]] cudag::DeviceSpan2D<int> to,
                                [[maybe_unused]] cudag::DeviceSpan2D<const int> from) {
#if CUDAG_MISTAKE == 29 // expect-error: cudag: the destination of a memcpy is const
    builder.memcpy2d(from, to);
#else
    builder.memcpy2d(to, from);
#endif
}

// A 2D copy of ints to floats.
void memcpy2d_element_types(cudag::GraphBuilder& builder, [[maybe_unused]] cudag::DeviceSpan2D<int> to,
                            [[maybe_unused]] cudag::DeviceSpan2D<const int> from) {
#if CUDAG_MISTAKE == 30 // expect-error: cudag: memcpy needs the same element type on both sides
    builder.memcpy2d(cudag::DeviceSpan2D<float>(), from);
#else
    builder.memcpy2d(to, from);
#endif
}

// A 2D copy of 3D regions.
void memcpy2d_of_3d(cudag::GraphBuilder& builder, cudag::DeviceSpan3D<int> to, cudag::HostSpan3D<const int> from) {
#if CUDAG_MISTAKE == 31 // expect-error: cudag: memcpy2d copies between DeviceSpan2D, HostSpan2D and ArraySpan
    builder.memcpy2d(to, from);
#else
    builder.memcpy2d(to.slice(0), from.slice(0));
#endif
}

// A 2D copy of plain ranges.
void memcpy2d_ranges(cudag::GraphBuilder& builder, const cudag::DeviceBuffer<int>& to, std::vector<int>& from) {
#if CUDAG_MISTAKE == 32 // expect-error: cudag: memcpy2d copies between DeviceSpan2D, HostSpan2D and ArraySpan
    builder.memcpy2d(to, from);
#else
    builder.memcpy(to, from);
#endif
}

// A 2D copy from a temporary vector.
void memcpy2d_temporary(cudag::GraphBuilder& builder, cudag::DeviceSpan2D<int> to, std::vector<int>& from) {
#if CUDAG_MISTAKE == 33 // expect-error: cudag: a temporary range is gone when the graph runs
    builder.memcpy2d(to, cudag::HostSpan2D<int>(std::move(from), 4, 2));
#else
    builder.memcpy2d(to, cudag::HostSpan2D<int>(from, 4, 2));
#endif
}

// A region that borrows a temporary buffer.
void memcpy2d_temporary_buffer(cudag::GraphBuilder& builder, cudag::DeviceSpan2D<int> to,
                               cudag::DeviceBuffer<int>& from) {
#if CUDAG_MISTAKE == 34 // expect-error: cudag: a temporary range is gone when the graph runs
    builder.memcpy2d(to, cudag::DeviceSpan2D<int>(std::move(from), 4, 2));
#else
    builder.memcpy2d(to, cudag::DeviceSpan2D<int>(from, 4, 2));
#endif
}

// A 3D copy to a 2D region.
void memcpy3d_of_2d(cudag::GraphBuilder& builder, cudag::DeviceSpan3D<int> to, cudag::HostSpan3D<const int> from) {
#if CUDAG_MISTAKE == 35 // expect-error: cudag: memcpy3d copies between DeviceSpan3D, HostSpan3D and ArraySpan
    builder.memcpy3d(to.slice(0), from);
#else
    builder.memcpy3d(to, from);
#endif
}

// A copy in a stream to a temporary vector.
void memcpy_async_temporary(cudaStream_t stream, [[maybe_unused]] std::vector<int>& to,
                            const cudag::DeviceBuffer<int>& from) {
#if CUDAG_MISTAKE == 36 // expect-error: cudag: a temporary host range is gone when the graph runs; pass an lvalue
    cudag::memcpy_async(stream, std::vector<int>(4), from);
#else
    cudag::memcpy_async(stream, to, from);
#endif
}

// A copy to const memory.
void memcpy_const_destination(cudag::GraphBuilder& builder, cudag::DeviceSpan<const float> constant,
                              cudag::DeviceSpan<float> variable) {
#if CUDAG_MISTAKE == 37 // expect-error: cudag: the destination of a memcpy is const
    builder.memcpy(constant, variable);
#else
    builder.memcpy(variable, constant);
#endif
}

// A copy between different element types.
void memcpy_element_types(cudag::GraphBuilder& builder, const cudag::DeviceBuffer<float>& to,
                          [[maybe_unused]] cudag::DeviceSpan<int> ints,
                          [[maybe_unused]] cudag::DeviceSpan<float> floats) {
#if CUDAG_MISTAKE == 38 // expect-error: cudag: memcpy needs the same element type on both sides
    builder.memcpy(to, ints);
#else
    builder.memcpy(to, floats);
#endif
}

// A copy from a range that is not contiguous.
void memcpy_list(cudag::GraphBuilder& builder, const cudag::DeviceBuffer<int>& to,
                 [[maybe_unused]] std::list<int>& list, [[maybe_unused]] std::vector<int>& vector) {
#if CUDAG_MISTAKE == 39 // expect-error: cudag: an operand is a DeviceBuffer, DeviceSpan, PinnedBuffer, contiguous host
    builder.memcpy(to, list);
#else
    builder.memcpy(to, vector);
#endif
}

// A copy of elements that bytes do not make.
void memcpy_not_trivial(cudag::GraphBuilder& builder, [[maybe_unused]] std::vector<std::string>& strings,
                        [[maybe_unused]] std::vector<char>& chars, [[maybe_unused]] std::vector<char>& to) {
#if CUDAG_MISTAKE == 40 // expect-error: cudag: memcpy needs trivially copyable elements
    builder.memcpy(strings, strings);
#else
    builder.memcpy(to, chars);
#endif
}

// A 1D copy of 2D regions.
void memcpy_of_2d(cudag::GraphBuilder& builder, [[maybe_unused]] cudag::DeviceSpan2D<int> to,
                  [[maybe_unused]] cudag::DeviceSpan2D<const int> from) {
#if CUDAG_MISTAKE == 41 // expect-error: cudag: an operand is a DeviceBuffer, DeviceSpan, PinnedBuffer, contiguous host
    builder.memcpy(to, from);
#else
    builder.memcpy2d(to, from);
#endif
}

// A copy from a temporary vector.
void memcpy_temporary(cudag::GraphBuilder& builder, const cudag::DeviceBuffer<int>& to, std::vector<int>& from) {
#if CUDAG_MISTAKE == 42 // expect-error: cudag: a temporary host range is gone when the graph runs; pass an lvalue
    builder.memcpy(to, std::move(from));
#else
    builder.memcpy(to, from);
#endif
}

// A 2D memset of const memory.
void memset2d_const(cudag::GraphBuilder& builder, [[maybe_unused]] cudag::DeviceSpan2D<int> to,
                    [[maybe_unused]] cudag::DeviceSpan2D<const int> from) {
#if CUDAG_MISTAKE == 43 // expect-error: cudag: the destination of a memset is const
    builder.memset2d(from, 1);
#else
    builder.memset2d(to, 1);
#endif
}

// A 2D memset of host memory.
void memset2d_host(cudag::GraphBuilder& builder, cudag::DeviceSpan2D<int> memory) {
#if CUDAG_MISTAKE == 44 // expect-error: cudag: memset fills device memory; fill host memory with std::fill
    builder.memset2d(cudag::HostSpan2D<int>(memory.data(), 4, 2), 1);
#else
    builder.memset2d(memory, 1);
#endif
}

// A 2D memset of a plain range.
void memset2d_range(cudag::GraphBuilder& builder, const cudag::DeviceBuffer<int>& memory) {
#if CUDAG_MISTAKE == 45 // expect-error: cudag: memset2d fills a DeviceSpan2D
    builder.memset2d(memory, 1);
#else
    builder.memset(memory, 1);
#endif
}

// A 2D memset of ints with a double.
void memset2d_value(cudag::GraphBuilder& builder, cudag::DeviceSpan2D<int> memory) {
#if CUDAG_MISTAKE == 46 // expect-error: cudag: memset value cannot become the element type
    builder.memset2d(memory, 1.5);
#else
    builder.memset2d(memory, 1);
#endif
}

// A fill in a stream with a float of memory of ints.
void memset_async_value(cudaStream_t stream, cudag::DeviceSpan<int> to) {
#if CUDAG_MISTAKE == 47 // expect-error: cudag: memset value cannot become the element type; see the types below
    cudag::memset_async(stream, to, 1.0f);
#else
    cudag::memset_async(stream, to, 1);
#endif
}

// A fill of const memory.
void memset_const(cudag::GraphBuilder& builder, [[maybe_unused]] cudag::DeviceSpan<const int> constant,
                  [[maybe_unused]] cudag::DeviceSpan<int> variable) {
#if CUDAG_MISTAKE == 48 // expect-error: cudag: the destination of a memset is const
    builder.memset(constant, 0);
#else
    builder.memset(variable, 0);
#endif
}

// A fill of elements that are more than their bytes.
void clear_elements(cudag::GraphBuilder& builder, [[maybe_unused]] cudag::DeviceSpan<std::string> strings,
                    [[maybe_unused]] const cudag::DeviceBuffer<double>& doubles) {
#if CUDAG_MISTAKE == 49 // expect-error: cudag: clear() needs trivially copyable elements
    builder.clear(strings);
#else
    builder.clear(doubles);
#endif
}

// A fill of host memory.
void memset_host_memory(cudag::GraphBuilder& builder, [[maybe_unused]] std::vector<int>& host,
                        [[maybe_unused]] const cudag::DeviceBuffer<int>& device) {
#if CUDAG_MISTAKE == 50 // expect-error: cudag: memset fills device memory; fill host memory with std::fill
    builder.memset(host, 0);
#else
    builder.memset(device, 0);
#endif
}

// A fill through a raw pointer, which has no length.
void memset_raw_pointer(cudag::GraphBuilder& builder, int* to) {
#if CUDAG_MISTAKE == 51 // expect-error: cudag: an operand is a DeviceBuffer, DeviceSpan, PinnedBuffer, contiguous host
    builder.memset(to, 0);
#else
    builder.memset(cudag::DeviceSpan<int>(to, 4), 0);
#endif
}

// A fill with a double of memory of floats.
void memset_value(cudag::GraphBuilder& builder, const cudag::DeviceBuffer<float>& floats) {
#if CUDAG_MISTAKE == 52 // expect-error: cudag: memset value cannot become the element type; see the types below
    builder.memset(floats, 1.0);
#else
    builder.memset(floats, 1.0f);
#endif
}

// A fill with the value of a DynamicParam.
void memset_dynamic(cudag::GraphBuilder& builder, const cudag::DeviceBuffer<float>& floats,
                    const cudag::DynamicParam<float>& value) {
#if CUDAG_MISTAKE ==                                                                                                   \
    53 // expect-error: cudag: a fill follows no DynamicParam; fill with its present value: param.value()
    builder.memset(floats, value);
#else
    builder.memset(floats, value.value());
#endif
}
