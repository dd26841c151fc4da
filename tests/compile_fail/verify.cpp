// verify(): functions and tolerances.
#include <cudag/verify.hpp>

void verified(cudag::Stream& stream, cudag::DeviceBuffer<float>& x, cudag::DeviceBuffer<int>& counts) {
    static_cast<void>(cudag::verify(stream, [](cudaStream_t) {}, {.memory = {{x, 1e-5}, counts}}));
#if CUDAG_MISTAKE == 1 // expect-error: cudag: a tolerance is for memory of float or double
    static_cast<void>(cudag::VerifiedRange(counts, 1e-5));
#elif CUDAG_MISTAKE == 2 // expect-error: cudag: verify(stream, function) calls function(cudaStream_t)
    static_cast<void>(cudag::verify(stream, [](int*) {}));
#endif
}
