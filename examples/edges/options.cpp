// Options and their values.
#include "options.hpp"

#include <string_view>

#include "bad_input.hpp"
#include "program/arguments.hpp"

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
    if (!example::Arguments::parse(text, value) || value < 1 || value > most) {
        return std::nullopt;
    }
    return value;
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

Options parse_options(const std::vector<std::string>& all) {
    Options options;
    example::Arguments arguments(all);
    std::string for_generated_frames; // the last given option without a meaning for files
    while (arguments.next()) {
        if (arguments.is("--frames")) {
            options.frames = static_cast<std::size_t>(arguments.number(1, max_frames));
            for_generated_frames = arguments.name();
        } else if (arguments.is("--size")) {
            options.size = parse_size(arguments.value());
            for_generated_frames = arguments.name();
        } else if (arguments.is("--verify")) {
            options.verify = true;
        } else if (arguments.is("--help")) {
            options.help = true;
        } else if (arguments.is("--output")) {
            options.output = arguments.value();
        } else if (arguments.is("--dot")) {
            options.dot = arguments.value();
        } else if (arguments.name().starts_with('-')) {
            arguments.refuse();
        } else {
            options.inputs.emplace_back(arguments.name());
        }
    }
    if (!options.inputs.empty() && !for_generated_frames.empty()) {
        throw BadInput(for_generated_frames + " is for generated frames; it cannot be used with files");
    }
    return options;
}

} // namespace edges
