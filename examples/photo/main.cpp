// photo: develops pictures of any sizes: stretches their levels and sharpens them.
#include "darkroom.hpp"
#include "oracle.hpp"
#include "program/arguments.hpp"
#include "program/program.hpp"
#include "program/progress.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace photo {
namespace {

using example::BadInput;
using example::Image;

const char* const usage =
    R"(usage: photo [option]... [file]...

Develops pictures: stretches their levels and sharpens them, each by one launch of a CUDA graph. The pictures are binary
PGM or PPM images of any sizes; without any, they are generated. All sizes share one executable graph, by updates.

  --output DIR   write the results to DIR, as PPM images with the names of their files
  --generate N   how many pictures to generate (6)
  --clip N       make N of 1000 pixels black, and as many white (5)
  --sharpen N    sharpen by N percent (60)
  --verify       compare every result with a plain C++ implementation, byte by byte
  --dot FILE     write the graph to FILE, for Graphviz: dot -Tsvg FILE
  --help         print this

The exit code is 2 if the arguments or the pictures are no good, 1 if a result was wrong or CUDA reported an error.
)";

struct Options {
    std::vector<std::string> files;
    std::string output, dot;
    int generate = 6;
    Settings settings;
    bool verify = false;
    bool help = false;
};

Options parse_options(const std::vector<std::string>& all) {
    Options options;
    example::Arguments arguments(all);
    while (arguments.next()) {
        if (arguments.is("--output"))
            options.output = arguments.value();
        else if (arguments.is("--generate"))
            options.generate = arguments.number(1, 1000);
        else if (arguments.is("--clip"))
            options.settings.clipped = arguments.number(0, 499);
        else if (arguments.is("--sharpen"))
            options.settings.amount = arguments.number(0, 1000);
        else if (arguments.is("--verify"))
            options.verify = true;
        else if (arguments.is("--dot"))
            options.dot = arguments.value();
        else if (arguments.is("--help"))
            options.help = true;
        else if (arguments.name().starts_with("-"))
            arguments.refuse();
        else
            options.files.push_back(arguments.name());
    }
    return options;
}

/// Pictures of several sizes, with soft circles and few levels.
Image generated(int number) {
    constexpr std::array sizes{example::Size{320, 240}, example::Size{100, 150}, example::Size{64, 64}};
    const example::Size size = sizes[static_cast<std::size_t>(number) % sizes.size()];
    Image image{size, {}};
    image.rgb.reserve(3 * size.pixels());
    for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) {
            const int dx = x - size.width / 2, dy = y - size.height / 2;
            const int level = 60 + (dx * dx + dy * dy + 7 * number) / 64 % 100;
            for (const int more : {0, 10, 25})
                image.rgb.push_back(static_cast<std::uint8_t>(level + more));
        }
    return image;
}

/// The pictures and their names.
class Album {
  public:
    explicit Album(const Options& options) : files_(options.files), generated_(options.generate) {
        for (std::size_t i = 0; i < count(); ++i)
            most_ = std::max(
                most_,
                (files_.empty() ? generated(static_cast<int>(i)).size : example::probe_image(files_[i])).pixels());
    }
    [[nodiscard]] std::size_t count() const {
        return files_.empty() ? static_cast<std::size_t>(generated_) : files_.size();
    }
    [[nodiscard]] std::size_t most_pixels() const { return most_; }
    [[nodiscard]] Image read(std::size_t i) const {
        return files_.empty() ? generated(static_cast<int>(i)) : example::read_image(files_[i]);
    }
    [[nodiscard]] std::string name(std::size_t i) const {
        return files_.empty() ? "picture" + std::to_string(i) : std::filesystem::path(files_[i]).stem().string();
    }

  private:
    const std::vector<std::string>& files_;
    int generated_;
    std::size_t most_ = 0;
};

void run(const Options& options) {
    const Album album(options);
    std::error_code error;
    if (!options.output.empty() && !std::filesystem::create_directories(options.output, error) && error)
        throw BadInput(options.output + " cannot be made: " + error.message());

    std::array<std::unique_ptr<Darkroom>, 2> rooms;
    for (std::unique_ptr<Darkroom>& room : rooms)
        room = std::make_unique<Darkroom>(album.most_pixels(), options.settings);
    std::array<Image, 2> under_way;
    if (!options.dot.empty()) example::write_text(options.dot, rooms[0]->graph({320, 240}).dot());

    const auto finish = [&](std::size_t i) {
        const auto result = rooms[i % 2]->take();
        const Image& image = under_way[i % 2];
        if (options.verify) {
            const std::vector<std::uint8_t> right = developed(image, options.settings.clipped, options.settings.amount);
            if (!std::equal(right.begin(), right.end(), result.begin(), result.end()))
                throw std::runtime_error(album.name(i) + " is wrong");
        }
        if (!options.output.empty())
            write_ppm(std::filesystem::path(options.output) / (album.name(i) + ".ppm"), image.size, result);
    };
    const auto begin = std::chrono::steady_clock::now();
    {
        const example::Progress progress("picture", album.count());
        for (std::size_t i = 0; i < album.count(); ++i) {
            progress.show(i + 1);
            Image image = album.read(i); // while the last picture is developed
            if (i >= 2) finish(i - 2);
            under_way[i % 2] = std::move(image);
            rooms[i % 2]->begin(under_way[i % 2]);
        }
        for (std::size_t i = album.count() < 2 ? 0 : album.count() - 2; i < album.count(); ++i)
            finish(i);
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;

    const cudag::ExecCacheStats first = rooms[0]->stats(), second = rooms[1]->stats();
    std::printf("%zu pictures, %.1f a second, with their files\n", album.count(),
                static_cast<double>(album.count()) / seconds.count());
    std::printf("graphs: %llu instantiated, %llu updated\n",
                static_cast<unsigned long long>(first.instantiations + second.instantiations),
                static_cast<unsigned long long>(first.updates + second.updates + first.hits + second.hits));
    example::print_runtime_note();
    if (options.verify) std::printf("verified: every picture is right, byte by byte\n");
}

} // namespace
} // namespace photo

int main(int argc, char** argv) {
    return example::run("photo", [&] {
        const photo::Options options = photo::parse_options({argv + 1, argv + argc});
        if (options.help)
            std::fputs(photo::usage, stdout);
        else
            photo::run(options);
    });
}
