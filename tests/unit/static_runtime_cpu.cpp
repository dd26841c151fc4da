// NVIDIA's runtime is linked into the program statically, before cudag's: it takes the program's calls, and none of
// cudag's. What cudag is told of, or called for, says so.
#include <cudag/cudag.hpp>

#include <cstdio>
#include <string>

namespace {

int failures = 0;

/// Two runtimes are named, by the text of the CPU runtime, too, which knows where the other one is.
template <class Call>
void check_named(const char* what, const Call& call) {
    try {
        call();
    } catch (const cudag::Error& error) {
        const std::string text = error.what();
        if (text.find("two CUDA runtimes in one process") != std::string::npos &&
            text.find("static_runtime (linked statically)") != std::string::npos)
            return;
        std::printf("%s: %s\n", what, error.what());
    }
    ++failures;
    std::printf("%s: two runtimes are not named\n", what);
}

} // namespace

int main() {
    void* memory = nullptr;
    // where there is a driver, this one works
    if (const cudaError_t status = cudaMalloc(&memory, 4); status != cudaSuccess)
        check_named("a call of the program's", [&] { cudag::check(status); });
    check_named("a stream of cudag's", [] { const cudag::Stream stream; });
    check_named("memory of cudag's", [] { const cudag::DeviceBuffer<int> buffer(4); });
    return failures;
}
