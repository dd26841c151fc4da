// Everyday programs as kernels: the host halves, too, so that they go through nvcc as users' programs do.
#include "cpu_programs.hpp"

#include <cooperative_groups.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>
#include <utility>

namespace programs {

namespace {

void check(cudaError_t code) {
    if (code != cudaSuccess) throw std::runtime_error(cudaGetErrorString(code));
}

template <class T>
class Buffer {
  public:
    explicit Buffer(int count) : count_(count) { check(cudaMallocManaged(&data_, sizeof(T) * count)); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() { cudaFree(data_); }

    operator T*() const { return data_; }
    T* begin() const { return data_; }
    T* end() const { return data_ + count_; }

  private:
    T* data_ = nullptr;
    int count_;
};

void fill(const Buffer<float>& buffer, float low, float high) {
    std::mt19937 random(7);
    for (float& value : buffer)
        value = low + (high - low) * static_cast<float>(random() % 65536) / 65536;
}

template <class T>
bool equal(const Buffer<T>& a, const Buffer<T>& b) {
    return std::equal(a.begin(), a.end(), b.begin());
}

bool near(const Buffer<float>& a, const Buffer<float>& b, float relative = 1e-3f, float absolute = 1e-4f) {
    return std::equal(a.begin(), a.end(), b.begin(),
                      [=](float x, float y) { return std::fabs(x - y) <= absolute + relative * std::fabs(x); });
}

constexpr int block = 256;

// Scan: Hillis and Steele in each block, then the sums of the blocks before.

__global__ void scan_blocks(int n, const int* in, int* out, int* sums) {
    __shared__ int values[2][block];
    const int at = threadIdx.x;
    const int i = blockIdx.x * block + at;
    int now = 0;
    values[now][at] = i < n ? in[i] : 0;
    __syncthreads();
    for (int step = 1; step < block; step *= 2) {
        const int value = values[now][at] + (at >= step ? values[now][at - step] : 0);
        now = 1 - now;
        values[now][at] = value;
        __syncthreads();
    }
    if (i < n) out[i] = values[now][at];
    if (sums != nullptr && at == block - 1) sums[blockIdx.x] = values[now][at];
}

__global__ void add_before(int n, const int* sums, int* out) {
    const int i = blockIdx.x * block + threadIdx.x;
    if (blockIdx.x > 0 && i < n) out[i] += sums[blockIdx.x - 1];
}

void scan_on_device(int n, const int* in, int* out, int* sums) {
    const int blocks = (n + block - 1) / block;
    scan_blocks<<<blocks, block>>>(n, in, out, blocks > 1 ? sums : nullptr);
    if (blocks == 1) return;
    scan_on_device(blocks, sums, sums, sums + blocks);
    add_before<<<blocks, block>>>(n, sums, out);
}

class Scan : public Program {
  public:
    Scan() : Program("scan of 256 Ki numbers", 4) {
        for (int i = 0; i < n; ++i)
            in_[i] = i % 17;
    }
    void kernels() override {
        scan_on_device(n, in_, out_, sums_);
        check(cudaDeviceSynchronize());
    }
    void loops() override { scan(n, in_, expected_); }
    bool agrees() const override { return equal(out_, expected_); }

