// Products of matrices that a warp holds together, as tensor cores compute them.
#include "kernel_test.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <cstdint>
#include <type_traits>

namespace {

__global__ void multiply_fragments(const __half* a, const __half* b, float* c, int k) {
    using namespace nvcuda;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int step = 0; step < k; step += 16) {
        wmma::load_matrix_sync(fa, a + step, k);
        wmma::load_matrix_sync(fb, b + step, k);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    for (int i = 0; i < sum.num_elements; ++i)
        sum.x[i] *= 2.0f;
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}

/// m16n8k16, with the layout that PTX defines; A through shared memory by ldmatrix.
__global__ void multiply_halves(const __half* a, const __half* b, float* d) {
    __shared__ alignas(16) __half tile[16 * 16];
    const unsigned lane = threadIdx.x;
    for (unsigned i = lane; i < 256; i += 32)
        tile[i] = a[i];
    __syncwarp();
    unsigned ra[4];
    const auto row = static_cast<unsigned>(__cvta_generic_to_shared(tile + lane % 16 * 16 + lane / 16 * 8));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3])
                 : "r"(row));
    const unsigned group = lane / 4;
    const unsigned place = lane % 4;
    unsigned rb[2];
    for (unsigned i = 0; i < 2; ++i) {
        const __half2 two = __halves2half2(b[(i * 8 + place * 2) * 8 + group], b[(i * 8 + place * 2 + 1) * 8 + group]);
        rb[i] = *reinterpret_cast<const unsigned*>(&two);
    }
    float c[4] = {1, 2, 3, 4};
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9},"
                 " {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
    for (unsigned i = 0; i < 4; ++i)
        d[(group + i / 2 * 8) * 8 + place * 2 + i % 2] = c[i] - static_cast<float>(i + 1);
}

/// m16n8k32 of bytes.
__global__ void multiply_bytes(const signed char* a, const signed char* b, int* d) {
    const unsigned lane = threadIdx.x;
    const unsigned group = lane / 4;
    const unsigned place = lane % 4;
    unsigned ra[4] = {};
    unsigned rb[2] = {};
    for (unsigned r = 0; r < 4; ++r)
        for (unsigned i = 0; i < 4; ++i)
            ra[r] |= static_cast<unsigned>(
                         static_cast<unsigned char>(a[(group + r % 2 * 8) * 32 + r / 2 * 16 + place * 4 + i]))
                     << (8 * i);
    for (unsigned r = 0; r < 2; ++r)
        for (unsigned i = 0; i < 4; ++i)
            rb[r] |= static_cast<unsigned>(static_cast<unsigned char>(b[(r * 16 + place * 4 + i) * 8 + group]))
                     << (8 * i);
    int c[4] = {};
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9},"
                 " {%0, %1, %2, %3};"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                 : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
    for (unsigned i = 0; i < 4; ++i)
        d[(group + i / 2 * 8) * 8 + place * 2 + i % 2] = c[i];
}

/// One fragment of each matrix for each step of `depth`, of any type; for tf32 the numbers are floats.
template <int M, int N, int K, class Kind, class In, class Sum, class LayoutA, class LayoutB>
__global__ void multiply_kinds(const In* a, const In* b, Sum* d, int depth) {
    using namespace nvcuda;
    constexpr bool a_by_rows = std::is_same_v<LayoutA, wmma::row_major>;
    constexpr bool b_by_rows = std::is_same_v<LayoutB, wmma::row_major>;
    wmma::fragment<wmma::matrix_a, M, N, K, Kind, LayoutA> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, Kind, LayoutB> fb;
    wmma::fragment<wmma::accumulator, M, N, K, Sum> sum;
    wmma::fill_fragment(sum, static_cast<Sum>(3));
    for (int step = 0; step < depth; step += K) {
        wmma::load_matrix_sync(fa, a + step * (a_by_rows ? 1 : M), a_by_rows ? depth : M);
        wmma::load_matrix_sync(fb, b + step * (b_by_rows ? N : 1), b_by_rows ? N : depth);
        if constexpr (std::is_same_v<Kind, wmma::precision::tf32>) {
            for (int i = 0; i < fa.num_elements; ++i)
                fa.x[i] = wmma::__float_to_tf32(fa.x[i]);
            for (int i = 0; i < fb.num_elements; ++i)
                fb.x[i] = wmma::__float_to_tf32(fb.x[i]);
        }
        wmma::mma_sync(sum, fa, fb, sum);
    }
    __shared__ alignas(32) Sum tile[M * N];
    wmma::store_matrix_sync(tile, sum, N, wmma::mem_row_major);
    __syncwarp();
    for (int i = static_cast<int>(threadIdx.x); i < M * N; i += 32)
        d[i] = tile[i];
}

