// The memory that a frame passes through, on the host and on the GPU.
#pragma once

#include <cudag/cudag.hpp>

#include "image.hpp"
#include "kernels.hpp"

namespace edges {

/// A frame on the host. Page-locked, so that its copies run beside other work.
struct HostFrame {
    explicit HostFrame(Size size);

    cudag::PinnedBuffer<std::uint8_t> rgb;
    cudag::PinnedBuffer<std::uint8_t> edges; // the result
};

/// What the steps of the pipeline hand to each other.
struct FrameBuffers {
    explicit FrameBuffers(Size frame_size);

    Size size;
    cudag::LaunchConfig config; // the same threads for every kernel

    cudag::PinnedBuffer<unsigned> counts; // the histograms, downloaded
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
