// No step says `.after`: they stand in an order that is right on one stream, and what each reads and writes tells which
// of them need it. The kernels' signatures say so (const is read, the rest is written), the host function says it
// itself.
#include "inferred_graph.hpp"

#include <utility>

#include "threshold_rule.hpp"

namespace edges {

cudag::Graph infer_frame_graph(const FrameBuffers& f, const HostFrame& frame, int& next_threshold) {
    const auto [width, height] = f.size;
    cudag::GraphBuilder b({.dependencies = cudag::Dependencies::inferred});

    b.memcpy(f.rgb, frame.rgb);
    b.kernel(f.config, rgb_to_grey, f.rgb, f.grey, width, height);

    b.kernel(f.config, blur_rows, f.grey, f.half_blurred, width, height);
    b.kernel(f.config, blur_columns, f.half_blurred, f.blurred, width, height);
    b.kernel(f.config, sobel_x, f.blurred, f.gradient_x, width, height);
    b.kernel(f.config, sobel_y, f.blurred, f.gradient_y, width, height);
    b.kernel(f.config, gradient_magnitude, f.gradient_x, f.gradient_y, f.magnitude, width, height);
    b.kernel(f.config, apply_threshold, f.magnitude, f.edges, width, height, first_threshold);
    b.memcpy(frame.edges, f.edges);

    b.memset(f.histograms, 0U);
    b.kernel(f.config, count_levels, f.grey, f.histograms, width, height);
    b.memcpy(f.counts, f.histograms);
    b.host([levels = f.counts.span(), &next_threshold] { next_threshold = threshold_from(levels); }).reads(f.counts);

    return std::move(b).build();
}

} // namespace edges
