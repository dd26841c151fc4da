// How large each buffer is.
#include "frame_buffers.hpp"

namespace edges {
namespace {

cudag::LaunchConfig threads_for(Size size) {
    const int threads_per_row = (size.width + pixels_per_thread - 1) / pixels_per_thread;
    return cudag::grid_2d(static_cast<std::size_t>(threads_per_row), static_cast<std::size_t>(size.height),
                          dim3(32, 8));
}

constexpr std::size_t all_counts = std::size_t{histogram_bins} * histogram_copies;

} // namespace

HostFrame::HostFrame(Size size) : rgb(3 * size.pixels()), edges(size.pixels()) {}

FrameBuffers::FrameBuffers(Size frame_size)
    : size(frame_size), config(threads_for(frame_size)), counts(all_counts), rgb(3 * frame_size.pixels()),
      grey(frame_size.pixels()), half_blurred(frame_size.pixels()), blurred(frame_size.pixels()),
      gradient_x(frame_size.pixels()), gradient_y(frame_size.pixels()), magnitude(frame_size.pixels()),
      edges(frame_size.pixels()), histograms(all_counts) {}

} // namespace edges
