// One step after the other; the last one, reading the histogram, on the calling thread.
#include "stream_path.hpp"

#include "threshold_rule.hpp"

namespace edges {

int StreamPath::run(cudag::Stream& stream, HostFrame& frame, int threshold) {
    const FrameBuffers& f = buffers_;
    const auto [width, height] = f.size;

    cudag::memcpy_async(stream, f.rgb, frame.rgb);
    cudag::launch(stream, f.config, rgb_to_grey, f.rgb, f.grey, width, height);

    cudag::launch(stream, f.config, blur_rows, f.grey, f.half_blurred, width, height);
    cudag::launch(stream, f.config, blur_columns, f.half_blurred, f.blurred, width, height);
    cudag::launch(stream, f.config, sobel_x, f.blurred, f.gradient_x, width, height);
    cudag::launch(stream, f.config, sobel_y, f.blurred, f.gradient_y, width, height);
    cudag::launch(stream, f.config, gradient_magnitude, f.gradient_x, f.gradient_y, f.magnitude, width, height);
    cudag::launch(stream, f.config, apply_threshold, f.magnitude, f.edges, width, height, threshold);
    cudag::memcpy_async(stream, frame.edges, f.edges);

    cudag::memset_async(stream, f.histograms, 0U);
    cudag::launch(stream, f.config, count_levels, f.grey, f.histograms, width, height);
    cudag::memcpy_async(stream, f.counts, f.histograms);

    stream.synchronize();
    return threshold_from(f.counts.span());
}

} // namespace edges
