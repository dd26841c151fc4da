// A kernel that launches a kernel: refused by name.
#include <cstdio>

__global__ void inner(int* out) {
    *out = 1;
}

__global__ void outer(int* out) {
    inner<<<1, 1>>>(out);
}

__global__ void plain(int* out) {
    *out = 2;
}

int main() {
    int* out = nullptr;
    cudaMallocManaged(&out, sizeof(int));
    outer<<<1, 1>>>(out);
    std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    plain<<<1, 1>>>(out);
    const cudaError_t error = cudaDeviceSynchronize();
    std::printf("%s %d\n", cudaGetErrorName(error), *out);
}
