// The command line.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "image.hpp"

namespace edges {

struct Options {
    std::vector<std::filesystem::path> inputs; // empty: generated frames
    Size size{1920, 1080};
    std::size_t frames = 120;
    bool verify = false;
    bool help = false;
    std::optional<std::filesystem::path> output;
    std::optional<std::filesystem::path> dot;
};

/// Throws BadInput for what cannot be understood.
Options parse_options(const std::vector<std::string>& arguments);

/// The text of --help.
extern const char* const usage;

} // namespace edges
