// expect-error: cudart-cpu: __shfl_down_sync needs nvcc
__global__ void kernel(float* out) {
#ifdef EXPECT_ERROR
    *out = __shfl_down_sync(0xFFFFFFFFu, *out, 1);
#else
    *out = 1.0f;
#endif
}
