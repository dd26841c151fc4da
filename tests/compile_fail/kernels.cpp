// Kernels that are added to a builder or launched in a stream, and their arguments.
#include <cudag/cudag.hpp>

#include <memory>
#include <span>
#include <string>
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
#elif CUDAG_MISTAKE == 13 // expect-error: cudag: a number must not be narrowed
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

enum class Mode { fast, exact };
__global__ void takes_int(int n);
__global__ void takes_pointer(float* x);
__global__ void takes_float(float factor);
__global__ void takes_bool(bool wanted);
__global__ void takes_mode(Mode mode);
__global__ void takes_object(std::string text);
__global__ void by_reference(int& n);
__global__ void by_value(int n);
int returns(int n);
__global__ void takes_text(const char* text);

// A double where the kernel takes an int.
void kernel_argument_type(cudag::GraphBuilder& builder, float* x) {
#if CUDAG_MISTAKE == 26 // expect-error: cudag: a number must not be narrowed to the parameter's type: write it in
    builder.kernel(cudag::LaunchConfig(), scale, x, 16.0, 2.0f);
#else
    builder.kernel(cudag::LaunchConfig(), scale, x, 16, 2.0f);
#endif
}

// A bool where the kernel takes an int.
void kernel_bool_for_int(cudag::GraphBuilder& builder) {
#if CUDAG_MISTAKE == 27 // expect-error: cudag: kernel argument cannot become the kernel's parameter type; see the types
    builder.kernel(cudag::LaunchConfig(), takes_int, true);
#else
    builder.kernel(cudag::LaunchConfig(), takes_int, 1);
#endif
}

// A DeviceBuffer<int> where the kernel takes a float*.
void kernel_buffer_type(cudag::GraphBuilder& builder, [[maybe_unused]] const cudag::DeviceBuffer<int>& i,
                        [[maybe_unused]] const cudag::DeviceBuffer<float>& f) {
#if CUDAG_MISTAKE == 28 // expect-error: cudag: kernel argument cannot become the kernel's parameter type; see the types
    builder.kernel(cudag::LaunchConfig(), takes_pointer, i);
#else
    builder.kernel(cudag::LaunchConfig(), takes_pointer, f);
#endif
}

// A double where the kernel takes a float.
void kernel_double_for_float(cudag::GraphBuilder& builder) {
#if CUDAG_MISTAKE == 29 // expect-error: cudag: a number must not be narrowed to the parameter's type: write it in
    builder.kernel(cudag::LaunchConfig(), takes_float, 2.0);
#else
    builder.kernel(cudag::LaunchConfig(), takes_float, 2.0f);
#endif
}

// A DynamicParam of another type than the kernel's parameter.
void kernel_dynamic_type(cudag::GraphBuilder& builder) {
#if CUDAG_MISTAKE == 30 // expect-error: cudag: kernel argument cannot become the kernel's parameter type; see the types
    const cudag::DynamicParam<int> factor(2);
#else
    const cudag::DynamicParam<float> factor(2.0f);
#endif
    builder.kernel(cudag::LaunchConfig(), takes_float, factor);
}

// A float where the kernel takes an int.
void kernel_float_for_int(cudag::GraphBuilder& builder) {
#if CUDAG_MISTAKE == 31 // expect-error: cudag: a number must not be narrowed to the parameter's type: write it in
    builder.kernel(cudag::LaunchConfig(), takes_int, 16.0f);
#else
    builder.kernel(cudag::LaunchConfig(), takes_int, 16);
#endif
}

// An array, which is host memory, as a kernel argument.
void kernel_host_array(cudag::GraphBuilder& builder, [[maybe_unused]] float (&host)[4],
                       [[maybe_unused]] cudag::DeviceSpan<float> device) {
#if CUDAG_MISTAKE == 32 // expect-error: cudag: a host array is not readable on the device; copy it to a DeviceBuffer
    builder.kernel(cudag::LaunchConfig(), takes_pointer, host);
#else
    builder.kernel(cudag::LaunchConfig(), takes_pointer, device);
#endif
}

// A std::span, which is host memory, as a kernel argument.
void kernel_host_span(cudag::GraphBuilder& builder, [[maybe_unused]] std::span<float> host,
                      [[maybe_unused]] cudag::DeviceSpan<float> device) {
#if CUDAG_MISTAKE == 33 // expect-error: cudag: host memory is not readable on the device: copy it to a DeviceBuffer, or
    builder.kernel(cudag::LaunchConfig(), takes_pointer, host);
#else
    builder.kernel(cudag::LaunchConfig(), takes_pointer, device);
#endif
}

// An int where the kernel takes a bool.
void kernel_int_for_bool(cudag::GraphBuilder& builder) {
#if CUDAG_MISTAKE == 34 // expect-error: cudag: kernel argument cannot become the kernel's parameter type; see the types
    builder.kernel(cudag::LaunchConfig(), takes_bool, 1);
#else
    builder.kernel(cudag::LaunchConfig(), takes_bool, true);
#endif
}

