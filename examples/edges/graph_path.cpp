// Every `.after` says what a step really waits for; steps without a path between them may run at the same time:
//
//                                                .-> sobel x -.
//   upload -> grey -> blur rows -> blur columns -+            +-> magnitude -> threshold -> download
//              |                                 '-> sobel y -'
//              '-> histogram -> download histogram -> read histogram
//   clear histogram -^
#include "graph_path.hpp"

#include <utility>

#include "threshold_rule.hpp"

namespace edges {

FrameGraph build_frame_graph(const FrameBuffers& f, const HostFrame& frame, int& next_threshold) {
    const auto [width, height] = f.size;
    cudag::GraphBuilder b;

    auto upload = b.memcpy(f.rgb, frame.rgb).label("upload");
    auto grey = b.kernel(f.config, rgb_to_grey, f.rgb, f.grey, width, height).label("grey").after(upload);

    auto rows = b.kernel(f.config, blur_rows, f.grey, f.half_blurred, width, height).label("blur rows").after(grey);
    auto columns =
        b.kernel(f.config, blur_columns, f.half_blurred, f.blurred, width, height).label("blur columns").after(rows);
    auto x = b.kernel(f.config, sobel_x, f.blurred, f.gradient_x, width, height).label("sobel x").after(columns);
    auto y = b.kernel(f.config, sobel_y, f.blurred, f.gradient_y, width, height).label("sobel y").after(columns);
    auto magnitude = b.kernel(f.config, gradient_magnitude, f.gradient_x, f.gradient_y, f.magnitude, width, height)
                         .label("magnitude")
                         .after(x, y);
    auto threshold = b.kernel(f.config, apply_threshold, f.magnitude, f.edges, width, height, first_threshold)
                         .label("threshold")
                         .after(magnitude);
    auto download = b.memcpy(frame.edges, f.edges).label("download").after(threshold);

    auto clear = b.memset(f.histograms, 0U).label("clear histogram");
    auto histogram =
        b.kernel(f.config, count_levels, f.grey, f.histograms, width, height).label("histogram").after(grey, clear);
    auto counts = b.memcpy(f.counts, f.histograms).label("download histogram").after(histogram);
    b.host([levels = f.counts.span(), &next_threshold] { next_threshold = threshold_from(levels); })
        .label("read histogram")
        .after(counts);

    return {std::move(b).build(), upload, download, threshold};
}

GraphPath::GraphPath(Size size)
    : buffers_(size), frame_(build_frame_graph(buffers_, HostFrame(size), next_threshold_)),
      exec_(frame_.graph.instantiate()) {}

int GraphPath::run(cudag::Stream& stream, HostFrame& frame, int threshold) {
    // Spans borrow: the frame is the caller's, and run() waits for the launch.
    exec_.update(frame_.upload, buffers_.rgb.span(), frame.rgb.span());
    exec_.update(frame_.threshold, cudag::arg<4>(threshold));
    exec_.update(frame_.download, frame.edges.span(), buffers_.edges.span());
    exec_.launch(stream);
    stream.synchronize();
    return next_threshold_;
}

} // namespace edges
