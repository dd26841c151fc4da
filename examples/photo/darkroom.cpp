// One structure for all sizes: the cache instantiates the first graph, and updates it for the others.
#include "darkroom.hpp"

#include <algorithm>
#include <utility>

namespace photo {

Darkroom::Darkroom(std::size_t most, const Settings& settings)
    : settings_(settings), in_(3 * most), out_(3 * most), rgb_(3 * most), stretched_(3 * most), rows_(3 * most),
      blurred_(3 * most), result_(3 * most), histogram_(levels), range_(1) {}

// graph begins
cudag::Graph Darkroom::graph(example::Size size) const {
    const std::size_t bytes = 3 * size.pixels();
    const auto part = [&](const auto& buffer) { return buffer.span().subspan(0, bytes); };
    const auto count = static_cast<int>(bytes), pixels = static_cast<int>(size.pixels());
    const cudag::LaunchConfig each = cudag::grid_1d(bytes, 256);

    cudag::GraphBuilder b({.dependencies = cudag::Dependencies::inferred}); // edges by the memory of the arguments
    b.memcpy(part(rgb_), part(in_)).label("upload");
    b.clear(histogram_).label("no counts"); // beside the upload
    b.kernel(cudag::grid_1d(size.pixels(), 256), count_levels, part(rgb_), pixels, cudag::inout(histogram_))
        .label("count levels");
    b.kernel({}, find_range, histogram_, pixels, settings_.clipped, range_).label("find range");
    b.kernel(each, stretch, part(rgb_), count, range_, part(stretched_)).label("stretch");
    b.kernel(each, blur_rows, part(stretched_), size.width, size.height, part(rows_)).label("blur rows");
    b.kernel(each, blur_columns, part(rows_), size.width, size.height, part(blurred_)).label("blur columns");
    b.kernel(each, sharpen, part(stretched_), part(blurred_), count, settings_.amount, part(result_)).label("sharpen");
    b.memcpy(part(out_), part(result_)).label("download");
    return std::move(b).build();
}
// graph ends

void Darkroom::begin(const example::Image& image) {
    std::copy(image.rgb.begin(), image.rgb.end(), in_.begin());
    cache_.launch(graph(image.size), stream_);
    size_ = image.size;
}

std::span<const std::uint8_t> Darkroom::take() {
    stream_.synchronize();
    const std::size_t bytes = 3 * size_->pixels();
    size_.reset();
    return out_.span().subspan(0, bytes);
}

} // namespace photo
