// Images in memory and in files: binary PGM (P5) and PPM (P6) with 8 bits per value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace example {

/// The longest side of an image that is read.
inline constexpr int max_side = 16384;

struct Size {
    int width = 0;
    int height = 0;

    std::size_t pixels() const { return static_cast<std::size_t>(width) * static_cast<std::size_t>(height); }
    bool operator==(const Size&) const = default;
};

/// "1920x1080"
std::string to_string(Size size);

/// A colour image: three bytes per pixel, row by row.
struct Image {
    Size size;
    std::vector<std::uint8_t> rgb;
};

/// Reads the header of a PGM or PPM file, and checks that its pixels are all there.
/// Throws BadInput if the file cannot be read or is no such image.
Size probe_image(const std::filesystem::path& file);

/// Reads a PGM or PPM file. The pixels of a PGM become colours with equal parts.
Image read_image(const std::filesystem::path& file);

/// Writes one byte per pixel as a PGM file. Throws BadInput if the file cannot be written.
void write_pgm(const std::filesystem::path& file, Size size, std::span<const std::uint8_t> pixels);

/// Writes three bytes per pixel as a PPM file. Throws BadInput if the file cannot be written.
void write_ppm(const std::filesystem::path& file, Size size, std::span<const std::uint8_t> rgb);

} // namespace example
