// expect-error: cudart-cpu: __shared__ memory needs nvcc
#ifdef EXPECT_ERROR
extern __shared__ float tile[];
#else
extern float tile[];
#endif
__global__ void kernel(float* out) {
    *out = tile[0];
}
