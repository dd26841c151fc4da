// docs/faults.md: a hang, named by a deadline, and its end.
#include "kernels.hpp"
#include "pages.hpp"

#include <cudag/cudag.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <utility>

namespace pages {

void faults() {
    constexpr int elements = 1 << 10;
    const cudag::LaunchConfig config = cudag::grid_1d(elements, 256);
    const cudag::Stream stream;
    cudag::DeviceBuffer<float> x(elements);
    cudag::PinnedBuffer<float> result(elements);
    std::atomic<bool> arrived = false;
    std::size_t unfinished = 0;
    {
        // graph begins
        cudag::GraphBuilder b;
        auto ones = b.memset(x, 1.0f).label("ones");
        auto scaled = b.kernel(config, scale, elements, 3.0f, x).label("scale").after(ones);
        auto wait = b.host([&] { arrived.wait(false); }).label("wait for the request").after(scaled);
        b.memcpy(result, x).label("download").after(wait);
        const cudag::Graph graph = std::move(b).build();
        cudag::Exec exec = graph.instantiate({.recorder = true});
        // graph ends
        // deadline begins
        exec.launch(stream);
        try {
            stream.synchronize(std::chrono::milliseconds(200));
        } catch (const cudag::DeadlineError& late) {
            std::puts(late.what());
            for (const cudag::UnfinishedNode& node : late.nodes())
                std::printf("%s was begun, and has not ended\n", node.description.c_str());
            // deadline ends
            unfinished = late.nodes().size();
            // release begins
            arrived = true; // the cause goes
            arrived.notify_all();
            stream.synchronize(); // and the launch ends
        }
        // release ends
        expect(result[7], 3, "the result after the hang");
    }
    expect(static_cast<float>(unfinished), 1, "nodes named by the deadline");
}

} // namespace pages