/// The lane's registers of A (Rows x Depth) and B (Depth x 8), in the layout that PTX defines for mma.
template <int Rows, int Depth, class T, class Register>
__device__ void gather(const T* a, const T* b, Register* ra, Register* rb) {
    constexpr int packed = sizeof(Register) / sizeof(T);
    constexpr int halves = Rows / 8;
    const int group = static_cast<int>(threadIdx.x) / 4;
    const int place = static_cast<int>(threadIdx.x) % 4;
    T parts[packed];
    for (int r = 0; r < Rows * Depth / 32 / packed; ++r) {
        for (int i = 0; i < packed; ++i)
            parts[i] = a[(group + r % halves * 8) * Depth + (r / halves * 4 + place) * packed + i];
        memcpy(&ra[r], parts, sizeof(Register));
    }
    for (int r = 0; r < Depth / 4 / packed; ++r) {
        for (int i = 0; i < packed; ++i)
            parts[i] = b[((r * 4 + place) * packed + i) * 8 + group];
        memcpy(&rb[r], parts, sizeof(Register));
    }
}
template <int Rows, class T>
__device__ void scatter(const T* registers, T* d) {
    for (unsigned i = 0; i < Rows / 4; ++i)
        d[(threadIdx.x / 4 + i / 2 * 8) * 8 + threadIdx.x % 4 * 2 + i % 2] = registers[i];
}

__global__ void mma_doubles(const double* a, const double* b, double* d) {
    double ra[1], rb[1], c[2] = {0.5, 0.5};
    gather<8, 4>(a, b, ra, rb);
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(c[0]), "+d"(c[1])
                 : "d"(ra[0]), "d"(rb[0]));
    scatter<8>(c, d);
}
__global__ void mma_deep_doubles(const double* a, const double* b, double* d) {
#if __CUDA_ARCH__ >= 900
    double ra[8], rb[4], c[4] = {0.5, 0.5, 0.5, 0.5};
    gather<16, 16>(a, b, ra, rb);
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11},"
        " {%12, %13, %14, %15}, {%0, %1, %2, %3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(ra[0]), "d"(ra[1]), "d"(ra[2]), "d"(ra[3]), "d"(ra[4]), "d"(ra[5]), "d"(ra[6]), "d"(ra[7]), "d"(rb[0]),
          "d"(rb[1]), "d"(rb[2]), "d"(rb[3]));
    scatter<16>(c, d);
#endif
}
/// The lower 13 bits of the floats do not count.
__global__ void mma_tf32(const float* a, const float* b, float* d) {
    unsigned ra[4], rb[2];
    float c[4] = {0.5f, 0.5f, 0.5f, 0.5f};
    gather<16, 8>(a, b, ra, rb);
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9},"
                 " {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
    scatter<16>(c, d);
}
__global__ void mma_few_bytes(const signed char* a, const signed char* b, int* d) {
    unsigned ra[1], rb[1];
    int c[2] = {7, 7};
    gather<8, 16>(a, b, ra, rb);
    asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+r"(c[0]), "+r"(c[1])
                 : "r"(ra[0]), "r"(rb[0]));
    scatter<8>(c, d);
}
/// Sums stay at the largest and the smallest number.
__global__ void mma_saturated(const signed char* a, const signed char* b, int* d, int start) {
    unsigned ra[2], rb[1];
    int c[4] = {start, start, start, start};
    gather<16, 16>(a, b, ra, rb);
    asm volatile("mma.sync.aligned.m16n8k16.row.col.satfinite.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6},"
                 " {%0, %1, %2, %3};"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                 : "r"(ra[0]), "r"(ra[1]), "r"(rb[0]));
    scatter<16>(c, d);
}
/// A of e4m3, B of e5m2.
__global__ void mma_fp8(const unsigned char* a, const unsigned char* b, float* d) {
#if __CUDA_ARCH__ >= 890
    unsigned ra[4], rb[2];
    float c[4] = {};
    gather<16, 32>(a, b, ra, rb);
    asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9},"
                 " {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
    scatter<16>(c, d);
