// Kernels that are added to a builder or launched in a stream, and their arguments.
#include <cudag/cudag.hpp>

#include <memory>
#include <vector>

__global__ void scale(float* x, int n, float factor);
__global__ void fill(float* x, int n);
__global__ void overloaded(int n);
__global__ void overloaded(float n);
template <class T>
__global__ void generic(T* x, int n);

void kernels(cudag::GraphBuilder& builder, cudag::Stream& stream, cudag::DeviceBuffer<float>& x,
             const cudag::AllocNode<float>& memory, cudag::Graph& graph) {
    const cudag::LaunchConfig config{.grid = 4, .block = 256};
    [[maybe_unused]] std::vector<float> host(4);
    [[maybe_unused]] std::unique_ptr<float> unique;
    auto node = builder.kernel(config, scale, x, 4, 2.0f);
    builder.kernel({.grid = 4, .block = 256}, generic<float>, memory.span(), 4).after(node);
    builder.kernel(config, static_cast<void (*)(int)>(overloaded), 4);
    cudag::launch(stream, {.grid = 4, .block = 256}, fill, x, 4);
#if CUDAG_MISTAKE == 1 // expect-error: cudag: grid and block are one argument
    builder.kernel(4, 256, scale, x, 4, 2.0f);
#elif CUDAG_MISTAKE == 2  // expect-error: cudag: grid and block are one argument
    auto second = builder.kernel(dim3(4), dim3(256), scale, x, 4, 2.0f).after(node);
#elif CUDAG_MISTAKE == 3  // expect-error: cudag: the launch configuration comes first
    builder.kernel(scale, x, 4, 2.0f);
#elif CUDAG_MISTAKE == 4  // expect-error: cudag: the launch configuration comes first
    auto second = builder.kernel(scale, config, x, 4, 2.0f).label("scale");
#elif CUDAG_MISTAKE == 5  // expect-error: cudag: the launch configuration comes first, as {.grid = 8, .block =
    builder.kernel(stream, config, scale, x, 4, 2.0f);
#elif CUDAG_MISTAKE == 6  // expect-error: cudag: a label is given by .label(text)
    builder.kernel("scale", config, scale, x, 4, 2.0f);
#elif CUDAG_MISTAKE == 7  // expect-error: cudag: kernel(config, function, arguments...); of overloads or a
    builder.kernel(config, overloaded, 4);
#elif CUDAG_MISTAKE == 8  // expect-error: cudag: kernel(config, function, arguments...); of overloads or a
    builder.kernel({.grid = 4}, generic, x, 4);
#elif CUDAG_MISTAKE == 9  // expect-error: cudag: kernel(config, function, arguments...)
    builder.kernel(config);
#elif CUDAG_MISTAKE == 10 // expect-error: cudag: an AllocNode is no memory itself: pass its span()
    builder.kernel(config, fill, memory, 4);
#elif CUDAG_MISTAKE == 11 // expect-error: cudag: host memory is not readable on the device
    builder.kernel(config, fill, host, 4);
#elif CUDAG_MISTAKE == 12 // expect-error: cudag: a unique_ptr cannot be kept by a graph
    builder.kernel(config, fill, unique, 4);
#elif CUDAG_MISTAKE == 13 // expect-error: cudag: a number must not lose
    builder.kernel(config, scale, x, 4, 2.0);
#elif CUDAG_MISTAKE == 14 // expect-error: cudag: arg<I>(value) is for updates
    builder.kernel(config, fill, cudag::arg<0>(x), cudag::arg<1>(4));
#elif CUDAG_MISTAKE == 15 // expect-error: cudag: a stream is a cudag::Stream or a cudaStream_t
    cudag::launch(config, scale, x, 4, 2.0f);
#elif CUDAG_MISTAKE == 16 // expect-error: cudag: the launch configuration comes first
    cudag::launch(stream, scale, x, 4, 2.0f);
#elif CUDAG_MISTAKE == 17 // expect-error: cudag: grid and block are one argument
    cudag::launch(stream, 4, 256, scale, x, 4, 2.0f);
#elif CUDAG_MISTAKE == 18 // expect-error: cudag: launch(stream, config, function, arguments...); of overloads or
    cudag::launch(stream, config, generic, x, 4);
#elif CUDAG_MISTAKE == 19 // expect-error: cudag: a Graph is launched by an Exec of it
    graph.launch(stream);
#elif CUDAG_MISTAKE == 20 // expect-error: cudag: a pointer to const cannot become one to what the kernel may
    builder.kernel(config, fill, static_cast<const float*>(x.data()), 4);
#elif CUDAG_MISTAKE == 21 // expect-error: cudag: a node is no kernel argument
    builder.kernel(config, fill, node, 4);
#elif CUDAG_MISTAKE == 22 // expect-error: cudag: a kernel is a __global__ function or a pointer to one
    builder.kernel(config, "scale", x, 4, 2.0f);
#elif CUDAG_MISTAKE == 23 // expect-error: cudag: a kernel is a __global__ function or a pointer to one
    auto second = builder
                      .kernel(
                          config, [](int) {}, 4)
                      .after(node);
#elif CUDAG_MISTAKE == 24 // expect-error: cudag: the number of arguments is not the number of the kernel's
    builder.kernel({.grid = 4}, scale, x, 4);
#elif CUDAG_MISTAKE == 25 // expect-error: cudag: arg<1>(value): the position in angle brackets
    graph.update(node, cudag::arg(2, 3.0f));
#endif
    static_cast<void>(graph);
}
