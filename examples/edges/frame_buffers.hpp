// The memory that one frame passes through, on the host and on the GPU.
#pragma once

#include <cudag/cudag.hpp>

#include "image.hpp"
#include "kernels.hpp"

namespace edges {

struct FrameBuffers {
    explicit FrameBuffers(Size frame_size);

    Size size;
    cudag::LaunchConfig config; // the same threads for every kernel

    // Page-locked host memory, so that copies run beside other work.
    cudag::PinnedBuffer<std::uint8_t> input; // RGB
    cudag::PinnedBuffer<std::uint8_t> output;
    cudag::PinnedBuffer<unsigned> counts;

    cudag::DeviceBuffer<std::uint8_t> rgb;
    cudag::DeviceBuffer<std::uint8_t> grey;
    cudag::DeviceBuffer<std::uint8_t> half_blurred;
    cudag::DeviceBuffer<std::uint8_t> blurred;
    cudag::DeviceBuffer<std::int16_t> gradient_x;
    cudag::DeviceBuffer<std::int16_t> gradient_y;
    cudag::DeviceBuffer<std::uint8_t> magnitude;
    cudag::DeviceBuffer<std::uint8_t> edges;
    cudag::DeviceBuffer<unsigned> histograms;
};

} // namespace edges