#endif
}
/// Each lane brings two elements of a row of 8; a copy and its transpose go to shared memory.
__global__ void move_matrices(const unsigned* in, unsigned* transposed, unsigned short* stored) {
    unsigned moved;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(moved) : "r"(in[threadIdx.x]));
    transposed[threadIdx.x] = moved;
#if __CUDA_ARCH__ >= 900
    __shared__ alignas(16) unsigned short tile[2 * 64];
    const auto row = static_cast<unsigned>(__cvta_generic_to_shared(tile + threadIdx.x % 16 * 8));
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(row), "r"(in[threadIdx.x]),
                 "r"(moved));
    __syncwarp();
    for (unsigned i = threadIdx.x; i < 128; i += 32)
        stored[i] = tile[i];
#endif
}

/// The architecture for which the kernels were compiled, such as 90.
int architecture() {
    cudaFuncAttributes attributes{};
    OK(cudaFuncGetAttributes(&attributes, mma_tf32));
    return attributes.ptxVersion;
}

/// Small whole numbers: all products and sums are exact.
template <class T>
std::vector<T> small_numbers(int count, unsigned seed) {
    Numbers numbers(seed);
    std::vector<T> values;
    for (int i = 0; i < count; ++i)
        values.push_back(static_cast<T>(static_cast<float>(static_cast<int>(numbers.next() % 17) - 8)));
    return values;
}

} // namespace

KERNEL_TEST("fragments of matrices") {
    const int k = 48;
    const auto a = small_numbers<__half>(16 * k, 1);
    const auto b = small_numbers<__half>(16 * k, 2);
    const Device<__half> da(a);
    const Device<__half> db(b);
    const Device<float> dc(256);
    multiply_fragments<<<1, 32>>>(da.get(), db.get(), dc.get(), k);
    std::vector<float> expected(256);
    for (int row = 0; row < 16; ++row)
        for (int column = 0; column < 16; ++column)
            for (int i = 0; i < k; ++i)
                expected[row * 16 + column] += 2 * __half2float(a[row * k + i]) * __half2float(b[column * k + i]);
    expect_same(dc.read(), expected, "fragments");
}

KERNEL_TEST("mma.sync of halves, and ldmatrix") {
    const auto a = small_numbers<__half>(256, 3);
    const auto b = small_numbers<__half>(128, 4);
    const Device<__half> da(a);
    const Device<__half> db(b);
    const Device<float> dd(128);
    multiply_halves<<<1, 32>>>(da.get(), db.get(), dd.get());
    std::vector<float> expected(128);
    for (int row = 0; row < 16; ++row)
        for (int column = 0; column < 8; ++column)
            for (int i = 0; i < 16; ++i)
                expected[row * 8 + column] += __half2float(a[row * 16 + i]) * __half2float(b[i * 8 + column]);
    expect_same(dd.read(), expected, "halves");
}

KERNEL_TEST("mma.sync of bytes") {
    const auto a = small_numbers<signed char>(512, 5);
    const auto b = small_numbers<signed char>(256, 6);
    const Device<signed char> da(a);
    const Device<signed char> db(b);
    const Device<int> dd(128);
    multiply_bytes<<<1, 32>>>(da.get(), db.get(), dd.get());
    std::vector<int> expected(128);
    for (int row = 0; row < 16; ++row)
        for (int column = 0; column < 8; ++column)
            for (int i = 0; i < 32; ++i)
                expected[row * 8 + column] += a[row * 32 + i] * b[i * 8 + column];
    expect_same(dd.read(), expected, "bytes");
}

