// Kernels that NVRTC compiles while the program runs.
#include <stdexcept>
#include <string>
#include <vector>

#include <catch.hpp>
#include <cudag/library.hpp>
#include <nvrtc.h>

#include "memory.hpp"

using cudag::arg;
using cudag::BufferParam;
using cudag::capture;
using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Function;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::LaunchConfig;
using cudag::Library;
using cudag::Stream;

namespace {

constexpr unsigned count = 1000;
constexpr LaunchConfig config{.grid = (count + 255) / 256, .block = 256};

void require(nvrtcResult result) {
    if (result != NVRTC_SUCCESS) throw std::runtime_error(nvrtcGetErrorString(result));
}

std::string architecture() {
    int major = 0, minor = 0;
    cudag::check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    cudag::check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0));
    return "--gpu-architecture=compute_" + std::to_string(10 * major + minor);
}

/// axpy(n, a, x, y): y = a * x + y
Library compile() {
    const char* const source = R"(
extern "C" __global__ void axpy(unsigned n, float a, const float* x, float* y) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
})";
    nvrtcProgram program{};
    require(nvrtcCreateProgram(&program, source, "axpy.cu", 0, nullptr, nullptr));
    const std::string option = architecture();
    const char* const options = option.c_str();
    require(nvrtcCompileProgram(program, 1, &options));
    std::size_t size = 0;
    require(nvrtcGetPTXSize(program, &size));
    std::string ptx(size, '\0');
    require(nvrtcGetPTX(program, ptx.data()));
    require(nvrtcDestroyProgram(&program));
    return Library::from_ptx(ptx);
}

std::vector<float> axpy(float a, const std::vector<float>& x, std::vector<float> y) {
    for (std::size_t i = 0; i < y.size(); ++i)
        y[i] += a * x[i];
    return y;
}

} // namespace

TEST_CASE("a kernel of NVRTC runs in a graph, and takes updates", "[libraries]") {
    const Stream stream;
    const std::vector<float> x = numbers(count, 1), y = numbers(count, 2);
    const DeviceBuffer<float> in(count), out(count);
    write(in, x);
    GraphBuilder b;
    const auto node = b.kernel(config, compile().function("axpy"), count, 2.0f, in, out);
    Exec exec = std::move(b).build().instantiate();
    for (const float a : {2.0f, 3.0f}) {
        exec.update(node, arg(1, a));
        write(out, y);
        exec.launch(stream);
        stream.synchronize();
        CHECK(read(out) == axpy(a, x, y));
    }
}

TEST_CASE("a captured kernel of NVRTC is bound to other buffers", "[libraries]") {
    const Stream stream;
    const auto kernel = compile().function("axpy").typed<unsigned, float, const float*, float*>();
    const std::vector<float> x = numbers(count, 3), y = numbers(count, 4);
    const DeviceBuffer<float> in(count), out(count), other_in(count), other_out(count);
    write(other_in, x);
    write(other_out, y);
    const Graph graph =
        capture(stream, [&](cudaStream_t s) { cudag::launch(s, config, kernel, count, 2.0f, in.data(), out.data()); });
    const BufferParam<float> from = graph.parameter(in), to = graph.parameter(out);
    Exec exec = graph.instantiate();
    CHECK(exec.bind({{from, other_in}, {to, other_out}}) == 1);
    exec.launch(stream);
    stream.synchronize();
    CHECK(read(other_out) == axpy(2.0f, x, y));
}
