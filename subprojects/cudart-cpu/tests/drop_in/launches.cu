// Kernels that launch kernels (dynamic parallelism), and one that needs more of the device runtime than there is.
#include <cstdio>

struct Range {
    int* values;
    int first, last;
};

/// Sorts a range, a part by each of two launches.
__global__ void quicksort(Range range) {
    if (range.first >= range.last) return;
    int* const values = range.values;
    const int pivot = values[(range.first + range.last) / 2];
    int i = range.first;
    int j = range.last;
    while (i <= j) {
        while (values[i] < pivot)
            ++i;
        while (values[j] > pivot)
            --j;
        if (i <= j) {
            const int value = values[i];
            values[i++] = values[j];
            values[j--] = value;
        }
    }
    quicksort<<<1, 1>>>({values, range.first, j});
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    quicksort<<<1, 1, 0, stream>>>({values, i, range.last});
    cudaStreamDestroy(stream);
}

__global__ void count(int* counter, char by, int factor) {
    __shared__ int part;
    if (threadIdx.x == 0) part = by;
    __syncthreads();
    atomicAdd(counter, part * factor);
}

__global__ void check(int* result, const int* counter, int expected) {
    *result = *counter == expected;
}

/// Each thread launches a grid; the tail launch runs after all of them.
__global__ void many(int* counter, int* result) {
    if (threadIdx.x == 0 && blockIdx.x == 0)
        check<<<1, 1, 0, cudaStreamTailLaunch>>>(result, counter, 4 * 64 * 3 * 32 * 2 * 5);
    count<<<3, 32>>>(counter, 2, 5);
    count<<<0, 32>>>(counter, 100, 100); // no configuration: an error of this launch alone
}

__global__ void copies(int* out) {
    cudaMemcpyAsync(out, out + 1, sizeof(int), cudaMemcpyDeviceToDevice, nullptr);
}

__global__ void faulty(int* out) {
    count<<<1, 1>>>(out, 1, 1);
}

int main() {
    constexpr int size = 500;
    int* values = nullptr;
    cudaMallocManaged(&values, (size + 2) * sizeof(int));
    for (int i = 0; i < size; ++i)
        values[i] = i * 7919 % size;
    values[size] = values[size + 1] = 0;
    quicksort<<<1, 1>>>({values, 0, size - 1});
    many<<<4, 64>>>(values + size, values + size + 1);
    cudaError_t error = cudaDeviceSynchronize();
    bool sorted = true;
    for (int i = 0; i < size; ++i)
        sorted = sorted && values[i] == i;
    std::printf("%s, %s, %d, %s\n", cudaGetErrorName(error), sorted ? "sorted" : "not sorted", values[size],
                values[size + 1] != 0 ? "in order" : "in disorder");
    copies<<<1, 1>>>(values);
    std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    faulty<<<1, 1>>>(nullptr);
    error = cudaDeviceSynchronize();
    std::printf("%s\n", cudaGetErrorName(error));
}