  private:
    static constexpr int n = 1 << 18;
    Buffer<int> in_{n}, out_{n}, expected_{n}, sums_{n};
};

// Radix sort: four bits a pass; a thread's rank within its block by ballots and a scan of the warps.

__global__ void count_digits(int n, int shift, const unsigned* in, int* counts) {
    __shared__ int here[16];
    if (threadIdx.x < 16) here[threadIdx.x] = 0;
    __syncthreads();
    const int i = blockIdx.x * block + threadIdx.x;
    if (i < n) atomicAdd(&here[in[i] >> shift & 15], 1);
    __syncthreads();
    if (threadIdx.x < 16) counts[threadIdx.x * gridDim.x + blockIdx.x] = here[threadIdx.x];
}

__global__ void scatter_digits(int n, int shift, const unsigned* in, const int* ends, unsigned* out) {
    __shared__ int of_warp[16][block / 32];
    const int i = blockIdx.x * block + threadIdx.x;
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    const unsigned value = i < n ? in[i] : 0;
    const int digit = i < n ? static_cast<int>(value >> shift & 15) : 16;
    int rank = 0;
    for (int one = 0; one < 16; ++one) {
        const unsigned same = __ballot_sync(~0u, digit == one);
        if (digit == one) rank = __popc(same & ((1u << lane) - 1));
        if (lane == 0) of_warp[one][warp] = __popc(same);
    }
    __syncthreads();
    if (digit < 16) {
        const int row = digit * gridDim.x + blockIdx.x;
        int at = (row > 0 ? ends[row - 1] : 0) + rank;
        for (int before = 0; before < warp; ++before)
            at += of_warp[digit][before];
        out[at] = value;
    }
}

class RadixSort : public Program {
  public:
    RadixSort() : Program("radix sort of 64 Ki numbers", 4) {
        std::mt19937 random(1);
        for (unsigned& value : in_)
            value = static_cast<unsigned>(random());
    }
    void kernels() override {
        const unsigned* from = in_;
        unsigned* to = other_;
        for (int shift = 0; shift < 32; shift += 4) {
            count_digits<<<n / block, block>>>(n, shift, from, counts_);
            scan_on_device(16 * n / block, counts_, ends_, sums_);
            scatter_digits<<<n / block, block>>>(n, shift, from, ends_, to);
            from = to;
            to = to == other_ ? out_ : other_;
        }
        check(cudaDeviceSynchronize());
    }
    void loops() override { radix_sort(n, in_, expected_, other_); }
    bool agrees() const override { return equal(out_, expected_); }

  private:
    static constexpr int n = 1 << 16;
    Buffer<unsigned> in_{n}, out_{n}, expected_{n}, other_{n};
    Buffer<int> counts_{n}, ends_{n}, sums_{n};
};

// Merge sort: bitonic within a block, then merges by binary search.

__global__ void sort_blocks(const unsigned* in, unsigned* out) {
    __shared__ unsigned values[2 * block];
    const int base = blockIdx.x * 2 * block;
    values[threadIdx.x] = in[base + threadIdx.x];
    values[threadIdx.x + block] = in[base + threadIdx.x + block];
    for (int size = 2; size <= 2 * block; size *= 2)
        for (int stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            const int at = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
            const bool up = (at & size) == 0 || size == 2 * block;
            const unsigned a = values[at];
            const unsigned b = values[at + stride];
            if ((a > b) == up) {
                values[at] = b;
                values[at + stride] = a;
            }
        }
    __syncthreads();
    out[base + threadIdx.x] = values[threadIdx.x];
    out[base + threadIdx.x + block] = values[threadIdx.x + block];
}

__global__ void merge_pairs(int n, int width, const unsigned* in, unsigned* out) {
    const int i = blockIdx.x * block + threadIdx.x;
    if (i >= n) return;
    const bool second = (i / width & 1) != 0;
    const unsigned* const other = in + (second ? i / width * width - width : i / width * width + width);
    const unsigned value = in[i];
    int low = 0;
    int high = width;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (other[middle] < value || (second && other[middle] == value))
            low = middle + 1;
        else
            high = middle;
    }
    out[i / (2 * width) * (2 * width) + i % width + low] = value;
}

class MergeSort : public Program {
  public:
    MergeSort() : Program("merge sort of 64 Ki numbers", 4) {
        std::mt19937 random(2);
        for (unsigned& value : in_)
            value = static_cast<unsigned>(random() % 100000);
    }
    void kernels() override {
        sort_blocks<<<n / (2 * block), block>>>(in_, out_);
        unsigned* from = out_;
        unsigned* to = other_;
        for (int width = 2 * block; width < n; width *= 2) {
            merge_pairs<<<n / block, block>>>(n, width, from, to);
            std::swap(from, to);
        }
        check(cudaDeviceSynchronize());
        if (from != out_) std::copy(from, from + n, out_.begin());
    }
    void loops() override { merge_sort(n, in_, expected_, other_); }
    bool agrees() const override { return equal(out_, expected_); }

