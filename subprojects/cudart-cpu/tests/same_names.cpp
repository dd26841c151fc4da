// Kernels and variables of a shared object are its own, whatever others name theirs.
#include "check.hpp"

extern "C" {
void* first_kernel();
void* second_kernel();
cudaError_t set_first(int value);
cudaError_t set_second(int value);
}

namespace {

int launched(const void* kernel) {
    int* to = nullptr;
    CHECK_OK(cudaMallocManaged(reinterpret_cast<void**>(&to), sizeof(int), cudaMemAttachGlobal));
    void* arguments[] = {&to};
    CHECK_OK(cudaLaunchKernel(kernel, 1, 1, arguments, 0, nullptr));
    CHECK_OK(cudaDeviceSynchronize());
    const int written = *to;
    CHECK_OK(cudaFree(to));
    return written;
}

} // namespace

int main() {
#if CUDART_VERSION >= 13000
    CHECK(first_kernel() != second_kernel());
    CHECK(launched(first_kernel()) == 1);
    CHECK(launched(second_kernel()) == 2);
    CHECK_OK(set_first(10));
    CHECK_OK(set_second(20));
    CHECK(launched(first_kernel()) == 10);
    CHECK(launched(second_kernel()) == 20);
#endif
}