// An int where the kernel takes an enum.
void kernel_int_for_enum(cudag::GraphBuilder& builder) {
#if CUDAG_MISTAKE == 35 // expect-error: cudag: kernel argument cannot become the kernel's parameter type; see the types
    builder.kernel(cudag::LaunchConfig(), takes_mode, 1);
#else
    builder.kernel(cudag::LaunchConfig(), takes_mode, Mode::exact);
#endif
}

// An int where the kernel takes a pointer.
void kernel_int_for_pointer(cudag::GraphBuilder& builder) {
#if CUDAG_MISTAKE == 36 // expect-error: cudag: kernel argument cannot become the kernel's parameter type; see the types
    builder.kernel(cudag::LaunchConfig(), takes_pointer, 0);
#else
    builder.kernel(cudag::LaunchConfig(), takes_pointer, nullptr);
#endif
}

// A lambda as a kernel.
void kernel_lambda(cudag::GraphBuilder& builder) {
#if CUDAG_MISTAKE == 37 // expect-error: cudag: a kernel is a __global__ function or a pointer to one
    builder.kernel(
        cudag::LaunchConfig(), [](int) {}, 16);
#else
    builder.kernel(cudag::LaunchConfig(), takes_int, 16);
#endif
}

// A lambda as a kernel, after a launch configuration in braces.
void kernel_lambda_braces(cudag::GraphBuilder& builder) {
#if CUDAG_MISTAKE == 38 // expect-error: cudag: a kernel is a __global__ function or a pointer to one
    builder.kernel(
        {.grid = 8}, [](int) {}, 16);
#else
    builder.kernel({.grid = 8}, takes_int, 16);
#endif
}

// A kernel with a parameter that cannot be copied to the device.
void kernel_parameter_not_trivial(cudag::GraphBuilder& builder, [[maybe_unused]] const std::string& host,
                                  [[maybe_unused]] cudag::DeviceSpan<char> device) {
#if CUDAG_MISTAKE == 39 // expect-error: cudag: kernel parameters must be trivially copyable
    builder.kernel(cudag::LaunchConfig(), takes_object, host);
#else
    builder.kernel(cudag::LaunchConfig(), takes_text, device);
#endif
}

// An int* where the kernel takes a float*.
void kernel_pointer_type(cudag::GraphBuilder& builder, [[maybe_unused]] int* i, [[maybe_unused]] float* f) {
#if CUDAG_MISTAKE == 40 // expect-error: cudag: kernel argument cannot become the kernel's parameter type; see the types
    builder.kernel(cudag::LaunchConfig(), takes_pointer, i);
#else
    builder.kernel(cudag::LaunchConfig(), takes_pointer, f);
#endif
}

// A kernel with a reference parameter.
void kernel_reference_parameter(cudag::GraphBuilder& builder, int n) {
#if CUDAG_MISTAKE == 41 // expect-error: cudag: a kernel parameter cannot be a reference
    builder.kernel(cudag::LaunchConfig(), by_reference, n);
#else
    builder.kernel(cudag::LaunchConfig(), by_value, n);
#endif
}

// A function that returns a value as a kernel.
void kernel_result(cudag::GraphBuilder& builder) {
#if CUDAG_MISTAKE == 42 // expect-error: cudag: a kernel is a __global__ function or a pointer to one
    builder.kernel(cudag::LaunchConfig(), returns, 16);
#else
    builder.kernel(cudag::LaunchConfig(), takes_int, 16);
#endif
}

// A span of const elements where the kernel takes a float*.
void kernel_span_of_const(cudag::GraphBuilder& builder, [[maybe_unused]] cudag::DeviceSpan<const float> constant,
                          [[maybe_unused]] cudag::DeviceSpan<float> variable) {
#if CUDAG_MISTAKE == 43 // expect-error: cudag: a pointer to const cannot become one to what the kernel may write
    builder.kernel(cudag::LaunchConfig(), takes_pointer, constant);
#else
    builder.kernel(cudag::LaunchConfig(), takes_pointer, variable);
#endif
}

// A std::string where the kernel takes a pointer.
void kernel_string_for_pointer(cudag::GraphBuilder& builder, [[maybe_unused]] const std::string& text,
                               [[maybe_unused]] cudag::DeviceSpan<char> copy) {
#if CUDAG_MISTAKE == 44 // expect-error: cudag: host memory is not readable on the device: copy it to a DeviceBuffer, or
    builder.kernel(cudag::LaunchConfig(), takes_text, text);
#else
    builder.kernel(cudag::LaunchConfig(), takes_text, copy);
#endif
}

// A launch with an argument too many.
void launch_argument_count(cudaStream_t stream) {
#if CUDAG_MISTAKE == 45 // expect-error: cudag: the number of arguments is not the number of the kernel's parameters
    cudag::launch(stream, {}, takes_int, 16, 2);
#else
    cudag::launch(stream, {}, takes_int, 16);
#endif
}

