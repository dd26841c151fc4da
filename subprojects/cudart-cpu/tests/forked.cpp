// A child of fork() has none of the threads behind its parent's streams: its calls fail, and it ends.
#include "check.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

namespace {

std::atomic<bool> open{false};

void wait_until_open(void*) {
    while (!open) {
        usleep(1000);
    }
}

/// Runs `what` in a child, which is to exit with 7.
template <class F>
void in_child(const F& what) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        what();
        std::exit(7);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 7);
}

/// Its last use of CUDA is after main(): freeing waits for all work.
struct StaticMemory {
    void* memory = nullptr;
    ~StaticMemory() {
        if (memory != nullptr) {
            static_cast<void>(cudaFree(memory));
        }
    }
} static_memory;

} // namespace

int main() {
    // Before the parent has used CUDA, a child can.
    in_child([] {
        cudaStream_t stream = nullptr;
        CHECK_OK(cudaStreamCreate(&stream));
        open = true;
        CHECK_OK(cudaLaunchHostFunc(stream, wait_until_open, nullptr));
        CHECK_OK(cudaStreamSynchronize(stream));
        CHECK_OK(cudaStreamDestroy(stream));
    });

    cudaStream_t stream = nullptr;
    CHECK_OK(cudaStreamCreate(&stream));
    CHECK_OK(cudaMalloc(&static_memory.memory, 100));
    CHECK_OK(cudaLaunchHostFunc(stream, wait_until_open, nullptr));
    CHECK_OK(cudaLaunchHostFunc(cudaStreamPerThread, wait_until_open, nullptr));

    in_child([] {});
    in_child([&] {
        int count = 0;
        CHECK_OK(cudaGetDeviceCount(&count));
        CHECK_CODE(cudaErrorInitializationError, cudaStreamSynchronize(stream));
        CHECK_CODE(cudaErrorInitializationError, cudaGetLastError());
        CHECK_CODE(cudaSuccess, cudaGetLastError());
        CHECK_CODE(cudaErrorInitializationError, cudaStreamQuery(stream));
        CHECK_CODE(cudaErrorInitializationError, cudaDeviceSynchronize());
        CHECK_CODE(cudaErrorInitializationError, cudaFree(static_memory.memory));
        void* more = nullptr;
        CHECK_CODE(cudaErrorInitializationError, cudaMalloc(&more, 100));
        CHECK_CODE(cudaErrorInitializationError, cudaLaunchHostFunc(stream, wait_until_open, nullptr));
        CHECK_CODE(cudaErrorInitializationError, cudaStreamDestroy(stream));
        cudaGraph_t graph = nullptr;
        CHECK_CODE(cudaErrorInitializationError, cudaGraphCreate(&graph, 0));
    });
    open = true;
    CHECK_OK(cudaDeviceSynchronize());
    CHECK_OK(cudaStreamDestroy(stream));
}
