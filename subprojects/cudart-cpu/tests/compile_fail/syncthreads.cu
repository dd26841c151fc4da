// expect-error: cudart-cpu: __syncthreads needs nvcc
__global__ void kernel(float* out) {
    *out = 1.0f;
#ifdef EXPECT_ERROR
    __syncthreads();
#endif
}
