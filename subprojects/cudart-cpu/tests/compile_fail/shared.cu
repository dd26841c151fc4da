// expect-error: cudart-cpu: __shared__ memory needs nvcc
__global__ void kernel(float* out) {
#ifdef EXPECT_ERROR
    __shared__ float tile[32];
#else
    float tile[32];
#endif
    tile[0] = 1.0f;
    *out = tile[0];
}
