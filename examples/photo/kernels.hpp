// The kernels that develop a picture: red, green and blue, one byte each, row by row. Integers only, so that plain C++
// gets the same bytes.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace photo {

/// The number of levels of a byte.
inline constexpr int levels = 256;

/// The darkest and the lightest level that matter.
struct Range {
    int black;
    int white;
};

/// histogram[level] += number of pixels with this luminance.
__global__ void count_levels(const std::uint8_t* rgb, int pixels, unsigned* histogram);

/// Finds the range that leaves out `clipped` of 1000 pixels at each end. One thread.
__global__ void find_range(const unsigned* histogram, int pixels, int clipped, Range* range);

/// Stretches `range` to all levels.
__global__ void stretch(const std::uint8_t* in, int bytes, const Range* range, std::uint8_t* out);

/// Weighted mean of five neighbours in a row; pixels outside repeat the border.
__global__ void blur_rows(const std::uint8_t* in, int width, int height, std::uint8_t* out);

/// The same in a column.
__global__ void blur_columns(const std::uint8_t* in, int width, int height, std::uint8_t* out);

/// Adds `amount` percent of the difference to the blurred picture.
__global__ void sharpen(const std::uint8_t* in, const std::uint8_t* blurred, int bytes, int amount, std::uint8_t* out);

} // namespace photo
