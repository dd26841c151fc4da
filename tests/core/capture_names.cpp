// Which step or mark of a capture names which of its nodes.
#include "read/capture_names.hpp"

#include "catch.hpp"

using cudag::SourceLocation;
using cudag::detail::CaptureNames;
using cudag::detail::NamedNodes;

namespace {

const SourceLocation somewhere{};

/// The name of each node in [first, end), "-" for none; they are one letter long.
std::string names_of(const CaptureNames& names, std::uint32_t first, std::uint32_t end) {
    std::string result;
    for (std::uint32_t node = first; node < end; ++node) {
        const NamedNodes* nearest = nullptr;
        for (const NamedNodes& stretch : names.stretches()) {
            if (node < stretch.first || node >= stretch.end) continue;
            if (nearest != nullptr) CHECK(nearest->depth != stretch.depth);
            if (nearest == nullptr || stretch.depth > nearest->depth) nearest = &stretch;
        }
        result += nearest == nullptr ? "-" : nearest->label;
    }
    return result;
}

} // namespace

TEST_CASE("a step names what is recorded until it ends", "[read][names]") {
    CaptureNames names(3, somewhere);
    names.begin_step("a", somewhere, 4);
    names.end_step(6);
    CHECK(names_of(names, 3, 8) == "-aa--");
}

TEST_CASE("the innermost step around a node names it", "[read][names]") {
    CaptureNames names(0, somewhere);
    names.begin_step("a", somewhere, 0);
    names.begin_step("b", somewhere, 1);
    names.begin_step("c", somewhere, 2);
    names.end_step(3);
    names.end_step(4);
    names.end_step(5);
    CHECK(names_of(names, 0, 6) == "abcba-");
}

TEST_CASE("a mark names what no step and no mark has named before it", "[read][names]") {
    CaptureNames names(2, somewhere);
    names.mark("a", somewhere, 4);
    names.begin_step("s", somewhere, 5);
    names.end_step(6);
    names.mark("b", somewhere, 7);
    CHECK(names_of(names, 2, 8) == "aabsb-");
}

TEST_CASE("a mark within a step names what the step has recorded before it", "[read][names]") {
    CaptureNames names(0, somewhere);
    names.begin_step("s", somewhere, 1);
    names.mark("a", somewhere, 2);
    names.begin_step("t", somewhere, 3);
    names.end_step(4);
    names.mark("b", somewhere, 5);
    names.end_step(6);
    names.mark("c", somewhere, 7);
    CHECK(names_of(names, 0, 8) == "cabtbsc-");
}

TEST_CASE("a step that failed names nothing, and the marks around it go on", "[read][names]") {
    CaptureNames names(0, somewhere);
    names.begin_step("s", somewhere, 1);
    names.drop_step();
    names.mark("a", somewhere, 3);
    CHECK(names_of(names, 0, 4) == "aaa-");
}
