// docs/pictures.md: pictures of graphs with their options, and a listing.
#include "kernels.hpp"
#include "pages.hpp"

#include <cudag/cudag.hpp>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace pages {

void pictures() {
    // layers begins
    constexpr int layers = 24, n = 1024;
    std::vector<float> host(n, 1.0f);
    cudag::DeviceBuffer<float> x(n), q(n), k(n);
    cudag::GraphBuilder b({.dependencies = cudag::Dependencies::inferred});
    b.memcpy(x, host).label("upload");
    for (int layer = 0; layer < layers; ++layer) {
        const std::string name = "layer " + std::to_string(layer);
        b.kernel(cudag::grid_1d(n, 256), add, n, x, x, q).label(name + " q");
        b.kernel(cudag::grid_1d(n, 256), add, n, x, x, k).label(name + " k");
        b.kernel(cudag::grid_1d(n, 256), add, n, q, k, x).label(name + " sum");
    }
    b.memcpy(host, x).label("download");
    cudag::Graph graph = std::move(b).build(); // 74 nodes
    // layers ends
    // options begins
    std::string folded = graph.dot({.color = cudag::DotColor::kind, .fold = true});
    std::string data = graph.dot({.color = cudag::DotColor::kind, .parameters = true, .data = true});
    std::string devices = graph.dot({.color = cudag::DotColor::device, .depth = 1}); // no graphs inside inner graphs
    // options ends
    picture("pictures-folded", folded);
    // races begins
    cudag::GraphBuilder unordered({.races = cudag::Races::allowed});
    unordered.memset(x, 0.0f).label("clear");
    unordered.kernel(cudag::grid_1d(n, 256), scale, n, 2.0f, x).label("scale"); // no edge from the fill
    unordered.memset(q, 0.0f).label("beside");
    std::string races = std::move(unordered).build().dot({.color = cudag::DotColor::race});
    // races ends
    picture("pictures-races", races);
    // flow begins
    cudag::GraphBuilder short_one({.dependencies = cudag::Dependencies::inferred});
    short_one.memcpy(x, host).label("upload");
    short_one.memset(q, 1.0f).label("ones");
    short_one.kernel(cudag::grid_1d(n, 256), add, n, x, q, k).label("sum");
    short_one.memcpy(host, k).label("download");
    cudag::Graph flow = std::move(short_one).build();
    std::string flows = flow.dot({.data = true});
    flow.print(); // one line for each node, on stdout
    // flow ends
    picture("pictures-flow", flows);
    expect(static_cast<float>(graph.node_count()), 74.0f, "nodes");
    expect(folded.find("x 24") != std::string::npos ? 1.0f : 0.0f, 1.0f, "folded layers");
    expect(data.find("4096 bytes") != std::string::npos ? 1.0f : 0.0f, 1.0f, "data");
    expect(devices.empty() ? 1.0f : 0.0f, 0.0f, "a picture by device");
}

} // namespace pages
