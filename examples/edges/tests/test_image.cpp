// What is read from PGM and PPM files, what is written, and what is refused.
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <catch.hpp>

#include "../bad_input.hpp"
#include "../image.hpp"

namespace fs = std::filesystem;
using edges::BadInput;
using edges::Image;
using edges::Size;

namespace {

/// A directory that is gone after the test.
struct TemporaryDirectory {
    fs::path path;

    TemporaryDirectory() {
        std::string name = (fs::temp_directory_path() / "edges_XXXXXX").string();
        path = mkdtemp(name.data());
    }
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
    ~TemporaryDirectory() { fs::remove_all(path); }

    fs::path write(const std::string& name, const std::string& bytes) const {
        std::ofstream(path / name, std::ios::binary) << bytes;
        return path / name;
    }
};

/// What probe_image says about a file with these bytes, without the file's name; empty if it takes them.
std::string refusal(const std::string& bytes) {
    const TemporaryDirectory directory;
    const fs::path file = directory.write("image", bytes);
    try {
        edges::probe_image(file);
        return {};
    } catch (const BadInput& error) {
        const std::string text = error.what();
        REQUIRE(text.find(file.string() + ": ") == 0);
        return text.substr(file.string().size() + 2);
    }
}

} // namespace

TEST_CASE("a PPM file is read as it is", "[image]") {
    const TemporaryDirectory directory;
    const fs::path file = directory.write("a.ppm", "P6\n2 1\n255\nabcdef");
    CHECK(edges::probe_image(file) == Size{2, 1});
    const Image image = edges::read_image(file);
    CHECK(image.size == Size{2, 1});
    CHECK(image.rgb == std::vector<std::uint8_t>{'a', 'b', 'c', 'd', 'e', 'f'});
}

TEST_CASE("a pixel of a PGM file becomes a colour with equal parts", "[image]") {
    const TemporaryDirectory directory;
    const Image image = edges::read_image(directory.write("a.pgm", "P5 1 2 255 \nx"));
    CHECK(image.size == Size{1, 2});
    CHECK(image.rgb == std::vector<std::uint8_t>{'\n', '\n', '\n', 'x', 'x', 'x'});
}

TEST_CASE("comments in a header are skipped", "[image]") {
    CHECK(refusal("P5\n# made by hand\n2 # wide\n#\n\n1\n255\nab") == "");
}

TEST_CASE("a written image reads back as it was", "[image]") {
    const TemporaryDirectory directory;
    const std::vector<std::uint8_t> pixels{0, 10, 13, 32, 35, 255};
    edges::write_pgm(directory.path / "a.pgm", {3, 2}, pixels);
    const Image image = edges::read_image(directory.path / "a.pgm");
    REQUIRE(image.size == Size{3, 2});
    for (std::size_t i = 0; i < pixels.size(); ++i) {
        CHECK(image.rgb[3 * i] == pixels[i]);
    }
}

TEST_CASE("writing into a directory that does not exist is refused", "[image]") {
    const TemporaryDirectory directory;
    const std::vector<std::uint8_t> pixels{0};
    REQUIRE_THROWS_AS(edges::write_pgm(directory.path / "none" / "a.pgm", {1, 1}, pixels), BadInput);
}

TEST_CASE("what is no 8-bit binary PGM or PPM is refused by its reason", "[image]") {
    CHECK(refusal("") == "the file is empty");
    CHECK(refusal("GIF89a") == "not a PGM or PPM image");
    CHECK(refusal("P") == "not a PGM or PPM image");
    CHECK(refusal("P2\n1 1\n255\n7") == "unsupported format P2; binary PGM (P5) and PPM (P6) are read");
    CHECK(refusal("P7\nWIDTH 1\n") == "unsupported format P7; binary PGM (P5) and PPM (P6) are read");
    CHECK(refusal("P5\n1 1\n65535\nab") == "unsupported maximum value 65535; only 255 is read");
    CHECK(refusal("P5\n1 1\n1\na") == "unsupported maximum value 1; only 255 is read");
}

TEST_CASE("a size that is none is refused", "[image]") {
    CHECK(refusal("P5\n0 1\n255\n") == "its width is 0");
    CHECK(refusal("P5\n1 0\n255\n") == "its height is 0");
    CHECK(refusal("P5\n-1 1\n255\na") == "its width is not a number");
    CHECK(refusal("P5\n1 1x\n255\na") == "its height is not a number");
    CHECK(refusal("P5\n1 16385\n255\na") == "its height is over 16384");
    CHECK(refusal("P5\n99999999999999999999 1\n255\na") == "its width is over 16384");
}

TEST_CASE("a truncated file is refused where it ends", "[image]") {
    CHECK(refusal("P5") == "truncated: it ends before its width");
    CHECK(refusal("P5\n4 # and no more") == "truncated: it ends before its height");
    CHECK(refusal("P5\n4 4\n") == "truncated: it ends before its maximum value");
    CHECK(refusal("P5\n4 4\n255") == "truncated: it ends before its pixels");
    CHECK(refusal("P5\n4 4\n255\n") == "truncated: 0 of 16 pixel bytes");
    CHECK(refusal("P6\n4 4\n255\nabc") == "truncated: 3 of 48 pixel bytes");
}

TEST_CASE("bytes after the image are refused", "[image]") {
    CHECK(refusal("P5\n1 1\n255\nab") == "1 bytes follow the image; only one image per file is read");
}

TEST_CASE("a file that cannot be opened is refused with the system's reason", "[image]") {
    REQUIRE_THROWS_WITH(edges::probe_image("nowhere.pgm"), "nowhere.pgm: No such file or directory");
}