template <int M, int N, int K, class Kind, class LayoutA, class LayoutB, class In, class Sum>
void check_kinds(const char* what, const std::vector<In>& a, const std::vector<In>& b, int depth, Sum) {
    constexpr bool a_by_rows = std::is_same_v<LayoutA, nvcuda::wmma::row_major>;
    constexpr bool b_by_rows = std::is_same_v<LayoutB, nvcuda::wmma::row_major>;
    const Device<In> da(a);
    const Device<In> db(b);
    const Device<Sum> dd(M * N);
    multiply_kinds<M, N, K, Kind, In, Sum, LayoutA, LayoutB><<<1, 32>>>(da.get(), db.get(), dd.get(), depth);
    std::vector<Sum> expected(M * N, static_cast<Sum>(3));
    for (int row = 0; row < M; ++row)
        for (int column = 0; column < N; ++column)
            for (int i = 0; i < depth; ++i)
                expected[row * N + column] += static_cast<Sum>(a[a_by_rows ? row * depth + i : i * M + row]) *
                                              static_cast<Sum>(b[b_by_rows ? i * N + column : column * depth + i]);
    expect_same(dd.read(), expected, what);
}

KERNEL_TEST("fragments of bytes, of bf16, of tf32 and of doubles") {
    using namespace nvcuda::wmma;
    const auto bytes = small_numbers<signed char>(32 * 48, 7);
    const auto others = small_numbers<signed char>(32 * 48, 8);
    check_kinds<16, 16, 16, signed char, row_major, col_major>("s8", bytes, others, 48, int{});
    check_kinds<32, 8, 16, signed char, col_major, row_major>("s8, 32 x 8", bytes, others, 32, int{});
    const std::vector<unsigned char> unsigned_bytes(bytes.begin(), bytes.end());
    check_kinds<8, 32, 16, unsigned char, row_major, row_major>("u8, 8 x 32", unsigned_bytes, unsigned_bytes, 16,
                                                                int{});
    std::vector<float> floats;
    for (const signed char value : bytes)
        floats.push_back(static_cast<float>(value) + 0.25f);
    check_kinds<16, 16, 8, precision::tf32, row_major, col_major>("tf32", floats, floats, 40, float{});
    const std::vector<double> doubles(floats.begin(), floats.end());
    check_kinds<8, 8, 4, double, row_major, col_major>("f64", doubles, doubles, 20, double{});
    std::vector<__nv_bfloat16> brains;
    for (const float value : floats)
        brains.push_back(__float2bfloat16(value));
    check_kinds<16, 16, 16, __nv_bfloat16, col_major, col_major>("bf16", brains, brains, 32, float{});
}

template <int Rows, int Depth, class In, class Sum, class Value>
std::vector<Sum> product(const std::vector<In>& a, const std::vector<In>& b, Sum start, Value value) {
    std::vector<Sum> d(Rows * 8, start);
    for (int row = 0; row < Rows; ++row)
        for (int column = 0; column < 8; ++column)
            for (int i = 0; i < Depth; ++i)
                d[row * 8 + column] +=
                    static_cast<Sum>(value(a[row * Depth + i])) * static_cast<Sum>(value(b[i * 8 + column]));
    return d;
}

KERNEL_TEST("mma.sync of doubles and of tf32") {
    const auto a = small_numbers<double>(256, 9);
    auto b = small_numbers<double>(128, 10);
    for (double& value : b)
        value += 1 / 1024.0;
    const Device<double> da(a);
    const Device<double> db(b);
    const auto same = [](auto value) { return value; };
    const Device<double> small(64);
    mma_doubles<<<1, 32>>>(da.get(), db.get(), small.get());
    expect_same(small.read(), product<8, 4>(a, b, 0.5, same), "m8n8k4");
    if (architecture() >= 90) {
        const Device<double> deep(128);
        mma_deep_doubles<<<1, 32>>>(da.get(), db.get(), deep.get());
        expect_same(deep.read(), product<16, 16>(a, b, 0.5, same), "m16n8k16");
    }
    std::vector<float> fa;
    std::vector<float> fb;
    for (int i = 0; i < 128; ++i)
        fa.push_back(static_cast<float>(a[i]) * 1.0001f);
    for (int i = 0; i < 64; ++i)
        fb.push_back(static_cast<float>(b[i]));
    const Device<float> dfa(fa);
    const Device<float> dfb(fb);
    const Device<float> tf32(128);
    mma_tf32<<<1, 32>>>(dfa.get(), dfb.get(), tf32.get());
    expect_same(tf32.read(),
                product<16, 8>(fa, fb, 0.5f,
                               [](float value) {
                                   std::uint32_t raw = 0;
                                   std::memcpy(&raw, &value, 4);
                                   raw &= 0xFFFFE000u;
                                   std::memcpy(&value, &raw, 4);
                                   return value;
                               }),
                "tf32");
}

