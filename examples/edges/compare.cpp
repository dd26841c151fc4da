// Frames are prepared in batches, so that the time of a batch is that of frames which follow each other, not of threads
// and clocks that wake up after a pause. The two paths take turns in going first.
#include "compare.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "oracle.hpp"
#include "program/progress.hpp"
#include "threshold_rule.hpp"

namespace edges {
namespace {

constexpr std::size_t batch_size = 16;
constexpr std::uint8_t neither_black_nor_white = 0x5A;

/// Frames in page-locked memory, ready to run.
struct Batch {
    std::size_t first = 0;
    std::size_t count = 0;
    std::vector<HostFrame> frames;

    void load(const FrameSource& source, std::size_t from) {
        first = from;
        count = std::min(batch_size, source.count() - from);
        while (frames.size() < count) {
            frames.emplace_back(source.size());
        }
        for (std::size_t i = 0; i < count; ++i) {
            const Image image = source.read(first + i);
            std::copy(image.rgb.begin(), image.rgb.end(), frames[i].rgb.begin());
        }
    }
};

/// What must come out of every frame of a batch.
std::vector<Expected> expected_results(const FrameSource& source, const Batch& batch, int threshold) {
    std::vector<Expected> results;
    for (std::size_t i = 0; i < batch.count; ++i) {
        results.push_back(expected_result(source.read(batch.first + i), threshold));
        threshold = results.back().next_threshold;
    }
    return results;
}

void write_results(const FrameSource& source, const Batch& batch, const std::filesystem::path& directory) {
    for (std::size_t i = 0; i < batch.count; ++i) {
        write_pgm(directory / source.result_name(batch.first + i), source.size(), batch.frames[i].edges.span());
    }
}

/// One way through the pipeline, the threshold of its next frame, and the times that it took so far.
template <class Path>
class Lane {
  public:
    Lane(const char* name, Path& path, cudag::Stream& stream) : name_(name), path_(path), stream_(stream) {}

    void run(Batch& batch) {
        for (std::size_t i = 1; i < batch.count; ++i) {
            poison(batch.frames[i]);
        }
        path_.run(stream_, batch.frames.front(), threshold_); // not measured: it wakes everything up
        poison(batch.frames.front());
        thresholds_.clear();
        for (std::size_t i = 0; i < batch.count; ++i) {
            const auto begin = std::chrono::steady_clock::now();
            threshold_ = path_.run(stream_, batch.frames[i], threshold_);
            times_.push_back(std::chrono::steady_clock::now() - begin);
            thresholds_.push_back(threshold_);
        }
    }

    /// Throws WrongFrame unless the results of the batch just run are `expected`.
    void check(const Batch& batch, const std::vector<Expected>& expected, const FrameSource& source) const {
        for (std::size_t i = 0; i < batch.count; ++i) {
            const std::string frame = source.name(batch.first + i);
            const auto& result = batch.frames[i].edges;
            const auto differ = std::mismatch(expected[i].edges.begin(), expected[i].edges.end(), result.begin());
            if (differ.first != expected[i].edges.end()) {
                const int pixel = static_cast<int>(differ.first - expected[i].edges.begin());
                refuse(frame, "pixel " + std::to_string(pixel % source.size().width) + "," +
                                  std::to_string(pixel / source.size().width) + " is " +
                                  std::to_string(*differ.second) + ", not " + std::to_string(*differ.first));
            }
            if (thresholds_[i] != expected[i].next_threshold) {
                refuse(frame, "it gives the next threshold " + std::to_string(thresholds_[i]) + ", not " +
                                  std::to_string(expected[i].next_threshold));
            }
        }
    }

    std::chrono::duration<double> median_time() const {
        std::vector<std::chrono::duration<double>> sorted = times_;
        std::sort(sorted.begin(), sorted.end());
        return sorted[sorted.size() / 2];
    }

  private:
    static void poison(HostFrame& frame) { std::fill(frame.edges.begin(), frame.edges.end(), neither_black_nor_white); }

    [[noreturn]] void refuse(const std::string& frame, const std::string& difference) const {
        throw WrongFrame(frame + ": the result of the " + name_ + " is wrong: " + difference);
    }

    const char* name_;
    Path& path_;
    cudag::Stream& stream_;
    int threshold_ = first_threshold;
    std::vector<int> thresholds_;                      // what each frame of the last batch gave
    std::vector<std::chrono::duration<double>> times_; // of all frames so far
};

} // namespace

Times compare(StreamPath& stream_path, GraphPath& graph_path, const FrameSource& frames, const Options& options) {
    cudag::Stream cuda_stream;
    Lane<StreamPath> stream("stream", stream_path, cuda_stream);
    Lane<GraphPath> graph("graph", graph_path, cuda_stream);

    Batch batch;
    int threshold = first_threshold;
    const example::Progress progress("frame", frames.count());
    const auto run = [&](auto& lane, const std::vector<Expected>& expected) {
        lane.run(batch);
        if (options.verify) {
            lane.check(batch, expected, frames);
        }
    };
    const auto run_graph = [&](const std::vector<Expected>& expected) {
        run(graph, expected);
        if (options.output) { // now, before the stream's results take their place
            write_results(frames, batch, *options.output);
        }
    };
    bool stream_first = true;
    for (std::size_t i = 0; i < frames.count(); i += batch.count) {
        batch.load(frames, i);
        std::vector<Expected> expected;
        if (options.verify) {
            expected = expected_results(frames, batch, threshold);
            threshold = expected.back().next_threshold;
        }
        if (stream_first) {
            run(stream, expected);
            run_graph(expected);
        } else {
            run_graph(expected);
            run(stream, expected);
        }
        stream_first = !stream_first;
        progress.show(i + batch.count);
    }
    return {stream.median_time(), graph.median_time()};
}

} // namespace edges
