// PGM and PPM files.
#include "image.hpp"

#include "program.hpp"

#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iomanip>
#include <limits>
#include <utility>

namespace example {
namespace {

namespace fs = std::filesystem;

struct Header {
    Size size;
    std::size_t channels = 0;
};

[[noreturn]] void refuse(const fs::path& file, const std::string& reason) {
    throw BadInput(file.string() + ": " + reason);
}

std::ifstream open(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in) {
        refuse(file, std::strerror(errno));
    }
    return in;
}

/// The next word of a header, cut off where no valid one can go on. Comments run from '#' to the end of the line.
std::string read_word(std::istream& in) {
    while ((in >> std::ws).peek() == '#') {
        in.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    }
    std::string word;
    in >> std::setw(16) >> word;
    return word;
}

int read_number(std::istream& in, const fs::path& file, const std::string& name) {
    const std::string word = read_word(in);
    if (word.empty()) {
        refuse(file, "truncated: it ends before its " + name);
    }
    int value = 0;
    const char* end = word.data() + word.size();
    const auto parsed = std::from_chars(word.data(), end, value);
    if (parsed.ptr != end || value < 0) {
        refuse(file, "its " + name + " is not a number");
    }
    return parsed.ec == std::errc{} ? value : std::numeric_limits<int>::max();
}

int read_side(std::istream& in, const fs::path& file, const std::string& name) {
    const int side = read_number(in, file, name);
    if (side == 0) {
        refuse(file, "its " + name + " is 0");
    }
    if (side > max_side) {
        refuse(file, "its " + name + " is over " + std::to_string(max_side));
    }
    return side;
}

std::size_t read_channels(std::istream& in, const fs::path& file) {
    char magic[2] = {};
    in.read(magic, 2);
    if (in.gcount() == 0) {
        refuse(file, "the file is empty");
    }
    if (magic[0] == 'P' && magic[1] == '5') {
        return 1;
    }
    if (magic[0] == 'P' && magic[1] == '6') {
        return 3;
    }
    if (magic[0] == 'P' && magic[1] >= '1' && magic[1] <= '7') {
        refuse(file, std::string("unsupported format P") + magic[1] + "; binary PGM (P5) and PPM (P6) are read");
    }
    refuse(file, "not a PGM or PPM image");
}

/// Reads the header; the stream then stands at the first pixel.
Header read_header(std::istream& in, const fs::path& file) {
    Header header;
    header.channels = read_channels(in, file);
    header.size.width = read_side(in, file, "width");
    header.size.height = read_side(in, file, "height");
    const int maximum = read_number(in, file, "maximum value");
    if (maximum != 255) {
        refuse(file, "unsupported maximum value " + std::to_string(maximum) + "; only 255 is read");
    }
    if (std::isspace(in.get()) == 0) {
        refuse(file, "truncated: it ends before its pixels");
    }
    return header;
}

void write(const fs::path& file, const char* magic, Size size, std::span<const std::uint8_t> values) {
    std::ofstream out(file, std::ios::binary);
    out << magic << '\n' << size.width << ' ' << size.height << "\n255\n";
    out.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size()));
    out.close();
    if (!out) {
        refuse(file, std::string("cannot be written: ") + std::strerror(errno));
    }
}

} // namespace

std::string to_string(Size size) {
    return std::to_string(size.width) + "x" + std::to_string(size.height);
}

Size probe_image(const fs::path& file) {
    std::ifstream in = open(file);
    const Header header = read_header(in, file);
    const std::uintmax_t available = fs::file_size(file) - static_cast<std::uintmax_t>(in.tellg());
    const std::uintmax_t needed = header.size.pixels() * header.channels;
    if (available < needed) {
        refuse(file, "truncated: " + std::to_string(available) + " of " + std::to_string(needed) + " pixel bytes");
    }
    if (available > needed) {
        refuse(file, std::to_string(available - needed) + " bytes follow the image; only one image per file is read");
    }
    return header.size;
}

Image read_image(const fs::path& file) {
    std::ifstream in = open(file);
    const Header header = read_header(in, file);
    std::vector<std::uint8_t> values(header.size.pixels() * header.channels);
    if (!in.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size()))) {
        refuse(file, "truncated while it was read");
    }
    if (header.channels == 3) {
        return {header.size, std::move(values)};
    }
    Image image{header.size, {}};
    image.rgb.reserve(header.size.pixels() * 3);
    for (const std::uint8_t grey : values) {
        image.rgb.insert(image.rgb.end(), 3, grey);
    }
    return image;
}

void write_pgm(const fs::path& file, Size size, std::span<const std::uint8_t> pixels) {
    write(file, "P5", size, pixels);
}

void write_ppm(const fs::path& file, Size size, std::span<const std::uint8_t> rgb) {
    write(file, "P6", size, rgb);
}

} // namespace example
