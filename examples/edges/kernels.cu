// The kernels of the frame pipeline. None needs shared memory or a barrier, so they run under both runtimes.
#include "kernels.hpp"

namespace edges {
namespace {

/// The pixels that the calling thread works on: columns [begin, end) of row y. Empty outside of the image.
struct Run {
    int y;
    int begin;
    int end;
};

__device__ inline Run run_of_this_thread(int width, int height) {
    const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
    const int begin = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) * pixels_per_thread;
    if (y >= height || begin >= width) {
        return {0, 0, 0};
    }
    const int end = begin + pixels_per_thread;
    return {y, begin, end < width ? end : width};
}

__device__ inline int clamp(int value, int last) {
    return value < 0 ? 0 : (value > last ? last : value);
}

__device__ inline int magnitude_of(int value) {
    return value < 0 ? -value : value;
}

/// Row y of an image; rows outside of it repeat its border.
template <class T>
__device__ T* row(T* image, int y, int width, int height) {
    return image + clamp(y, height - 1) * width;
}

__device__ inline std::uint8_t blurred(int a, int b, int c, int d, int e) {
    return static_cast<std::uint8_t>((a + 4 * b + 6 * c + 4 * d + e + 8) / 16);
}

} // namespace

__global__ void rgb_to_grey(const std::uint8_t* rgb, std::uint8_t* grey, int width, int height) {
    const Run run = run_of_this_thread(width, height);
    for (int x = run.begin; x < run.end; ++x) {
        const int pixel = run.y * width + x;
        const std::uint8_t* colour = rgb + 3 * pixel;
        grey[pixel] = static_cast<std::uint8_t>((77 * colour[0] + 150 * colour[1] + 29 * colour[2] + 128) / 256);
    }
}

__global__ void blur_rows(const std::uint8_t* in, std::uint8_t* out, int width, int height) {
    const Run run = run_of_this_thread(width, height);
    const std::uint8_t* source = row(in, run.y, width, height);
    const auto at = [=](int x) -> int { return source[clamp(x, width - 1)]; };
    int a = at(run.begin - 2);
    int b = at(run.begin - 1);
    int c = at(run.begin);
    int d = at(run.begin + 1);
    for (int x = run.begin; x < run.end; ++x) {
        const int e = at(x + 2);
        out[run.y * width + x] = blurred(a, b, c, d, e);
        a = b;
        b = c;
        c = d;
        d = e;
    }
}

__global__ void blur_columns(const std::uint8_t* in, std::uint8_t* out, int width, int height) {
    const Run run = run_of_this_thread(width, height);
    const std::uint8_t* a = row(in, run.y - 2, width, height);
    const std::uint8_t* b = row(in, run.y - 1, width, height);
    const std::uint8_t* c = row(in, run.y, width, height);
    const std::uint8_t* d = row(in, run.y + 1, width, height);
    const std::uint8_t* e = row(in, run.y + 2, width, height);
    for (int x = run.begin; x < run.end; ++x) {
        out[run.y * width + x] = blurred(a[x], b[x], c[x], d[x], e[x]);
    }
}

__global__ void sobel_x(const std::uint8_t* in, std::int16_t* gradient, int width, int height) {
    const Run run = run_of_this_thread(width, height);
    const std::uint8_t* above = row(in, run.y - 1, width, height);
    const std::uint8_t* here = row(in, run.y, width, height);
    const std::uint8_t* below = row(in, run.y + 1, width, height);
    const auto column = [=](int x) {
        x = clamp(x, width - 1);
        return above[x] + 2 * here[x] + below[x];
    };
    int left = column(run.begin - 1);
    int middle = column(run.begin);
    for (int x = run.begin; x < run.end; ++x) {
        const int right = column(x + 1);
        gradient[run.y * width + x] = static_cast<std::int16_t>(right - left);
        left = middle;
        middle = right;
    }
}

__global__ void sobel_y(const std::uint8_t* in, std::int16_t* gradient, int width, int height) {
    const Run run = run_of_this_thread(width, height);
    const std::uint8_t* above = row(in, run.y - 1, width, height);
    const std::uint8_t* below = row(in, run.y + 1, width, height);
    const auto difference = [=](int x) {
        x = clamp(x, width - 1);
        return below[x] - above[x];
    };
    int left = difference(run.begin - 1);
    int middle = difference(run.begin);
    for (int x = run.begin; x < run.end; ++x) {
        const int right = difference(x + 1);
        gradient[run.y * width + x] = static_cast<std::int16_t>(left + 2 * middle + right);
        left = middle;
        middle = right;
    }
}

__global__ void gradient_magnitude(const std::int16_t* x, const std::int16_t* y, std::uint8_t* out, int width,
                                   int height) {
    const Run run = run_of_this_thread(width, height);
    for (int column = run.begin; column < run.end; ++column) {
        const int pixel = run.y * width + column;
        const int quarter = (magnitude_of(x[pixel]) + magnitude_of(y[pixel])) / 4;
        out[pixel] = static_cast<std::uint8_t>(clamp(quarter, 255));
    }
}

__global__ void apply_threshold(const std::uint8_t* in, std::uint8_t* out, int width, int height, int threshold) {
    const Run run = run_of_this_thread(width, height);
    for (int x = run.begin; x < run.end; ++x) {
        const int pixel = run.y * width + x;
        out[pixel] = in[pixel] > threshold ? 255 : 0;
    }
}

__global__ void count_levels(const std::uint8_t* grey, unsigned* histograms, int width, int height) {
    const Run run = run_of_this_thread(width, height);
    const unsigned block = blockIdx.y * gridDim.x + blockIdx.x;
    unsigned* histogram = histograms + block % histogram_copies * histogram_bins;
    const std::uint8_t* source = row(grey, run.y, width, height);
    // Neighbours are often equal: one atomic addition for all of them.
    for (int x = run.begin; x < run.end;) {
        const int level = source[x];
        unsigned equal = 0;
        for (; x < run.end && source[x] == level; ++x) {
            ++equal;
        }
        atomicAdd(&histogram[level], equal);
    }
}

} // namespace edges
