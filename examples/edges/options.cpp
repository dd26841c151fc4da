// Options and their values.
#include "options.hpp"

#include <charconv>
#include <string_view>

#include "bad_input.hpp"

namespace edges {

const char* const usage =
    R"(usage: edges [option]... [file or directory]...

Finds the edges in every frame, once with plain launches on a CUDA stream and once with a CUDA graph, and says how many
frames per second each way ran. Frames are binary PGM or PPM images of one size, or all *.pgm and *.ppm files of a
directory; without any, they are generated.

  --frames N     how many frames to generate (120)
  --size WxH     how large they are (1920x1080)
  --verify       compare every result with a plain C++ implementation, byte by byte
  --output DIR   write the results to DIR, as PGM images of black and white pixels
  --dot FILE     write the graph to FILE, for Graphviz: dot -Tsvg FILE
  --help         print this

The exit code is 2 if the arguments or the images are no good, 1 if a frame was wrong or CUDA reported an error.
)";

namespace {

constexpr int max_frames = 1'000'000;

/// The whole text as a number from 1 to `most`; empty if it is none.
std::optional<int> number_in(std::string_view text, int most) {
    int value = 0;
    const char* end = text.data() + text.size();
    const auto [parsed, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || parsed != end || value < 1 || value > most) {
        return std::nullopt;
    }
    return value;
}

std::size_t parse_frames(std::string_view text) {
    const std::optional<int> frames = number_in(text, max_frames);
    if (!frames) {
        throw BadInput("--frames takes a number from 1 to " + std::to_string(max_frames) + ", not '" +
                       std::string(text) + "'");
    }
    return static_cast<std::size_t>(*frames);
}

Size parse_size(std::string_view text) {
    const std::size_t x = text.find('x');
    const std::optional<int> width = number_in(text.substr(0, x), max_side);
    const std::optional<int> height = x == text.npos ? std::nullopt : number_in(text.substr(x + 1), max_side);
    if (!width || !height) {
        throw BadInput("--size takes WIDTHxHEIGHT, each from 1 to " + std::to_string(max_side) + ", not '" +
                       std::string(text) + "'");
    }
    return {*width, *height};
}

} // namespace

Options parse_options(const std::vector<std::string>& arguments) {
    Options options;
    std::string for_generated_frames; // the last option given that means nothing for files
    for (auto argument = arguments.begin(); argument != arguments.end(); ++argument) {
        const std::string& name = *argument;
        const auto value = [&]() -> const std::string& {
            if (++argument == arguments.end()) {
                throw BadInput(name + " needs a value; see --help");
            }
            return *argument;
        };
        if (name == "--frames") {
            options.frames = parse_frames(value());
            for_generated_frames = name;
        } else if (name == "--size") {
            options.size = parse_size(value());
            for_generated_frames = name;
        } else if (name == "--verify") {
            options.verify = true;
        } else if (name == "--help") {
            options.help = true;
        } else if (name == "--output") {
            options.output = value();
        } else if (name == "--dot") {
            options.dot = value();
        } else if (name.starts_with('-')) {
            throw BadInput("unknown option '" + name + "'; see --help");
        } else {
            options.inputs.emplace_back(name);
        }
    }
    if (!options.inputs.empty() && !for_generated_frames.empty()) {
        throw BadInput(for_generated_frames + " is for generated frames; it cannot be used with files");
    }
    return options;
}

} // namespace edges