  private:
    static constexpr int n = 1 << 16;
    Buffer<unsigned> in_{n}, out_{n}, expected_{n}, other_{n};
};

// A product by tiles in shared memory.

constexpr int tile = 16;

__global__ void multiply_tiles(int n, const float* a, const float* b, float* c) {
    __shared__ float as[tile][tile];
    __shared__ float bs[tile][tile];
    const int row = blockIdx.y * tile + threadIdx.y;
    const int column = blockIdx.x * tile + threadIdx.x;
    float sum = 0;
    for (int at = 0; at < n; at += tile) {
        as[threadIdx.y][threadIdx.x] = a[row * n + at + threadIdx.x];
        bs[threadIdx.y][threadIdx.x] = b[(at + threadIdx.y) * n + column];
        __syncthreads();
        for (int i = 0; i < tile; ++i)
            sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

class Product : public Program {
  public:
    Product() : Program("product of 256 by 256, by tiles", 4) {
        fill(a_, -1, 1);
        fill(b_, 0, 1);
    }
    void kernels() override {
        multiply_tiles<<<dim3(n / tile, n / tile), dim3(tile, tile)>>>(n, a_, b_, c_);
        check(cudaDeviceSynchronize());
    }
    void loops() override { product(n, a_, b_, expected_); }
    bool agrees() const override { return near(c_, expected_); }

  private:
    static constexpr int n = 256;
    Buffer<float> a_{n * n}, b_{n * n}, c_{n * n}, expected_{n * n};
};

__global__ void transpose_tiles(int n, const float* in, float* out) {
    __shared__ float values[32][33];
    for (int y = threadIdx.y; y < 32; y += 8)
        values[y][threadIdx.x] = in[(blockIdx.y * 32 + y) * n + blockIdx.x * 32 + threadIdx.x];
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += 8)
        out[(blockIdx.x * 32 + y) * n + blockIdx.y * 32 + threadIdx.x] = values[threadIdx.x][y];
}

class Transpose : public Program {
  public:
    Transpose() : Program("transposition of 512 by 512, by tiles", 4) { fill(in_, -1, 1); }
    void kernels() override {
        transpose_tiles<<<dim3(n / 32, n / 32), dim3(32, 8)>>>(n, in_, out_);
        check(cudaDeviceSynchronize());
    }
    void loops() override { transpose(n, in_, expected_); }
    bool agrees() const override { return equal(out_, expected_); }

  private:
    static constexpr int n = 512;
    Buffer<float> in_{n * n}, out_{n * n}, expected_{n * n};
};

// A sum by shuffles.

__global__ void sum_blocks(int n, const float* in, float* out) {
    __shared__ float warps[block / 32];
    float value = 0;
    for (int i = blockIdx.x * block + threadIdx.x; i < n; i += gridDim.x * block)
        value += in[i];
    for (int by = 16; by > 0; by /= 2)
        value += __shfl_down_sync(~0u, value, by);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x < 32) {
        value = threadIdx.x < block / 32 ? warps[threadIdx.x] : 0;
        for (int by = block / 64; by > 0; by /= 2)
            value += __shfl_down_sync(~0u, value, by);
        if (threadIdx.x == 0) out[blockIdx.x] = value;
    }
}

class Sum : public Program {
  public:
    Sum() : Program("sum of a million, by shuffles", 4) { fill(in_, 0, 1); }
    void kernels() override {
        sum_blocks<<<512, block>>>(n, in_, out_);
        sum_blocks<<<1, block>>>(512, out_, out_ + 512);
        check(cudaDeviceSynchronize());
    }
    void loops() override { expected_ = sum(n, in_); }
    bool agrees() const override { return std::fabs(out_[512] - expected_) < 0.01f * expected_; }

