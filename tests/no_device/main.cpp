// Without a driver or a device, everything that needs one throws one clear error, and nothing crashes.
#include "kernels.hpp"

#include <cudag/cudag.hpp>

#include <cstdio>
#include <string_view>
#include <vector>

namespace {

constexpr int skipped = 77; // Meson's exit code for that
int failures = 0;
cudaError_t clear = cudaSuccess; // what CUDA's last error is when it is clear: without a driver, no success

void expect(bool condition, const char* entry, const char* what, const char* seen) {
    if (condition) return;
    ++failures;
    std::printf("%s: expected %s; seen: %s\n", entry, what, seen);
}

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

/// `operation` is what the name of the failed call begins with.
void check_error(const char* entry, const char* operation, const cudag::Error& error) {
    const char* text = error.what();
    const int code = error.code().value();
    expect(error.code().category() == cudag::cuda_category(), entry, "a code of CUDA's", text);
    expect(code == cudaErrorInsufficientDriver || code == cudaErrorNoDevice, entry, "no driver (35) or no device (100)",
           text);
    expect(contains(text, "cudag: "), entry, "cudag's name in the text", text);
    expect(contains(text, code == cudaErrorNoDevice ? "check nvidia-smi and CUDA_VISIBLE_DEVICES"
                                                    : "install or update the driver"),
           entry, "what to do", text);
    expect(error.operation().starts_with(operation), entry, operation, error.operation().c_str());
    expect(contains(text, operation), entry, "the call in the text", text);
    expect(cudaPeekAtLastError() == clear, entry, "no last error left", cudaGetErrorName(cudaPeekAtLastError()));
}

template <class Call>
void check_throws(const char* entry, const char* operation, Call&& call) {
    for (int attempt = 0; attempt < 2; ++attempt) {
        try {
            call();
            expect(false, entry, "an error", "none");
        } catch (const cudag::Error& error) {
            if (attempt == 0) std::printf("%s\n    %s\n", entry, error.what());
            check_error(entry, operation, error);
        } catch (const std::exception& error) {
            expect(false, entry, "a cudag::Error", error.what());
        }
    }
}

} // namespace

int main() {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0) {
        std::printf("skipped: this machine has a GPU that CUDA sees\n");
        return skipped;
    }
    static_cast<void>(cudaGetLastError());
    clear = cudaPeekAtLastError();

    cudaStream_t stream = nullptr;
    std::vector<int> from(4);
    std::vector<int> to(4);
    const cudag::DeviceSpan<int> span(to.data(), to.size());
    int not_a_graph[64] = {};

    check_throws("Stream", "cudaStreamCreateWithFlags", [] { const cudag::Stream made; });
    check_throws("Event", "cudaEventCreateWithFlags", [] { const cudag::Event made; });
    check_throws("DeviceBuffer", "cudaMalloc", [] { const cudag::DeviceBuffer<int> made(4); });
    check_throws("PinnedBuffer", "cudaMallocHost", [] { const cudag::PinnedBuffer<int> made(4); });
    check_throws("GraphBuilder", "cudaGraphCreate", [] { const cudag::GraphBuilder made; });
    check_throws("DeviceScalar", "cudaMalloc", [] { const cudag::DeviceScalar<int> made(4); });
    check_throws("memcpy_async", "cudaMemcpyAsync", [&] { cudag::memcpy_async(stream, to, from); });
    check_throws("capture", "cudaStreamGetCaptureInfo",
                 [] { static_cast<void>(cudag::capture(cudaStreamPerThread, [](cudaStream_t) {})); });
    check_throws("check", "check", [] { cudag::check(cudaFree(nullptr)); });
    // The driver's entry points where there is no driver, the current device where there is only no device.
    check_throws("CapturePool", "cudaGet", [] { const cudag::CapturePool made; });
    check_throws("Graph::adopt", "cudaGet",
                 [&] { static_cast<void>(cudag::Graph::adopt(reinterpret_cast<cudaGraph_t>(not_a_graph))); });
    check_throws("launch", "cudaGet", [&] { cudag::launch(stream, cudag::grid_1d(1, 1), touch, span); });
    check_throws("memset_async", "cudaGet", [&] { cudag::memset_async(stream, span, 0); });

    std::printf("%d failures\n", failures);
    return failures == 0 ? 0 : 1;
}
