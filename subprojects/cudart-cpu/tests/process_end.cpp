// A process may end in any state of its streams: one case per argument.
#include "check.hpp"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace {

std::atomic<bool> started{false};

/// Outlives main(): its destructor is a program's last use of CUDA.
struct StaticStream {
    cudaStream_t stream = nullptr;
    ~StaticStream() {
        if (stream != nullptr) {
            CHECK_OK(cudaStreamSynchronize(stream));
            CHECK_OK(cudaStreamDestroy(stream));
        }
    }
} static_stream;

void nap(void*) {
    started = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

[[noreturn]] void never_return(void*) {
    started = true;
    for (;;) {
        std::this_thread::sleep_for(std::chrono::seconds(1));
    }
}

void wait_until_started() {
    while (!started) {
        std::this_thread::yield();
    }
}

} // namespace

int main(int, char** argv) {
    const char* how = argv[1];
    cudaStream_t stream = nullptr;
    CHECK_OK(cudaStreamCreate(&stream));
    void* memory = nullptr;
    CHECK_OK(cudaMalloc(&memory, 100));
    if (std::strcmp(how, "pending") == 0) {
        for (int i = 0; i < 1000; ++i) {
            CHECK_OK(cudaLaunchHostFunc(stream, nap, nullptr));
            CHECK_OK(cudaLaunchHostFunc(nullptr, nap, nullptr));
        }
        wait_until_started();
    } else if (std::strcmp(how, "static") == 0) {
        static_stream.stream = stream;
        CHECK_OK(cudaLaunchHostFunc(stream, nap, nullptr));
    } else if (std::strcmp(how, "stuck") == 0) {
        CHECK_OK(cudaLaunchHostFunc(stream, never_return, nullptr));
        wait_until_started();
    } else if (std::strcmp(how, "exit-in-host-function") == 0) {
        CHECK_OK(cudaLaunchHostFunc(
            stream, [](void*) { std::exit(0); }, nullptr));
        CHECK_OK(cudaStreamSynchronize(stream));
    } else if (std::strcmp(how, "exit-in-thread") == 0) {
        CHECK_OK(cudaLaunchHostFunc(stream, nap, nullptr));
        std::thread([] { std::exit(0); }).join();
    } else {
        std::fprintf(stderr, "unknown case %s\n", how);
        return 1;
    }
}