  private:
    static constexpr int n = 1 << 20;
    Buffer<float> in_{n}, out_{513};
    float expected_ = 0;
};

// Random numbers, as cuRAND makes them.

__device__ Xorwow state_of(unsigned seed) {
    const unsigned s = seed ^ 0xaad26b49u;
    const unsigned t = 1099087573u * s;
    return {{123456789u + t, 362436069u ^ t, 521288629u + t, 88675123u ^ t, 5783321u + t}, 6615241u + t};
}

__device__ unsigned next(Xorwow& s) {
    const unsigned t = s.v[0] ^ (s.v[0] >> 2);
    s.v[0] = s.v[1];
    s.v[1] = s.v[2];
    s.v[2] = s.v[3];
    s.v[3] = s.v[4];
    s.v[4] = (s.v[4] ^ (s.v[4] << 4)) ^ (t ^ (t << 1));
    s.d += 362437;
    return s.v[4] + s.d;
}

__device__ float uniform(Xorwow& s) {
    return static_cast<float>(next(s)) * 2.3283064e-10f + 1.1641532e-10f;
}

__global__ void throw_darts(int paths, unsigned seed, unsigned* inside) {
    __shared__ unsigned counts[block];
    const int i = blockIdx.x * block + threadIdx.x;
    Xorwow state = state_of(seed + i);
    unsigned count = 0;
    for (int path = 0; path < paths; ++path) {
        const float x = uniform(state);
        const float y = uniform(state);
        if (x * x + y * y < 1) ++count;
    }
    counts[threadIdx.x] = count;
    __syncthreads();
    for (int half = block / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) counts[threadIdx.x] += counts[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(inside, counts[0]);
}

class MonteCarlo : public Program {
  public:
    MonteCarlo() : Program("Monte Carlo, 4096 threads by 64 darts", 4) {}
    void kernels() override {
        inside_[0] = 0;
        throw_darts<<<threads / block, block>>>(paths, 5, inside_);
        check(cudaDeviceSynchronize());
    }
    void loops() override { expected_ = monte_carlo(threads, paths, 5); }
    bool agrees() const override { return std::fabs(4.0f * inside_[0] / threads / paths - expected_) < 1e-3f; }

  private:
    static constexpr int threads = 4096;
    static constexpr int paths = 64;
    Buffer<unsigned> inside_{1};
    float expected_ = 0;
};

__global__ void make_random(int threads, int count, Xorwow* states, float* out) {
    const int i = blockIdx.x * block + threadIdx.x;
    Xorwow state = states[i];
    for (int k = 0; k < count; ++k)
        out[k * threads + i] = uniform(state);
    states[i] = state;
}

class RandomNumbers : public Program {
  public:
    RandomNumbers() : Program("4096 generators of 64 numbers", 2) {
        for (int i = 0; i < threads; ++i)
            states_[i] = expected_states_[i] = xorwow(i);
    }
    void kernels() override {
        make_random<<<threads / block, block>>>(threads, count, states_, out_);
        check(cudaDeviceSynchronize());
    }
    void loops() override { random_numbers(threads, count, expected_states_, expected_); }
    bool agrees() const override { return near(out_, expected_); }

  private:
    static constexpr int threads = 4096;
    static constexpr int count = 64;
    Buffer<Xorwow> states_{threads}, expected_states_{threads};
    Buffer<float> out_{threads * count}, expected_{threads * count};
};

__device__ float normal_cdf(float x) {
    return 0.5f * erfcf(-0.70710678f * x);
}

__global__ void price_options(int n, const float* price, const float* strike, const float* years, float* call,
                              float* put) {
    constexpr float rate = 0.02f;
    constexpr float volatility = 0.3f;
    for (int i = blockIdx.x * block + threadIdx.x; i < n; i += gridDim.x * block) {
        const float root = sqrtf(years[i]);
        const float d1 =
            (logf(price[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / (volatility * root);
        const float d2 = d1 - volatility * root;
        const float discounted = strike[i] * expf(-rate * years[i]);
        call[i] = price[i] * normal_cdf(d1) - discounted * normal_cdf(d2);
        put[i] = discounted * normal_cdf(-d2) - price[i] * normal_cdf(-d1);
    }
}

class BlackScholes : public Program {
  public:
    BlackScholes() : Program("Black-Scholes, 64 Ki options", 2) {
        fill(price_, 5, 30);
        fill(strike_, 1, 100);
        fill(years_, 0.25f, 10);
    }
    void kernels() override {
        price_options<<<64, block>>>(n, price_, strike_, years_, call_, put_);
        check(cudaDeviceSynchronize());
    }
    void loops() override { black_scholes(n, price_, strike_, years_, expected_call_, expected_put_); }
    bool agrees() const override { return near(call_, expected_call_) && near(put_, expected_put_); }

  private:
    static constexpr int n = 1 << 16;
    Buffer<float> price_{n}, strike_{n}, years_{n}, call_{n}, put_{n}, expected_call_{n}, expected_put_{n};
};

// Convolutions of rows.

constexpr int radius = 8;
__constant__ float weights[2 * radius + 1];

__global__ void convolve_shared(int width, const float* in, float* out) {
    __shared__ float values[4][64 + 2 * radius];
    const int y = blockIdx.y * 4 + threadIdx.y;
    const int begin = blockIdx.x * 64 - radius;
    for (int at = threadIdx.x; at < 64 + 2 * radius; at += 64)
        values[threadIdx.y][at] = in[y * width + min(max(begin + at, 0), width - 1)];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k <= 2 * radius; ++k)
        sum += weights[k] * values[threadIdx.y][threadIdx.x + k];
    out[y * width + blockIdx.x * 64 + threadIdx.x] = sum;
}

__global__ void convolve_texture(int width, int height, cudaTextureObject_t in, float* out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0;
    for (int k = -radius; k <= radius; ++k)
        sum += weights[k + radius] * tex2D<float>(in, x + k + 0.5f, y + 0.5f);
    out[y * width + x] = sum;
}

/// An image that kernels read as a texture.
class Image {
  public:
    Image(int width, int height, const float* pixels, cudaTextureFilterMode filter) {
        const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
        check(cudaMallocArray(&array_, &format, width, height));
        check(cudaMemcpy2DToArray(array_, 0, 0, pixels, sizeof(float) * width, sizeof(float) * width, height,
                                  cudaMemcpyDefault));
        cudaResourceDesc resource{};
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = array_;
        cudaTextureDesc sampling{};
        sampling.addressMode[0] = sampling.addressMode[1] = cudaAddressModeClamp;
        sampling.filterMode = filter;
        check(cudaCreateTextureObject(&texture_, &resource, &sampling, nullptr));
    }
    Image(const Image&) = delete;
    Image& operator=(const Image&) = delete;
    ~Image() {
        cudaDestroyTextureObject(texture_);
        cudaFreeArray(array_);
    }
    operator cudaTextureObject_t() const { return texture_; }

  private:
    cudaArray_t array_{};
    cudaTextureObject_t texture_{};
};

class Convolution : public Program {
  public:
    Convolution(const char* its_name, double its_goal) : Program(its_name, its_goal) {
        fill(in_, 0, 1);
        for (int k = 0; k <= 2 * radius; ++k)
            weights_[k] = 1.0f / static_cast<float>(2 + std::abs(k - radius));
        check(cudaMemcpyToSymbol(weights, weights_, sizeof weights_));
    }
    void loops() override { convolution(width, height, radius, weights_, in_, expected_); }
    bool agrees() const override { return near(out_, expected_); }

  protected:
    static constexpr int width = 512;
    static constexpr int height = 256;
    Buffer<float> in_{width * height}, out_{width * height}, expected_{width * height};
    float weights_[2 * radius + 1];
};

class SharedConvolution : public Convolution {
  public:
    SharedConvolution() : Convolution("convolution by shared memory", 4) {}
    void kernels() override {
        convolve_shared<<<dim3(width / 64, height / 4), dim3(64, 4)>>>(width, in_, out_);
        check(cudaDeviceSynchronize());
    }
};

class TextureConvolution : public Convolution {
  public:
    TextureConvolution() : Convolution("convolution by texture", 6), image_(width, height, in_, cudaFilterModePoint) {}
    void kernels() override {
        convolve_texture<<<dim3(width / 16, height / 16), dim3(16, 16)>>>(width, height, image_, out_);
        check(cudaDeviceSynchronize());
    }

  private:
    Image image_;
};

// Optical flow: Horn and Schunck's iteration, with the second image warped by the flow so far.

__global__ void flow_step(int width, int height, const float* first, cudaTextureObject_t second, const float* u,
                          const float* v, float* u2, float* v2) {
    __shared__ float us[10][34];
    __shared__ float vs[10][34];
    const int x = blockIdx.x * 32 + threadIdx.x;
    const int y = blockIdx.y * 8 + threadIdx.y;
    for (int at = threadIdx.y * 32 + threadIdx.x; at < 340; at += 256) {
        const int i = min(max(static_cast<int>(blockIdx.x) * 32 + at % 34 - 1, 0), width - 1);
        const int j = min(max(static_cast<int>(blockIdx.y) * 8 + at / 34 - 1, 0), height - 1);
        us[at / 34][at % 34] = u[j * width + i];
        vs[at / 34][at % 34] = v[j * width + i];
    }
    __syncthreads();
    const int a = threadIdx.y + 1;
    const int b = threadIdx.x + 1;
    const float mean_u = 0.25f * (us[a][b - 1] + us[a][b + 1] + us[a - 1][b] + us[a + 1][b]);
    const float mean_v = 0.25f * (vs[a][b - 1] + vs[a][b + 1] + vs[a - 1][b] + vs[a + 1][b]);
    const float px = x + mean_u + 0.5f;
    const float py = y + mean_v + 0.5f;
    const float ix = 0.5f * (tex2D<float>(second, px + 1, py) - tex2D<float>(second, px - 1, py));
    const float iy = 0.5f * (tex2D<float>(second, px, py + 1) - tex2D<float>(second, px, py - 1));
    const float it = tex2D<float>(second, px, py) - first[y * width + x];
    const float scale = it / (0.1f + ix * ix + iy * iy);
    u2[y * width + x] = mean_u - ix * scale;
    v2[y * width + x] = mean_v - iy * scale;
}

class OpticalFlow : public Program {
  public:
    OpticalFlow()
        : Program("optical flow of 256 by 128, 4 steps", 6), image_(width, height, shifted(), cudaFilterModeLinear) {}
    void kernels() override {
        std::fill(u_.begin(), u_.end(), 0.0f);
        std::fill(v_.begin(), v_.end(), 0.0f);
        float *u = u_, *v = v_, *u2 = u2_, *v2 = v2_;
        for (int step = 0; step < steps; ++step) {
            flow_step<<<dim3(width / 32, height / 8), dim3(32, 8)>>>(width, height, first_, image_, u, v, u2, v2);
            std::swap(u, u2);
            std::swap(v, v2);
        }
        check(cudaDeviceSynchronize());
    }
    void loops() override { optical_flow(width, height, steps, first_, second_, expected_u_, expected_v_, u2_, v2_); }
    bool agrees() const override { return near(u_, expected_u_, 1e-2f, 1e-2f) && near(v_, expected_v_, 1e-2f, 1e-2f); }

  private:
    static constexpr int width = 256;
    static constexpr int height = 128;
    static constexpr int steps = 4;

    const float* shifted() {
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x) {
                first_[y * width + x] = std::sin(0.1f * x) * std::cos(0.15f * y);
                second_[y * width + x] = std::sin(0.1f * (x - 0.7f)) * std::cos(0.15f * (y - 0.4f));
            }
        return second_;
    }

    Buffer<float> first_{width * height}, second_{width * height}, u_{width * height}, v_{width * height},
        u2_{width * height}, v2_{width * height}, expected_u_{width * height}, expected_v_{width * height};
    Image image_;
};

__global__ void count_bytes(int n, const unsigned char* in, unsigned* bins) {
    __shared__ unsigned here[256];
    here[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * block + threadIdx.x; i < n; i += gridDim.x * block)
        atomicAdd(&here[in[i]], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], here[threadIdx.x]);
}

class Histogram : public Program {
  public:
    Histogram() : Program("histogram of a million bytes", 4) {
        std::mt19937 random(3);
        for (unsigned char& value : in_)
            value = static_cast<unsigned char>(random() & random());
    }
    void kernels() override {
        check(cudaMemset(bins_, 0, 256 * sizeof(unsigned)));
        count_bytes<<<128, block>>>(n, in_, bins_);
        check(cudaDeviceSynchronize());
    }
    void loops() override { histogram(n, in_, expected_); }
    bool agrees() const override { return equal(bins_, expected_); }

  private:
    static constexpr int n = 1 << 20;
    Buffer<unsigned char> in_{n};
    Buffer<unsigned> bins_{256}, expected_{256};
};

// Persistent kernels: as many blocks as the device runs at once, with barriers of the grid.

__global__ void heat_steps(int n, int steps, float* a, float* b) {
    const auto grid = cooperative_groups::this_grid();
    for (int step = 0; step < steps; ++step) {
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n - 1; i += gridDim.x * blockDim.x)
            if (i > 0) b[i] = a[i] + 0.2f * (a[i - 1] - 2 * a[i] + a[i + 1]);
        grid.sync();
        float* const swapped = a;
        a = b;
        b = swapped;
    }
}

class Persistent : public Program {
  public:
    Persistent() : Program("persistent kernel, 32 barriers of the grid", 0) {}
    void kernels() override {
        for (int i = 0; i < n; ++i)
            a_[i] = b_[i] = i % 100 < 50;
        int device = 0;
        int processors = 0;
        int blocks = 0;
        check(cudaGetDevice(&device));
        check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
        check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, heat_steps, block, 0));
        int count = n;
        int repeat = steps;
        float* a = a_;
        float* b = b_;
        void* arguments[] = {&count, &repeat, &a, &b};
        check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(heat_steps), dim3(processors * blocks),
                                          dim3(block), arguments));
        check(cudaDeviceSynchronize());
    }
    void loops() override {
        for (int i = 0; i < n; ++i)
            expected_[i] = other_[i] = i % 100 < 50;
        heat(n, steps, expected_, other_);
    }
    bool agrees() const override { return near(a_, expected_); }

  private:
    static constexpr int n = 1 << 16;
    static constexpr int steps = 32;
    Buffer<float> a_{n}, b_{n}, expected_{n}, other_{n};
};

