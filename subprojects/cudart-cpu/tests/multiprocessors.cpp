// CUDART_CPU_MULTIPROCESSORS: attributes, occupancy and cooperative launches agree on it.
#include "check.hpp"

#include <cudart_cpu/kernel.hpp>

#include <cstdlib>

namespace {

void nothing() {}

} // namespace

int main(int, char** arguments) {
    const int expected = std::atoi(arguments[1]);
    cudart_cpu::register_kernel(nothing);
    int number = 0;
    CHECK_OK(cudaDeviceGetAttribute(&number, cudaDevAttrMultiProcessorCount, 0));
    CHECK(expected == 0 ? number >= 16 : number == expected);
    cudaDeviceProp properties{};
    CHECK_OK(cudaGetDeviceProperties(&properties, 0));
    CHECK(properties.multiProcessorCount == number);

    const auto* const kernel = reinterpret_cast<const void*>(&nothing);
    int blocks = 0;
    CHECK_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 64, 0));
    const auto most = static_cast<unsigned>(blocks * number);
    CHECK_OK(cudaLaunchCooperativeKernel(kernel, dim3(most), dim3(64), nullptr, 0, nullptr));
    CHECK_CODE(cudaErrorCooperativeLaunchTooLarge,
               cudaLaunchCooperativeKernel(kernel, dim3(most + 1), dim3(64), nullptr, 0, nullptr));
    CHECK_OK(cudaDeviceSynchronize());
}
