// Graphs captured in streams of green contexts: the plan's own kernels run beside theirs, and updates stay there.
#include <cuda.h>

#include "driver_functions.hpp"
#include "green_kernels.hpp"
#include "test.hpp"

#include <algorithm>

using cudag::capture;
using cudag::check;
using cudag::Exec;
using cudag::Graph;
using cudag::launch;
using cudag::Stream;
using cudag::StreamCapture;

namespace {

template <class Function>
Function entry(const char* name) {
    return reinterpret_cast<Function>(driver_function(name, 12050));
}

/// A context of 16 multiprocessors, and a stream of it; none where CUDA or the GPU cannot make one.
class GreenStream {
  public:
    GreenStream() {
        check(cudaFree(nullptr)); // makes the device's own context
        const auto resource_of = entry<decltype(&cuDeviceGetDevResource)>("cuDeviceGetDevResource");
        const auto split = entry<decltype(&cuDevSmResourceSplitByCount)>("cuDevSmResourceSplitByCount");
        const auto describe = entry<decltype(&cuDevResourceGenerateDesc)>("cuDevResourceGenerateDesc");
        const auto create = entry<decltype(&cuGreenCtxCreate)>("cuGreenCtxCreate");
        const auto make_stream = entry<decltype(&cuGreenCtxStreamCreate)>("cuGreenCtxStreamCreate");
        destroy_ = entry<decltype(&cuGreenCtxDestroy)>("cuGreenCtxDestroy");
        if (!resource_of || !split || !describe || !create || !make_stream || !destroy_) return;
        CUdevResource all{}, part{}, rest{};
        unsigned groups = 1;
        CUdevResourceDesc description{};
        if (resource_of(0, &all, CU_DEV_RESOURCE_TYPE_SM) != CUDA_SUCCESS ||
            split(&part, &groups, &all, &rest, 0, 16) != CUDA_SUCCESS ||
            describe(&description, &part, 1) != CUDA_SUCCESS ||
            create(&context_, description, 0, CU_GREEN_CTX_DEFAULT_STREAM) != CUDA_SUCCESS)
            return;
        if (make_stream(&stream_, context_, CU_STREAM_NON_BLOCKING, 0) != CUDA_SUCCESS) stream_ = nullptr;
    }
    ~GreenStream() {
        if (stream_ != nullptr) cudaStreamDestroy(stream_);
        if (context_ != nullptr) destroy_(context_);
    }
    GreenStream(const GreenStream&) = delete;
    GreenStream& operator=(const GreenStream&) = delete;

    [[nodiscard]] cudaStream_t get() const noexcept { return stream_; }

  private:
    CUgreenCtx context_ = nullptr;
    cudaStream_t stream_ = nullptr;
    decltype(&cuGreenCtxDestroy) destroy_ = nullptr;
};

bool is_there(const GreenStream& green) {
    if (green.get() == nullptr) WARN("skipped: it needs green contexts");
    return green.get() != nullptr;
}

/// Enough blocks for all multiprocessors of a GPU.
const cudag::LaunchConfig many_blocks{.grid = 1024, .block = 256};

/// One kernel captured in `green`, which notes in `greatest` where it ran.
Graph noting_graph(const GreenStream& green, const cudag::DeviceBuffer<int>& greatest) {
    return capture(green.get(),
                   [&](StreamCapture& c) { launch(c.stream(), many_blocks, note_multiprocessors, greatest.data()); });
}

/// The greatest multiprocessor that a launch of `exec` notes in `greatest`.
int noted(Exec& exec, const GreenStream& green, const cudag::DeviceBuffer<int>& greatest) {
    check(cudaMemset(greatest.data(), 0, sizeof(int)));
    check(cudaDeviceSynchronize());
    exec.launch(green.get());
    check(cudaStreamSynchronize(green.get()));
    return read(greatest).front();
}

/// Whether a launch whose greatest multiprocessor is this one ran on a part of the device.
bool is_part(int greatest) {
    int all = 0;
    check(cudaDeviceGetAttribute(&all, cudaDevAttrMultiProcessorCount, 0));
    return greatest < all - 1;
}

/// Whether a launch in `green` can be told from one on the whole device.
bool is_told_apart(Exec& exec, const GreenStream& green, const cudag::DeviceBuffer<int>& greatest) {
    const bool is_told = is_part(noted(exec, green, greatest));
    if (!is_told) WARN("skipped: the green context has the last multiprocessor");
    return is_told;
}

} // namespace

