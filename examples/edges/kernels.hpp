// The kernels of the frame pipeline. Images are rows of 8-bit pixels without padding; pixels outside of an image
// repeat its border. All arithmetic is in integers, so the oracle can ask for equal bytes.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

namespace edges {

/// One thread works on this many neighbouring pixels of a row; every kernel runs on the same grid of threads.
inline constexpr int pixels_per_thread = 8;

inline constexpr int histogram_bins = 256;

/// Blocks count into different copies of the histogram, so that few of them add to one address at a time.
/// Whoever reads the histogram sums the copies.
inline constexpr int histogram_copies = 32;

/// Brightness of RGB pixels, three bytes each.
__global__ void rgb_to_grey(const std::uint8_t* rgb, std::uint8_t* grey, int width, int height);

/// The two halves of a 5x5 binomial blur (1 4 6 4 1): along the rows, then along the columns.
__global__ void blur_rows(const std::uint8_t* in, std::uint8_t* out, int width, int height);
__global__ void blur_columns(const std::uint8_t* in, std::uint8_t* out, int width, int height);

/// Horizontal and vertical Sobel gradients, -1020 to 1020.
__global__ void sobel_x(const std::uint8_t* in, std::int16_t* gradient, int width, int height);
__global__ void sobel_y(const std::uint8_t* in, std::int16_t* gradient, int width, int height);

/// A quarter of |x| + |y|, at most 255.
__global__ void gradient_magnitude(const std::int16_t* x, const std::int16_t* y, std::uint8_t* out, int width,
                                   int height);

/// 255 where a pixel is greater than `threshold`, else 0.
__global__ void apply_threshold(const std::uint8_t* in, std::uint8_t* out, int width, int height, int threshold);

/// Adds every pixel to its bin in one of `histogram_copies` histograms of `histogram_bins` counts.
__global__ void count_levels(const std::uint8_t* grey, unsigned* histograms, int width, int height);

} // namespace edges
