// jit: a chain of operations becomes one kernel, compiled by NVRTC, in a graph that is updated.
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <cudag/cudag.hpp>
#include <nvrtc.h>

#include "program/program.hpp"

namespace {

using example::BadInput;

const char* const usage = R"(usage: jit [OPERATION]...

Fuses the operations (scale square relu) into one kernel y = f(x, a), and runs it in a graph for several factors a of
`scale`, each by one update. Prints what the kernel computes and whether the host agrees.

  scale   times a
  square  times itself
  relu    0 if it is less
  root    the square root of its magnitude
  --help  print this

The exit code is 2 if the arguments are no good, 1 if CUDA or NVRTC reported an error or a result is wrong.
)";

struct Operation {
    const char* source; ///< of the value `v` and the factor `a`
    std::function<float(float v, float a)> on_host;
};

const std::map<std::string, Operation> operations{
    {"scale", {"v * a", [](float v, float a) { return v * a; }}},
    {"square", {"v * v", [](float v, float) { return v * v; }}},
    {"relu", {"v < 0 ? 0 : v", [](float v, float) { return v < 0 ? 0 : v; }}},
    {"root", {"sqrtf(fabsf(v))", [](float v, float) { return std::sqrt(std::fabs(v)); }}},
};

const Operation& operation(const std::string& name) {
    const auto found = operations.find(name);
    if (found == operations.end()) {
        throw BadInput("there is no operation '" + name + "'; see --help");
    }
    return found->second;
}

void check(nvrtcResult result) {
    if (result != NVRTC_SUCCESS) {
        throw std::runtime_error(std::string("NVRTC: ") + nvrtcGetErrorString(result));
    }
}

/// `f(n, a, x, y)`: y[i] = the chain of x[i], for i < n.
std::string fuse(const std::vector<std::string>& chain) {
    std::string source = "extern \"C\" __global__ void f(unsigned n, float a, const float* x, float* y) {\n"
                         "    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                         "    if (i >= n) return;\n"
                         "    float v = x[i];\n";
    for (const std::string& name : chain) {
        source += std::string("    v = ") + operation(name).source + ";\n";
    }
    return source + "    y[i] = v;\n}\n";
}

cudag::Library compile(const std::string& source) {
    int major = 0;
    int minor = 0;
    cudag::check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    cudag::check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0));
    const std::string architecture = "--gpu-architecture=compute_" + std::to_string(10 * major + minor);
    const char* const options[] = {architecture.c_str(), "--fmad=false"};
    nvrtcProgram program{};
    check(nvrtcCreateProgram(&program, source.c_str(), "f.cu", 0, nullptr, nullptr));
    check(nvrtcCompileProgram(program, 2, options));
    std::size_t size = 0;
    check(nvrtcGetPTXSize(program, &size));
    std::string ptx(size, '\0');
    check(nvrtcGetPTX(program, ptx.data()));
    check(nvrtcDestroyProgram(&program));
    return cudag::Library::from_ptx(ptx);
}

void run(const std::vector<std::string>& chain) {
    constexpr unsigned n = 1000;
    const std::string source = fuse(chain);
    const cudag::PinnedBuffer<float> in(n), out(n);
    for (unsigned i = 0; i < n; ++i) {
        in[i] = 0.25f * static_cast<float>(i) - 100.0f;
    }
    const cudag::DeviceBuffer<float> x(n), y(n);

    const auto f = compile(source).function("f").typed<unsigned, float, const float*, float*>();
    cudag::GraphBuilder b;
    const auto upload = b.memcpy(x, in);
    const auto fused = b.kernel(cudag::grid_1d(n, 256), f, n, 1.0f, x, y).after(upload);
    b.memcpy(out, y).after(fused);
    cudag::Exec exec = std::move(b).build().instantiate();

    std::printf("%s", source.c_str());
    const cudag::Stream stream;
    for (const float a : {1.0f, -2.0f, 0.5f}) {
        exec.update(fused, cudag::arg<1>(a)); // a double, or argument 2, would not compile
        exec.launch(stream);
        stream.synchronize();
        for (unsigned i = 0; i < n; ++i) {
            float v = in[i];
            for (const std::string& name : chain) {
                v = operation(name).on_host(v, a);
            }
            if (std::fabs(out[i] - v) > 1e-6f * std::fabs(v)) {
                throw std::runtime_error("a = " + std::to_string(a) + ": element " + std::to_string(i) + " is " +
                                         std::to_string(out[i]) + ", not " + std::to_string(v));
            }
        }
        std::printf("a = %g: %u values are right, the last is %g\n", static_cast<double>(a), n,
                    static_cast<double>(out[n - 1]));
    }
}

} // namespace

int main(int argc, char** argv) {
    return example::run("jit", [&] {
        std::vector<std::string> chain(argv + 1, argv + argc);
        if (chain.empty()) {
            chain = {"scale", "square", "relu"};
        }
        if (chain.front() == "--help") {
            std::fputs(usage, stdout);
            return;
        }
        run(chain);
    });
}
