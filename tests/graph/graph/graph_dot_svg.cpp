// Graphviz itself reads the text. Built only where Meson finds `dot`, whose path is CUDAG_DOT.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "cuda_version.hpp"
#include "dot_sample.hpp"

namespace {

/// A directory of its own, gone at the end.
class ScratchDirectory {
  public:
    ScratchDirectory() {
        std::string name = std::filesystem::temp_directory_path() / "cudag-dot-XXXXXX";
        REQUIRE(mkdtemp(name.data()) != nullptr);
        path_ = name;
    }
    ~ScratchDirectory() { std::filesystem::remove_all(path_); }
    ScratchDirectory(const ScratchDirectory&) = delete;
    ScratchDirectory& operator=(const ScratchDirectory&) = delete;

    [[nodiscard]] std::string file(const char* name) const { return path_ / name; }

  private:
    std::filesystem::path path_;
};

std::string drawn(const std::string& dot) {
    const ScratchDirectory scratch;
    const std::string text = scratch.file("graph.dot");
    const std::string picture = scratch.file("graph.svg");
    std::ofstream(text) << dot;
    const std::string command = std::string("'") + CUDAG_DOT + "' -Tsvg '" + text + "' -o '" + picture + "'";
    REQUIRE(std::system(command.c_str()) == 0);
    std::ifstream svg(picture);
    return {std::istreambuf_iterator<char>(svg), {}};
}

} // namespace

TEST_CASE("Graphviz draws a graph with all its labels", "[graph][dot]") {
    const std::string svg = drawn(dot_sample::pipeline().dot());
    CHECK_THAT(svg, ContainsSubstring("<svg"));
    for (const char* text : {">fill<", ">report<", ">all done<", ">upload &quot;a\\b&quot;<", ">of two<"})
        CHECK_THAT(svg, ContainsSubstring(text));
}

TEST_CASE("Graphviz draws the title of each body once", "[graph][dot]") {
    if (older_than(12080)) return;
    cudag::GraphBuilder b;
    b.if_(b.condition(1), [](cudag::GraphBuilder& then) {
        then.switch_(then.condition(0), {[](cudag::GraphBuilder& body) {
                         body.if_(body.condition(1), [](cudag::GraphBuilder& inner) { inner.kernel({}, nothing); });
                     }});
    });
    const std::string svg = drawn(std::move(b).build().dot());
    const auto count = [&](std::string_view text) {
        std::size_t found = 0;
        for (std::size_t at = svg.find(text); at != std::string::npos; at = svg.find(text, at + 1))
            ++found;
        return found;
    };
    CHECK(count(">then<") == 2);
    CHECK(count(">case 0<") == 1);
}

TEST_CASE("Graphviz draws an empty graph", "[graph][dot]") {
    CHECK_THAT(drawn(cudag::GraphBuilder().build().dot()), ContainsSubstring("<svg"));
}
