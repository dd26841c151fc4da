// The two paths take turns in going first, so that neither profits from what the other has just warmed up.
#include "compare.hpp"

#include <algorithm>
#include <string>

#include "oracle.hpp"
#include "progress.hpp"
#include "threshold_rule.hpp"

namespace edges {
namespace {

constexpr int warm_up_runs = 3;
constexpr std::uint8_t neither_black_nor_white = 0x5A;

/// One way through the pipeline, the threshold of its next frame, and the time that it took so far.
template <class Path>
class Lane {
  public:
    Lane(const char* name, Path& path, cudag::Stream& stream) : name_(name), path_(path), stream_(stream) {}

    void warm_up(const Image& frame) {
        prepare(frame);
        for (int i = 0; i < warm_up_runs; ++i) {
            path_.run(stream_, first_threshold);
        }
    }

    void run(const Image& frame) {
        prepare(frame);
        const auto begin = std::chrono::steady_clock::now();
        threshold_ = path_.run(stream_, threshold_);
        time_ += std::chrono::steady_clock::now() - begin;
    }

    void check(const Expected& expected, const std::string& frame) {
        const FrameBuffers& result = path_.buffers();
        const auto differ = std::mismatch(expected.edges.begin(), expected.edges.end(), result.output.begin());
        if (differ.first != expected.edges.end()) {
            const int pixel = static_cast<int>(differ.first - expected.edges.begin());
            refuse(frame, "pixel " + std::to_string(pixel % result.size.width) + "," +
                              std::to_string(pixel / result.size.width) + " is " + std::to_string(*differ.second) +
                              ", not " + std::to_string(*differ.first));
        }
        if (threshold_ != expected.next_threshold) {
            refuse(frame, "it gives the next threshold " + std::to_string(threshold_) + ", not " +
                              std::to_string(expected.next_threshold));
        }
    }

    std::chrono::duration<double> time() const { return time_; }

  private:
    void prepare(const Image& frame) {
        FrameBuffers& buffers = path_.buffers();
        std::copy(frame.rgb.begin(), frame.rgb.end(), buffers.input.begin());
        std::fill(buffers.output.begin(), buffers.output.end(), neither_black_nor_white);
    }

    [[noreturn]] void refuse(const std::string& frame, const std::string& difference) const {
        throw WrongFrame(frame + ": the result of the " + name_ + " is wrong: " + difference);
    }

    const char* name_;
    Path& path_;
    cudag::Stream& stream_;
    int threshold_ = first_threshold;
    std::chrono::duration<double> time_{};
};

} // namespace

Times compare(StreamPath& stream_path, GraphPath& graph_path, const FrameSource& frames, const Options& options) {
    cudag::Stream cuda_stream;
    Lane<StreamPath> stream("stream", stream_path, cuda_stream);
    Lane<GraphPath> graph("graph", graph_path, cuda_stream);
    const Image first = frames.read(0);
    stream.warm_up(first);
    graph.warm_up(first);

    int right_threshold = first_threshold;
    const Progress progress(frames.count());
    for (std::size_t i = 0; i < frames.count(); ++i) {
        progress.show(i + 1);
        const Image frame = frames.read(i);
        if (i % 2 == 0) {
            stream.run(frame);
            graph.run(frame);
        } else {
            graph.run(frame);
            stream.run(frame);
        }
        if (options.verify) {
            const Expected expected = expected_result(frame, right_threshold);
            right_threshold = expected.next_threshold;
            stream.check(expected, frames.name(i));
            graph.check(expected, frames.name(i));
        }
        if (options.output) {
            write_pgm(*options.output / frames.result_name(i), frames.size(), graph_path.buffers().output.span());
        }
    }
    return {stream.time(), graph.time()};
}

} // namespace edges
