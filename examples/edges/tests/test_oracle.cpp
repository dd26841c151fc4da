// The oracle on frames whose result can be worked out by hand.
#include <algorithm>
#include <vector>

#include <catch.hpp>

#include "../generated_frame.hpp"
#include "../oracle.hpp"
#include "../threshold_rule.hpp"

using edges::Expected;
using edges::Image;

namespace {

/// A grey frame: dark on the left, light from column `step` on.
Image two_halves(edges::Size size, int step, std::uint8_t dark, std::uint8_t light) {
    Image image{size, {}};
    for (int y = 0; y < size.height; ++y) {
        for (int x = 0; x < size.width; ++x) {
            image.rgb.insert(image.rgb.end(), 3, x < step ? dark : light);
        }
    }
    return image;
}

} // namespace

TEST_CASE("a frame of one colour has no edges", "[oracle]") {
    const Expected result = edges::expected_result(two_halves({9, 5}, 0, 0, 200), 0);
    CHECK(result.edges == std::vector<std::uint8_t>(45, 0));
    CHECK(result.next_threshold == 4);
}

TEST_CASE("a step is an edge as wide as the blur and the gradient reach", "[oracle]") {
    // 0 0 0 0 160 160 160 160 becomes 0 0 10 50 110 150 160 160; differences over two columns: 0 10 50 100 100 50 10 0.
    const Image frame = two_halves({8, 3}, 4, 0, 160);
    const auto row_with = [&](int threshold) {
        std::vector<std::uint8_t> edges = edges::expected_result(frame, threshold).edges;
        edges.resize(8);
        return edges;
    };
    CHECK(row_with(9) == std::vector<std::uint8_t>{0, 255, 255, 255, 255, 255, 255, 0});
    CHECK(row_with(10) == std::vector<std::uint8_t>{0, 0, 255, 255, 255, 255, 0, 0});
    CHECK(row_with(99) == std::vector<std::uint8_t>{0, 0, 0, 255, 255, 0, 0, 0});
    CHECK(row_with(100) == std::vector<std::uint8_t>(8, 0));
}

TEST_CASE("the next threshold is an eighth of the contrast", "[oracle]") {
    CHECK(edges::expected_result(two_halves({8, 3}, 4, 0, 160), 0).next_threshold == 20);
    CHECK(edges::expected_result(two_halves({8, 3}, 4, 96, 136), 0).next_threshold == 5);
}

TEST_CASE("copies of a histogram count together", "[oracle]") {
    std::vector<unsigned> copies(512);
    copies[10] = 3;
    copies[256 + 90] = 3;
    CHECK(edges::threshold_from(copies) == 10);
}

TEST_CASE("a level that few pixels have does not count as contrast", "[oracle]") {
    std::vector<unsigned> histogram(256);
    histogram[100] = 150;
    histogram[0] = 10;
    histogram[180] = 10;
    CHECK(edges::threshold_from(histogram) == 4);
    histogram[0] = 11;
    CHECK(edges::threshold_from(histogram) == 12);
}

TEST_CASE("generated frames move and change their contrast", "[oracle]") {
    const Image first = edges::generate_frame({96, 64}, 0);
    CHECK(first.rgb == edges::generate_frame({96, 64}, 0).rgb);
    CHECK(first.rgb != edges::generate_frame({96, 64}, 1).rgb);
    CHECK(edges::expected_result(first, 0).next_threshold <
          edges::expected_result(edges::generate_frame({96, 64}, 30), 0).next_threshold);
}