KERNEL_TEST("mma.sync of bytes that are few, and of sums that saturate") {
    const auto a = small_numbers<signed char>(256, 11);
    const auto b = small_numbers<signed char>(128, 12);
    const Device<signed char> da(a);
    const Device<signed char> db(b);
    const auto same = [](auto value) { return value; };
    const Device<int> few(64);
    mma_few_bytes<<<1, 32>>>(da.get(), db.get(), few.get());
    expect_same(few.read(), product<8, 16>(a, b, 7, same), "m8n8k16");
    for (const int start : {2147483640, -2147483640}) {
        const Device<int> sums(128);
        mma_saturated<<<1, 32>>>(da.get(), db.get(), sums.get(), start);
        std::vector<int> expected;
        for (const long long sum : product<16, 16>(a, b, static_cast<long long>(start), same))
            expected.push_back(static_cast<int>(std::min(std::max(sum, -2147483648ll), 2147483647ll)));
        expect_same(sums.read(), expected, "satfinite");
    }
}

KERNEL_TEST("mma.sync of numbers of 8 bits") {
    if (architecture() < 89) return;
    // The same small numbers in either format: sign, 1.m times a power of two.
    std::vector<unsigned char> a;
    std::vector<unsigned char> b;
    std::vector<float> fa;
    std::vector<float> fb;
    Numbers numbers(13);
    for (int i = 0; i < 512; ++i) {
        const unsigned bits = numbers.next();
        const unsigned exponent = bits >> 8 & 3;
        a.push_back(static_cast<unsigned char>((bits & 1) << 7 | (exponent + 6) << 3 | (bits >> 4 & 7)));
        fa.push_back((bits & 1 ? -1.0f : 1.0f) * static_cast<float>(8 + (bits >> 4 & 7)) / 8 *
                     std::ldexp(0.5f, static_cast<int>(exponent)));
    }
    for (int i = 0; i < 256; ++i) {
        const unsigned bits = numbers.next();
        const unsigned exponent = bits >> 8 & 3;
        b.push_back(static_cast<unsigned char>((bits & 1) << 7 | (exponent + 14) << 2 | (bits >> 4 & 3)));
        fb.push_back((bits & 1 ? -1.0f : 1.0f) * static_cast<float>(4 + (bits >> 4 & 3)) / 4 *
                     std::ldexp(0.5f, static_cast<int>(exponent)));
    }
    const Device<unsigned char> da(a);
    const Device<unsigned char> db(b);
    const Device<float> dd(128);
    mma_fp8<<<1, 32>>>(da.get(), db.get(), dd.get());
    expect_same(dd.read(), product<16, 32>(fa, fb, 0.0f, [](float value) { return value; }), "fp8");
}

KERNEL_TEST("matrices that a warp transposes and stores") {
    std::vector<unsigned> in;
    for (unsigned i = 0; i < 32; ++i)
        in.push_back((2 * i + 1) << 16 | 2 * i);
    const Device<unsigned> device(in);
    const Device<unsigned> transposed(32);
    const Device<unsigned short> stored(128);
    move_matrices<<<1, 32>>>(device.get(), transposed.get(), stored.get());
    std::vector<unsigned> expected;
    std::vector<unsigned short> expected_stored;
    for (unsigned i = 0; i < 64; ++i)
        expected_stored.push_back(static_cast<unsigned short>(i));
    for (unsigned i = 0; i < 64; ++i)
        expected_stored.push_back(static_cast<unsigned short>(i % 8 * 8 + i / 8));
    for (unsigned i = 0; i < 64; i += 2)
        expected.push_back(static_cast<unsigned>(expected_stored[64 + i + 1]) << 16 | expected_stored[64 + i]);
    expect_same(transposed.read(), expected, "movmatrix");
    if (architecture() >= 90) expect_same(stored.read(), expected_stored, "stmatrix");
}
