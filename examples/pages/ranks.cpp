// docs/ranks.md: two ranks, here threads, whose graphs differ; and one tuned plan for both.
#include "kernels.hpp"
#include "pages.hpp"

#include <cudag/agree.hpp>
#include <cudag/cudag.hpp>

#include <algorithm>
#include <barrier>
#include <cstddef>
#include <cstdio>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace pages {

namespace {

constexpr std::size_t ranks = 2;

/// The all-gather of threads; other programs have MPI's or NCCL's.
class Threads {
  public:
    cudag::AllGather of(std::size_t rank) {
        return [this, rank](std::span<const std::byte> mine, std::span<std::byte> all) {
            sent_[rank] = mine;
            barrier_.arrive_and_wait();
            for (std::size_t i = 0; i < ranks; ++i)
                std::ranges::copy(sent_[i], all.subspan(i * mine.size()).begin());
            barrier_.arrive_and_wait();
        };
    }

  private:
    std::vector<std::span<const std::byte>> sent_{ranks};
    std::barrier<> barrier_{ranks};
};

/// The step of one rank: rank 1 believes that nothing has to be sent.
cudag::Graph step_of(std::size_t rank, int n, const cudag::DeviceBuffer<float>& x, cudag::PinnedBuffer<float>& halo) {
    cudag::GraphBuilder b;
    auto inner = b.kernel(cudag::grid_1d(x.size(), 256), scale, n, 2.0f, x).label("inner");
    if (rank == 0) b.memcpy(halo, x).label("halo").after(inner);
    return std::move(b).build();
}

} // namespace

void ranks_agree() {
    constexpr int n = 1 << 10;
    Threads threads;
    std::vector<std::string> messages(ranks);
    const auto work = [&](std::size_t rank) {
        const cudag::AllGather gather = threads.of(rank);
        const cudag::DeviceBuffer<float> x(n);
        cudag::PinnedBuffer<float> halo(n);
        // agree begins
        const cudag::Graph graph = step_of(rank, n, x, halo);
        try {
            cudag::agree(cudag::fingerprint(graph), ranks, gather); // before the first launch
        } catch (const cudag::RanksDifferError& error) {
            messages[rank] = error.what(); // the same text on every rank
        }
        // agree ends
        const cudag::Stream stream;
        const cudag::Graph same = step_of(1, n, x, halo);
        // tune begins
        cudag::Tuned tuned = cudag::tune(same, stream, {.repetitions = 2});
        cudag::TunedPlan plan = cudag::plan_of_rank(0, tuned.plan, ranks, gather);
        cudag::Exec exec = same.instantiate({.plan = plan.plan_for(same)});
        // tune ends
        exec.launch(stream);
        stream.synchronize();
    };
    {
        std::vector<std::jthread> all;
        for (std::size_t rank = 0; rank < ranks; ++rank)
            all.emplace_back(work, rank);
    }
    std::puts(messages[0].c_str());
    expect(messages[0] == messages[1] ? 1.0f : 0.0f, 1.0f, "the text of the ranks");
}

} // namespace pages
