// Products of matrices that a warp holds together, as tensor cores compute them.
#include "kernel_test.hpp"

#include <cuda_fp16.h>
#include <mma.h>

#include <cstdint>

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
