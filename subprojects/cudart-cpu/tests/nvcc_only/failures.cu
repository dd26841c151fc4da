// Kernels that fail, one for each process: what the calls after it answer.
#include <cuda_runtime.h>

#include <cassert>
#include <cstdio>
#include <cstring>

namespace {

__global__ void divergent() {
    if (threadIdx.x < 16)
        __syncthreads();
    else
        __syncwarp();
}

__global__ void too_few() {
    asm volatile("bar.sync 1, 64;");
}

__global__ void asserted(int limit) {
    assert(static_cast<int>(threadIdx.x) < limit);
}

__global__ void trapped() {
    if (threadIdx.x == 3) __trap();
}

__global__ void no_memory(int* out) {
    out[threadIdx.x] = 1;
}

__global__ void no_memory_after_barrier(int* out) {
    __syncthreads();
    if (threadIdx.x == 5) *out = 1;
}

__device__ __noinline__ int deep(int n, volatile int* out) {
    int values[200];
    for (int i = 0; i < 200; ++i)
        values[i] = n + i + out[0];
    return n == 0 ? values[n] : deep(n - 1, out) + values[n % 200];
}

__global__ void overflow(int* out) {
    out[0] = deep(1 << 20, out);
}

__global__ void large_frames(int* out) {
    volatile int values[120000];
    for (int i = 0; i < 120000; i += 1000)
        values[i] = i;
    __syncthreads();
    out[threadIdx.x % 16] = values[1000 * (out[0] & 1)];
}

__global__ void tensor_cores(int* out) {
    int d[2] = {1, 2};
    asm volatile("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc {%0, %1}, {%2}, {%2}, {%0, %1};"
                 : "+r"(d[0]), "+r"(d[1])
                 : "r"(3));
    *out = d[0] + d[1];
}

__global__ void no_address(int* out) {
    out[1ll << 60] = 1;
}

__global__ void fine(int* out) {
    *out = 1;
}

struct Case {
    const char* name;
    cudaError_t at_launch;
    cudaError_t at_end;
};

const Case cases[] = {
    {"divergent", cudaSuccess, cudaErrorLaunchFailure}, {"too-few", cudaSuccess, cudaErrorLaunchFailure},
    {"assert", cudaSuccess, cudaErrorAssert},           {"trap", cudaSuccess, cudaErrorLaunchFailure},
    {"memory", cudaSuccess, cudaErrorIllegalAddress},   {"memory-after", cudaSuccess, cudaErrorIllegalAddress},
    {"overflow", cudaSuccess, cudaErrorIllegalAddress}, {"stacks", cudaSuccess, cudaErrorMemoryAllocation},
    {"tensor", cudaErrorNotSupported, cudaSuccess},     {"no-address", cudaSuccess, cudaErrorIllegalAddress},
};

bool check(const char* what, cudaError_t got, cudaError_t expected) {
    if (got == expected) return true;
    std::printf("%s: %s, not %s\n", what, cudaGetErrorName(got), cudaGetErrorName(expected));
    return false;
}

} // namespace

int main(int, char** arguments) {
    int* out = nullptr;
    cudaMalloc(&out, 64);
    const char* const name = arguments[1];
    const Case* found = nullptr;
    for (const Case& one : cases)
        if (std::strcmp(one.name, name) == 0) found = &one;
    if (found == nullptr) return 2;
    switch (found - cases) {
    case 0:
        divergent<<<2, 32>>>();
        break;
    case 1:
        too_few<<<2, 32>>>();
        break;
    case 2:
        asserted<<<1, 32>>>(20);
        break;
    case 3:
        trapped<<<2, 32>>>();
        break;
    case 4:
        no_memory<<<1, 32>>>(nullptr);
        break;
    case 5:
        no_memory_after_barrier<<<1, 32>>>(nullptr);
        break;
    case 6:
        overflow<<<1, 1>>>(out);
        break;
    case 7:
        large_frames<<<1, 1024>>>(out);
        break;
    case 9:
        no_address<<<1, 1>>>(out);
        break;
    default:
        for (int i = 0; i < 2; ++i) // told once
            tensor_cores<<<1, 32>>>(out);
    }
    bool good = check("launch", cudaGetLastError(), found->at_launch);
    good = check("synchronize", cudaDeviceSynchronize(), found->at_end) && good;
    good = check("last error", cudaGetLastError(), found->at_end) && good;
    good = check("last error again", cudaPeekAtLastError(), found->at_end) && good;
    fine<<<1, 1>>>(out);
    good = check("copy", cudaMemcpy(&out, out, 4, cudaMemcpyDeviceToHost), found->at_end) && good;

    good = check("reset", cudaDeviceReset(), cudaSuccess) && good;
    static_cast<void>(cudaGetLastError()); // this thread's, of the calls before
    good = check("last error after the reset", cudaGetLastError(), cudaSuccess) && good;
    int value = 0;
    cudaMalloc(&out, 64);
    fine<<<1, 1>>>(out);
    good = check("copy after the reset", cudaMemcpy(&value, out, 4, cudaMemcpyDeviceToHost), cudaSuccess) && good;
    return good && value == 1 ? 0 : 1;
}