__global__ void wait_by_clock(long long ticks, int* out) {
    const long long begin = clock64();
    while (clock64() - begin < ticks) {
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x * blockDim.x + threadIdx.x;
}

class Waiting : public Program {
  public:
    Waiting() : Program("1024 threads that wait 20 us by the clock", 0) {}
    void kernels() override {
        wait_by_clock<<<n / block, block>>>(20'000, out_);
        check(cudaDeviceSynchronize());
    }
    void loops() override { work_by_clock(n, expected_); }
    bool agrees() const override { return equal(out_, expected_); }

  private:
    static constexpr int n = 1024;
    Buffer<int> out_{n}, expected_{n};
};

__global__ void attract(int n, const float4* bodies, float4* forces) {
    __shared__ float4 others[block];
    const int i = blockIdx.x * block + threadIdx.x;
    const float4 body = bodies[i];
    float x = 0;
    float y = 0;
    float z = 0;
    for (int begin = 0; begin < n; begin += block) {
        others[threadIdx.x] = bodies[begin + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < block; ++j) {
            const float dx = others[j].x - body.x;
            const float dy = others[j].y - body.y;
            const float dz = others[j].z - body.z;
            const float r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f);
            const float s = others[j].w * r * r * r;
            x += dx * s;
            y += dy * s;
            z += dz * s;
        }
        __syncthreads();
    }
    forces[i] = make_float4(x, y, z, 0);
}

class NBody : public Program {
  public:
    NBody() : Program("n-body of 1024", 4) {
        std::mt19937 random(4);
        for (float4& body : bodies_)
            body = make_float4(random() % 1000 * 0.01f, random() % 1000 * 0.01f, random() % 1000 * 0.01f, 1);
    }
    void kernels() override {
        attract<<<n / block, block>>>(n, bodies_, forces_);
        check(cudaDeviceSynchronize());
    }
    void loops() override { n_body(n, bodies_, expected_); }
    bool agrees() const override {
        return std::equal(forces_.begin(), forces_.end(), expected_.begin(), [](const float4& a, const float4& b) {
            return std::fabs(a.x - b.x) + std::fabs(a.y - b.y) + std::fabs(a.z - b.z) <
                   1e-2f * (1 + std::fabs(a.x) + std::fabs(a.y) + std::fabs(a.z));
        });
    }

  private:
    static constexpr int n = 1024;
    Buffer<float4> bodies_{n}, forces_{n}, expected_{n};
};

} // namespace

std::vector<std::unique_ptr<Program>> all() {
    std::vector<std::unique_ptr<Program>> list;
    const auto add = [&](auto program) { list.push_back(std::move(program)); };
    add(std::make_unique<Scan>());
    add(std::make_unique<RadixSort>());
    add(std::make_unique<MergeSort>());
    add(std::make_unique<Product>());
    add(std::make_unique<Transpose>());
    add(std::make_unique<Sum>());
    add(std::make_unique<MonteCarlo>());
    add(std::make_unique<RandomNumbers>());
    add(std::make_unique<BlackScholes>());
    add(std::make_unique<SharedConvolution>());
    add(std::make_unique<TextureConvolution>());
    add(std::make_unique<OpticalFlow>());
    add(std::make_unique<Histogram>());
    add(std::make_unique<NBody>());
    add(std::make_unique<Persistent>());
    add(std::make_unique<Waiting>());
    return list;
}

} // namespace programs
