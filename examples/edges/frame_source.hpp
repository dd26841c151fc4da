// Where frames come from: files, or the generator.
#pragma once

#include "image.hpp"

namespace edges {

/// A list of frames of one size, read or made one at a time.
class FrameSource {
  public:
    /// `count` generated frames.
    FrameSource(Size size, std::size_t count);

    /// The given files, and for each directory its *.pgm and *.ppm files in sorted order.
    /// Every file is probed here; throws BadInput for the first one that is no image or has another size.
    explicit FrameSource(const std::vector<std::filesystem::path>& inputs);

    Size size() const { return size_; }
    std::size_t count() const { return count_; }

    /// How messages call a frame: "frame 7", or its file.
    std::string name(std::size_t index) const;

    /// The file name of a frame's result, different for every frame: "0007.pgm", "0007_cat.pgm".
    std::string result_name(std::size_t index) const;

    /// Throws BadInput if the frame's file is no longer what it was.
    Image read(std::size_t index) const;

  private:
    Size size_;
    std::size_t count_ = 0;
    std::vector<std::filesystem::path> files_; // empty: frames are generated
};

} // namespace edges
