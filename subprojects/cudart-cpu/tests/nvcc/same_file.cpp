// One .cu file in two libraries of a program: their device code is equal, their variables are not.
#include "catch.hpp"

#include <cuda_runtime_api.h>

void count_first(int* to);
void count_second(int* to);
cudaError_t set_first(int value);
cudaError_t set_second(int value);

TEST_CASE("copies of a file have variables of their own", "[nvcc]") {
    int* counter = nullptr;
    REQUIRE(cudaMallocManaged(reinterpret_cast<void**>(&counter), sizeof(int), cudaMemAttachGlobal) == cudaSuccess);
    const auto counted = [&](void (*count)(int*)) {
        count(counter);
        REQUIRE(cudaGetLastError() == cudaSuccess);
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
        return *counter;
    };
    REQUIRE(counted(count_first) == 1);
    REQUIRE(counted(count_first) == 2);
    REQUIRE(counted(count_second) == 1);
    REQUIRE(set_first(10) == cudaSuccess);
    REQUIRE(set_second(20) == cudaSuccess);
    REQUIRE(counted(count_first) == 11);
    REQUIRE(counted(count_second) == 21);
    REQUIRE(cudaFree(counter) == cudaSuccess);
}
