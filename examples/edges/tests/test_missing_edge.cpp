// Leaves out each edge of the frame graph in turn. The CPU runtime runs unordered nodes in an order drawn from a seed:
// within 20 seeds every missing edge must show as a wrong result, while the whole graph is right under all of them.
#include <algorithm>
#include <cstdint>

#include <catch.hpp>
#include <cudart_cpu/control.hpp>

#include "../generated_frame.hpp"
#include "../graph_path.hpp"
#include "../oracle.hpp"
#include "../threshold_rule.hpp"

using edges::Expected;
using edges::Image;
using edges::Size;

namespace {

constexpr Size size{48, 32};
constexpr int threshold = edges::first_threshold;
constexpr std::uint64_t seeds = 20;

/// A frame and its expected edges.
struct Task {
    explicit Task(std::size_t index)
        : frame(edges::generate_frame(size, index)), expected(edges::expected_result(frame, threshold)) {}

    Image frame;
    Expected expected;
};

/// A frame graph with removable edges, and its memory.
class Pipeline {
  public:
    Pipeline() : whole_(edges::build_frame_graph(buffers_, host_, next_threshold_)) {}
    Pipeline(const Pipeline&) = delete;
    Pipeline& operator=(const Pipeline&) = delete;
    ~Pipeline() { cudaGraphExecDestroy(exec_); }

    const cudag::Graph& graph() const { return whole_.graph; }

    /// From now on the graph runs without this edge. Through CUDA's own handles, since cudag takes no edge away.
    void leave_out(const cudag::Edge& edge) {
        const cudaGraphNode_t from = edge.from.native();
        const cudaGraphNode_t to = edge.to.native();
        cudag::check(cudaGraphRemoveDependencies(graph().native(), &from, &to, nullptr, 1));
    }

    /// Runs the graph in one worker thread, in the order that `seed` gives, and says whether the result is right.
    bool is_right(const Task& task, std::uint64_t seed) {
        if (exec_ == nullptr) {
            cudag::check(cudaGraphInstantiate(&exec_, graph().native(), 0));
        }
        cudart_cpu::set_workers(1);
        cudart_cpu::set_seed(seed);
        std::copy(task.frame.rgb.begin(), task.frame.rgb.end(), host_.rgb.begin());
        cudag::check(cudaGraphLaunch(exec_, stream_.get()));
        stream_.synchronize();
        return next_threshold_ == task.expected.next_threshold &&
               std::equal(task.expected.edges.begin(), task.expected.edges.end(), host_.edges.begin());
    }

  private:
    cudag::Stream stream_;
    edges::FrameBuffers buffers_{size};
    edges::HostFrame host_{size};
    int next_threshold_ = 0;
    edges::FrameGraph whole_;
    cudaGraphExec_t exec_ = nullptr;
};

/// Two frames that differ in every step of the pipeline: whatever is read too early is of the other one.
const Task dim(0);
const Task bright(30);

} // namespace

// orders begins
TEST_CASE("the whole graph is right under every seed", "[missing edge]") {
    Pipeline pipeline;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        INFO("seed " << seed);
        CHECK(pipeline.is_right(dim, seed));
        CHECK(pipeline.is_right(bright, seed));
    }
}
// orders ends

TEST_CASE("every missing edge shows within 20 seeds", "[missing edge]") {
    const std::size_t edge_count = Pipeline().graph().edge_count();
    for (std::size_t i = 0; i < edge_count; ++i) {
        Pipeline pipeline;
        const cudag::Edge edge = pipeline.graph().edges().at(i);
        pipeline.leave_out(edge);
        std::uint64_t seed = 1;
        while (seed <= seeds && pipeline.is_right(dim, seed) && pipeline.is_right(bright, seed)) {
            ++seed;
        }
        INFO("without " << edge.from.label() << " -> " << edge.to.label());
        CHECK(seed <= seeds);
    }
}