// A launch with a double where the kernel takes an int.
void launch_argument_type(cudaStream_t stream) {
#if CUDAG_MISTAKE == 46 // expect-error: cudag: a number must not be narrowed to the parameter's type: write it in
    cudag::launch(stream, {}, takes_int, 16.0);
#else
    cudag::launch(stream, {}, takes_int, 16);
#endif
}

// A launch of a lambda.
void launch_lambda(cudaStream_t stream) {
#if CUDAG_MISTAKE == 47 // expect-error: cudag: a kernel is a __global__ function or a pointer to one
    cudag::launch(
        stream, {}, [](int) {}, 16);
#else
    cudag::launch(stream, {}, takes_int, 16);
#endif
}

// Kernels of run time.
struct NotPlain {
    NotPlain(const NotPlain&);
    int n;
};
void functions(cudag::GraphBuilder& builder, cudag::Graph& graph, cudag::DeviceBuffer<float>& x,
               const cudag::Function& function, const NotPlain& object) {
    const cudag::LaunchConfig config{.grid = 4};
    const auto node = builder.kernel({.grid = 4}, function, x, object.n);
    const auto typed = function.typed<float*, int>();
    const auto typed_node = builder.kernel(config, typed, x, 4);
    graph.update(node, cudag::arg(1, 4));
#if CUDAG_MISTAKE == 48 // expect-error: cudag: an argument of a Function is passed as its bytes
    builder.kernel(config, function, x, object);
#elif CUDAG_MISTAKE == 49 // expect-error: cudag: a node is no kernel argument
    builder.kernel(config, function, x, typed_node);
#elif CUDAG_MISTAKE == 50 // expect-error: cudag: host memory is not readable on the device
    builder.kernel(config, function, std::vector<float>(4), 4);
#elif CUDAG_MISTAKE == 51 // expect-error: cudag: arg(i, value) is for updates
    builder.kernel(config, function, cudag::arg(0, x), cudag::arg(1, 4));
#elif CUDAG_MISTAKE == 52 // expect-error: cudag: an update of a Function's launch takes all arguments, or arg(i, value)
    graph.update(node, x, cudag::arg(1, 4));
#elif CUDAG_MISTAKE == 53 // expect-error: cudag: the number of arguments is not the number of the kernel's
    builder.kernel(config, typed, x);
#elif CUDAG_MISTAKE == 54 // expect-error: cudag: a number must not be narrowed
    graph.update(typed_node, x, 4.0);
#elif CUDAG_MISTAKE == 55 // expect-error: cudag: the launch configuration comes first
    builder.kernel(function, config, x, 4);
#elif CUDAG_MISTAKE == 56 // expect-error: cudag: the number of arguments is not the number of the kernel's
    cudag::launch(cudaStreamPerThread, config, typed, x);
#endif
    static_cast<void>(typed_node);
}

__global__ void read_all(const float* x, int n);
void accesses(cudag::GraphBuilder& builder, cudag::DeviceBuffer<float>& x, float* pointer,
              const cudag::Function& function) {
    const cudag::LaunchConfig config{.grid = 4};
    builder.kernel(config, fill, cudag::out(x), 4).reads(x.span()).writes(x);
    builder.kernel({.grid = 4}, read_all, cudag::in(x.span()), 4);
    builder.kernel(config, function, cudag::disjoint(x), 4);
#if CUDAG_MISTAKE == 57 // expect-error: cudag: in(), out(), inout(), atomic() and disjoint() take memory that knows
    builder.kernel(config, fill, cudag::out(pointer), 4);
#elif CUDAG_MISTAKE == 58 // expect-error: cudag: in(), out(), inout(), atomic() and disjoint() take memory that knows
    builder.kernel(config, fill, x, cudag::in(4));
#elif CUDAG_MISTAKE == 59 // expect-error: cudag: the kernel cannot write this: its parameter points to const
    builder.kernel(config, read_all, cudag::out(x), 4);
#elif CUDAG_MISTAKE == 60 // expect-error: cudag: the kernel cannot write this: its parameter points to const
    builder.kernel(config, read_all, cudag::atomic(x), 4);
#elif CUDAG_MISTAKE == 61 // expect-error: cudag: reads() and writes() take buffers, spans and host ranges
    builder.kernel(config, fill, pointer, 4).writes(pointer);
#elif CUDAG_MISTAKE == 62 // expect-error: cudag: reads() and writes() need at least one range of memory
    builder.kernel(config, fill, pointer, 4).reads();
#elif CUDAG_MISTAKE == 63 // expect-error: cudag: in(), out(), inout(), atomic() and disjoint() take memory that knows
    builder.kernel(config, function, cudag::out(pointer), 4);
#endif
    static_cast<void>(pointer);
}
