#include "cub_sum.hpp"

#include <cub/device/device_reduce.cuh>

cudaError_t cub_sum(void* temporary, std::size_t& bytes, const float* in, float* out, int count, cudaStream_t stream) {
    return cub::DeviceReduce::Sum(temporary, bytes, in, out, count, stream);
}
