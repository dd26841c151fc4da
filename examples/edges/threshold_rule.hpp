// How one frame's histogram chooses the threshold of the next frame.
#pragma once

#include <span>

namespace edges {

/// The threshold of the first frame.
inline constexpr int first_threshold = 8;

/// An eighth of the contrast, which is the distance between the levels that a sixteenth of the pixels are below and
/// above; at least 4. `histograms` holds one or more histograms of 256 counts, to be added up.
int threshold_from(std::span<const unsigned> histograms);

} // namespace edges
