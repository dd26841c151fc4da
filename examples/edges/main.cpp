// edges: finds the edges in a list of frames, with plain CUDA launches and with a CUDA graph.
#include <cstdio>
#include <system_error>

#include "bad_input.hpp"
#include "compare.hpp"

namespace edges {
namespace {

FrameSource open_frames(const Options& options) {
    return options.inputs.empty() ? FrameSource(options.size, options.frames) : FrameSource(options.inputs);
}

void make_directory(const std::filesystem::path& directory) {
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    if (error) {
        throw BadInput(directory.string() + ": cannot be made: " + error.message());
    }
}

std::string device_name() {
    int device = 0;
    cudaDeviceProp properties{};
    cudag::check(cudaGetDevice(&device));
    cudag::check(cudaGetDeviceProperties(&properties, device));
    return properties.name;
}

void print(const FrameSource& frames, const Times& times, const GraphPath& graph, const Options& options) {
    std::printf("%zu frames of %s on %s, one at a time, from upload to result, by the median frame\n", frames.count(),
                to_string(frames.size()).c_str(), device_name().c_str());
    std::printf("plain launches on one stream: %9.1f frames/s\n", 1 / times.stream.count());
    std::printf("graph of %zu nodes:            %9.1f frames/s, %.2f times as fast\n", graph.graph().node_count(),
                1 / times.graph.count(), times.stream / times.graph);
    example::print_runtime_note();
    if (options.verify) {
        std::printf("verified: every frame is right on both ways\n");
    }
}

void run(const Options& options) {
    const FrameSource frames = open_frames(options);
    if (options.output) {
        make_directory(*options.output);
    }
    StreamPath stream(frames.size());
    GraphPath graph(frames.size());
    if (options.dot) {
        example::write_text(*options.dot, graph.graph().dot());
    }
    print(frames, compare(stream, graph, frames, options), graph, options);
}

} // namespace
} // namespace edges

int main(int argc, char** argv) {
    return example::run("edges", [&] {
        const edges::Options options = edges::parse_options({argv + 1, argv + argc});
        if (options.help) {
            std::fputs(edges::usage, stdout);
        } else {
            edges::run(options);
        }
    });
}