TEST_CASE("an update of a graph leaves a captured kernel in its green context", "[plan][green]") {
    const GreenStream green;
    if (!is_there(green)) return;
    const cudag::DeviceBuffer<int> first(1), second(1);
    Graph graph = noting_graph(green, first);
    Exec before = graph.instantiate();
    if (!is_told_apart(before, green, first)) return;
    const auto node = graph.find(note_multiprocessors).at(0);
    graph.update(node, second.data());
    Exec after = graph.instantiate();
    CHECK(is_part(noted(after, green, second)));
    CHECK(read(first).front() != 0); // and the former launch was another's
    graph.update(node, cudag::LaunchConfig{.grid = 512, .block = 256});
    Exec smaller = graph.instantiate();
    CHECK(is_part(noted(smaller, green, second)));
    CHECK(before.update(graph).updated());
    CHECK(is_part(noted(before, green, second)));
}

TEST_CASE("an update of an Exec leaves a captured kernel in its green context", "[plan][green]") {
    const GreenStream green;
    if (!is_there(green)) return;
    const cudag::DeviceBuffer<int> first(1), second(1), third(1);
    const Graph graph = noting_graph(green, first);
    Exec exec = graph.instantiate();
    if (!is_told_apart(exec, green, first)) return;
    exec.update(graph.find(note_multiprocessors).at(0), second.data());
    CHECK(is_part(noted(exec, green, second)));
    CHECK(exec.bind(cudag::BufferParam<int>(first), third) == 1);
    CHECK(is_part(noted(exec, green, third)));
    CHECK(exec.update(noting_graph(green, second)).updated());
    CHECK(is_part(noted(exec, green, second)));
}

TEST_CASE("fills and copies captured in a green context replay, and take whole updates", "[plan][green]") {
    const GreenStream green;
    if (!is_there(green)) return;
    const cudag::DeviceBuffer<int> cells(4), copies(4), others(4);
    const auto graph_of = [&](int value, const cudag::DeviceBuffer<int>& to) {
        return capture(green.get(), [&](StreamCapture& c) {
            cudag::memset_async(c.stream(), cells, value);
            cudag::memcpy_async(c.stream(), to, cells);
        });
    };
    const Graph graph = graph_of(3, copies);
    Exec exec = graph.instantiate();
    const auto launched = [&] {
        exec.launch(green.get());
        check(cudaStreamSynchronize(green.get()));
    };
    launched();
    CHECK(read(copies) == std::vector<int>(4, 3));
    CHECK(exec.update(graph_of(4, others)).updated()); // CUDA refuses it if a node has left the context
    launched();
    CHECK(read(others) == std::vector<int>(4, 4));
    CHECK(exec.update(graph.clone()).updated());
    launched();
    CHECK(read(copies) == std::vector<int>(4, 3));
}

TEST_CASE("the default plan adds its own kernels to a graph of a green context", "[plan][green]") {
    const GreenStream green;
    if (!is_there(green)) return;
    constexpr int width = 12;
    std::vector<Stream> sides(width);
    const cudag::DeviceBuffer<int> cells(width);
    const Graph graph = capture(green.get(), [&](StreamCapture& c) {
        for (int layer = 0; layer < 4; ++layer) {
            for (int i = 0; i < width; ++i) {
                c.fork(sides[static_cast<std::size_t>(i)]);
                launch(sides[static_cast<std::size_t>(i)], {}, store, cells.data() + i, layer);
            }
            for (const Stream& side : sides)
                c.join(side);
            launch(green.get(), {}, nothing);
            launch(green.get(), {}, nothing);
        }
        for (int i = 0; i < width; ++i)
            launch(green.get(), {}, add, cells.data() + i, cells.data() + i, i);
    });
    Exec exec = graph.instantiate();
    exec.launch(green.get());
    check(cudaStreamSynchronize(green.get()));
    for (int i = 0; i < width; ++i)
        CHECK(read(cells)[static_cast<std::size_t>(i)] == 3 + i);
}

TEST_CASE("green contexts: layers that meet all to all are joined by kernels and run", "[plan][green]") {
    const GreenStream green;
    if (!is_there(green)) return;
    // Only streams of the green context: all kernels have it as their context.
    cudag::GraphBuilder b;
    std::vector<cudag::CapturedNode> before;
    for (int layer = 0; layer < 3; ++layer) {
        std::vector<cudag::CapturedNode> now;
        for (int i = 0; i < 32; ++i) {
            auto node = b.capture(green.get(), [&](cudaStream_t s) { launch(s, {}, nothing); });
            for (const cudag::CapturedNode& each : before)
                node.after(each);
            now.push_back(node);
        }
        before = std::move(now);
    }
    Exec exec = std::move(b).build().instantiate();
    exec.launch(green.get());
    check(cudaStreamSynchronize(green.get()));
    CHECK(exec.replays() == 1);
}
