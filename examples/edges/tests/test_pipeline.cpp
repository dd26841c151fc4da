// Both paths against the oracle, and the shape of the graph.
#include <algorithm>
#include <string>
#include <vector>

#include <catch.hpp>

#include "../generated_frame.hpp"
#include "../graph_path.hpp"
#include "../inferred_graph.hpp"
#include "../oracle.hpp"
#include "../stream_path.hpp"
#include "../threshold_rule.hpp"

using edges::Expected;
using edges::Image;
using edges::Size;

namespace {

/// Runs three frames, each with the threshold that the one before chose, and compares every result.
template <class Path>
void check_frames(Path& path, Size size) {
    cudag::Stream stream;
    edges::HostFrame host(size);
    int threshold = edges::first_threshold;
    for (const std::size_t index : {0U, 20U, 33U}) {
        INFO("frame " << index << " of " << to_string(size));
        const Image frame = edges::generate_frame(size, index);
        const Expected expected = edges::expected_result(frame, threshold);
        std::copy(frame.rgb.begin(), frame.rgb.end(), host.rgb.begin());
        std::fill(host.edges.begin(), host.edges.end(), std::uint8_t{1});

        threshold = path.run(stream, host, threshold);

        CHECK(threshold == expected.next_threshold);
        CHECK(std::equal(expected.edges.begin(), expected.edges.end(), host.edges.begin()));
    }
}

// From one pixel, over sizes that no block of threads divides, to several blocks.
const std::vector<Size> sizes{{1, 1}, {2, 1}, {1, 3}, {3, 2}, {7, 5}, {64, 16}, {131, 37}, {300, 200}};

} // namespace

TEST_CASE("the stream path equals the oracle", "[pipeline]") {
    for (const Size size : sizes) {
        edges::StreamPath path(size);
        check_frames(path, size);
    }
}

TEST_CASE("the graph path equals the oracle", "[pipeline]") {
    for (const Size size : sizes) {
        edges::GraphPath path(size);
        check_frames(path, size);
    }
}

TEST_CASE("the graph has the steps and the edges of the pipeline", "[pipeline]") {
    const edges::GraphPath path({64, 16});
    std::vector<std::string> found;
    for (const cudag::Edge& edge : path.graph().edges()) {
        found.push_back(std::string(edge.from.label()) + " -> " + std::string(edge.to.label()));
    }
    std::sort(found.begin(), found.end());
    CHECK(path.graph().node_count() == 13);
    CHECK(found == std::vector<std::string>{
                       "blur columns -> sobel x",
                       "blur columns -> sobel y",
                       "blur rows -> blur columns",
                       "clear histogram -> histogram",
                       "download histogram -> read histogram",
                       "grey -> blur rows",
                       "grey -> histogram",
                       "histogram -> download histogram",
                       "magnitude -> threshold",
                       "sobel x -> magnitude",
                       "sobel y -> magnitude",
                       "threshold -> download",
                       "upload -> grey",
                   });
}

TEST_CASE("the edges that are inferred are those that are written", "[pipeline]") {
    const edges::FrameBuffers buffers({64, 16});
    const edges::HostFrame frame({64, 16});
    int next_threshold = 0;
    const edges::FrameGraph written = edges::build_frame_graph(buffers, frame, next_threshold);
    const cudag::Graph inferred = edges::infer_frame_graph(buffers, frame, next_threshold);
    const auto differences = cudag::diff(written.graph, inferred); // of nodes, edges and parameters
    REQUIRE(differences.size() == 1);
    CHECK(differences[0].field == "callable"); // of the host node, which is another one each time
}
