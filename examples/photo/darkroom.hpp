// Develops pictures of any sizes: a graph for each, launched through a cache of executable graphs.
#pragma once

#include "kernels.hpp"
#include "program/image.hpp"

#include <cudag/cudag.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace photo {

struct Settings {
    int clipped = 5; ///< pixels of 1000 that may become black, and as many white
    int amount = 60; ///< of sharpening, in percent
};

/// Develops one picture at a time. Two of them overlap: one reads and writes files while the other's graph runs.
class Darkroom {
  public:
    /// Allocates for pictures of at most `most` pixels.
    Darkroom(std::size_t most, const Settings& settings);

    /// Begins with a picture. The last one must have been taken.
    void begin(const example::Image& image);
    /// Waits for the picture, and returns it, valid until the next `begin`.
    std::span<const std::uint8_t> take();

    [[nodiscard]] bool is_busy() const noexcept { return size_.has_value(); }
    [[nodiscard]] cudag::ExecCacheStats stats() const { return cache_.stats(); }
    /// The graph for a picture.
    [[nodiscard]] cudag::Graph graph(example::Size size) const;

  private:
    Settings settings_;
    cudag::PinnedBuffer<std::uint8_t> in_, out_;
    cudag::DeviceBuffer<std::uint8_t> rgb_, stretched_, rows_, blurred_, result_;
    cudag::DeviceBuffer<unsigned> histogram_;
    cudag::DeviceBuffer<Range> range_;
    cudag::Stream stream_;
    cudag::ExecCache cache_{{.capacity = 1}};
    std::optional<example::Size> size_; // of the picture under way
};

} // namespace photo
