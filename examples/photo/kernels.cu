// The kernels of the pictures. None needs shared memory or a barrier, so they run under both runtimes.
#include "kernels.hpp"

namespace photo {
namespace {

__device__ inline int thread_index() {
    return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}

__device__ inline int clamp(int value, int last) {
    return value < 0 ? 0 : (value > last ? last : value);
}

/// The weighted mean of five values, `stride` apart, around `index` of `count`.
__device__ inline std::uint8_t mean(const std::uint8_t* first, int index, int count, int stride) {
    const auto at = [=](int i) -> int { return first[clamp(i, count - 1) * stride]; };
    return static_cast<std::uint8_t>(
        (at(index - 2) + 4 * at(index - 1) + 6 * at(index) + 4 * at(index + 1) + at(index + 2) + 8) / 16);
}

} // namespace

__global__ void count_levels(const std::uint8_t* rgb, int pixels, unsigned* histogram) {
    const int i = thread_index();
    if (i >= pixels) return;
    const std::uint8_t* const colour = rgb + 3 * i;
    atomicAdd(&histogram[(77 * colour[0] + 150 * colour[1] + 29 * colour[2] + 128) / 256], 1U);
}

__global__ void find_range(const unsigned* histogram, int pixels, int clipped, Range* range) {
    const auto limit = static_cast<unsigned>(static_cast<long long>(pixels) * clipped / 1000);
    int black = 0, white = levels - 1;
    for (unsigned below = histogram[0]; black < levels - 1 && below <= limit; below += histogram[++black]) {
    }
    for (unsigned above = histogram[white]; white > black + 1 && above <= limit; above += histogram[--white]) {
    }
    *range = {black == levels - 1 ? levels - 2 : black, white};
}

__global__ void stretch(const std::uint8_t* in, int bytes, const Range* range, std::uint8_t* out) {
    const int i = thread_index();
    if (i >= bytes) return;
    const int black = range->black, white = range->white;
    out[i] = static_cast<std::uint8_t>(clamp((in[i] - black) * 255 / (white - black), 255));
}

__global__ void blur_rows(const std::uint8_t* in, int width, int height, std::uint8_t* out) {
    const int i = thread_index();
    if (i >= 3 * width * height) return;
    const int row = i / (3 * width), column = i / 3 % width, channel = i % 3;
    out[i] = mean(in + 3 * row * width + channel, column, width, 3);
}

__global__ void blur_columns(const std::uint8_t* in, int width, int height, std::uint8_t* out) {
    const int i = thread_index();
    if (i >= 3 * width * height) return;
    const int row = i / (3 * width), place = i % (3 * width);
    out[i] = mean(in + place, row, height, 3 * width);
}

__global__ void sharpen(const std::uint8_t* in, const std::uint8_t* blurred, int bytes, int amount, std::uint8_t* out) {
    const int i = thread_index();
    if (i >= bytes) return;
    out[i] = static_cast<std::uint8_t>(clamp(in[i] + (in[i] - blurred[i]) * amount / 100, 255));
}

} // namespace photo
